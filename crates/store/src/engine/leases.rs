use std::sync::Arc;

use waitless_bucket::UnixMillis;
use waitless_job::{JobRecord, JobState, Lease};

use super::{
    Result, Tables, lane,
    settle::{apply_saved, failed, leased_job},
};
use crate::ops::{Reap, Renewal};

/// Extends a lease. Answers whether it is still the job's.
///
/// # Errors
/// Only those of the tables.
pub fn renew(tables: &mut dyn Tables, renewal: &Renewal, now: UnixMillis) -> Result<bool> {
    let Some(before) = leased_job(tables, &renewal.lease)? else {
        return Ok(false);
    };
    let job = apply_saved(tables, before.clone(), &renewal.saved, now)?;
    let lease = job
        .lease
        .clone()
        .map(|lease| Lease { expires_at: lease.expires_at.max(renewal.expires_at), ..lease });
    tables.update_job(&before, &JobRecord { lease, ..job })?;
    Ok(true)
}

/// Ends leases whose worker was not heard of in time. The tokens of their permits stay spent: the
/// request may have gone out.
///
/// # Errors
/// Only those of the tables.
pub fn reap(
    tables: &mut dyn Tables,
    which: Reap,
    limit: usize,
    now: UnixMillis,
) -> Result<Vec<JobRecord>> {
    let until = match which {
        Reap::Expired => now,
        Reap::All => UnixMillis(i64::MAX),
    };
    let mut reaped = Vec::new();
    for before in tables.leased_until(until, limit)? {
        let error: Arc<str> = match &before.lease {
            Some(lease) => {
                format!("worker {} stopped reporting before the job was done", lease.worker).into()
            }
            None => "the job was running without a lease".into(),
        };
        let waiting = JobRecord { state: JobState::Waiting, lease: None, ..before.clone() };
        let job = failed(waiting, &error, now);
        tables.update_job(&before, &job)?;
        if job.state == JobState::Waiting {
            lane::replace(tables, &job.lane(), 1, now)?;
        }
        reaped.push(job);
    }
    Ok(reaped)
}
