use std::sync::Arc;

use waitless_bucket::{UnixMillis, give_back};
use waitless_job::{BucketKey, JobRecord, JobState};

use super::{Result, Tables, lane, pauses::pause_limits};
use crate::ops::{LeaseRef, Outcome, Saved, Settle, Settled, Unspent};

/// Takes down how an attempt ended.
///
/// # Errors
/// Only those of the tables.
pub fn settle(tables: &mut dyn Tables, settle: &Settle, now: UnixMillis) -> Result<Settled> {
    let Some(before) = leased_job(tables, &settle.lease)? else {
        return Ok(Settled::Stale);
    };
    let job = apply_saved(tables, before.clone(), &settle.saved, now)?;
    if let Outcome::Pause { groups, reason } = &settle.outcome {
        pause_limits(tables, &job.account, Some(groups), Some(reason), now)?;
    }
    let job = settled(job, &settle.outcome, now);
    tables.update_job(&before, &job)?;
    if job.state == JobState::Waiting {
        lane::replace(tables, &job.lane(), 1, now)?;
    }
    Ok(Settled::Now(job.state))
}

/// The running job of this lease, or `None` if the lease is not its any more.
pub(super) fn leased_job(tables: &mut dyn Tables, lease: &LeaseRef) -> Result<Option<JobRecord>> {
    let job = tables.job(&lease.job)?;
    Ok(job.filter(|job| job.lease.as_ref().is_some_and(|held| held.token == lease.token)))
}

/// Applies what a job has to save and gives its unused tokens back.
///
/// A checkpoint that moved starts the count of attempts anew: attempts are those since the job
/// last got anywhere. Otherwise an import of a thousand pages would die of its eighth passing
/// fault, days in.
pub(super) fn apply_saved(
    tables: &mut dyn Tables,
    job: JobRecord,
    saved: &Saved,
    now: UnixMillis,
) -> Result<JobRecord> {
    for Unspent { needs, taken_at } in &saved.unspent {
        for need in needs.as_slice() {
            let bucket = BucketKey { account: job.account.clone(), group: need.group.clone() };
            // A bucket without a limit has granted nothing. To refuse would be to refuse the
            // outcome of the job along with it, and that of every other in its batch.
            if tables.limit(&bucket)?.is_none() {
                continue;
            }
            let one = lane::Loaded::read(tables, bucket, need.cost)?;
            let state = give_back(one.state.as_ref(), &one.policy, one.cost, *taken_at, now);
            tables.put_bucket(&one.bucket, &state)?;
            lane::replace_all_on(tables, &one.bucket, now)?;
        }
    }
    let moved = saved.checkpoint.is_some() && saved.checkpoint != job.checkpoint;
    Ok(JobRecord {
        attempts: if moved { 0 } else { job.attempts },
        checkpoint: saved.checkpoint.clone().or(job.checkpoint),
        progress: saved.progress.unwrap_or(job.progress),
        ..job
    })
}

/// What an outcome makes of a running job.
fn settled(job: JobRecord, outcome: &Outcome, now: UnixMillis) -> JobRecord {
    let job = JobRecord { lease: None, ..job };
    match outcome {
        Outcome::Done => ended(job, JobState::Succeeded, None, now),
        Outcome::Cancel { reason } => ended(job, JobState::Cancelled, Some(reason), now),
        Outcome::Dead { reason } => ended(job, JobState::Dead, Some(reason), now),
        Outcome::Snooze { until } => JobRecord {
            state: JobState::Scheduled,
            run_at: *until,
            snoozes: job.snoozes + 1,
            ..job
        },
        Outcome::HandBack | Outcome::Pause { .. } => JobRecord { state: JobState::Waiting, ..job },
        Outcome::Retry { at, error } => {
            let retryable = JobRecord { state: JobState::Retryable, run_at: *at, ..job };
            failed(retryable, error, now)
        }
    }
}

/// A job one failed attempt older: as given, or a dead letter if it was the last attempt.
pub(super) fn failed(job: JobRecord, error: &Arc<str>, now: UnixMillis) -> JobRecord {
    if job.attempts + 1 >= job.attempts_max {
        return ended(job, JobState::Dead, Some(error), now);
    }
    JobRecord { attempts: job.attempts + 1, error: Some(Arc::clone(error)), ..job }
}

fn ended(job: JobRecord, state: JobState, error: Option<&Arc<str>>, now: UnixMillis) -> JobRecord {
    JobRecord {
        state,
        attempts: job.attempts + 1,
        lease: None,
        error: error.cloned(),
        finished_at: Some(now),
        ..job
    }
}
