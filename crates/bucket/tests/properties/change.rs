use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Policy, UnixMillis, change_policy, charge, current, effective,
    evaluate, reject, wait_ms,
};

use crate::{
    policies::{any_policies, official_and},
    script::{
        START, assert_within_bound, cost_at, cost_permille, few_cases, play, script, stored_state,
        take_one,
    },
    strict_upstream::StrictUpstream,
};

/// Every policy as the old one and, `apart` places on, as the new one.
fn changes(policies: &[Policy], apart: usize) -> impl Iterator<Item = (&Policy, &Policy)> {
    policies.iter().zip(policies.iter().cycle().skip(apart))
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_change_keeps_tokens_and_debt_within_the_new_burst(
        stored in stored_state(),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let stored = BucketState { hold: None, ..stored.of(old) };
            let before = current(Some(&stored), old, START);
            let after = change_policy(&before, old, new, START);
            let full = BucketState::full(new, START);
            prop_assert!((full.iv - full.t..=full.t).contains(&after.t), "{old} to {new}: {after:?}");
            prop_assert_eq!((after.iv, after.ts), (full.iv, before.ts));
            // So many tokens as before, to one unit, unless they are too few or too many.
            let tokens = i128::from(before.t) * i128::from(after.iv);
            let unit = i128::from(before.iv);
            let carried = i128::from(after.t) * unit;
            prop_assert!(
                (carried <= tokens && tokens < carried + unit)
                    || (tokens < carried && after.t == full.iv - full.t)
                    || (carried < tokens && after.t == full.t),
                "{old} to {new}: {before:?} became {after:?}"
            );
        }
    }

    #[test]
    fn after_a_change_no_token_is_further_off_than_one_full_refill(
        stored in stored_state(),
        cost_permille in cost_permille(),
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            let state = stored.open().of(old);
            // A request of the whole burst may have to wait for a debt besides.
            let is_in_debt = current(Some(&state), old, START).t < 0;
            let cost = if is_in_debt { Cost::ONE } else { cost_at(new, cost_permille) };
            let changed = change_policy(&state, old, new, START);
            let waits_ms = wait_ms(Some(&changed), new, cost, START);
            prop_assert!(waits_ms <= new.time_to_full_ms(), "{old} to {new}: {changed:?}");
            // The same if the store does not know the old policy: the unit of the state gives it
            // away.
            if BucketState::full(old, START).iv != BucketState::full(new, START).iv {
                let cost = if state.t < 0 { Cost::ONE } else { cost };
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

    #[test]
    fn a_changed_bucket_holds_at_most_one_token_at_the_end_of_its_hold(
        stored in stored_state(),
        hold_ms in 1..600_000_u64,
        changed_permille in 0..1_000_u64,
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        let until = START.plus(hold_ms);
        let changed_at = START.plus(hold_ms * changed_permille / 1_000);
        for (old, new) in changes(&official_and(&random), apart) {
            let state = BucketState { hold: Some(until), ..stored.of(old) };
            let token = BucketState::full(new, START).iv;
            let changed = change_policy(&state, old, new, changed_at);
            let at_end = current(Some(&changed), new, until);
            prop_assert!(at_end.t <= token, "{old} to {new}: {changed:?} became {at_end:?}");
            let again = change_policy(&changed, new, new, changed_at);
            prop_assert_eq!(again, changed, "{} to {}", old, new);
            // Under other units, that is: a pace may stretch the new ones to the very same.
            if state.iv != current(Some(&state), new, START).iv {
                let at_end = current(Some(&state), new, until);
                prop_assert!(at_end.t <= at_end.iv, "{old} to {new}: {at_end:?}");
            }
        }
    }

    #[test]
    fn limits_set_anew_while_a_bucket_is_refused_draw_no_refusal(
        changed_permille in 0..1_000_u64,
        apart in 0..1_000_usize,
        random in any_policies(),
    ) {
        for (old, new) in changes(&official_and(&random), apart) {
            // Somebody else has spent the quota, under the numbers that we are about to learn.
            let mut upstream = StrictUpstream::new(new);
            for _ in 0..new.burst() {
                prop_assert!(upstream.arrive(START, Cost::ONE).accepted);
            }
            prop_assert!(!upstream.arrive(START, Cost::ONE).accepted);
            let hold_ms = new.token_ms();
            let refused = reject(None, old, Some(START.plus(hold_ms)), None, START, START);
            let changed_at = START.plus(hold_ms * changed_permille / 1_000);
            let mut state = Some(change_policy(&refused, old, new, changed_at));
            let mut now = changed_at;
            for _ in 0..5 {
                take_one(&mut state, new, &mut now);
                prop_assert!(upstream.arrive(now, Cost::ONE).accepted, "{old} to {new} at {now}");
            }
        }
    }
}

/// As Wildberries' marketplace counts a refused request: the ten come on top of the hold.
#[test]
fn a_debt_behind_a_hold_is_still_there_after_a_change() {
    let policy = |text: &str| text.parse::<Policy>().expect("a limit");
    let old = policy("5/s burst 20 margin 0");
    let refused = reject(None, &old, Some(START.plus(60_000)), None, START, START);
    let charged = charge(Some(&refused), &old, Cost::new(10).expect("not 0"), START);
    let waits_ms =
        |state: &BucketState, limit: &Policy| wait_ms(Some(state), limit, Cost::ONE, START);
    assert_eq!(waits_ms(&charged, &old), 62_000);
    for (text, behind_ms) in [("5/s burst 30 margin 0", 2_000), ("1/s burst 20 margin 0", 10_000)] {
        let new = policy(text);
        let changed = change_policy(&charged, &old, &new, START);
        assert_eq!(waits_ms(&changed, &new), 60_000 + behind_ms, "{text}");
    }
    let new = policy("1/h burst 2 margin 0");
    let changed = change_policy(&charged, &old, &new, START);
    assert_eq!(
        waits_ms(&changed, &new),
        60_000 + 2 * 3_600_000,
        "and no longer than a full refill"
    );
}
