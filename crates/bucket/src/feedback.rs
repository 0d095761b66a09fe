//! What the upstream's answers do to a bucket.

use crate::{
    BucketState, Cost, Policy, UnixMillis,
    state::{refill, rescale},
};

/// Deepest debt in units; far beyond any real one, it keeps sums exact.
const DEBT_MAX: i64 = 1 << 51;

/// Takes tokens whatever the level is: an answer can cost more than its request did (Wildberries'
/// marketplace methods count any 4XX as ten requests). The level may go below zero.
#[must_use]
pub fn charge(
    state: Option<&BucketState>,
    policy: &Policy,
    cost: Cost,
    now: UnixMillis,
) -> BucketState {
    let current = refill(state, policy, now);
    let units = i64::from(cost.tokens()).saturating_mul(current.iv);
    BucketState { t: current.t.saturating_sub(units).max(-DEBT_MAX), ..current }
}

/// Gives tokens back: a permit that was not used, or a request that the upstream refused without
/// charging it. Never above full.
///
/// Give back at once or not at all: what the bucket gained between the take and the refund may have
/// been taken by somebody else already, and then the refund comes on top of burst and rate.
#[must_use]
pub fn refund(
    state: Option<&BucketState>,
    policy: &Policy,
    cost: Cost,
    now: UnixMillis,
) -> BucketState {
    let current = refill(state, policy, now);
    let scale = policy.scale();
    let units = i64::from(cost.tokens()).saturating_mul(scale.unit);
    BucketState { t: current.t.saturating_add(units).min(scale.full), ..current }
}

/// Gives back the tokens of a permit that was taken at `taken_at` and never used.
///
/// What the bucket has gained since then is kept back: without the take it might have been full, and
/// would have gained nothing. So a permit that comes back at once comes back whole, and one that
/// comes back after its tokens have grown again gives nothing; to give all of it back late would
/// let one request too many into a burst.
#[must_use]
pub fn give_back(
    state: Option<&BucketState>,
    policy: &Policy,
    cost: Cost,
    taken_at: UnixMillis,
    now: UnixMillis,
) -> BucketState {
    let current = refill(state, policy, now);
    let scale = policy.scale();
    let since_taken = i64::try_from(now.since(taken_at)).unwrap_or(i64::MAX);
    let gained = since_taken.saturating_mul(scale.tokens);
    let units = i64::from(cost.tokens()).saturating_mul(scale.unit).saturating_sub(gained).max(0);
    BucketState { t: current.t.saturating_add(units).min(scale.full), ..current }
}

/// Closes the bucket until a moment. A hold that is already longer stays.
#[must_use]
pub fn hold(
    state: Option<&BucketState>,
    policy: &Policy,
    until: UnixMillis,
    now: UnixMillis,
) -> BucketState {
    let current = refill(state, policy, now);
    let until = current.hold.map_or(until, |earlier| earlier.max(until));
    BucketState { hold: Some(until).filter(|until| *until > now), ..current }
}

/// Opens a held bucket before its time. The debt that a refusal left in it, so that it would hold
/// one token at the end of the hold, goes with the hold; the level of a bucket that is not held
/// stays as it is.
#[must_use]
pub fn release(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> BucketState {
    let current = refill(state, policy, now);
    let t = if current.hold.is_some() { current.t.max(0) } else { current.t };
    BucketState { t, hold: None, ..current }
}

/// Lowers the level to what an answer proves: the upstream counted `remaining` whole tokens left
/// when it took the request, which was sent at `sent_at` at the earliest, and `in_flight` tokens of
/// ours were still on their way to it and are not counted in `remaining`. Never raises it.
///
/// Requests overtake each other, so an unanswered request may have been counted. Where the caller
/// cannot tell, 0 is the safe number: with it an upstream that only we use never lowers the level.
///
/// An upstream that says `remaining` holds less than `remaining + 1` tokens, and a level below that
/// agrees with it: lowering to `remaining` itself would throw the started token away with every
/// answer. A level that does not agree is out of step, because somebody else spends the same quota.
/// Then how much of the next token is there is not known either, and the level is lowered to
/// `remaining`: a request too many would draw a 429.
#[must_use]
pub fn observe_remaining(
    state: Option<&BucketState>,
    policy: &Policy,
    remaining: u32,
    in_flight: u32,
    sent_at: UnixMillis,
    now: UnixMillis,
) -> BucketState {
    let current = refill(state, policy, now);
    let scale = policy.scale();
    let tokens = i64::from(remaining) + 1 - i64::from(in_flight);
    let since_sent = i64::try_from(now.since(sent_at)).unwrap_or(i64::MAX);
    let most = tokens
        .saturating_mul(scale.unit)
        .saturating_sub(1)
        .saturating_add(since_sent.saturating_mul(scale.tokens));
    if current.t <= most {
        return current;
    }
    BucketState { t: most.saturating_add(1).saturating_sub(scale.unit).max(-DEBT_MAX), ..current }
}

/// The upstream refused a request and takes the next one at `until`. Closes the bucket until then
/// and lowers its level to what that says: one token by then. Were the level left as it was, all
/// jobs that it allows would go at once when the hold ends, and all but the first be refused.
///
/// `refund` gives the refused request's tokens back first, where the upstream did not charge it.
#[must_use]
pub fn reject(
    state: Option<&BucketState>,
    policy: &Policy,
    until: UnixMillis,
    refunded: Option<Cost>,
    now: UnixMillis,
) -> BucketState {
    let current = match refunded {
        Some(cost) => refund(state, policy, cost, now),
        None => refill(state, policy, now),
    };
    let scale = policy.scale();
    let until_then = i64::try_from(until.since(now)).unwrap_or(i64::MAX);
    let most = scale.unit.saturating_sub(until_then.saturating_mul(scale.tokens)).max(-DEBT_MAX);
    hold(Some(&BucketState { t: current.t.min(most), ..current }), policy, until, now)
}

/// Carries a bucket over to a changed policy: refilled under the old one up to `now`, then the same
/// number of tokens under the new one. Never more than the new burst, and nobody waits longer than
/// one full refill (a debt is forgiven).
#[must_use]
pub fn change_policy(
    state: &BucketState,
    old: &Policy,
    new: &Policy,
    now: UnixMillis,
) -> BucketState {
    let current = refill(Some(state), old, now);
    BucketState { t: rescale(&current, new), iv: new.scale().unit, ..current }
}
