//! Random buckets, and what becomes of them if tokens are taken one by one.

use proptest::prelude::*;
use waitless_bucket::{
    BucketState, Cost, Decision, Pace, Policy, SLOWER_MAX, UnixMillis, effective, evaluate,
};

use crate::scene::NOW;

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

/// One whose requests can be added up: any that loses no fraction of a token.
pub(crate) fn exact_policy() -> impl Strategy<Value = Policy> {
    any_policy().prop_map(|policy| {
        if loses_no_fraction(&policy) {
            return policy;
        }
        let (tokens, burst, margin_ms) = (policy.tokens(), policy.burst(), policy.margin_ms());
        let interval_ms = policy.interval_ms().next_multiple_of(u64::from(tokens));
        Policy::from_parts(tokens, interval_ms, burst, margin_ms).expect("far below 2^51 units")
    })
}

/// A token may be due between two milliseconds, and is granted on the second one. What the bucket
/// has gained by then stays in it, unless the margin leaves less than a millisecond of the burst
/// tolerance to keep it in.
fn loses_no_fraction(policy: &Policy) -> bool {
    let tokens = u64::from(policy.tokens());
    policy.interval_ms().is_multiple_of(tokens)
        || u64::from(policy.margin_ms()) * tokens + tokens <= tolerance(policy) + 1
}

/// Whether the margin fits into the burst tolerance. Beyond it a bucket grants one by one, at a
/// pace that the margin decides and not the rate.
pub(crate) fn rate_decides_pace(policy: &Policy) -> bool {
    u64::from(policy.margin_ms()) * u64::from(policy.tokens()) <= tolerance(policy)
}

fn tolerance(policy: &Policy) -> u64 {
    u64::from(policy.burst() - 1) * policy.interval_ms()
}

/// What a store may hold of a bucket, in proportions that fit any policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    /// Level, of the full bucket; below 0 in debt.
    permille: i64,
    /// Units more or less than that, so that levels are no round numbers.
    units: i64,
    /// When it was written; in the future after the clock has stepped back.
    written_ms: i64,
    /// It opens so many milliseconds from now, if it is held.
    hold_ms: Option<u64>,
    /// Permille by which it is slower than published, where that loses no fraction of a token.
    slower: Option<u16>,
}

impl Stored {
    pub(crate) fn of(&self, policy: &Policy) -> BucketState {
        let published = BucketState::full(policy, UnixMillis(NOW.0 + self.written_ms));
        let paced = self.slower.map(|slower| {
            let pace = Pace { slower, proven: 0, streak: 0, refusals: 0, refused_at: NOW };
            BucketState { pace: Some(pace), ..published }
        });
        let paced = paced.filter(|paced| loses_no_fraction(&effective(Some(paced), policy)));
        let full = match paced {
            Some(paced) => {
                let slower = BucketState::full(&effective(Some(&paced), policy), published.ts);
                BucketState { pace: paced.pace, ..slower }
            }
            None => published,
        };
        let t = full.t * self.permille / 1_000 + self.units;
        let hold = self.hold_ms.map(|hold_ms| NOW.plus(hold_ms));
        BucketState { t: t.min(full.t), hold, ..full }
    }

    /// The same, but written now and with whole tokens only: as many under any policy of this burst.
    pub(crate) fn whole_tokens_of(&self, policy: &Policy) -> BucketState {
        let tokens = i64::from(policy.burst()) * self.permille / 1_000;
        let state = self.of(policy);
        BucketState { t: state.iv * tokens, ts: NOW, ..state }
    }
}

/// A bucket that is not held.
pub(crate) fn open_bucket() -> impl Strategy<Value = Option<Stored>> {
    let permille = prop_oneof![Just(0_i64), Just(1_000), 0..=1_000_i64, -2_000..0_i64];
    let written_ms = prop_oneof![3 => Just(0_i64), 2 => -100_000..0_i64, 1 => 1..100_000_i64];
    let slower = prop::option::weighted(0.3, 0..=SLOWER_MAX);
    let stored = (permille, -3..=3_i64, written_ms, slower).prop_map(
        |(permille, units, written_ms, slower)| Stored {
            permille,
            units,
            written_ms,
            hold_ms: None,
            slower,
        },
    );
    prop::option::weighted(0.9, stored)
}

/// A bucket that may be held, shortly or for longer than it needs to fill.
pub(crate) fn any_bucket() -> impl Strategy<Value = Option<Stored>> {
    let hold_ms = prop::option::of(prop_oneof![1..1_000_u64, 1_000..100_000_000_u64]);
    (open_bucket(), hold_ms)
        .prop_map(|(stored, hold_ms)| stored.map(|stored| Stored { hold_ms, ..stored }))
}

/// When the last of `requests` requests of one token goes, each going as soon as the bucket lets
/// it: the long way round.
pub(crate) fn last_grant(
    mut state: Option<BucketState>,
    policy: &Policy,
    requests: u64,
    mut now: UnixMillis,
) -> UnixMillis {
    let mut left = requests;
    while left > 0 {
        match evaluate(state.as_ref(), policy, Cost::ONE, now) {
            Decision::Allowed { state: next, .. } => {
                state = Some(next);
                left -= 1;
            }
            Decision::Denied { wait_ms } => now = now.plus(wait_ms),
        }
    }
    now
}
