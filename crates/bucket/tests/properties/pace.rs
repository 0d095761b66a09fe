use proptest::prelude::*;
use waitless_bucket::{
    BucketState, CLEAN_ANSWERS, Cost, Decision, Pace, Policy, SLOWER_MAX, UnixMillis, accept,
    charge, effective, evaluate, reject, release, wait_ms,
};

use crate::{
    policies::{any_policies, official_and},
    script::{START, TestResult, assert_within_bound, few_cases, stored_state},
};

const HOUR_MS: u64 = 3_600_000;

/// Something that happens to a bucket.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// Requests that go as soon as they may, and are taken.
    Taken { requests: u8, remaining: Option<u32> },
    /// One that goes as soon as it may, and is refused.
    Refused { wait_ms: Option<u64>, is_refunded: bool },
    /// An answer to a request of long ago.
    Late { is_taken: bool },
    /// An answer that cost more.
    Charged { tokens: u32 },
    /// Somebody opens it.
    Released,
    /// Nothing, for so many thousandths of a token's time.
    Idle { permille: u64 },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let wait_ms = prop::option::of(prop_oneof![0..100_000_u64, 0..90_000_000_u64]);
    let event = prop_oneof![
        8 => (prop_oneof![1..4_u8, 1..60_u8], prop::option::weighted(0.3, 0..40_u32))
            .prop_map(|(requests, remaining)| Event::Taken { requests, remaining }),
        8 => (wait_ms, any::<bool>())
            .prop_map(|(wait_ms, is_refunded)| Event::Refused { wait_ms, is_refunded }),
        2 => any::<bool>().prop_map(|is_taken| Event::Late { is_taken }),
        1 => (1..20_u32).prop_map(|tokens| Event::Charged { tokens }),
        1 => Just(Event::Released),
        3 => (0..30_000_u64).prop_map(|permille| Event::Idle { permille }),
    ];
    prop::collection::vec(event, 1..40)
}

/// A bucket in use.
struct Played {
    policy: Policy,
    now: UnixMillis,
    state: Option<BucketState>,
    /// What it let through, without what came back.
    spent: Vec<(UnixMillis, Cost)>,
}

impl Played {
    fn new(policy: Policy) -> Self {
        Self { policy, now: START, state: None, spent: Vec::new() }
    }

    /// Sends a request as soon as it may go, and its answer comes at once.
    fn send(&mut self) -> UnixMillis {
        self.now = self.now.plus(wait_ms(self.state.as_ref(), &self.policy, Cost::ONE, self.now));
        let decision = evaluate(self.state.as_ref(), &self.policy, Cost::ONE, self.now);
        let Decision::Allowed { state, .. } = decision else {
            panic!("{}: woke too early: {decision:?}", self.policy)
        };
        self.state = Some(state);
        let sent_at = self.now;
        self.spent.push((sent_at, Cost::ONE));
        // Beyond the time for which permits live, so that each refusal is an incident of its own.
        self.now = self.now.plus(self.policy.grant_ttl_ms() + 1);
        sent_at
    }

    fn accepted(&mut self, remaining: Option<u32>) {
        let sent_at = self.send();
        self.hear_accepted(remaining, sent_at);
    }

    fn hear_accepted(&mut self, remaining: Option<u32>, sent_at: UnixMillis) {
        let (state, policy) = (self.state.as_ref(), &self.policy);
        self.state = Some(accept(state, policy, remaining, 0, sent_at, self.now));
    }

    fn refused(&mut self, wait_ms: Option<u64>, refund: Option<Cost>) {
        let sent_at = self.send();
        if refund.is_some() {
            self.spent.pop();
        }
        self.hear_refused(wait_ms, refund, sent_at);
    }

    fn hear_refused(&mut self, wait_ms: Option<u64>, refund: Option<Cost>, sent_at: UnixMillis) {
        let until = wait_ms.map(|wait_ms| self.now.plus(wait_ms));
        let (state, policy) = (self.state.as_ref(), &self.policy);
        self.state = Some(reject(state, policy, until, refund, sent_at, self.now));
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Taken { requests, remaining } => {
                (0..requests).for_each(|_| self.accepted(remaining));
            }
            Event::Refused { wait_ms, is_refunded } => {
                self.refused(wait_ms, is_refunded.then_some(Cost::ONE));
            }
            Event::Late { is_taken: true } => self.hear_accepted(None, START),
            Event::Late { is_taken: false } => self.hear_refused(None, None, START),
            Event::Charged { tokens } => {
                let cost = Cost::new(tokens).expect("at least 1");
                self.state = Some(charge(self.state.as_ref(), &self.policy, cost, self.now));
            }
            Event::Released => {
                self.state = Some(release(self.state.as_ref(), &self.policy, self.now));
            }
            Event::Idle { permille } => {
                self.now = self.now.plus(self.policy.token_ms() * permille / 1_000);
            }
        }
    }

    fn pace(&self) -> Option<Pace> {
        self.state.and_then(|state| state.pace)
    }

    /// Permille by which it is slower than published.
    fn slower(&self) -> u16 {
        self.pace().map_or(0, |pace| pace.slower)
    }

    fn interval_ms(&self) -> u64 {
        effective(self.state.as_ref(), &self.policy).interval_ms()
    }

    fn hold_ms(&self) -> u64 {
        let state = self.state.expect("it was used");
        state.held_until(self.now).map_or(0, |until| until.since(self.now))
    }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn whatever_answers_say_no_window_grants_more_than_burst_and_the_published_rate(
        events in events(),
        random in any_policies(),
    ) {
        for policy in official_and(&random).into_iter().step_by(7) {
            let mut played = Played::new(policy);
            events.iter().for_each(|event| played.play(*event));
            assert_within_bound(&policy, &played.spent)?;
        }
    }

    #[test]
    fn a_pace_stays_within_its_bounds(events in events(), random in any_policies()) {
        for policy in official_and(&random).into_iter().step_by(7) {
            let mut played = Played::new(policy);
            for event in &events {
                played.play(*event);
                if let Some(pace) = played.pace() {
                    assert_bounded(&pace)?;
                }
                let (interval_ms, published_ms) = (played.interval_ms(), policy.interval_ms());
                prop_assert!((published_ms..=published_ms * 4).contains(&interval_ms));
            }
        }
    }

    #[test]
    fn a_refusal_that_changes_the_pace_leaves_one_token_at_the_end_of_its_hold(
        stored in stored_state(),
        hold_ms in prop::option::of(1..600_000_u64),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let stored = stored.open().of(&policy);
            let state = BucketState { t: stored.t.max(0), ..stored };
            let until = hold_ms.map(|hold_ms| START.plus(hold_ms));
            let refused = reject(Some(&state), &policy, until, None, START, START);
            let opens_at = START.plus(wait_ms(Some(&refused), &policy, Cost::ONE, START));
            prop_assert!(refused.hold.is_none_or(|until| opens_at >= until));
            let Decision::Allowed { state: taken, .. } =
                evaluate(Some(&refused), &policy, Cost::ONE, opens_at)
            else {
                return Err(TestCaseError::fail("a wake at wait_ms succeeds"));
            };
            let wait_ms = wait_ms(Some(&taken), &policy, Cost::ONE, opens_at);
            prop_assert!(wait_ms > 0, "{policy}: two at the end of the hold");
        }
    }

    #[test]
    fn a_pace_that_changes_makes_no_token_and_forgets_no_debt(
        stored in stored_state(),
        random in any_policies(),
    ) {
        for policy in official_and(&random) {
            let state = BucketState { hold: None, ..stored.of(&policy) };
            let before = waitless_bucket::current(Some(&state), &policy, START);
            let sent_at = START.plus(1_000_000_000);
            let after = [
                release(Some(&state), &policy, START),
                accept(Some(&state), &policy, None, 0, sent_at, START),
            ];
            for after in after {
                let (was, is) = (i128::from(before.t), i128::from(after.t));
                let (unit_was, unit_is) = (i128::from(before.iv), i128::from(after.iv));
                prop_assert!(is * unit_was <= was * unit_is, "{before:?} to {after:?}");
                prop_assert!((is + 1) * unit_was > was * unit_is, "{before:?} to {after:?}");
            }
        }
    }
}

fn assert_bounded(pace: &Pace) -> TestResult {
    prop_assert!(pace.slower.max(pace.proven) <= SLOWER_MAX, "{pace:?}");
    prop_assert!(pace.slower == 0 || pace.proven == 0, "{pace:?}");
    prop_assert!(pace.streak < CLEAN_ANSWERS, "{pace:?}");
    Ok(())
}

fn minutely() -> Played {
    Played::new("1/min burst 1 margin 0".parse().expect("a limit"))
}

fn accept_all(played: &mut Played, answers: u8) {
    (0..answers).for_each(|_| played.accepted(None));
}

#[test]
fn one_refusal_is_weather() {
    let mut played = minutely();
    played.refused(None, None);
    assert_eq!((played.slower(), played.hold_ms()), (0, 60_000));
    accept_all(&mut played, CLEAN_ANSWERS - 1);
    assert_ne!(played.pace(), None, "one answer is missing until it is forgotten");
    accept_all(&mut played, 1);
    assert_eq!(played.pace(), None);
    played.refused(None, None);
    assert_eq!(played.slower(), 0);
}

#[test]
fn refusals_that_keep_coming_make_the_interval_a_sixteenth_longer_each_time_up_to_fourfold() {
    let mut played = minutely();
    played.refused(None, None);
    let mut intervals = Vec::new();
    for _ in 0..30 {
        accept_all(&mut played, CLEAN_ANSWERS - 1);
        played.refused(None, None);
        intervals.push(played.interval_ms());
    }
    assert_eq!(intervals[..4], [63_780, 67_800, 72_060, 76_620]);
    assert_eq!(intervals[29], 240_000);
    let slow: Policy = "1/63780ms burst 1 margin 0".parse().expect("a limit");
    assert_eq!(slow.interval_ms(), intervals[0], "this is how it is written");
}

#[test]
fn of_requests_that_were_under_way_together_one_refusal_counts() {
    let mut played = minutely();
    played.refused(None, None);
    accept_all(&mut played, 3);
    let sent_at = played.send();
    played.hear_refused(None, None, sent_at);
    let slower = played.slower();
    assert_ne!(slower, 0);
    played.now = played.now.plus(700);
    for _ in 0..20 {
        played.hear_refused(None, None, sent_at);
        played.hear_accepted(None, sent_at);
    }
    let pace = played.pace().expect("it was refused");
    assert_eq!((pace.slower, pace.streak, pace.refusals), (slower, 0, 1));
    assert_eq!(played.hold_ms(), played.interval_ms(), "the hold is as long from the last one");
    played.hear_refused(Some(12 * HOUR_MS), None, sent_at);
    assert_eq!(played.hold_ms(), 12 * HOUR_MS);
}

#[test]
fn an_upstream_that_stays_closed_is_asked_ever_less_often_and_says_nothing_of_its_rate() {
    let mut played = minutely();
    let mut holds = Vec::new();
    for _ in 0..9 {
        played.refused(None, None);
        holds.push(played.hold_ms() / 60_000);
    }
    assert_eq!(holds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert_eq!(played.slower(), 0);
    accept_all(&mut played, 1);
    played.refused(None, None);
    assert_eq!(played.hold_ms(), played.interval_ms(), "the count began anew");

    let mut daily = Played::new("2/d burst 2 margin 0".parse().expect("a limit"));
    daily.refused(None, None);
    assert_eq!(daily.hold_ms(), 24 * HOUR_MS, "an interval that is longer than an hour is kept to");
    daily.refused(None, None);
    assert_eq!(daily.hold_ms(), 24 * HOUR_MS);
}

#[test]
fn a_pace_that_has_proven_itself_is_left_for_the_published_one_and_returned_to_at_a_refusal() {
    let mut played = minutely();
    played.refused(None, None);
    accept_all(&mut played, 1);
    played.refused(None, None);
    assert_eq!(played.interval_ms(), 63_780);
    accept_all(&mut played, CLEAN_ANSWERS);
    assert_eq!(played.interval_ms(), 60_000, "the published one is tried");
    accept_all(&mut played, CLEAN_ANSWERS - 1);
    played.refused(None, None);
    assert_eq!(played.interval_ms(), 63_780, "and not one that is slower still");
    accept_all(&mut played, CLEAN_ANSWERS);
    assert_eq!(played.interval_ms(), 60_000);
    accept_all(&mut played, CLEAN_ANSWERS);
    assert_eq!(played.pace(), None, "everything is forgotten");
}

#[test]
fn whoever_opens_a_bucket_sets_it_to_the_published_pace() {
    let mut played = minutely();
    played.refused(None, None);
    accept_all(&mut played, 1);
    played.refused(None, None);
    played.play(Event::Released);
    assert_eq!((played.pace(), played.hold_ms()), (None, 0));
}

#[test]
fn the_largest_policies_stay_as_they_are_published() {
    let policy = Policy::from_parts(1, 1 << 51, 1, 0).expect("exactly 2^51 units");
    let mut played = Played::new(policy);
    played.refused(Some(0), None);
    accept_all(&mut played, 1);
    played.refused(Some(0), None);
    assert_ne!(played.slower(), 0);
    assert_eq!(effective(played.state.as_ref(), &policy), policy);
}
