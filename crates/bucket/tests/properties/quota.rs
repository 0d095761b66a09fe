use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Patience, Policy, Quota, UnixMillis, current, evaluate, peek,
    ttl_ms, wait_ms, wait_or_refuse,
};

use crate::{
    policies::{any_policies, official_and},
    script::{START, cost_at, cost_permille, few_cases, stored_state, take_one},
};

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn peek_agrees_with_evaluate(
        stored in prop::collection::vec(stored_state(), 8),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            for state in stored.iter().map(|stored| stored.of(&policy)) {
                let quota = peek(Some(&state), &policy, START);
                prop_assert_eq!(quota.capacity, policy.burst());
                prop_assert_eq!(quota.used + quota.remaining, quota.capacity);
                prop_assert_eq!(quota.held_until, state.held_until(START));

                let open = BucketState { hold: None, ..state };
                if let Some(cost) = Cost::new(quota.remaining) {
                    prop_assert_eq!(wait_ms(Some(&open), &policy, cost, START), 0);
                }
                let one_more = Cost::new(quota.remaining + 1).expect("at least 1");
                prop_assert!(wait_ms(Some(&open), &policy, one_more, START) > 0);

                match evaluate(Some(&state), &policy, Cost::ONE, START) {
                    Decision::Denied { wait_ms } => {
                        prop_assert_eq!(quota.next_token_in_ms, wait_ms);
                    }
                    Decision::Allowed { state, remaining } => {
                        prop_assert_eq!(quota.next_token_in_ms, 0);
                        prop_assert_eq!(peek(Some(&state), &policy, START).remaining, remaining);
                    }
                }
            }
        }
    }

    #[test]
    fn a_bucket_is_full_when_peek_says_so_and_not_before(
        stored in stored_state(),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = stored.of(&policy);
            let resets_in_ms = peek(Some(&state), &policy, START).resets_in_ms;
            let at_full = peek(Some(&state), &policy, START.plus(resets_in_ms));
            prop_assert_eq!((at_full.remaining, at_full.resets_in_ms), (policy.burst(), 0));
            if resets_in_ms > 0 {
                let before = peek(Some(&state), &policy, START.plus(resets_in_ms - 1));
                prop_assert_eq!(before.resets_in_ms, 1);
                prop_assert!(before.remaining < policy.burst());
            }
        }
    }

    #[test]
    fn after_its_ttl_a_state_answers_exactly_as_a_missing_one(
        stored in stored_state(),
        cost_permille in cost_permille(),
        later_ms in prop_oneof![Just(0), 0..10_000_000_u64],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            prop_assert!(
                stored.of(&policy).pace.is_none()
                    || ttl_ms(&stored.of(&policy), &policy, START) == u64::MAX,
                "a missing bucket knows no pace"
            );
            let stored = stored.as_published();
            let (state, cost) = (stored.of(&policy), cost_at(&policy, cost_permille));
            let ttl_ms = ttl_ms(&state, &policy, START);
            let later = START.plus(ttl_ms + later_ms);
            prop_assert_eq!(
                evaluate(Some(&state), &policy, cost, later),
                evaluate(None, &policy, cost, later)
            );
            prop_assert_eq!(peek(Some(&state), &policy, later), peek(None, &policy, later));

            // Only the interval on top is generous.
            if let Some(before_ms) = (ttl_ms - policy.interval_ms()).checked_sub(1) {
                let before = START.plus(before_ms);
                let refilled = current(Some(&state), &policy, before);
                prop_assert!(
                    state.held_until(before).is_some()
                        || refilled != BucketState::full(&policy, before),
                    "{policy}: {state:?} might be forgotten after {before_ms} ms"
                );
            }
        }
    }

    #[test]
    fn a_lone_caller_of_a_single_token_policy_never_meets_the_ceiling(
        random in any_policies(),
    ) {
        let slow = |policy: &Policy| u64::from(policy.margin_ms()) <= policy.interval_ms();
        let single = |policy: &Policy| policy.tokens() == 1;
        for policy in official_and(&random).into_iter().filter(single).filter(slow) {
            let (mut now, mut state) = (START, None);
            for _ in 0..policy.burst() + 3 {
                let wait_ms = wait_ms(state.as_ref(), &policy, Cost::ONE, now);
                let patience = wait_or_refuse(wait_ms, 0, policy.wait_ceiling_ms());
                prop_assert_eq!(patience, Patience::Wait { wait_ms }, "{}", policy);
                take_one(&mut state, &policy, &mut now);
            }
        }
    }
}

proptest! {
    #[test]
    fn a_caller_waits_up_to_the_ceiling_and_is_then_told_when_to_return(
        wait_ms in prop_oneof![0..200_000_u64, Just(u64::MAX)],
        waited_ms in 0..200_000_u64,
        ceiling_ms in prop_oneof![Just(120_000_u64), 0..200_000_u64],
    ) {
        match wait_or_refuse(wait_ms, waited_ms, ceiling_ms) {
            Patience::Wait { wait_ms: waits } => {
                prop_assert_eq!(waits, wait_ms);
                prop_assert!(waited_ms + wait_ms <= ceiling_ms);
            }
            Patience::Refuse { retry_after_seconds } => {
                prop_assert!(waited_ms.saturating_add(wait_ms) > ceiling_ms);
                let seconds = u128::from(retry_after_seconds);
                prop_assert!(seconds >= 1 && seconds * 1_000 >= u128::from(wait_ms));
                prop_assert!(seconds == 1 || (seconds - 1) * 1_000 < u128::from(wait_ms));
            }
        }
    }
}

#[test]
fn the_ceiling_is_two_intervals_for_a_single_token_and_one_otherwise() {
    let ceiling_ms = |text: &str| text.parse::<Policy>().expect("a limit").wait_ceiling_ms();
    assert_eq!(ceiling_ms("1/min burst 10"), 120_000);
    assert_eq!(ceiling_ms("3/min burst 1"), 60_000);
    let policy: Policy = "1/min burst 1 margin 60ms".parse().expect("a limit");
    assert_eq!(
        wait_or_refuse(120_001, 0, policy.wait_ceiling_ms()),
        Patience::Refuse { retry_after_seconds: 121 }
    );
}

#[test]
fn a_quota_is_read_as_a_whole() {
    let policy: Policy = "1/min burst 10 margin 0".parse().expect("a limit");
    let state = BucketState {
        t: 150_000,
        ts: START,
        iv: 60_000,
        hold: Some(START.plus(45_000)),
        pace: None,
    };
    assert_eq!(
        peek(Some(&state), &policy, START.plus(1_000)),
        Quota {
            capacity: 10,
            used: 8,
            remaining: 2,
            resets_in_ms: 449_000,
            next_token_in_ms: 44_000,
            held_until: Some(UnixMillis(START.0 + 45_000)),
        }
    );
}
