//! Jobs and their indexes.

use std::{collections::BTreeMap, sync::Arc};

use rusqlite::{Connection, Result, named_params};
use uuid::Uuid;
use waitless_bucket::UnixMillis;
use waitless_job::{JobId, JobRecord, JobState, LaneKey, LeaseToken};

use crate::{
    queries,
    rows::{
        self, all, at_most, class_number, costs_of, execute, groups_of, groups_of_lane, optional,
        optional_value,
    },
};

pub(crate) fn job(connection: &Connection, id: &JobId) -> Result<Option<JobRecord>> {
    optional(connection, queries::JOB, named_params! { ":id": id.0.as_bytes() }, rows::job)
}

pub(crate) fn args(connection: &Connection, id: &JobId) -> Result<Option<Arc<str>>> {
    optional_value(connection, queries::ARGS, named_params! { ":id": id.0.as_bytes() })
}

pub(super) fn live_job_with_key(
    connection: &Connection,
    unique_key: &str,
) -> Result<Option<JobId>> {
    let which = named_params! { ":unique_key": unique_key };
    let id = optional_value(connection, queries::LIVE_JOB_WITH_KEY, which)?;
    Ok(id.map(|id| JobId(Uuid::from_bytes(id))))
}

pub(super) fn leased_as(connection: &Connection, token: &LeaseToken) -> Result<Option<JobRecord>> {
    let which = named_params! { ":lease_token": token.0.as_bytes() };
    optional(connection, queries::LEASED_AS, which, rows::job)
}

pub(super) fn next_seq(connection: &Connection) -> Result<u64> {
    let mut statement = connection.prepare_cached(queries::NEXT_SEQ)?;
    statement.query_one([], |row| rows::unsigned(row, 0))
}

pub(super) fn insert_job(connection: &Connection, job: &JobRecord, args: &Arc<str>) -> Result<()> {
    let seq = job.seq.cast_signed();
    let row = named_params! {
        ":seq": seq,
        ":id": job.id.0.as_bytes(),
        ":kind": job.kind.as_str(),
        ":account": job.account.as_str(),
        ":groups": groups_of(&job.needs),
        ":costs": costs_of(&job.needs),
        ":class": class_number(job.class),
        ":run": job.run.as_ref().map(|run| run.0.as_bytes()),
        ":state": job.state.as_str(),
        ":run_at": job.run_at.0,
        ":attempts": job.attempts,
        ":attempts_max": job.attempts_max,
        ":snoozes": job.snoozes.cast_signed(),
        ":lease_token": job.lease.as_ref().map(|lease| lease.token.0.as_bytes()),
        ":lease_worker": job.lease.as_ref().map(|lease| lease.worker.as_str()),
        ":lease_expires_at": job.lease.as_ref().map(|lease| lease.expires_at.0),
        ":requests_done": job.progress.requests_done.cast_signed(),
        ":requests_total": job.progress.requests_total.map(u64::cast_signed),
        ":rows_landed": job.progress.rows.cast_signed(),
        ":created_at": job.created_at.0,
        ":started_at": job.started_at.map(|at| at.0),
        ":finished_at": job.finished_at.map(|at| at.0),
        ":unique_key": job.unique_key,
        ":error": job.error,
        ":checkpoint": job.checkpoint,
    };
    execute(connection, queries::INSERT_JOB, row)?;
    let args = named_params! { ":seq": seq, ":args": args };
    execute(connection, queries::INSERT_ARGS, args).map(drop)
}

pub(super) fn update_job(connection: &Connection, job: &JobRecord) -> Result<usize> {
    let row = named_params! {
        ":seq": job.seq.cast_signed(),
        ":groups": groups_of(&job.needs),
        ":costs": costs_of(&job.needs),
        ":state": job.state.as_str(),
        ":run_at": job.run_at.0,
        ":attempts": job.attempts,
        ":snoozes": job.snoozes.cast_signed(),
        ":lease_token": job.lease.as_ref().map(|lease| lease.token.0.as_bytes()),
        ":lease_worker": job.lease.as_ref().map(|lease| lease.worker.as_str()),
        ":lease_expires_at": job.lease.as_ref().map(|lease| lease.expires_at.0),
        ":requests_done": job.progress.requests_done.cast_signed(),
        ":requests_total": job.progress.requests_total.map(u64::cast_signed),
        ":rows_landed": job.progress.rows.cast_signed(),
        ":started_at": job.started_at.map(|at| at.0),
        ":finished_at": job.finished_at.map(|at| at.0),
        ":error": job.error,
        ":checkpoint": job.checkpoint,
    };
    execute(connection, queries::UPDATE_JOB, row)
}

pub(super) fn prune(
    connection: &Connection,
    ended_before: UnixMillis,
    limit: usize,
) -> Result<usize> {
    let which = named_params! { ":ended_before": ended_before.0, ":limit": at_most(limit) };
    let states = all(connection, queries::PRUNE, which, |row| rows::state(row, 0))?;
    let mut counts: BTreeMap<JobState, i64> = BTreeMap::new();
    for state in &states {
        *counts.entry(*state).or_default() += 1;
    }
    for (state, count) in counts {
        let counted = named_params! { ":name": state.as_str(), ":count": count };
        execute(connection, queries::COUNT_PRUNED, counted)?;
    }
    Ok(states.len())
}

pub(super) fn lane_head(connection: &Connection, key: &LaneKey) -> Result<Option<JobRecord>> {
    let which = named_params! {
        ":account": key.account().as_str(), ":groups": groups_of_lane(key),
    };
    optional(connection, queries::LANE_HEAD, which, rows::job)
}

pub(super) fn delayed_until(
    connection: &Connection,
    now: UnixMillis,
    limit: usize,
) -> Result<Vec<JobRecord>> {
    let which = named_params! { ":now": now.0, ":limit": at_most(limit) };
    all(connection, queries::DELAYED_UNTIL, which, rows::job)
}

pub(super) fn next_delayed(connection: &Connection) -> Result<Option<UnixMillis>> {
    Ok(optional_value(connection, queries::NEXT_DELAYED, &[])?.map(UnixMillis))
}

pub(super) fn leased_until(
    connection: &Connection,
    until: UnixMillis,
    limit: usize,
) -> Result<Vec<JobRecord>> {
    let which = named_params! { ":until": until.0, ":limit": at_most(limit) };
    all(connection, queries::LEASED_UNTIL, which, rows::job)
}
