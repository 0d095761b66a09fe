use proptest::prelude::*;
use waitless_bucket::{BucketState, Policy};

use crate::{
    policies::{
        any_policies, exact_token_ms, margin_exceeds_tolerance, official, official_and,
        tolerance_outlives_margin,
    },
    script::{START, few_cases, take_one},
};

/// Moments, in milliseconds from the first, at which a full bucket lets requests through that are
/// always there.
fn greedy(policy: &Policy, requests: u64) -> Vec<u64> {
    let (mut now, mut state) = (START, None::<BucketState>);
    let take = |_| {
        take_one(&mut state, policy, &mut now);
        now.since(START)
    };
    (0..requests).map(take).collect()
}

/// Enough requests to see the burst and what follows it.
fn requests(policy: &Policy) -> u64 {
    u64::from(policy.burst()) + 40
}

#[test]
fn without_a_margin_the_burst_goes_at_once_and_then_one_per_interval() {
    for policy in official(0) {
        let burst = u64::from(policy.burst());
        let expected: Vec<_> = (1..=requests(&policy))
            .map(|nth| nth.saturating_sub(burst) * policy.interval_ms())
            .collect();
        assert_eq!(greedy(&policy, requests(&policy)), expected, "{policy}");
    }
}

#[test]
fn a_long_run_is_granted_burst_plus_elapsed_over_interval() {
    for policy in [official(0), official(60), official(7)].concat() {
        let (margin_ms, interval_ms) = (u64::from(policy.margin_ms()), policy.interval_ms());
        let spacing_ms = if policy.burst() == 1 { interval_ms + margin_ms } else { interval_ms };
        let first_ms = if policy.burst() == 1 { 0 } else { margin_ms };
        let run_ms = 1_000 * interval_ms + 1;
        let granted = greedy(&policy, 1_000 + requests(&policy))
            .into_iter()
            .filter(|ms| *ms <= run_ms)
            .count();
        let expected = u64::from(policy.burst()) + (run_ms - first_ms) / spacing_ms;
        assert_eq!(u64::try_from(granted), Ok(expected), "{policy}");
    }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn the_margin_delays_a_burst_by_itself_once_and_the_rate_not_at_all(
        random in any_policies(),
    ) {
        for policy in official_and(&random).into_iter().filter(tolerance_outlives_margin) {
            let (tokens, burst) = (u64::from(policy.tokens()), u64::from(policy.burst()));
            let margin = u64::from(policy.margin_ms()) * tokens;
            let expected: Vec<_> = (1..=requests(&policy))
                .map(|nth| {
                    let due = margin + nth * policy.interval_ms();
                    due.saturating_sub(burst * policy.interval_ms()).div_ceil(tokens)
                })
                .collect();
            prop_assert_eq!(greedy(&policy, requests(&policy)), expected, "{}", policy);
        }
    }

    #[test]
    fn with_a_burst_of_one_requests_are_spaced_interval_plus_margin(random in any_policies()) {
        for policy in official_and(&random) {
            let policy = policy.with_burst(1).expect("a smaller policy");
            let spacing_ms = exact_token_ms(&policy) + u64::from(policy.margin_ms());
            let expected: Vec<_> = (0..20).map(|nth| nth * spacing_ms).collect();
            prop_assert_eq!(greedy(&policy, 20), expected, "{}", policy);
        }
    }

    #[test]
    fn a_margin_beyond_the_tolerance_spaces_requests_by_what_exceeds_it(
        random in any_policies(),
    ) {
        for policy in official_and(&random).into_iter().filter(margin_exceeds_tolerance) {
            let tokens = u64::from(policy.tokens());
            let two_bursts_off = u64::from(policy.margin_ms()) * tokens + 2 * policy.interval_ms()
                - u64::from(policy.burst()) * policy.interval_ms();
            let spacing_ms = two_bursts_off.div_ceil(tokens);
            let expected: Vec<_> = (0..20).map(|nth| nth * spacing_ms).collect();
            prop_assert_eq!(greedy(&policy, 20), expected, "{}", policy);
        }
    }

    #[test]
    fn no_policy_finishes_before_its_bound(random in any_policies()) {
        for policy in official_and(&random) {
            for (ms, requests) in greedy(&policy, requests(&policy)).into_iter().zip(1..) {
                prop_assert!(ms >= policy.bound_ms(requests), "{policy}: {requests} in {ms} ms");
            }
        }
    }
}
