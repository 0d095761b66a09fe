//! Rows as values and values as rows.

use std::{cmp::Reverse, error::Error, str::FromStr, sync::Arc};

use rusqlite::{
    CachedStatement, Connection, Result, Row, ToSql,
    types::{FromSql, Type},
};
use uuid::Uuid;
use waitless_bucket::{BucketState, Pace, Policy, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, Class, Cost, JobId, JobRecord, JobState, LaneKey, Lease, LeaseToken,
    LimitGroup, Need, Needs, Progress, RunId,
};
use waitless_store::model::{Account, Lane, Limit, Place, Rank, Run};

/// Reads the columns of a job, which every query that returns one lists in the order of the table.
/// By place: looking each up by its name would cost more than the query.
pub(crate) fn job(row: &Row<'_>) -> Result<JobRecord> {
    let account: AccountId = parsed(row, 3)?;
    let lease = match row.get::<_, Option<[u8; 16]>>(13)? {
        None => None,
        Some(token) => Some(Lease {
            token: LeaseToken(Uuid::from_bytes(token)),
            worker: parsed(row, 14)?,
            expires_at: UnixMillis(row.get(15)?),
        }),
    };
    Ok(JobRecord {
        id: JobId(uuid(row, 1)?),
        kind: parsed(row, 2)?,
        account,
        run: row.get::<_, Option<[u8; 16]>>(7)?.map(|run| RunId(Uuid::from_bytes(run))),
        class: class(row, 6)?,
        seq: unsigned(row, 0)?,
        needs: needs(row, 4, 5)?,
        state: parsed(row, 8)?,
        run_at: UnixMillis(row.get(9)?),
        attempts: row.get(10)?,
        attempts_max: row.get(11)?,
        snoozes: unsigned(row, 12)?,
        lease,
        checkpoint: row.get(24)?,
        progress: Progress {
            requests_done: unsigned(row, 16)?,
            requests_total: row.get::<_, Option<i64>>(17)?.map(i64::cast_unsigned),
            rows: unsigned(row, 18)?,
        },
        error: row.get(23)?,
        unique_key: row.get(22)?,
        created_at: UnixMillis(row.get(19)?),
        started_at: row.get::<_, Option<i64>>(20)?.map(UnixMillis),
        finished_at: row.get::<_, Option<i64>>(21)?.map(UnixMillis),
    })
}

/// Reads tokens, interval_ms, burst, margin_ms and paused from this column on.
pub(crate) fn limit(row: &Row<'_>, from: usize) -> Result<Limit> {
    let interval_ms = unsigned(row, from + 1)?;
    let policy =
        Policy::from_parts(row.get(from)?, interval_ms, row.get(from + 2)?, row.get(from + 3)?)
            .map_err(|error| damaged(from, Type::Integer, error))?;
    Ok(Limit { policy, paused: row.get(from + 4)? })
}

/// Reads t, ts, iv, hold and the five numbers of a pace from this column on.
pub(crate) fn bucket(row: &Row<'_>, from: usize) -> Result<BucketState> {
    let pace = match row.get::<_, Option<u16>>(from + 4)? {
        None => None,
        Some(slower) => Some(Pace {
            slower,
            proven: row.get(from + 5)?,
            streak: row.get(from + 6)?,
            refusals: row.get(from + 7)?,
            refused_at: UnixMillis(row.get(from + 8)?),
        }),
    };
    Ok(BucketState {
        t: row.get(from)?,
        ts: UnixMillis(row.get(from + 1)?),
        iv: row.get(from + 2)?,
        hold: row.get::<_, Option<i64>>(from + 3)?.map(UnixMillis),
        pace,
    })
}

/// Reads account and limit group from this column on.
pub(crate) fn bucket_key(row: &Row<'_>, from: usize) -> Result<BucketKey> {
    Ok(BucketKey { account: parsed(row, from)?, group: parsed(row, from + 1)? })
}

/// Reads waiting, place, ready_at and a rank from the first column on.
pub(crate) fn lane(row: &Row<'_>) -> Result<Lane> {
    let place = match row.get_ref(1)?.as_str()? {
        "paused" => Place::Paused,
        "parked" => Place::Parked { ready_at: UnixMillis(row.get(2)?) },
        "ready" => Place::Ready(rank(row, 3)?),
        other => {
            return Err(damaged(1, Type::Text, format!("no lane stands at {other:?}")));
        }
    };
    Ok(Lane { waiting: unsigned(row, 0)?, place })
}

/// Reads class, full_at, token_ms and time_to_full_ms from this column on.
pub(crate) fn rank(row: &Row<'_>, from: usize) -> Result<Rank> {
    Ok(Rank {
        class: class(row, from)?,
        full_at: UnixMillis(row.get(from + 1)?),
        token_ms: Reverse(unsigned(row, from + 2)?),
        time_to_full_ms: unsigned(row, from + 3)?,
    })
}

/// Reads account and groups from this column on.
pub(crate) fn lane_key(row: &Row<'_>, from: usize) -> Result<LaneKey> {
    let account = parsed(row, from)?;
    let mut needs = Vec::new();
    for group in parts(row.get_ref(from + 1)?.as_str()?) {
        let group = parse(from + 1, group)?;
        needs.push(Need { group, cost: Cost::ONE });
    }
    Ok(LaneKey::of(&account, &Needs::new(needs)))
}

pub(crate) fn account(row: &Row<'_>) -> Result<Account> {
    Ok(Account {
        id: parsed(row, 0)?,
        name: row.get(1)?,
        upstream: row.get(2)?,
        added_at: UnixMillis(row.get(3)?),
        token_expires_at: row.get::<_, Option<i64>>(4)?.map(UnixMillis),
        token_family: row.get(5)?,
        categories: row
            .get_ref(6)?
            .as_str_or_null()?
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| damaged(6, Type::Text, error))?,
        paused: row.get(7)?,
    })
}

pub(crate) fn run(row: &Row<'_>) -> Result<Run> {
    Ok(Run { id: RunId(uuid(row, 0)?), name: row.get(1)?, started_at: UnixMillis(row.get(2)?) })
}

pub(crate) fn class(row: &Row<'_>, column: usize) -> Result<Class> {
    let number: i64 = row.get(column)?;
    let class = usize::try_from(number).ok().and_then(|number| Class::ALL.get(number).copied());
    class.ok_or_else(|| damaged(column, Type::Integer, format!("there is no class {number}")))
}

pub(crate) fn state(row: &Row<'_>, column: usize) -> Result<JobState> {
    parsed(row, column)
}

pub(crate) fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

/// A number without a sign, kept in the same 64 bits.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

/// The limit groups of needs as they are kept: in order, joined by '+'.
pub(crate) fn groups_of(needs: &Needs) -> String {
    join(needs.as_slice().iter().map(|need| need.group.as_str()))
}

/// The costs of needs in the same way.
pub(crate) fn costs_of(needs: &Needs) -> String {
    join(needs.as_slice().iter().map(|need| need.cost.tokens().to_string()))
}

/// The limit groups of a lane as they are kept.
pub(crate) fn groups_of_lane(lane: &LaneKey) -> String {
    let name = lane.to_string();
    name.split_once('/').map_or(String::new(), |(_, groups)| groups.to_owned())
}

/// How a class is kept: its place in the order of urgency.
pub(crate) fn class_number(class: Class) -> i64 {
    match class {
        Class::Interactive => 0,
        Class::Normal => 1,
        Class::Bulk => 2,
    }
}

/// Texts as they are kept: a JSON array.
pub(crate) fn json_of(texts: &[Arc<str>]) -> String {
    serde_json::to_string(texts).expect("texts are JSON")
}

/// A limit as SQL takes it.
pub(crate) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The first row of a query, if it has one.
pub(crate) fn optional<T>(
    connection: &Connection,
    sql: &str,
    parameters: &[(&str, &dyn ToSql)],
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    rows.next()?.map(read).transpose()
}

/// Every row of a query.
pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: &[(&str, &dyn ToSql)],
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

/// Carries out a change and counts its rows.
pub(crate) fn execute(
    connection: &Connection,
    sql: &str,
    parameters: &[(&str, &dyn ToSql)],
) -> Result<usize> {
    let mut statement: CachedStatement<'_> = connection.prepare_cached(sql)?;
    statement.execute(parameters)
}

fn needs(row: &Row<'_>, groups: usize, costs: usize) -> Result<Needs> {
    let (names, numbers) = (row.get_ref(groups)?.as_str()?, row.get_ref(costs)?.as_str()?);
    let mut needs = Vec::new();
    let mut numbers = parts(numbers);
    for name in parts(names) {
        let group: LimitGroup = parse(groups, name)?;
        let cost = numbers.next().and_then(|number| number.parse().ok()).and_then(Cost::new);
        let cost = cost.ok_or_else(|| {
            damaged(costs, Type::Text, format!("group {name} of a job has no cost"))
        })?;
        needs.push(Need { group, cost });
    }
    Ok(Needs::new(needs))
}

/// The parts of a joined text; none of an empty one.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('+').filter(|part| !part.is_empty())
}

fn join(parts: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut joined = String::new();
    for (index, part) in parts.enumerate() {
        if index > 0 {
            joined.push('+');
        }
        joined.push_str(part.as_ref());
    }
    joined
}

fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> Result<T>
where
    T::Err: ToString,
{
    parse(column, row.get_ref(column)?.as_str()?)
}

fn parse<T: FromStr>(column: usize, text: &str) -> Result<T>
where
    T::Err: ToString,
{
    text.parse().map_err(|error: T::Err| damaged(column, Type::Text, error.to_string()))
}

fn damaged(
    column: usize,
    kind: Type,
    error: impl Into<Box<dyn Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, error.into())
}

/// The first column of the first row of a query, if it has one.
pub(crate) fn optional_value<T: FromSql>(
    connection: &Connection,
    sql: &str,
    parameters: &[(&str, &dyn ToSql)],
) -> Result<Option<T>> {
    optional(connection, sql, parameters, |row| row.get(0))
}
