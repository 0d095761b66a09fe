use serde::{Deserialize, Serialize};

use crate::{Policy, UnixMillis, policy::ms_for};

/// What is stored of a bucket. A bucket that is not stored is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BucketState {
    /// Level in units of one token / `iv`; below zero while the bucket is in debt.
    pub t: i64,
    /// The moment up to which `t` is refilled. Never moves back: a clock that stepped back refills
    /// nothing until it has caught up, where setting `ts` to an earlier moment would pay for the
    /// same time twice.
    pub ts: UnixMillis,
    /// Units of one token when `t` was written. Another value in the policy means that the policy
    /// has changed, and `t` is rescaled.
    pub iv: i64,
    /// Closed until then because the upstream said so. A field of its own: a refill time in the
    /// future would forget the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<UnixMillis>,
}

impl BucketState {
    /// The full bucket that a missing one stands for.
    #[must_use]
    pub fn full(policy: &Policy, now: UnixMillis) -> Self {
        let scale = policy.scale();
        Self { t: scale.full, ts: now, iv: scale.unit, hold: None }
    }

    /// The end of the hold, if one is in force at `now`.
    #[must_use]
    pub fn held_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.hold.filter(|until| *until > now)
    }

    /// Whole tokens in the bucket, 0 while in debt.
    #[must_use]
    pub fn whole_tokens(&self) -> u32 {
        u32::try_from(self.t / self.iv.max(1)).unwrap_or(0)
    }
}

/// The state at `now`: rescaled if the policy has changed, refilled, an ended hold forgotten.
pub(crate) fn refill(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> BucketState {
    let Some(state) = state else {
        return BucketState::full(policy, now);
    };
    let scale = policy.scale();
    let level = if state.iv == scale.unit { state.t } else { rescale(state, policy) };
    let elapsed = i64::try_from(now.since(state.ts)).unwrap_or(i64::MAX);
    let gained = elapsed.saturating_mul(scale.tokens);
    BucketState {
        t: level.saturating_add(gained).min(scale.full),
        ts: state.ts.max(now),
        iv: scale.unit,
        hold: state.held_until(now),
    }
}

/// The level carried over to a changed policy: the same number of tokens, never more than the new
/// burst, never a debt, so that nobody waits longer than one full refill.
pub(crate) fn rescale(state: &BucketState, policy: &Policy) -> i64 {
    let scale = policy.scale();
    let units = i128::from(state.t) * i128::from(scale.unit);
    let level = units.div_euclid(i128::from(state.iv.max(1)));
    i64::try_from(level.clamp(0, i128::from(scale.full))).expect("clamped to an i64")
}

/// The bucket as it is at `now`: refilled, an ended hold forgotten. For readers; every other
/// function does it by itself.
#[must_use]
pub fn current(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> BucketState {
    refill(state, policy, now)
}

/// The moment at which the bucket is full if nothing is taken: from then on tokens are wasted.
#[must_use]
pub fn full_at(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> UnixMillis {
    let state = refill(state, policy, now);
    let missing = policy.scale().full - state.t;
    state.ts.plus(ms_for(missing, policy.scale().tokens))
}

/// How long a stored state must be kept, in milliseconds from `now`: time to full (and to the end
/// of a hold) plus one interval. After it a missing bucket means the same.
#[must_use]
pub fn ttl_ms(state: &BucketState, policy: &Policy, now: UnixMillis) -> u64 {
    let to_full = full_at(Some(state), policy, now).since(now);
    let to_open = state.held_until(now).map_or(0, |until| until.since(now));
    to_full.max(to_open).saturating_add(policy.interval_ms())
}
