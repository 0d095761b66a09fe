use waitless_bucket::UnixMillis;
use waitless_job::{JobRecord, JobState};

use super::{Result, Tables, lane};
use crate::ops::{Due, DueLane, DueRequest};

/// Most jobs and lanes that one step moves: bounds the length of a transaction. What is left over
/// is due at once, which the answer says.
const MOVED_MAX: usize = 1_000;

/// Lanes whose first job could start now.
///
/// # Errors
/// Only those of the tables.
pub fn due(tables: &mut dyn Tables, request: &DueRequest, now: UnixMillis) -> Result<Due> {
    let delayed = tables.delayed_until(now, MOVED_MAX)?;
    for job in &delayed {
        let waiting = JobRecord { state: JobState::Waiting, ..job.clone() };
        tables.update_job(job, &waiting)?;
        lane::replace(tables, &waiting.lane(), 1, now)?;
    }
    let parked = tables.parked_until(now, MOVED_MAX)?;
    for key in &parked {
        lane::replace(tables, key, 0, now)?;
    }

    let mut lanes = Vec::new();
    let ready = tables.ready(request.limit, &request.accounts)?;
    let ready_len = ready.len();
    for (key, _) in ready {
        let Some(head) = tables.lane_head(&key)? else {
            continue;
        };
        let waiting = tables.lane(&key)?.waiting;
        let loaded = lane::load(tables, &head.account, &head.needs)?;
        let available = u64::from(lane::available(&loaded, now)).min(waiting);
        if available == 0 {
            // Another lane on the same bucket took the token since this one became ready.
            lane::replace(tables, &key, 0, now)?;
            continue;
        }
        lanes.push(DueLane {
            rank: lane::rank(&head, &loaded, now),
            available: u32::try_from(available).unwrap_or(u32::MAX),
            token_ms: loaded.iter().map(|one| one.effective().token_ms()).min().unwrap_or(0),
            lane: key,
        });
    }

    // Ranks have grown older by different amounts since they were stored.
    lanes.sort_by(|a, b| (a.rank, &a.lane).cmp(&(b.rank, &b.lane)));

    let moved_all = delayed.len() < MOVED_MAX && parked.len() < MOVED_MAX;
    // Lanes that were not ready any more may have hidden others that are.
    let saw_all = ready_len < request.limit || lanes.len() == ready_len;
    let next_at = if moved_all && saw_all {
        [tables.next_delayed()?, tables.next_parked()?].into_iter().flatten().min()
    } else {
        Some(now)
    };
    Ok(Due { lanes, next_at })
}
