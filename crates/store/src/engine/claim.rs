use waitless_bucket::{AllDecision, UnixMillis};
use waitless_job::{JobRecord, JobState, Lease};

use super::{
    Result, Tables,
    lane::{self, Loaded},
};
use crate::ops::{Claim, Claimed, Pick};

/// Takes jobs from lanes: for each pick token(s), job and lease in this one step.
///
/// # Errors
/// Only those of the tables.
pub fn claim(tables: &mut dyn Tables, claim: &Claim, now: UnixMillis) -> Result<Vec<Claimed>> {
    let mut claimed = Vec::with_capacity(claim.picks.len());
    for pick in &claim.picks {
        claimed.extend(claim_one(tables, claim, pick, now)?);
    }
    Ok(claimed)
}

fn claim_one(
    tables: &mut dyn Tables,
    claim: &Claim,
    pick: &Pick,
    now: UnixMillis,
) -> Result<Option<Claimed>> {
    // A lease is a client's word for one pick: whoever asks again under it was not heard the first
    // time, and gets the job of then.
    if let Some(job) = tables.leased_as(&pick.lease)? {
        let loaded = lane::load(tables, &job.account, &job.needs)?;
        return claimed(tables, job, &loaded).map(Some);
    }
    let Some(head) = tables.lane_head(&pick.lane)? else {
        return Ok(None);
    };
    let loaded = lane::load(tables, &head.account, &head.needs)?;
    if lane::is_paused(tables, &head.account, &loaded)? {
        return Ok(None);
    }
    let AllDecision::Allowed(states) = lane::evaluate(&loaded, now) else {
        lane::replace(tables, &pick.lane, 0, now)?;
        return Ok(None);
    };
    lane::store_take(tables, &loaded, &states)?;
    let job = JobRecord {
        state: JobState::Running,
        lease: Some(Lease {
            token: pick.lease,
            worker: claim.worker.clone(),
            expires_at: claim.expires_at,
        }),
        started_at: head.started_at.or(Some(now)),
        ..head.clone()
    };
    tables.update_job(&head, &job)?;
    lane::replace(tables, &pick.lane, -1, now)?;
    claimed(tables, job, &loaded).map(Some)
}

fn claimed(tables: &mut dyn Tables, job: JobRecord, loaded: &[Loaded]) -> Result<Claimed> {
    let args = tables.args(&job.id)?;
    Ok(Claimed { job, args, grant_ttl_ms: lane::grant_ttl_ms(loaded) })
}
