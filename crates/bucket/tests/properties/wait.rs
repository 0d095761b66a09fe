use proptest::prelude::*;
use waitless_bucket::{
    AllDecision, BucketState, Cost, Decision, Draw, Policy, UnixMillis, charge, evaluate,
    evaluate_all, wait_ms,
};

use crate::{
    policies::{any_policies, any_policy, official_and},
    script::{START, StoredState, TestResult, cost_at, cost_permille, few_cases, stored_state},
};

fn is_allowed(state: Option<&BucketState>, policy: &Policy, cost: Cost, now: UnixMillis) -> bool {
    matches!(evaluate(state, policy, cost, now), Decision::Allowed { .. })
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_wait_is_minimal_to_the_millisecond(
        stored in prop::collection::vec(stored_state(), 8),
        cost_permille in cost_permille(),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let cost = cost_at(&policy, cost_permille);
            for state in stored.iter().map(|stored| stored.of(&policy)) {
                let wait_ms = wait_ms(Some(&state), &policy, cost, START);
                let at_wake = START.plus(wait_ms);
                prop_assert!(
                    is_allowed(Some(&state), &policy, cost, at_wake),
                    "{policy}: refused after {wait_ms} ms, {state:?}"
                );
                if wait_ms > 0 {
                    prop_assert_eq!(
                        evaluate(Some(&state), &policy, cost, UnixMillis(at_wake.0 - 1)),
                        Decision::Denied { wait_ms: 1 },
                        "{} {:?}", policy, state
                    );
                }
            }
        }
    }

    #[test]
    fn a_denial_changes_nothing_and_the_wait_counts_down(
        stored in stored_state(),
        cost_permille in cost_permille(),
        asked_permille in prop::collection::vec(0..1_000_u64, 4),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let (state, cost) = (stored.of(&policy), cost_at(&policy, cost_permille));
            let Decision::Denied { wait_ms } = evaluate(Some(&state), &policy, cost, START) else {
                continue;
            };
            for asked_ms in asked_permille.iter().map(|permille| wait_ms / 1_000 * permille) {
                prop_assert_eq!(
                    evaluate(Some(&state), &policy, cost, START.plus(asked_ms)),
                    Decision::Denied { wait_ms: wait_ms - asked_ms }
                );
            }
        }
    }

    #[test]
    fn a_clock_that_steps_back_adds_exactly_its_step_to_the_wait(
        stored in stored_state(),
        step_back_ms in prop_oneof![1..300_000_u64, Just(3_600_000)],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = BucketState { ts: START, ..stored.open().of(&policy) };
            let before = wait_ms(Some(&state), &policy, Cost::ONE, START);
            let back = UnixMillis(START.0 - i64::try_from(step_back_ms).expect("an hour"));
            let after = wait_ms(Some(&state), &policy, Cost::ONE, back);
            prop_assert_eq!(after, if before == 0 { 0 } else { before + step_back_ms });
        }
    }

    #[test]
    fn the_wait_of_a_debt_is_exact(
        charged in 0..500_u32,
        cost_permille in cost_permille(),
        random in any_policies(),
    ) {
        let no_margin = |policy: Policy| policy.with_margin_ms(0).expect("a smaller margin");
        for policy in official_and(&random).into_iter().map(no_margin) {
            let cost = cost_at(&policy, cost_permille);
            let debt = Cost::new(policy.burst() + charged).expect("at least 1");
            let state = charge(None, &policy, debt, START);
            let missing = u64::from(charged + cost.tokens()) * policy.interval_ms();
            prop_assert_eq!(
                evaluate(Some(&state), &policy, cost, START),
                Decision::Denied { wait_ms: missing.div_ceil(u64::from(policy.tokens())) }
            );
        }
    }

    #[test]
    fn a_cost_above_the_burst_is_never_granted(
        stored in stored_state(),
        above in prop_oneof![1..5_u32, Just(u32::MAX)],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let cost = Cost::new(policy.burst().saturating_add(above)).expect("at least 1");
            let state = stored.of(&policy);
            for state in [None, Some(&state)] {
                for now in [START, START.plus(policy.time_to_full_ms()), UnixMillis(i64::MAX)] {
                    let denied = Decision::Denied { wait_ms: u64::MAX };
                    prop_assert_eq!(evaluate(state, &policy, cost, now), denied);
                }
                let draws = [
                    Draw { state: None, policy: &policy, cost: Cost::ONE },
                    Draw { state, policy: &policy, cost },
                ];
                let denied = AllDecision::Denied { wait_ms: u64::MAX, binding: 1 };
                prop_assert_eq!(evaluate_all(&draws, START), denied);
            }
        }
    }

    #[test]
    fn several_buckets_are_taken_all_or_none_and_the_longest_wait_binds(
        drawn in prop::collection::vec(draw(), 1..5),
        random in any_policies(),
    ) {
        let policies = official_and(&random);
        // Each policy takes its turn as the first of the draws.
        for turn in 0..policies.len() {
            let owned: Vec<_> = drawn
                .iter()
                .enumerate()
                .map(|(index, (stored, cost_permille, offset))| {
                    let skip = if index == 0 { 0 } else { *offset };
                    let policy = policies[(turn + skip) % policies.len()];
                    let state = stored.map(|stored| stored.of(&policy));
                    (state, policy, cost_at(&policy, *cost_permille))
                })
                .collect();
            let draws: Vec<_> = owned
                .iter()
                .map(|(state, policy, cost)| Draw { state: state.as_ref(), policy, cost: *cost })
                .collect();
            assert_all_or_none(&draws)?;
        }
    }

    #[test]
    fn a_missing_bucket_behaves_as_a_full_one(
        age_ms in prop_oneof![Just(0), 0..4_000_000_i64],
        cost_permille in cost_permille(),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let full = BucketState::full(&policy, UnixMillis(START.0 - age_ms));
            let cost = cost_at(&policy, cost_permille);
            let missing = evaluate(None, &policy, cost, START);
            prop_assert!(is_allowed(None, &policy, cost, START));
            prop_assert_eq!(missing, evaluate(Some(&full), &policy, cost, START));
        }
    }
}

proptest! {
    #[test]
    fn a_wait_is_minimal_on_random_policies(
        policy in any_policy(),
        stored in stored_state(),
        cost_permille in cost_permille(),
    ) {
        let (state, cost) = (stored.of(&policy), cost_at(&policy, cost_permille));
        let at_wake = START.plus(wait_ms(Some(&state), &policy, cost, START));
        prop_assert!(is_allowed(Some(&state), &policy, cost, at_wake));
        let before = UnixMillis(at_wake.0 - 1);
        prop_assert!(at_wake == START || !is_allowed(Some(&state), &policy, cost, before));
    }
}

fn draw() -> impl Strategy<Value = (Option<StoredState>, u64, usize)> {
    (prop::option::weighted(0.8, stored_state()), cost_permille(), 0..1_000_usize)
}

/// The answer for all of the draws is what the answers for each of them add up to.
fn assert_all_or_none(draws: &[Draw<'_>]) -> TestResult {
    let alone = |now| -> Vec<_> {
        draws.iter().map(|draw| evaluate(draw.state, draw.policy, draw.cost, now)).collect()
    };
    match evaluate_all(draws, START) {
        AllDecision::Allowed(states) => {
            let states: Vec<_> = states.into_iter().map(Some).collect();
            let taken: Vec<_> = alone(START)
                .into_iter()
                .map(|decision| match decision {
                    Decision::Allowed { state, .. } => Some(state),
                    Decision::Denied { .. } => None,
                })
                .collect();
            prop_assert_eq!(states, taken);
        }
        AllDecision::Denied { wait_ms, binding } => {
            let waits: Vec<_> = alone(START)
                .into_iter()
                .map(|decision| match decision {
                    Decision::Allowed { .. } => 0,
                    Decision::Denied { wait_ms } => wait_ms,
                })
                .collect();
            prop_assert_eq!(Some(&wait_ms), waits.iter().max());
            prop_assert_eq!(Some(binding), waits.iter().position(|wait| *wait == wait_ms));

            let at_wake = evaluate_all(draws, START.plus(wait_ms));
            prop_assert!(matches!(at_wake, AllDecision::Allowed(_)), "woke to {:?}", at_wake);
            let before = evaluate_all(draws, START.plus(wait_ms - 1));
            prop_assert!(
                matches!(before, AllDecision::Denied { wait_ms: 1, .. }),
                "one millisecond earlier: {:?}",
                before
            );
        }
    }
    Ok(())
}

#[test]
fn no_draws_at_all_are_allowed() {
    assert_eq!(evaluate_all(&[], START), AllDecision::Allowed(Vec::new()));
}

#[test]
fn the_first_of_equal_waits_binds() {
    let policy: Policy = "1/min burst 1 margin 0".parse().expect("a limit");
    let spent = charge(None, &policy, Cost::ONE, START);
    let full = Draw { state: None, policy: &policy, cost: Cost::ONE };
    let empty = Draw { state: Some(&spent), ..full };
    let denied = AllDecision::Denied { wait_ms: 60_000, binding: 1 };
    assert_eq!(evaluate_all(&[full, empty, empty], START), denied);
}

#[test]
fn an_impossible_cost_does_not_overflow_the_largest_bucket_in_debt() {
    let policy = Policy::from_parts(1, 1 << 51, 1, 0).expect("exactly 2^51 units");
    let most = Cost::new(u32::MAX).expect("not 0");
    let state = charge(Some(&charge(None, &policy, most, START)), &policy, most, START);
    let draws = [Draw { state: Some(&state), policy: &policy, cost: most }];
    let denied = AllDecision::Denied { wait_ms: u64::MAX, binding: 0 };
    assert_eq!(evaluate_all(&draws, START), denied);
    // A debt is cut off at 2^51 units; the token itself is another 2^51.
    assert_eq!(wait_ms(Some(&state), &policy, Cost::ONE, START), 1 << 52);
}
