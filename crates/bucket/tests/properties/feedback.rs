use std::collections::BTreeMap;

use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Policy, UnixMillis, charge, current, effective, evaluate, hold,
    late, observe_remaining, refund, reject, release, wait_ms,
};

use crate::{
    policies::{any_policies, official, official_and},
    script::{
        START, Step, TestResult, cost_at, cost_permille, few_cases, play, script, stored_state,
    },
    strict_upstream::StrictUpstream,
};

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_charge_takes_its_cost_whatever_the_level_is(
        stored in stored_state(),
        tokens in 1..300_u32,
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = stored.of(&policy);
            let before = current(Some(&state), &policy, START);
            let after = charge(Some(&state), &policy, Cost::new(tokens).expect("at least 1"), START);
            prop_assert_eq!(after.t, before.t - i64::from(tokens) * after.iv);
            prop_assert_eq!(after.hold, state.held_until(START));
        }
    }

    #[test]
    fn a_request_that_waited_for_its_connection_makes_none_after_it_come_too_soon(
        late_ms in 1..5_000_u64,
        answered_ms in 0..200_u64,
        requests in 2..8_u32,
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let mut upstream = StrictUpstream::new(&policy);
            let Decision::Allowed { state, .. } = evaluate(None, &policy, Cost::ONE, START) else {
                unreachable!("a full bucket grants")
            };
            let arrival = START.plus(late_ms);
            prop_assert!(upstream.arrive(arrival, Cost::ONE).accepted);
            let mut now = arrival.plus(answered_ms);
            let mut state = late(Some(&state), &policy, late_ms, now);
            // The connection is kept: whatever follows is there at once.
            for _ in 0..requests {
                now = now.plus(wait_ms(Some(&state), &policy, Cost::ONE, now));
                let Decision::Allowed { state: next, .. } =
                    evaluate(Some(&state), &policy, Cost::ONE, now)
                else {
                    unreachable!("the wait is over")
                };
                state = next;
                prop_assert!(upstream.arrive(now, Cost::ONE).accepted, "{}", policy);
            }
        }
    }

    #[test]
    fn a_refund_undoes_a_charge_and_never_lifts_above_full(
        stored in stored_state(),
        charged in 1..300_u32,
        more in 1..300_u32,
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = stored.of(&policy);
            let before = refund(Some(&state), &policy, Cost::ONE, START);
            let charged = Cost::new(charged).expect("at least 1");
            let more = Cost::new(more).expect("at least 1");
            let after = charge(Some(&before), &policy, charged, START);
            prop_assert_eq!(refund(Some(&after), &policy, charged, START), before);
            let full = |policy: &Policy| BucketState::full(policy, START).t;
            let slower = effective(Some(&state), &policy);
            prop_assert!(refund(Some(&after), &policy, more, START).t <= full(&slower));
            prop_assert_eq!(refund(None, &policy, more, START).t, full(&policy));
        }
    }

    #[test]
    fn a_hold_closes_the_bucket_and_keeps_the_level(
        stored in stored_state(),
        hold_ms in 1..600_000_u64,
        cost_permille in cost_permille(),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let (state, cost) = (stored.open().of(&policy), cost_at(&policy, cost_permille));
            let held = hold(Some(&state), &policy, START.plus(hold_ms), START);
            let for_tokens_ms = wait_ms(Some(&state), &policy, cost, START);
            prop_assert_eq!(
                wait_ms(Some(&held), &policy, cost, START),
                for_tokens_ms.max(hold_ms)
            );
            let before = current(Some(&state), &policy, START);
            let still_held = BucketState { hold: Some(START.plus(hold_ms)), ..before };
            prop_assert_eq!(current(Some(&held), &policy, START), still_held);
            // A debt goes with the hold.
            let published = stored.as_published().open().of(&policy);
            let before = current(Some(&published), &policy, START);
            let held_too = hold(Some(&published), &policy, START.plus(hold_ms), START);
            let opened = release(Some(&held_too), &policy, START);
            prop_assert_eq!(opened, BucketState { t: before.t.max(0), ..before });
            // Refill goes on behind the hold.
            let later = START.plus(hold_ms);
            prop_assert_eq!(
                evaluate(Some(&held), &policy, cost, later),
                evaluate(Some(&state), &policy, cost, later)
            );
        }
    }

    #[test]
    fn the_longer_hold_wins_in_either_order(
        one_ms in 0..600_000_u64,
        other_ms in 0..600_000_u64,
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let hold_for = |state: Option<&BucketState>, ms| hold(state, &policy, START.plus(ms), START);
            let both = hold_for(Some(&hold_for(None, one_ms)), other_ms);
            let longer_ms = one_ms.max(other_ms);
            prop_assert_eq!(both.held_until(START), (longer_ms > 0).then(|| START.plus(longer_ms)));
            prop_assert_eq!(both, hold_for(Some(&hold_for(None, other_ms)), one_ms));
        }
    }

    #[test]
    fn observing_never_raises_the_level(
        stored in stored_state(),
        remaining in prop_oneof![0..30_u32, Just(u32::MAX)],
        in_flight in prop_oneof![0..30_u32, Just(u32::MAX)],
        flight_ms in prop_oneof![0..10_000_u64, Just(u64::MAX)],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = stored.of(&policy);
            let sent_at = UnixMillis(START.0.saturating_sub_unsigned(flight_ms));
            let seen =
                observe_remaining(Some(&state), &policy, remaining, in_flight, sent_at, START);
            let unseen = current(Some(&state), &policy, START);
            prop_assert!(seen.t <= unseen.t);
            prop_assert_eq!(
                BucketState { t: unseen.t, hold: unseen.hold, ..seen },
                unseen,
                "nothing but the level changes"
            );
            prop_assert_eq!(seen.hold, state.held_until(START));
        }
    }

    #[test]
    fn a_refused_bucket_holds_one_token_at_the_end_of_its_hold(
        stored in stored_state(),
        hold_ms in 1..600_000_u64,
        is_refunded: bool,
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            // Not in a debt that is deeper than the hold is long.
            let state = BucketState { t: stored.open().of(&policy).t.max(0), ..stored.open().of(&policy) };
            let until = START.plus(hold_ms);
            let cost = is_refunded.then_some(Cost::ONE);
            let refused = reject(Some(&state), &policy, Some(until), cost, START, START);
            prop_assert_eq!(refused.hold, Some(until));
            let wait = |state: &BucketState, at| wait_ms(Some(state), &policy, Cost::ONE, at);
            prop_assert!(wait(&refused, START) >= hold_ms);
            // From empty it may take longer than the hold until a token is there.
            let open_at = START.plus(wait(&refused, START));
            let Decision::Allowed { state: taken, .. } =
                evaluate(Some(&refused), &policy, Cost::ONE, open_at)
            else {
                return Err(TestCaseError::fail("a wake at wait_ms succeeds"));
            };
            prop_assert!(wait(&taken, open_at) > 0, "{policy}: two at the end of the hold");
            let opened = release(Some(&refused), &policy, START);
            prop_assert_eq!(opened.hold, None);
            prop_assert!(wait(&opened, START) <= policy.token_ms());
        }
    }

    #[test]
    fn answers_of_an_upstream_that_we_use_alone_change_nothing(
        script in script(40),
        base_permille in prop_oneof![Just(0), 0..3_000_u64],
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let base_ms = policy.token_ms() * base_permille / 1_000;
            assert_answers_change_nothing(&script, &policy, base_ms)?;
        }
    }

    #[test]
    fn a_hidden_client_is_noticed_within_one_token(
        script in script(40),
        taken_permille in prop::collection::vec(cost_permille(), 40),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let (mut now, mut state) = (START, None::<BucketState>);
            let mut upstream = StrictUpstream::new(&policy);
            for (step, taken_permille) in script.iter().zip(&taken_permille) {
                now = now.plus(step.gap_ms(&policy));
                upstream.arrive(now, cost_at(&policy, *taken_permille));
                let cost = step.cost(&policy);
                let Decision::Allowed { state: taken, .. } =
                    evaluate(state.as_ref(), &policy, cost, now)
                else {
                    continue;
                };
                let answer = upstream.arrive(now, cost);
                let seen =
                    observe_remaining(Some(&taken), &policy, answer.remaining, 0, now, now);
                let (ours, unit) = (i128::from(seen.t), i128::from(seen.iv));
                let interval_ms = i128::from(policy.interval_ms());
                prop_assert!(
                    ours * interval_ms < (upstream.level(now) + interval_ms) * unit,
                    "{policy}: {seen:?} is a token above the upstream's {}", upstream.level(now)
                );
                prop_assert!(
                    seen.t == taken.t
                        || ours * interval_ms > (upstream.level(now) - interval_ms) * unit,
                    "{policy}: {seen:?} is a token below the upstream's {}", upstream.level(now)
                );
                prop_assert!(
                    seen.t == taken.t || ours * interval_ms <= upstream.level(now) * unit,
                    "{policy}: lowered to {seen:?}, above the upstream's {}", upstream.level(now)
                );
                state = Some(seen);
            }
        }
    }
}

enum Event {
    Send { rank: usize, cost: Cost },
    Answer { rank: usize, remaining: u32, sent_at: UnixMillis },
}

/// Plays one script against a strict upstream that nobody else uses, whose answers come back after
/// a random while, and lowers one of two buckets to what the answers prove.
fn assert_answers_change_nothing(script: &[Step], policy: &Policy, base_ms: u64) -> TestResult {
    let jitter_ms = u64::from(policy.margin_ms());
    let mut arrivals: Vec<_> = play(script, policy, None)
        .into_iter()
        .map(|grant| (grant.at.plus(base_ms + grant.step.lag_ms(jitter_ms)), grant))
        .collect();
    arrivals.sort_by_key(|(at, _)| *at);

    let mut upstream = StrictUpstream::new(policy);
    let mut events = BTreeMap::<_, Event>::new();
    for (rank, (arrived_at, grant)) in arrivals.into_iter().enumerate() {
        let answer = upstream.arrive(arrived_at, grant.cost);
        prop_assert!(answer.accepted, "{policy}: refused at {arrived_at}");
        events.insert((grant.at, 0, rank), Event::Send { rank, cost: grant.cost });
        let answered_at = arrived_at.plus(grant.step.lag_ms(policy.token_ms()));
        let remaining = answer.remaining;
        events.insert((answered_at, 1, rank), Event::Answer { rank, remaining, sent_at: grant.at });
    }

    let (mut alone, mut observing) = (None::<BucketState>, None::<BucketState>);
    let mut sent = Vec::new();
    for ((now, ..), event) in events {
        match event {
            Event::Send { rank, cost } => {
                let decision = evaluate(alone.as_ref(), policy, cost, now);
                prop_assert_eq!(decision, evaluate(observing.as_ref(), policy, cost, now));
                let Decision::Allowed { state, .. } = decision else {
                    return Err(TestCaseError::fail("the same script is granted the same"));
                };
                (alone, observing) = (Some(state), Some(state));
                sent.push((rank, cost.tokens()));
            }
            Event::Answer { rank, remaining, sent_at } => {
                let not_counted = sent.iter().filter(|(other, _)| *other > rank);
                let in_flight = not_counted.map(|(_, tokens)| tokens).sum();
                for in_flight in [0, in_flight] {
                    let seen = observe_remaining(
                        observing.as_ref(),
                        policy,
                        remaining,
                        in_flight,
                        sent_at,
                        now,
                    );
                    let unseen = current(alone.as_ref(), policy, now);
                    prop_assert_eq!(
                        seen,
                        unseen,
                        "{}: {} left, {} on their way",
                        policy,
                        remaining,
                        in_flight
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_request_that_the_answer_has_counted_is_not_in_flight() {
    // Two are sent together and arrive the other way round. The answer to the later arrival comes
    // first; it has counted both, so nothing is on its way that it does not know.
    let policy: Policy = "1/min burst 10 margin 0".parse().expect("a limit");
    let two = charge(None, &policy, Cost::new(2).expect("not 0"), START);
    let observe = |in_flight| observe_remaining(Some(&two), &policy, 8, in_flight, START, START);
    assert_eq!(observe(0), two);
    assert!(observe(1).t < two.t);
}

#[test]
fn one_refusal_is_enough_to_learn_that_a_hidden_client_emptied_the_bucket() {
    for policy in official(60) {
        let mut upstream = StrictUpstream::new(&policy);
        let all = Cost::new(policy.burst()).expect("at least 1");
        assert!(upstream.arrive(START, all).accepted);
        let Decision::Allowed { state, .. } = evaluate(None, &policy, Cost::ONE, START) else {
            panic!("{policy}: we believe that it is full")
        };
        let answer = upstream.arrive(START, Cost::ONE);
        assert!(!answer.accepted);
        let seen = observe_remaining(Some(&state), &policy, answer.remaining, 0, START, START);
        assert_ne!(wait_ms(Some(&seen), &policy, Cost::ONE, START), 0, "{policy}");
    }
}
