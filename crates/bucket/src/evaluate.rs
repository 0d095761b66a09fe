use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::{
    BucketState, Policy, UnixMillis,
    policy::{Scale, ms_for},
    state::refill,
};

/// How many tokens one request takes; at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(NonZeroU32);

impl Cost {
    /// One token, the cost of nearly every request.
    pub const ONE: Self = Self(NonZeroU32::MIN);

    /// A cost of `tokens`; `None` for 0.
    #[must_use]
    pub fn new(tokens: u32) -> Option<Self> {
        NonZeroU32::new(tokens).map(Self)
    }

    /// The number of tokens.
    #[must_use]
    pub fn tokens(self) -> u32 {
        self.0.get()
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::ONE
    }
}

/// The answer of [`evaluate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The tokens are taken once `state` is stored.
    Allowed {
        /// The bucket after the take.
        state: BucketState,
        /// Whole tokens left.
        remaining: u32,
    },
    /// Not now. Nothing is to be stored.
    Denied {
        /// The shortest wait in milliseconds after which the same request succeeds if nobody else
        /// takes from the bucket; `u64::MAX` for a cost above the burst.
        wait_ms: u64,
    },
}

/// May a request of this cost go now, and what is the bucket then?
///
/// `None` for the state means a bucket that is not stored, which is full.
#[must_use]
pub fn evaluate(
    state: Option<&BucketState>,
    policy: &Policy,
    cost: Cost,
    now: UnixMillis,
) -> Decision {
    let (current, scale) = refill(state, policy, now);
    match wait_from(&current, &scale, policy, cost, now) {
        0 => {
            let state = take(current, &scale, cost);
            Decision::Allowed { state, remaining: state.whole_tokens() }
        }
        wait_ms => Decision::Denied { wait_ms },
    }
}

/// The shortest wait in milliseconds for a request of this cost; 0 if it may go now, `u64::MAX` if
/// the cost is above the burst and no wait will ever do.
#[must_use]
pub fn wait_ms(state: Option<&BucketState>, policy: &Policy, cost: Cost, now: UnixMillis) -> u64 {
    let (current, scale) = refill(state, policy, now);
    wait_from(&current, &scale, policy, cost, now)
}

/// The shortest wait in milliseconds after which the last of `requests` requests of one token each
/// may go, if each goes as soon as it may. Unlike [`wait_ms`] this looks beyond the burst: it is
/// what an ETA adds up.
#[must_use]
pub fn wait_for_requests_ms(
    state: Option<&BucketState>,
    policy: &Policy,
    requests: u64,
    now: UnixMillis,
) -> u64 {
    // Counted from the moment at which a held bucket opens: until then it gains no more than its
    // burst, and a sum from now on would spend what it gains beyond that.
    let opens_at = state.and_then(|state| state.held_until(now)).unwrap_or(now);
    let (current, scale) = refill(state, policy, opens_at);
    let level = i128::from(if requests > 1 { current.t.min(scale.settled_max) } else { current.t });
    let missing = i128::from(requests) * i128::from(scale.unit) - level;
    let tokens = i128::from(scale.tokens);
    let for_tokens = if missing > 0 {
        let refill_ms = u64::try_from((missing + tokens - 1) / tokens).unwrap_or(u64::MAX);
        current.ts.since(opens_at).saturating_add(refill_ms)
    } else {
        0
    };
    opens_at.since(now).saturating_add(for_tokens)
}

/// One bucket of a request that draws on several.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// The stored state, `None` for a full bucket.
    pub state: Option<&'a BucketState>,
    /// Its policy.
    pub policy: &'a Policy,
    /// Tokens the request takes from it.
    pub cost: Cost,
}

/// The answer of [`evaluate_all`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllDecision {
    /// Every bucket has enough: the new states, in the order of the draws.
    Allowed(Vec<BucketState>),
    /// At least one has not; nothing is taken from any.
    Denied {
        /// The longest of the waits, in milliseconds.
        wait_ms: u64,
        /// Index of the draw that makes the request wait longest.
        binding: usize,
    },
}

/// May a request that draws on all of these buckets go now? All or none.
///
/// The draws must name different buckets: two draws on one bucket would be decided without
/// knowledge of each other. No draws at all are allowed at once.
#[must_use]
pub fn evaluate_all(draws: &[Draw<'_>], now: UnixMillis) -> AllDecision {
    let mut states = Vec::with_capacity(draws.len());
    let mut longest = (0, 0);
    for (index, draw) in draws.iter().enumerate() {
        let (current, scale) = refill(draw.state, draw.policy, now);
        let wait_ms = wait_from(&current, &scale, draw.policy, draw.cost, now);
        if wait_ms > longest.0 {
            longest = (wait_ms, index);
        }
        states.push(take(current, &scale, draw.cost));
    }
    match longest {
        (0, _) => AllDecision::Allowed(states),
        (wait_ms, binding) => AllDecision::Denied { wait_ms, binding },
    }
}

fn wait_from(
    current: &BucketState,
    scale: &Scale,
    policy: &Policy,
    cost: Cost,
    now: UnixMillis,
) -> u64 {
    if cost.tokens() > policy.burst() {
        return u64::MAX;
    }
    let needed = i64::from(cost.tokens()) * scale.unit;
    let for_tokens = if current.t >= needed {
        0
    } else {
        // Refill starts at `ts`, which is ahead of `now` after the clock has stepped back.
        current.ts.since(now).saturating_add(ms_for(needed - current.t, scale.tokens))
    };
    let for_hold = current.held_until(now).map_or(0, |until| until.since(now));
    for_tokens.max(for_hold)
}

fn take(current: BucketState, scale: &Scale, cost: Cost) -> BucketState {
    let needed = i64::from(cost.tokens()).saturating_mul(scale.unit);
    // Saturates for `evaluate_all`, which takes from every bucket before it knows whether one of
    // them refuses: a cost far above the burst is no reason to panic.
    BucketState { t: current.t.min(scale.settled_max).saturating_sub(needed), ..current }
}
