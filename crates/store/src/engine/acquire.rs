use waitless_bucket::{AllDecision, Cost, UnixMillis};
use waitless_job::{BucketKey, JobRecord, JobState, LaneKey};

use super::{
    Result, Tables,
    lane::{self, Loaded},
    settle::{apply_saved, leased_job},
};
use crate::{
    model::Place,
    ops::{Acquire, Acquired, OnDenied, Taken},
};

/// What is told to wait, in milliseconds, while an account or a limit is paused: nobody knows how
/// long that is.
const PAUSED_WAIT_MS: u64 = 60_000;

/// A permit for a running job, or, in the same step, the job back in its lane.
///
/// A job that runs does not pass a more urgent one that waits for the same token: an import which
/// rides its burst gives way to an interactive job. On a paused account or limit nobody gets any.
///
/// # Errors
/// [`StoreError::UnknownLimit`](crate::StoreError::UnknownLimit),
/// [`StoreError::CostAboveBurst`](crate::StoreError::CostAboveBurst), and those of the tables.
pub fn acquire(tables: &mut dyn Tables, acquire: &Acquire, now: UnixMillis) -> Result<Acquired> {
    let Some(before) = leased_job(tables, &acquire.lease)? else {
        return Ok(Acquired::Stale);
    };
    // What can be refused is refused before the first write.
    for one in lane::load(tables, &before.account, &acquire.needs)? {
        one.check_cost()?;
    }
    let job = apply_saved(tables, before.clone(), &acquire.saved, now)?;
    // Read again: giving unspent tokens back may have changed these very buckets.
    let loaded = lane::load(tables, &job.account, &acquire.needs)?;

    let wait_ms = match lane::evaluate(&loaded, now) {
        _ if lane::is_paused(tables, &job.account, &loaded)? => PAUSED_WAIT_MS,
        AllDecision::Denied { wait_ms, .. } => wait_ms,
        AllDecision::Allowed(_) if more_urgent_waits(tables, &job, &loaded, now)? => 0,
        AllDecision::Allowed(states) => {
            lane::store_take(tables, &loaded, &states)?;
            let job = JobRecord { needs: acquire.needs.clone(), ..job };
            tables.update_job(&before, &job)?;
            return Ok(Acquired::Granted { grant_ttl_ms: lane::grant_ttl_ms(&loaded) });
        }
    };

    match acquire.on_denied {
        OnDenied::Tell => tables.update_job(&before, &job)?,
        OnDenied::Park => {
            let parked = JobRecord {
                state: JobState::Waiting,
                needs: acquire.needs.clone(),
                snoozes: job.snoozes + 1,
                lease: None,
                ..job
            };
            tables.update_job(&before, &parked)?;
            lane::replace(tables, &parked.lane(), 1, now)?;
        }
    }
    Ok(Acquired::Denied { wait_ms })
}

/// Whether a job waits that would come first on one of these buckets and could start now.
fn more_urgent_waits(
    tables: &mut dyn Tables,
    job: &JobRecord,
    loaded: &[Loaded],
    now: UnixMillis,
) -> Result<bool> {
    let mut lanes: Vec<LaneKey> = Vec::new();
    for one in loaded {
        lanes.extend(tables.lanes_on(&one.bucket)?);
    }
    for key in lanes {
        let could_start = match tables.lane(&key)?.place {
            Place::Ready(_) => true,
            Place::Parked { ready_at } => ready_at <= now,
            Place::Empty | Place::Paused => false,
        };
        if could_start
            && let Some(head) = tables.lane_head(&key)?
            && (head.class, head.seq) < (job.class, job.seq)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes tokens for a caller outside the queue, all or none. Of several draws on one bucket the
/// tokens are added up.
///
/// # Errors
/// As [`acquire`].
pub fn take(
    tables: &mut dyn Tables,
    draws: &[(BucketKey, Cost)],
    now: UnixMillis,
) -> Result<Taken> {
    let mut loaded: Vec<Loaded> = Vec::with_capacity(draws.len());
    for (bucket, cost) in draws {
        match loaded.iter_mut().find(|one| one.bucket == *bucket) {
            Some(one) => {
                let tokens = one.cost.tokens().saturating_add(cost.tokens());
                one.cost = Cost::new(tokens).unwrap_or(*cost);
            }
            None => loaded.push(Loaded::read(tables, bucket.clone(), *cost)?),
        }
    }
    for one in &loaded {
        one.check_cost()?;
    }
    if let Some(paused) = loaded.iter().find(|one| one.is_paused) {
        return Ok(Taken::Denied { wait_ms: PAUSED_WAIT_MS, bucket: paused.bucket.clone() });
    }
    match lane::evaluate(&loaded, now) {
        AllDecision::Allowed(states) => {
            lane::store_take(tables, &loaded, &states)?;
            let remaining = states.iter().map(waitless_bucket::BucketState::whole_tokens).min();
            Ok(Taken::Allowed { remaining: remaining.unwrap_or(0) })
        }
        AllDecision::Denied { wait_ms, binding } => {
            Ok(Taken::Denied { wait_ms, bucket: loaded[binding].bucket.clone() })
        }
    }
}
