use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Policy, UnixMillis, evaluate, give_back, wait_ms,
};

use crate::{
    policies::{any_policies, any_policy, exact_token_ms, official, official_and},
    script::{
        START, Step, TestResult, assert_within_bound, cost_at, cost_permille, few_cases, play,
        script,
    },
    strict_upstream::StrictUpstream,
};

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn no_window_grants_more_than_burst_and_rate(
        script in script(60),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let grants = play(&script, &policy, None);
            let spent: Vec<_> = grants.iter().map(|grant| (grant.at, grant.cost)).collect();
            assert_within_bound(&policy, &spent)?;
        }
    }

    #[test]
    fn a_strict_upstream_rejects_nothing_that_is_late_by_at_most_the_margin(
        script in script(60),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let refused = refused_after_jitter(&script, &policy, u64::from(policy.margin_ms()));
            prop_assert!(refused.is_none(), "{policy} was refused: {refused:?}");
        }
    }

    #[test]
    fn a_clock_that_jumps_never_grants_more_than_the_largest_time_seen_allows(
        steps in prop::collection::vec((jump(), cost_permille()), 1..80),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let (mut now, mut largest, mut state) = (START, UnixMillis(i64::MIN), None::<BucketState>);
            let mut spent = Vec::new();
            for (jump, cost_permille) in &steps {
                now = UnixMillis(now.0 + jump.ms(&policy));
                largest = largest.max(now);
                let cost = cost_at(&policy, *cost_permille);
                if let Decision::Allowed { state: next, .. } =
                    evaluate(state.as_ref(), &policy, cost, now)
                {
                    prop_assert!(state.is_none_or(|state| state.ts <= next.ts), "ts moved back");
                    state = Some(next);
                    spent.push((largest, cost));
                }
            }
            assert_within_bound(&policy, &spent)?;
        }
    }

    #[test]
    fn a_burst_of_one_never_doubles_at_the_edge_of_a_window(
        script in script(60),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let policy = policy.with_burst(1).expect("a smaller policy");
            let spacing_ms = exact_token_ms(&policy) + u64::from(policy.margin_ms());
            for pair in play(&script, &policy, None).windows(2) {
                prop_assert!(pair[1].at.since(pair[0].at) >= spacing_ms, "{policy}: {pair:?}");
            }
        }
    }

    #[test]
    fn permits_that_are_given_back_add_nothing_to_any_window(
        script in script(60),
        kept in prop::collection::vec(any::<bool>(), 60),
        held_permille in prop_oneof![Just(0), 0..3_000_u64],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let held_ms = policy.token_ms() * held_permille / 1_000;
            let spent = play_with_hand_backs(&script, &kept, &policy, held_ms);
            assert_within_bound(&policy, &spent)?;
        }
    }
}

proptest! {
    #[test]
    fn the_margin_is_proven_on_random_policies(script in script(60), policy in any_policy()) {
        let refused = refused_after_jitter(&script, &policy, u64::from(policy.margin_ms()));
        prop_assert!(refused.is_none(), "{policy} was refused: {refused:?}");
    }
}

/// Sends what the script is granted, each request late by its own share of `jitter_ms`, and
/// returns the first request that the upstream rejects.
fn refused_after_jitter(script: &[Step], policy: &Policy, jitter_ms: u64) -> Option<UnixMillis> {
    let mut arrivals: Vec<_> = play(script, policy, None)
        .into_iter()
        .map(|grant| (grant.at.plus(grant.step.lag_ms(jitter_ms)), grant.cost))
        .collect();
    arrivals.sort();
    let mut upstream = StrictUpstream::new(policy);
    arrivals.into_iter().find(|(at, cost)| !upstream.arrive(*at, *cost).accepted).map(|(at, _)| at)
}

#[test]
fn without_a_margin_the_same_jitter_is_rejected() {
    let sent_late_then_in_time = |policy: Policy| {
        let mut upstream = StrictUpstream::new(&policy);
        let first = evaluate(None, &policy, Cost::ONE, START);
        let Decision::Allowed { state, .. } = first else { panic!("{first:?}") };
        upstream.arrive(START.plus(60), Cost::ONE);
        let second = wait_ms(Some(&state), &policy, Cost::ONE, START);
        upstream.arrive(START.plus(second), Cost::ONE).accepted
    };
    for policy in official(0).into_iter().filter(|policy| policy.burst() == 1) {
        assert!(!sent_late_then_in_time(policy), "{policy}");
        assert!(sent_late_then_in_time(policy.with_margin_ms(60).expect("a small margin")));
    }
}

/// A permit that was not used.
#[derive(Debug, Clone, Copy)]
struct Unused {
    taken_at: UnixMillis,
    back_at: UnixMillis,
    cost: Cost,
}

/// What is sent of a script if some of its permits are given back instead, each after a share of
/// `held_ms`.
fn play_with_hand_backs(
    script: &[Step],
    kept: &[bool],
    policy: &Policy,
    held_ms: u64,
) -> Vec<(UnixMillis, Cost)> {
    let (mut now, mut state) = (START, None::<BucketState>);
    let mut unused: Vec<Unused> = Vec::new();
    let mut spent = Vec::new();
    for (step, kept) in script.iter().zip(kept) {
        now = now.plus(step.gap_ms(policy));
        unused.sort_by_key(|permit| permit.back_at);
        let due = unused.partition_point(|permit| permit.back_at <= now);
        for Unused { taken_at, back_at, cost } in unused.drain(..due) {
            state = Some(give_back(state.as_ref(), policy, cost, taken_at, back_at));
        }
        let cost = step.cost(policy);
        if let Decision::Allowed { state: next, .. } = evaluate(state.as_ref(), policy, cost, now) {
            state = Some(next);
            if *kept {
                spent.push((now, cost));
            } else {
                let back_at = now.plus(step.lag_ms(held_ms));
                unused.push(Unused { taken_at: now, back_at, cost });
            }
        }
    }
    spent
}

#[test]
fn a_late_hand_back_adds_no_token_to_a_burst() {
    // The token refills while the permit is held and is taken by somebody else: the permit that
    // comes back then has nothing left to give, or three requests went at once on a burst of two.
    let policy: Policy = "1/s burst 2 margin 0".parse().expect("a limit");
    let at = START.plus(1_000);
    let mut state = None;
    let take = |state: &mut Option<BucketState>, now| {
        let decision = evaluate(state.as_ref(), &policy, Cost::ONE, now);
        let Decision::Allowed { state: next, .. } = decision else { panic!("{decision:?}") };
        *state = Some(next);
    };
    take(&mut state, START); // never sent
    take(&mut state, at);
    state = Some(give_back(state.as_ref(), &policy, Cost::ONE, START, at));
    take(&mut state, at);
    assert_eq!(wait_ms(state.as_ref(), &policy, Cost::ONE, at), 1_000);
    // One that comes back at once comes back whole.
    let before = state;
    take(&mut state, at.plus(1_000));
    let back = give_back(state.as_ref(), &policy, Cost::ONE, at.plus(1_000), at.plus(1_000));
    assert_eq!(back, waitless_bucket::current(before.as_ref(), &policy, at.plus(1_000)));
}

/// How far a clock moves between two requests.
#[derive(Debug, Clone, Copy)]
enum Jump {
    Ms(i64),
    TokensPermille(i64),
}

impl Jump {
    fn ms(self, policy: &Policy) -> i64 {
        match self {
            Self::Ms(ms) => ms,
            Self::TokensPermille(permille) => {
                i64::try_from(policy.token_ms()).expect("below a year") * permille / 1_000
            }
        }
    }
}

fn jump() -> impl Strategy<Value = Jump> {
    const MINUTE: i64 = 60_000;
    prop_oneof![
        3 => Just(Jump::Ms(0)),
        2 => (-3..=3_i64).prop_map(Jump::Ms),
        4 => (-1_500..=3_000_i64).prop_map(Jump::TokensPermille),
        1 => prop_oneof![Just(-5 * MINUTE), Just(5 * MINUTE)].prop_map(Jump::Ms),
        1 => (-12..=12_i64).prop_map(|hours| Jump::Ms(hours * 60 * MINUTE)),
    ]
}

#[test]
fn two_workers_whose_clocks_differ_by_five_minutes_share_one_limit() {
    let policy: Policy = "1/min burst 1 margin 0".parse().expect("a limit");
    for skew_ms in [300_000, -300_000] {
        let (mut state, mut granted) = (None::<BucketState>, 0);
        for second in 0..3_600 {
            let skew_ms = if second % 2 == 0 { 0 } else { skew_ms };
            let now = UnixMillis(START.0 + second * 1_000 + skew_ms);
            if let Decision::Allowed { state: next, .. } =
                evaluate(state.as_ref(), &policy, Cost::ONE, now)
            {
                state = Some(next);
                granted += 1;
            }
        }
        assert!((60..=65).contains(&granted), "{granted} in an hour, skew {skew_ms} ms");
    }
}

#[test]
fn the_bound_itself_notices_one_token_too_many() -> TestResult {
    let policy: Policy = "1/s burst 2 margin 0".parse().expect("a limit");
    let at = |ms| (START.plus(ms), Cost::ONE);
    assert_within_bound(&policy, &[at(0), at(0), at(1_000)])?;
    assert!(assert_within_bound(&policy, &[at(0), at(0), at(999)]).is_err());
    Ok(())
}
