use serde::{Deserialize, Serialize};

use crate::{
    Pace, Policy, UnixMillis,
    policy::{Scale, ms_for},
};

/// Deepest debt in units; far beyond any real one, it keeps sums exact.
pub(crate) const DEBT_MAX: i64 = 1 << 51;

/// What is stored of a bucket. A bucket that is not stored is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BucketState {
    /// Level in units of one token / `iv`; below zero while the bucket is in debt.
    pub t: i64,
    /// The moment up to which `t` is refilled. Never moves back: a clock that stepped back refills
    /// nothing until it has caught up, where setting `ts` to an earlier moment would pay for the
    /// same time twice.
    pub ts: UnixMillis,
    /// Units of one token when `t` was written. Another value in the [`effective`] policy means that
    /// the policy has changed, and `t` is rescaled.
    pub iv: i64,
    /// Closed until then because the upstream said so. A field of its own: a refill time in the
    /// future would forget the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<UnixMillis>,
    /// What refusals have taught of how fast it may go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

impl BucketState {
    /// The full bucket that a missing one stands for.
    #[must_use]
    pub fn full(policy: &Policy, now: UnixMillis) -> Self {
        let scale = policy.scale();
        Self { t: scale.full, ts: now, iv: scale.unit, hold: None, pace: None }
    }

    /// The end of the hold, if one is in force at `now`.
    #[must_use]
    pub fn held_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.hold.filter(|until| *until > now)
    }

    /// The moment from which it grants if it has the tokens: that of its level, or the end of its hold.
    pub(crate) fn grants_from(&self) -> UnixMillis {
        self.hold.map_or(self.ts, |until| until.max(self.ts))
    }

    /// Whole tokens in the bucket, 0 while in debt.
    #[must_use]
    pub fn whole_tokens(&self) -> u32 {
        u32::try_from(self.t / self.iv.max(1)).unwrap_or(0)
    }
}

/// The policy that a bucket keeps to: its own, with an interval that is longer while the bucket has
/// learnt to go slower than that. What is told to people, and what sums over a policy's numbers
/// count with; the functions of this crate take the published policy and see to it themselves.
#[must_use]
pub fn effective(state: Option<&BucketState>, policy: &Policy) -> Policy {
    match state.and_then(|state| state.pace) {
        Some(pace) => pace.stretch(policy),
        None => *policy,
    }
}

/// The state at `now`: rescaled if the policy has changed, refilled, an ended hold forgotten; with
/// the numbers of the effective policy, so that nobody counts with those of the published one.
pub(crate) fn refill(
    state: Option<&BucketState>,
    policy: &Policy,
    now: UnixMillis,
) -> (BucketState, Scale) {
    let scale = *effective(state, policy).scale();
    let Some(state) = state else {
        return (BucketState::full(policy, now), scale);
    };
    let level = if state.iv == scale.unit { state.t } else { rescale(state, &scale) };
    let gained = gains(&scale, state.ts, now);
    let refilled = BucketState {
        t: level.saturating_add(gained).min(scale.full),
        ts: state.ts.max(now),
        iv: scale.unit,
        hold: state.held_until(now),
        pace: state.pace,
    };
    (refilled, scale)
}

/// What a bucket gains from one moment to another, in units.
pub(crate) fn gains(scale: &Scale, from: UnixMillis, to: UnixMillis) -> i64 {
    i64::try_from(to.since(from)).unwrap_or(i64::MAX).saturating_mul(scale.tokens)
}

/// The level carried over to a changed policy where the old one is not known: what is gained until
/// the end of a hold is counted at the new rate.
fn rescale(state: &BucketState, scale: &Scale) -> i64 {
    let gained = gains(scale, state.ts, state.grants_from());
    carry_over(level_in(state, scale.unit).saturating_add(gained), state, scale)
}

/// The level of `state` under a changed policy, from its level in the new units at the moment from
/// which it grants.
///
/// Never more than the new burst, or than one token at the end of a hold: the upstream has refused,
/// and that we know other numbers now is nothing to it. A debt stays, but the next token is never
/// further off than one full refill: a debt that was counted in wrong numbers may be of any depth.
pub(crate) fn carry_over(level: i64, state: &BucketState, scale: &Scale) -> i64 {
    let most = if state.hold.is_some() { scale.unit } else { scale.full };
    let level = level.clamp(scale.unit - scale.full, most);
    level.saturating_sub(gains(scale, state.ts, state.grants_from())).max(-DEBT_MAX)
}

/// The same number of tokens in other units, rounded down.
pub(crate) fn level_in(state: &BucketState, unit: i64) -> i64 {
    let units = i128::from(state.t) * i128::from(unit);
    let level = units.div_euclid(i128::from(state.iv.max(1)));
    i64::try_from(level).unwrap_or(if level < 0 { i64::MIN } else { i64::MAX })
}

/// The bucket as it is at `now`: refilled, an ended hold forgotten. For readers; every other
/// function does it by itself.
#[must_use]
pub fn current(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> BucketState {
    refill(state, policy, now).0
}

/// The moment at which the bucket is full if nothing is taken: from then on tokens are wasted.
#[must_use]
pub fn full_at(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> UnixMillis {
    let (state, scale) = refill(state, policy, now);
    state.ts.plus(ms_for(scale.full - state.t, scale.tokens))
}

/// How long a stored state must be kept, in milliseconds from `now`: time to full (and to the end
/// of a hold) plus one interval. After it a missing bucket means the same. `u64::MAX` for a bucket
/// with a pace: a missing one knows none.
#[must_use]
pub fn ttl_ms(state: &BucketState, policy: &Policy, now: UnixMillis) -> u64 {
    if state.pace.is_some() {
        return u64::MAX;
    }
    let to_full = full_at(Some(state), policy, now).since(now);
    let to_open = state.held_until(now).map_or(0, |until| until.since(now));
    to_full.max(to_open).saturating_add(policy.interval_ms())
}
