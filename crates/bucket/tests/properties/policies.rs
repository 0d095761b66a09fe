use proptest::prelude::*;
use waitless_bucket::Policy;

const TABLE: &str = include_str!("../wildberries_policies.tsv");

/// None, the default, one that no interval divides by, and one beyond many burst tolerances.
const MARGINS_MS: [u32; 4] = [0, 60, 7, 997];

/// The official limits with this margin.
pub(crate) fn official(margin_ms: u32) -> Vec<Policy> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| {
            let mut columns = line.split('\t').map(|column| column.parse().expect("a number"));
            let mut next = || columns.next().expect("three columns");
            let (interval_ms, burst): (u64, u64) = (next(), next());
            let burst = u32::try_from(burst).expect("a small number");
            Policy::from_parts(1, interval_ms, burst, margin_ms).expect("an official limit")
        })
        .collect()
}

/// The official limits with every margin, and then the random ones. A property loops over all of
/// them, so that none depends on being drawn.
pub(crate) fn official_and(random: &[Policy]) -> Vec<Policy> {
    let mut policies: Vec<_> = MARGINS_MS.into_iter().flat_map(official).collect();
    policies.extend_from_slice(random);
    policies
}

/// Any limit within reason: several tokens per interval, intervals that no token divides, margins
/// beyond the burst tolerance.
pub(crate) fn any_policy() -> impl Strategy<Value = Policy> {
    let tokens = prop_oneof![Just(1_u32), 2..20_u32, 20..2_000_u32];
    let interval_ms = prop_oneof![1..50_u64, 50..5_000_u64, 5_000..90_000_000_u64];
    let burst = prop_oneof![Just(1_u32), 2..5_u32, 5..200_u32];
    let margin_ms = prop_oneof![Just(0_u32), Just(60), 1..200_u32, 200..5_000_u32];
    (tokens, interval_ms, burst, margin_ms).prop_map(|(tokens, interval_ms, burst, margin_ms)| {
        Policy::from_parts(tokens, interval_ms, burst, margin_ms).expect("far below 2^51 units")
    })
}

pub(crate) fn any_policies() -> impl Strategy<Value = Vec<Policy>> {
    prop::collection::vec(any_policy(), 24)
}

/// Time for one token in milliseconds, rounded up, by division alone.
pub(crate) fn exact_token_ms(policy: &Policy) -> u64 {
    policy.interval_ms().div_ceil(u64::from(policy.tokens()))
}

/// Milliseconds that the burst may run ahead of the rate, times `tokens`.
fn tolerance(policy: &Policy) -> u64 {
    u64::from(policy.burst() - 1) * policy.interval_ms()
}

fn margin(policy: &Policy) -> u64 {
    u64::from(policy.margin_ms()) * u64::from(policy.tokens())
}

/// The margin is larger than the whole burst tolerance.
pub(crate) fn margin_exceeds_tolerance(policy: &Policy) -> bool {
    margin(policy) > tolerance(policy)
}

/// The margin leaves at least one millisecond of the burst tolerance. With less, a token that is
/// due between two milliseconds is granted on the second one and the fraction is lost.
pub(crate) fn tolerance_outlives_margin(policy: &Policy) -> bool {
    margin(policy) + u64::from(policy.tokens()) <= tolerance(policy) + 1
}

#[test]
fn the_table_holds_every_official_limit_once() {
    let mut policies = official(0);
    assert_eq!(policies.len(), 55);
    assert!(policies.iter().any(|policy| policy.to_string() == "1/200ms burst 20 margin 0ms"));
    policies.sort_by_key(|policy| (policy.interval_ms(), policy.burst()));
    policies.dedup();
    assert_eq!(policies.len(), 55);
}
