//! Lanes: where each stands after a change.

use std::cmp::Reverse;

use waitless_bucket::{
    AllDecision, BucketState, Draw, Policy, UnixMillis, effective, evaluate_all, full_at, peek,
};
use waitless_job::{AccountId, BucketKey, JobRecord, LaneKey, Needs};

use super::{Result, Tables};
use crate::{
    StoreError,
    model::{Lane, Place, Rank},
};

/// One bucket of a request, read from the tables.
pub(super) struct Loaded {
    pub(super) bucket: BucketKey,
    pub(super) policy: Policy,
    pub(super) state: Option<BucketState>,
    pub(super) is_paused: bool,
    pub(super) cost: waitless_bucket::Cost,
}

impl Loaded {
    pub(super) fn read(
        tables: &mut dyn Tables,
        bucket: BucketKey,
        cost: waitless_bucket::Cost,
    ) -> Result<Self> {
        let limit = tables
            .limit(&bucket)?
            .ok_or_else(|| StoreError::UnknownLimit { bucket: bucket.clone() })?;
        let state = tables.bucket(&bucket)?;
        let is_paused = limit.paused.is_some();
        Ok(Self { bucket, policy: limit.policy, state, is_paused, cost })
    }

    /// The policy that the bucket keeps to.
    pub(super) fn effective(&self) -> Policy {
        effective(self.state.as_ref(), &self.policy)
    }

    /// Refuses a cost that the bucket can never hold: waiting for it would never end.
    pub(super) fn check_cost(&self) -> Result<()> {
        if self.cost.tokens() <= self.policy.burst() {
            return Ok(());
        }
        Err(StoreError::CostAboveBurst {
            bucket: self.bucket.clone(),
            cost: self.cost.tokens(),
            burst: self.policy.burst(),
        })
    }
}

/// The buckets that a request with these needs draws on.
pub(super) fn load(
    tables: &mut dyn Tables,
    account: &AccountId,
    needs: &Needs,
) -> Result<Vec<Loaded>> {
    let needs = needs.as_slice().iter();
    needs
        .map(|need| {
            let bucket = BucketKey { account: account.clone(), group: need.group.clone() };
            Loaded::read(tables, bucket, need.cost)
        })
        .collect()
}

pub(super) fn evaluate(loaded: &[Loaded], now: UnixMillis) -> AllDecision {
    let draws: Vec<Draw<'_>> = loaded
        .iter()
        .map(|one| Draw { state: one.state.as_ref(), policy: &one.policy, cost: one.cost })
        .collect();
    evaluate_all(&draws, now)
}

/// Stores what [`evaluate`] allowed.
pub(super) fn store_take(
    tables: &mut dyn Tables,
    loaded: &[Loaded],
    states: &[BucketState],
) -> Result<()> {
    for (one, state) in loaded.iter().zip(states) {
        tables.put_bucket(&one.bucket, state)?;
    }
    Ok(())
}

/// Milliseconds for which a permit on these buckets may be spent; without buckets for ever.
pub(super) fn grant_ttl_ms(loaded: &[Loaded]) -> u64 {
    loaded.iter().map(|one| one.policy.grant_ttl_ms()).min().unwrap_or(u64::MAX)
}

/// How many requests with these needs could go now.
pub(super) fn available(loaded: &[Loaded], now: UnixMillis) -> u32 {
    let each = loaded.iter().map(|one| {
        let quota = peek(one.state.as_ref(), &one.policy, now);
        if quota.next_token_in_ms > 0 { 0 } else { quota.remaining / one.cost.tokens() }
    });
    each.min().unwrap_or(u32::MAX)
}

/// The order of a ready lane. A lane without buckets wastes no tokens by waiting, only its own
/// time: it counts as full since its first job arrived.
pub(super) fn rank(head: &JobRecord, loaded: &[Loaded], now: UnixMillis) -> Rank {
    let soonest = loaded
        .iter()
        .map(|one| {
            let full_at = full_at(one.state.as_ref(), &one.policy, now);
            let policy = one.effective();
            (full_at, Reverse(policy.token_ms()), policy.time_to_full_ms())
        })
        .min();
    let (full_at, token_ms, time_to_full_ms) = soonest.unwrap_or((head.run_at, Reverse(0), 0));
    Rank { class: head.class, full_at, token_ms, time_to_full_ms }
}

/// Puts a lane where it belongs after its wait list changed by `waiting_change` jobs, its buckets
/// changed, or its moment came.
pub(super) fn replace(
    tables: &mut dyn Tables,
    key: &LaneKey,
    waiting_change: i64,
    now: UnixMillis,
) -> Result<Place> {
    let before = tables.lane(key)?;
    let waiting = before.waiting.saturating_add_signed(waiting_change);
    let place = match tables.lane_head(key)? {
        None => Place::Empty,
        Some(head) => place_of(tables, &head, now)?,
    };
    let lane = Lane { waiting, place };
    if lane != before {
        tables.put_lane(key, &lane)?;
    }
    Ok(place)
}

fn place_of(tables: &mut dyn Tables, head: &JobRecord, now: UnixMillis) -> Result<Place> {
    let loaded = load(tables, &head.account, &head.needs)?;
    if is_paused(tables, &head.account, &loaded)? {
        return Ok(Place::Paused);
    }
    Ok(match evaluate(&loaded, now) {
        AllDecision::Allowed(_) => Place::Ready(rank(head, &loaded, now)),
        AllDecision::Denied { wait_ms, .. } => Place::Parked { ready_at: now.plus(wait_ms) },
    })
}

/// Whether an account, or one of these limits of it, is paused.
pub(super) fn is_paused(
    tables: &mut dyn Tables,
    account: &AccountId,
    loaded: &[Loaded],
) -> Result<bool> {
    if loaded.iter().any(|one| one.is_paused) {
        return Ok(true);
    }
    Ok(tables.account(account)?.is_some_and(|account| account.paused.is_some()))
}

/// Looks again at every lane that draws on a bucket whose level rose or whose hold changed. A take
/// needs no such look: the other lanes then wake early, and are put right when they do.
pub(super) fn replace_all_on(
    tables: &mut dyn Tables,
    bucket: &BucketKey,
    now: UnixMillis,
) -> Result<()> {
    for lane in tables.lanes_on(bucket)? {
        replace(tables, &lane, 0, now)?;
    }
    Ok(())
}
