use std::{cmp::Reverse, collections::BinaryHeap, collections::HashMap};

use waitless_job::{AccountId, LaneKey};
use waitless_store::ops::DueLane;

/// The slots that can be given away.
#[derive(Debug, Clone)]
pub struct Free<'a> {
    /// How many are free.
    pub slots: usize,
    /// Most slots that one account may have at a time.
    pub per_account_max: usize,
    /// Slots that each account has now.
    pub running: &'a HashMap<AccountId, usize>,
}

/// Which lanes get the free slots: one entry for each job to claim, in order.
///
/// Best rank first: class, then slack, then the rarer token, then the smaller bucket. A lane that got
/// a slot goes back with its slack one token later, so a burst is spread over lanes instead of being
/// spent on the first. An account that has its share of slots is passed over.
///
/// The order does not depend on the order of `lanes`.
#[must_use]
pub fn dispatch(lanes: &[DueLane], free: &Free<'_>) -> Vec<LaneKey> {
    let mut running = free.running.clone();
    let mut queue: BinaryHeap<_> = lanes
        .iter()
        .filter(|lane| lane.available > 0)
        .map(|lane| Reverse((lane.rank, &lane.lane, lane.available, lane.token_ms)))
        .collect();
    let mut picked = Vec::new();
    while picked.len() < free.slots
        && let Some(Reverse((mut rank, lane, available, token_ms))) = queue.pop()
    {
        let slots = running.entry(lane.account().clone()).or_insert(0);
        if *slots >= free.per_account_max {
            continue;
        }
        *slots += 1;
        picked.push(lane.clone());
        if available > 1 {
            rank.full_at = rank.full_at.plus(token_ms);
            queue.push(Reverse((rank, lane, available - 1, token_ms)));
        }
    }
    picked
}
