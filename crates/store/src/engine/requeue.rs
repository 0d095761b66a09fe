use waitless_bucket::UnixMillis;
use waitless_job::{JobId, JobRecord, JobState};

use super::{Result, Tables, lane};

/// Puts a job that was given up back into its lane, with its checkpoint and all its attempts.
/// Answers whether it was: a job that is not dead or cancelled stays as it is, and so does one whose
/// unique key another live job has by now.
///
/// # Errors
/// Only those of the tables.
pub fn requeue(tables: &mut dyn Tables, id: &JobId, now: UnixMillis) -> Result<bool> {
    let Some(before) = tables.job(id)? else { return Ok(false) };
    let is_given_up = matches!(before.state, JobState::Dead | JobState::Cancelled);
    let is_replaced = match &before.unique_key {
        Some(key) => tables.live_job_with_key(key)?.is_some(),
        None => false,
    };
    if !is_given_up || is_replaced {
        return Ok(false);
    }
    let job = JobRecord {
        state: JobState::Waiting,
        run_at: now,
        attempts: 0,
        error: None,
        finished_at: None,
        ..before.clone()
    };
    tables.update_job(&before, &job)?;
    lane::replace(tables, &job.lane(), 1, now)?;
    Ok(true)
}
