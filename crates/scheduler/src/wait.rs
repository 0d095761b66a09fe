use waitless_bucket::{BucketState, Policy, UnixMillis, wait_for_requests_ms};

/// Milliseconds until the last of `requests` requests of one token each may go, if each goes as
/// soon as it may.
///
/// Counted from the moment at which a held bucket opens: until then it gains no more than its
/// burst, while a sum that starts now would spend what it gains beyond that.
pub(crate) fn wait_for_last_ms(
    state: Option<&BucketState>,
    policy: &Policy,
    requests: u64,
    now: UnixMillis,
) -> u64 {
    let opens_at = state.and_then(|state| state.held_until(now)).unwrap_or(now);
    let from_there_ms = wait_for_requests_ms(state, policy, requests, opens_at);
    opens_at.since(now).saturating_add(from_there_ms)
}
