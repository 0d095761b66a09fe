use serde::Serialize;
use waitless_bucket::{BucketState, Policy, UnixMillis, wait_for_requests_ms};
use waitless_job::BucketKey;

/// Requests that are still to be made on one bucket.
#[derive(Debug, Clone)]
pub struct BucketLoad {
    /// Which bucket.
    pub bucket: BucketKey,
    /// Its policy.
    pub policy: Policy,
    /// Its stored state; `None` is a full bucket.
    pub state: Option<BucketState>,
    /// Requests still to be made.
    pub requests_left: u64,
}

/// Requests that are still to be made, as far as slots matter.
#[derive(Debug, Clone, Copy)]
pub struct SlotLoad {
    /// Slots that serve them.
    pub slots: u64,
    /// Requests still to be made on all buckets.
    pub requests_left: u64,
    /// Time that one holds its slot, in milliseconds.
    pub request_ms: u64,
}

/// When work ends by arithmetic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Eta {
    /// The moment.
    pub at: UnixMillis,
    /// What decides it.
    pub binding: Binding,
    /// What each bucket needs, the slowest first.
    pub buckets: Vec<BucketTime>,
}

/// What decides when work ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Binding {
    /// This bucket.
    Bucket {
        /// Which.
        bucket: BucketKey,
    },
    /// There are too few slots.
    Slots,
}

/// What one bucket needs for its requests if nothing else holds them up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BucketTime {
    /// Which bucket.
    pub bucket: BucketKey,
    /// Requests still to be made.
    pub requests_left: u64,
    /// Milliseconds until the last of them may go.
    pub needs_ms: u64,
    /// Closed until then because the upstream said so, which is part of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_until: Option<UnixMillis>,
}

/// When this work ends: the longest of what its buckets and its slots need, plus the time of the
/// last request. `None` if nothing is left to do.
#[must_use]
pub fn eta(loads: &[BucketLoad], slots: SlotLoad, now: UnixMillis) -> Option<Eta> {
    let mut buckets: Vec<BucketTime> = loads
        .iter()
        .filter(|load| load.requests_left > 0)
        .map(|load| BucketTime {
            bucket: load.bucket.clone(),
            requests_left: load.requests_left,
            needs_ms: wait_for_requests_ms(
                load.state.as_ref(),
                &load.policy,
                load.requests_left,
                now,
            ),
            held_until: load.state.and_then(|state| state.held_until(now)),
        })
        .collect();
    buckets.sort_by(|a, b| b.needs_ms.cmp(&a.needs_ms).then_with(|| a.bucket.cmp(&b.bucket)));
    if buckets.is_empty() && slots.requests_left == 0 {
        return None;
    }
    let slots_ms = slots.requests_left.saturating_mul(slots.request_ms) / slots.slots.max(1);
    let slowest = buckets.first();
    let (needs_ms, binding) = match slowest {
        Some(slowest) if slowest.needs_ms >= slots_ms => {
            (slowest.needs_ms, Binding::Bucket { bucket: slowest.bucket.clone() })
        }
        _ => (slots_ms, Binding::Slots),
    };
    Some(Eta { at: now.plus(needs_ms.saturating_add(slots.request_ms)), binding, buckets })
}
