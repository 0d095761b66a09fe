//! What the upstream's answers do to a bucket.

use crate::{
    BucketState, Cost, Pace, Policy, UnixMillis,
    state::{DEBT_MAX, carry_over, effective, gains, level_in, refill},
};

/// Takes tokens whatever the level is: an answer can cost more than its request did (Wildberries'
/// marketplace methods count any 4XX as ten requests). The level may go below zero.
#[must_use]
pub fn charge(
    state: Option<&BucketState>,
    policy: &Policy,
    cost: Cost,
    now: UnixMillis,
) -> BucketState {
    let (current, scale) = refill(state, policy, now);
    let units = i64::from(cost.tokens()).saturating_mul(scale.unit);
    BucketState { t: current.t.saturating_sub(units).max(-DEBT_MAX), ..current }
}

/// A request reached the upstream `late_ms` milliseconds later than it was sent. Its tokens began to
/// come back there so much later than here, and what the bucket has gained in that time is taken off
/// again: else the next request might follow at the upstream by so much too soon.
///
/// Where the bucket was not full when they were taken, both gained all the while, and this takes off
/// what need not be: at most one connection's time, once.
#[must_use]
pub fn late(
    state: Option<&BucketState>,
    policy: &Policy,
    late_ms: u64,
    now: UnixMillis,
) -> BucketState {
    let (current, scale) = refill(state, policy, now);
    let gained = gains(&scale, now, now.plus(late_ms));
    BucketState { t: current.t.saturating_sub(gained).max(-DEBT_MAX), ..current }
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
    let (current, scale) = refill(state, policy, now);
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
    let (current, scale) = refill(state, policy, now);
    let gained = gains(&scale, taken_at, now);
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
    let (current, _) = refill(state, policy, now);
    let until = current.hold.map_or(until, |earlier| earlier.max(until));
    BucketState { hold: Some(until).filter(|until| *until > now), ..current }
}

/// Opens a held bucket before its time, and forgets its pace. The debt that a refusal left in it, so
/// that it would hold one token at the end of the hold, goes with the hold; the level of a bucket
/// that is not held stays as it is.
#[must_use]
pub fn release(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> BucketState {
    let (current, _) = refill(state, policy, now);
    let t = if current.hold.is_some() { current.t.max(0) } else { current.t };
    with_pace(&BucketState { t, hold: None, ..current }, policy, None)
}

/// The upstream took a request that was sent at `sent_at`. Teaches the bucket that its pace is good,
/// and lowers its level to what the answer proves, if it says how many tokens are left
/// ([`observe_remaining`]).
#[must_use]
pub fn accept(
    state: Option<&BucketState>,
    policy: &Policy,
    remaining: Option<u32>,
    in_flight: u32,
    sent_at: UnixMillis,
    now: UnixMillis,
) -> BucketState {
    let seen = match remaining {
        Some(remaining) => observe_remaining(state, policy, remaining, in_flight, sent_at, now),
        None => refill(state, policy, now).0,
    };
    match seen.pace {
        Some(pace) => with_pace(&seen, policy, pace.accepted(policy, sent_at)),
        None => seen,
    }
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
    let (current, scale) = refill(state, policy, now);
    let tokens = i64::from(remaining) + 1 - i64::from(in_flight);
    let most = tokens
        .saturating_mul(scale.unit)
        .saturating_sub(1)
        .saturating_add(gains(&scale, sent_at, now));
    if current.t <= most {
        return current;
    }
    BucketState { t: most.saturating_add(1).saturating_sub(scale.unit).max(-DEBT_MAX), ..current }
}

/// The upstream refused a request that was sent at `sent_at`, and takes the next one at `until`.
/// Closes the bucket until then and lowers its level to what that says: one token by then. Were the
/// level left as it was, all jobs that it allows would go at once when the hold ends, and all but the
/// first be refused.
///
/// `None` for an answer that names no moment: the bucket then waits one interval, doubled for each
/// further refusal in a row, up to an hour but never less than one interval.
///
/// A refusal that comes soon after another makes the bucket's pace slower ([`effective`]).
///
/// `refund` gives the refused request's tokens back first, where the upstream did not charge it.
///
/// [`effective`]: crate::effective
#[must_use]
pub fn reject(
    state: Option<&BucketState>,
    policy: &Policy,
    until: Option<UnixMillis>,
    refunded: Option<Cost>,
    sent_at: UnixMillis,
    now: UnixMillis,
) -> BucketState {
    let current = match refunded {
        Some(cost) => refund(state, policy, cost, now),
        None => refill(state, policy, now).0,
    };
    let pace = Pace::refused(current.pace, policy, sent_at, now);
    let until = until.unwrap_or_else(|| now.plus(pace.unnamed_wait_ms(policy)));
    // In this order: what the level is lowered to is counted at the pace of the time until then.
    let paced = with_pace(&current, policy, Some(pace));
    let (paced, scale) = refill(Some(&paced), policy, now);
    let most = scale.unit.saturating_sub(gains(&scale, now, until)).max(-DEBT_MAX);
    hold(Some(&BucketState { t: paced.t.min(most), ..paced }), policy, until, now)
}

/// The same bucket at another pace: the same number of tokens, or the same debt, in the units of the
/// policy that it now keeps to. Unlike a changed policy a pace forgives nothing: a refused bucket's
/// debt is what keeps it from sending more than one request when its hold ends.
fn with_pace(current: &BucketState, policy: &Policy, pace: Option<Pace>) -> BucketState {
    let paced = BucketState { pace, ..*current };
    let unit = effective(Some(&paced), policy).scale().unit;
    BucketState { t: level_in(current, unit).max(-DEBT_MAX), iv: unit, ..paced }
}

/// Carries a bucket over to a changed policy: refilled under the old one up to `now`, then the same
/// number of tokens under the new one. Never more than the new burst; a debt stays, but the next token
/// is never further off than one full refill. The pace is forgotten: it was learnt under the old
/// numbers.
///
/// A hold stays, too, and of a held bucket it is the level at the end of the hold that is carried over,
/// one token at most. Were that of `now` carried over, a burst would go at once at the end of a hold
/// during which somebody has set limits anew, and all but the first request be refused.
#[must_use]
pub fn change_policy(
    state: &BucketState,
    old: &Policy,
    new: &Policy,
    now: UnixMillis,
) -> BucketState {
    let (current, _) = refill(Some(state), old, now);
    let (opening, _) = refill(Some(&current), old, current.grants_from());
    let scale = new.scale();
    let t = carry_over(level_in(&opening, scale.unit), &current, scale);
    BucketState { t, iv: scale.unit, pace: None, ..current }
}
