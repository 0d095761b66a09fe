//! Reading everything.

use rusqlite::{Connection, Result, Row};
use waitless_bucket::UnixMillis;
use waitless_job::JobId;
use waitless_store::model::{Audit, Pruned};

use crate::{
    queries,
    rows::{self, all},
};

pub(super) fn audit(connection: &Connection) -> Result<Audit> {
    let counters = all(connection, queries::COUNTERS, &[], |row| {
        Ok((row.get::<_, String>(0)?, rows::unsigned(row, 1)?))
    })?;
    let counter = |wanted: &str| {
        counters.iter().find(|(name, _)| name == wanted).map_or(0, |(_, value)| *value)
    };
    Ok(Audit {
        jobs: all(connection, queries::ALL_JOBS, &[], rows::job)?,
        lanes: all(connection, queries::LANES, &[], |row| {
            Ok((rows::lane_key(row, 7)?, rows::lane(row)?))
        })?,
        wait_lists: all(connection, queries::WAIT_LISTS, &[], |row| {
            let id = JobId(rows::uuid(row, 4)?);
            Ok((rows::lane_key(row, 0)?, rows::class(row, 2)?, rows::unsigned(row, 3)?, id))
        })?,
        delayed: all(connection, queries::DELAYED, &[], moment_and_id)?,
        leased: all(connection, queries::LEASED, &[], moment_and_id)?,
        limits: all(connection, queries::LIMITS, &[], |row| {
            Ok((rows::bucket_key(row, 0)?, rows::limit(row, 2)?))
        })?,
        buckets: all(connection, queries::BUCKETS, &[], |row| {
            Ok((rows::bucket_key(row, 9)?, rows::bucket(row, 0)?))
        })?,
        accounts: all(connection, queries::ACCOUNTS, &[], rows::account)?,
        enqueued: counter("enqueued"),
        pruned: Pruned {
            succeeded: counter("succeeded"),
            cancelled: counter("cancelled"),
            dead: counter("dead"),
        },
    })
}

fn moment_and_id(row: &Row<'_>) -> Result<(UnixMillis, JobId)> {
    Ok((UnixMillis(row.get(0)?), JobId(rows::uuid(row, 1)?)))
}
