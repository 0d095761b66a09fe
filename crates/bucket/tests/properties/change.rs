use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Policy, UnixMillis, change_policy, current, effective, evaluate,
    wait_ms,
};

use crate::{
    policies::{any_policies, official_and},
    script::{
        START, assert_within_bound, cost_at, cost_permille, few_cases, play, script, stored_state,
    },
};

/// Every policy as the old one and, `apart` places on, as the new one.
fn changes(policies: &[Policy], apart: usize) -> impl Iterator<Item = (&Policy, &Policy)> {
    policies.iter().zip(policies.iter().cycle().skip(apart))
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_change_keeps_the_tokens_within_the_new_burst_and_forgives_a_debt(
        stored in stored_state(),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let before = current(Some(&stored.of(old)), old, START);
            let after = change_policy(&before, old, new, START);
            let full = BucketState::full(new, START);
            prop_assert!((0..=full.t).contains(&after.t), "{old} to {new}: {after:?}");
            prop_assert_eq!((after.iv, after.ts), (full.iv, before.ts));
            // So many tokens as before, to one unit, unless they are fewer than 0 or too many.
            let tokens = i128::from(before.t) * i128::from(after.iv);
            let unit = i128::from(before.iv);
            let carried = i128::from(after.t) * unit;
            prop_assert!(
                (carried <= tokens && tokens < carried + unit)
                    || (before.t < 0 && after.t == 0)
                    || (carried < tokens && after.t == full.t),
                "{old} to {new}: {before:?} became {after:?}"
            );
        }
    }

    #[test]
    fn after_a_change_nobody_waits_longer_than_one_full_refill(
        stored in stored_state(),
        cost_permille in cost_permille(),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let (state, cost) = (stored.open().of(old), cost_at(new, cost_permille));
            let changed = change_policy(&state, old, new, START);
            let waits_ms = wait_ms(Some(&changed), new, cost, START);
            prop_assert!(waits_ms <= new.time_to_full_ms(), "{old} to {new}: {changed:?}");
            // The same if the store does not know the old policy: the unit of the state gives it
            // away.
            if BucketState::full(old, START).iv != BucketState::full(new, START).iv {
                let waits_ms = wait_ms(Some(&state), new, cost, START);
                let to_full_ms = effective(Some(&state), new).time_to_full_ms();
                prop_assert!(waits_ms <= to_full_ms, "{old} to {new}: {state:?}");
            }
        }
    }

    #[test]
    fn a_change_never_yields_more_than_the_new_burst(
        stored in stored_state(),
        script in script(30),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let state = stored.of(old);
            let changed = change_policy(&state, old, new, START);
            for from in [changed, state] {
                let grants = play(&script, new, Some(from));
                let spent: Vec<_> = grants.iter().map(|grant| (grant.at, grant.cost)).collect();
                assert_within_bound(new, &spent)?;
            }
        }
    }

    #[test]
    fn a_change_is_carried_out_at_the_first_write_and_not_again(
        stored in stored_state(),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let state = stored.of(old);
            let once = current(Some(&state), new, START);
            let new_or_slower = effective(Some(&state), new);
            prop_assert_eq!(once.iv, BucketState::full(&new_or_slower, START).iv);
            prop_assert_eq!(current(Some(&once), new, START), once);
            let decide = |state: &BucketState| evaluate(Some(state), new, Cost::ONE, START);
            prop_assert_eq!(decide(&state), decide(&once));
        }
    }

    #[test]
    fn a_change_keeps_a_hold(hold_ms in 1..600_000_i64, apart in 0..1_000_usize) {
        for (old, new) in changes(&official_and(&[]), apart) {
            let until = UnixMillis(START.0 + hold_ms);
            let state = BucketState { hold: Some(until), ..BucketState::full(old, START) };
            let changed = change_policy(&state, old, new, START);
            prop_assert_eq!(changed.held_until(START), Some(until));
            let wait_ms = u64::try_from(hold_ms).expect("positive");
            let denied = Decision::Denied { wait_ms };
            prop_assert_eq!(evaluate(Some(&changed), new, Cost::ONE, START), denied);
        }
    }
}
