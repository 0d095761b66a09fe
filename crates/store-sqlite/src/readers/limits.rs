//! Looking at limits.

use std::collections::HashMap;

use rusqlite::{Connection, Result, Row, ToSql, named_params};
use waitless_job::{AccountId, BucketKey, LaneKey};
use waitless_store::model::{Limit, LimitView};

use crate::{
    queries,
    rows::{self, all},
};

pub(super) fn limits(
    connection: &Connection,
    account: Option<&AccountId>,
) -> Result<Vec<LimitView>> {
    let account = account.map(|account| account.as_str());
    let of_account: &[(&str, &dyn ToSql)] = named_params! { ":account": account };
    let (limits, waiting, which) = match account {
        Some(_) => (queries::LIMITS_OF, queries::WAITING_OF, of_account),
        None => (queries::LIMITS, queries::WAITING, [].as_slice()),
    };
    let waiting = per_bucket(all(connection, waiting, which, lane_and_jobs)?);
    // Of all accounts: there are no more of them than slots.
    let running = per_bucket(all(connection, queries::RUNNING, &[], lane_and_jobs)?);
    all(connection, limits, which, |row| {
        let bucket = rows::bucket_key(row, 0)?;
        let Limit { policy, paused } = rows::limit(row, 2)?;
        let is_stored = row.get_ref(7)? != rusqlite::types::ValueRef::Null;
        Ok(LimitView {
            policy,
            state: if is_stored { Some(rows::bucket(row, 7)?) } else { None },
            paused,
            waiting: waiting.get(&bucket).copied().unwrap_or(0),
            running: running.get(&bucket).copied().unwrap_or(0),
            bucket,
        })
    })
}

fn lane_and_jobs(row: &Row<'_>) -> Result<(LaneKey, u64)> {
    Ok((rows::lane_key(row, 0)?, rows::unsigned(row, 2)?))
}

/// Adds up the jobs of all lanes that draw on a bucket, for each bucket.
fn per_bucket(lanes: Vec<(LaneKey, u64)>) -> HashMap<BucketKey, u64> {
    let mut sums = HashMap::new();
    for (lane, jobs) in lanes {
        for bucket in lane.buckets() {
            *sums.entry(bucket).or_insert(0) += jobs;
        }
    }
    sums
}
