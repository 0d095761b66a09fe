use proptest::{prelude::*, test_runner::TestCaseError};
use waitless_bucket::{
    BucketState, CLEAN_ANSWERS, Cost, Decision, Pace, Policy, SLOWER_MAX, UnixMillis, effective,
    evaluate,
};

pub(crate) const START: UnixMillis = UnixMillis(1_790_000_000_000);

/// Each property runs over some 240 policies per case.
pub(crate) fn few_cases() -> ProptestConfig {
    ProptestConfig::with_cases(32)
}

pub(crate) type TestResult = Result<(), TestCaseError>;

/// A request of a random script, in proportions that fit any policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    gap_permille: u64,
    gap_ms: u64,
    /// Does it wait when it is refused, or go away?
    patient: bool,
    cost_permille: u64,
    lag_permille: u64,
}

impl Step {
    /// Pause before the request: part of a token's time and some odd milliseconds.
    pub(crate) fn gap_ms(&self, policy: &Policy) -> u64 {
        policy.token_ms() * self.gap_permille / 1_000 + self.gap_ms
    }

    pub(crate) fn cost(&self, policy: &Policy) -> Cost {
        cost_at(policy, self.cost_permille)
    }

    /// Delay on the way, at most `most_ms`.
    pub(crate) fn lag_ms(&self, most_ms: u64) -> u64 {
        most_ms * self.lag_permille / 1_000
    }
}

/// From 1 (0 permille) to the burst (1,000 permille).
pub(crate) fn cost_at(policy: &Policy, permille: u64) -> Cost {
    let tokens = 1 + u64::from(policy.burst() - 1) * permille / 1_000;
    Cost::new(u32::try_from(tokens).expect("at most burst")).expect("at least 1")
}

/// A cost in permille of the burst, mostly a single token.
pub(crate) fn cost_permille() -> impl Strategy<Value = u64> {
    prop_oneof![6 => Just(0), 2 => 0..=1_000_u64, 1 => Just(1_000)]
}

pub(crate) fn script(steps: usize) -> impl Strategy<Value = Vec<Step>> {
    let step =
        (
            prop_oneof![4 => Just(0), 3 => 0..2_000_u64, 1 => 2_000..40_000_u64],
            prop_oneof![2 => Just(0), 1 => 0..5_u64],
            prop::bool::weighted(0.7),
            cost_permille(),
            prop_oneof![Just(0), Just(1_000), 0..=1_000_u64],
        )
            .prop_map(|(gap_permille, gap_ms, patient, cost_permille, lag_permille)| {
                Step { gap_permille, gap_ms, patient, cost_permille, lag_permille }
            });
    prop::collection::vec(step, 1..steps)
}

/// A request that was let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub(crate) at: UnixMillis,
    pub(crate) cost: Cost,
    /// The script's step.
    pub(crate) step: Step,
}

/// Plays a script against one bucket.
pub(crate) fn play(script: &[Step], policy: &Policy, from: Option<BucketState>) -> Vec<Grant> {
    let (mut now, mut state) = (START, from);
    let mut grants = Vec::new();
    for step in script {
        now = now.plus(step.gap_ms(policy));
        let cost = step.cost(policy);
        let mut decision = evaluate(state.as_ref(), policy, cost, now);
        if let (true, Decision::Denied { wait_ms }) = (step.patient, decision) {
            now = now.plus(wait_ms);
            decision = evaluate(state.as_ref(), policy, cost, now);
            assert!(
                matches!(decision, Decision::Allowed { .. }),
                "{policy}: woke at {now} after {wait_ms} ms, and it was too early: {decision:?}"
            );
        }
        if let Decision::Allowed { state: next, .. } = decision {
            state = Some(next);
            grants.push(Grant { at: now, cost, step: *step });
        }
    }
    grants
}

/// Takes one token, now or as soon as the bucket says.
pub(crate) fn take_one(state: &mut Option<BucketState>, policy: &Policy, now: &mut UnixMillis) {
    let decision = match evaluate(state.as_ref(), policy, Cost::ONE, *now) {
        Decision::Denied { wait_ms } => {
            *now = now.plus(wait_ms);
            evaluate(state.as_ref(), policy, Cost::ONE, *now)
        }
        allowed => allowed,
    };
    let Decision::Allowed { state: next, .. } = decision else {
        panic!("{policy}: {decision:?} at the moment that the denial named")
    };
    *state = Some(next);
}

/// In no window between two of these moments were more tokens spent than burst + elapsed x rate.
pub(crate) fn assert_within_bound(policy: &Policy, spent: &[(UnixMillis, Cost)]) -> TestResult {
    let (tokens, interval_ms) = (i128::from(policy.tokens()), i128::from(policy.interval_ms()));
    let burst = i128::from(policy.burst()) * interval_ms;
    for (first, (start, _)) in spent.iter().enumerate() {
        let mut sum = 0;
        for (end, cost) in &spent[first..] {
            sum += i128::from(cost.tokens()) * interval_ms;
            let most = burst + i128::from(end.0 - start.0) * tokens;
            prop_assert!(
                sum <= most,
                "{policy}: {sum} > {most} in the window {start} to {end}: {spent:?}"
            );
        }
    }
    Ok(())
}

/// A stored state in proportions that fit any policy: full, low, in debt, held, slower than
/// published, written by a clock that was ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredState {
    level_permille: i64,
    level_units: i64,
    /// `ts`, relative to [`START`].
    age_ms: i64,
    hold_ms: Option<i64>,
    pace: Option<Pace>,
}

impl StoredState {
    pub(crate) fn of(&self, policy: &Policy) -> BucketState {
        let paced = BucketState { pace: self.pace, ..BucketState::full(policy, START) };
        let full = BucketState::full(&effective(Some(&paced), policy), START);
        let level = full.t / 1_000 * self.level_permille + self.level_units;
        BucketState {
            t: level.min(full.t),
            ts: UnixMillis(START.0 - self.age_ms),
            hold: self.hold_ms.map(|ms| UnixMillis(START.0 + ms)),
            pace: self.pace,
            ..full
        }
    }

    /// The same at the published pace.
    pub(crate) fn as_published(self) -> Self {
        Self { pace: None, ..self }
    }

    /// The same, open, and not from the future.
    pub(crate) fn open(self) -> Self {
        Self { age_ms: self.age_ms.max(0), hold_ms: None, ..self }
    }
}

pub(crate) fn stored_state() -> impl Strategy<Value = StoredState> {
    (
        prop_oneof![Just(0), Just(1_000), -3_000..0_i64, 0..1_000_i64],
        -3..1_000_i64,
        prop_oneof![Just(0), -400_000..0_i64, 0..2_000_i64, 0..4_000_000_i64],
        prop_oneof![2 => Just(None), 1 => (-1_000..600_000_i64).prop_map(Some)],
        prop::option::of(pace()),
    )
        .prop_map(|(level_permille, level_units, age_ms, hold_ms, pace)| StoredState {
            level_permille,
            level_units,
            age_ms,
            hold_ms,
            pace,
        })
}

fn pace() -> impl Strategy<Value = Pace> {
    let slower = || prop_oneof![Just(0_u16), 1..=SLOWER_MAX, Just(SLOWER_MAX)];
    (slower(), any::<bool>(), 0..CLEAN_ANSWERS, any::<u8>(), -100_000..100_000_i64).prop_map(
        |(slower, is_tried, streak, refusals, refused_ms)| {
            let refused_at = UnixMillis(START.0 + refused_ms);
            let (slower, proven) = if is_tried { (0, slower) } else { (slower, 0) };
            Pace { slower, proven, streak, refusals, refused_at }
        },
    )
}
