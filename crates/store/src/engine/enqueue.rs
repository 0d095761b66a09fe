use waitless_bucket::UnixMillis;
use waitless_job::{JobRecord, JobState, NewJob, Progress};

use super::{Result, Tables, lane};
use crate::{StoreError, ops::Enqueued};

/// Enqueues jobs, all or none.
///
/// # Errors
/// [`StoreError::Job`], [`StoreError::UnknownLimit`] or [`StoreError::CostAboveBurst`] for the
/// first job that cannot be taken; then none is.
pub fn enqueue(tables: &mut dyn Tables, jobs: &[NewJob], now: UnixMillis) -> Result<Vec<Enqueued>> {
    for (index, job) in jobs.iter().enumerate() {
        job.check().map_err(|source| StoreError::Job { index, id: job.id, source })?;
        for loaded in lane::load(tables, &job.account, &job.needs)? {
            loaded.check_cost()?;
        }
    }
    jobs.iter().map(|job| enqueue_one(tables, job, now)).collect()
}

fn enqueue_one(tables: &mut dyn Tables, new: &NewJob, now: UnixMillis) -> Result<Enqueued> {
    if tables.job(&new.id)?.is_some() {
        return Ok(Enqueued { id: new.id, existed: true });
    }
    if let Some(key) = &new.unique_key
        && let Some(id) = tables.live_job_with_key(key)?
    {
        return Ok(Enqueued { id, existed: true });
    }
    let state = if new.run_at > now { JobState::Scheduled } else { JobState::Waiting };
    let job = JobRecord {
        id: new.id,
        kind: new.kind.clone(),
        account: new.account.clone(),
        run: new.run,
        class: new.class,
        seq: tables.next_seq()?,
        needs: new.needs.clone(),
        state,
        run_at: new.run_at,
        attempts: 0,
        attempts_max: new.attempts_max,
        snoozes: 0,
        lease: None,
        checkpoint: None,
        progress: Progress::default(),
        error: None,
        unique_key: new.unique_key.clone(),
        created_at: now,
        started_at: None,
        finished_at: None,
    };
    tables.insert_job(&job, &new.args)?;
    if state == JobState::Waiting {
        lane::replace(tables, &job.lane(), 1, now)?;
    }
    Ok(Enqueued { id: new.id, existed: false })
}
