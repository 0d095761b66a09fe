use serde::{Deserialize, Serialize};

use crate::{
    BucketState, Cost, Policy, UnixMillis,
    evaluate::wait_ms,
    state::{full_at, refill},
};

/// A bucket as a reader sees it. Reading spends nothing, and is never a licence to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Most tokens the bucket holds.
    pub capacity: u32,
    /// `capacity - remaining`.
    pub used: u32,
    /// Whole tokens in the bucket now; a hold does not change it.
    pub remaining: u32,
    /// Milliseconds until the bucket is full.
    pub resets_in_ms: u64,
    /// Milliseconds until a request of one token may go: 0 if it may go now.
    pub next_token_in_ms: u64,
    /// Closed until then because the upstream said so.
    pub held_until: Option<UnixMillis>,
}

/// Looks at a bucket without spending.
#[must_use]
pub fn peek(state: Option<&BucketState>, policy: &Policy, now: UnixMillis) -> Quota {
    let (current, scale) = refill(state, policy, now);
    let is_full = current.t >= scale.full;
    let remaining = current.whole_tokens().min(policy.burst());
    Quota {
        capacity: policy.burst(),
        used: policy.burst() - remaining,
        remaining,
        // After the clock has stepped back `full_at` is ahead even of a full bucket: tokens are not
        // wasted before refill goes on.
        resets_in_ms: if is_full { 0 } else { full_at(state, policy, now).since(now) },
        next_token_in_ms: wait_ms(state, policy, Cost::ONE, now),
        held_until: current.held_until(now),
    }
}
