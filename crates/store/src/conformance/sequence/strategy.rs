//! How random operations are drawn.

use proptest::{
    collection::vec,
    option::{of, weighted},
    prelude::{Just, Strategy, any, prop_oneof},
};

use super::operation::{
    Advance, FeedbackSpec, FilterSpec, JobSpec, LaneSpec, LeaseSpec, NeedsSpec, Operation,
    OutcomeSpec, PickSpec, Reading, SavedSpec, What,
};

/// Sequences of at most `len_max` operations, after one that sets limits.
pub fn operations(len_max: usize) -> impl Strategy<Value = Vec<Operation>> {
    // All buckets but the last: a job that draws on that one is refused.
    let limits = vec(0..6_u8, 8).prop_map(|policies| Operation {
        advance: Advance::By(0),
        what: What::SetLimits((0..).zip(policies).collect()),
    });
    (limits, vec(operation(), len_max / 4..len_max)).prop_map(|(first, rest)| {
        let mut operations = vec![first];
        operations.extend(rest);
        operations
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    // Mostly forward and by little, sometimes not at all; now and then a clock jumps or goes back.
    let advance = prop_oneof![
        10 => (0..500_i64).prop_map(Advance::By),
        10 => Just(Advance::By(0)),
        4 => (500..60_000_i64).prop_map(Advance::By),
        4 => (-1..2_i64).prop_map(Advance::ToDue),
        1 => (-60_000..0_i64).prop_map(Advance::By),
        1 => Just(Advance::By(86_400_000)),
    ];
    (advance, what()).prop_map(|(advance, what)| Operation { advance, what })
}

fn what() -> impl Strategy<Value = What> {
    let limits = vec((0..9_u8, 0..6_u8), 0..3);
    let account = (0..3_u8, any::<u8>(), any::<bool>());
    prop_oneof![
        1 => limits.prop_map(What::SetLimits),
        1 => account.prop_map(|(account, named, paused)| What::PutAccount { account, named, paused }),
        2 => (0..4_u8, of(any::<u8>()))
            .prop_map(|(account, reason)| What::Pause { account, reason }),
        2 => (0..4_u8, weighted(0.7, vec(0..3_u8, 0..3)), of(0..4_u8)).prop_map(
            |(account, groups, reason)| What::PauseLimits { account, groups, reason }
        ),
        1 => (0..3_u8, any::<u8>()).prop_map(|(run, named)| What::PutRun { run, named }),
        10 => vec(job(), 0..4).prop_map(What::Enqueue),
        6 => (0..6_usize, weighted(0.2, vec(0..4_u8, 0..3)), vec(0..3_u8, 0..2))
            .prop_map(|(limit, only, except)| What::Due { limit, only, except }),
        10 => vec(pick(), 0..4).prop_map(What::Claim),
        6 => (lease(), needs(), any::<bool>(), saved())
            .prop_map(|(lease, needs, park, saved)| What::Acquire { lease, needs, park, saved }),
        3 => vec((lease(), moment(), saved()), 0..3).prop_map(What::Renew),
        8 => vec((lease(), outcome(), saved()), 0..3).prop_map(What::Settle),
        3 => (any::<bool>(), 0..4_usize).prop_map(|(all, limit)| What::Reap { all, limit }),
        4 => (moment(), 0..4_usize)
            .prop_map(|(before_ms, limit)| What::Prune { before_ms, limit }),
        6 => (0..9_u8, feedback(), prop_oneof![20 => Just(1_u8), 1 => 55..60_u8])
            .prop_map(|(bucket, feedback, times)| What::Feedback { bucket, feedback, times }),
        3 => vec((0..9_u8, 1..5_u32), 0..3).prop_map(What::Take),
        5 => reading().prop_map(What::Read),
    ]
}

/// Milliseconds from now, into the past as well.
fn moment() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..90_000_i64, 1 => -90_000..0_i64, 3 => Just(0_i64)]
}

/// One of three, so that operations meet on the first.
fn mostly_first() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0_u8), 2 => Just(1_u8), 1 => Just(2_u8)]
}

fn needs() -> impl Strategy<Value = NeedsSpec> {
    let cost = prop_oneof![20 => Just(1_u32), 1 => 2..7_u32];
    let groups = prop_oneof![1 => 0..1_usize, 6 => 1..2_usize, 3 => 2..3_usize];
    groups.prop_flat_map(move |len| vec((mostly_first(), cost.clone()), len))
}

fn lane() -> impl Strategy<Value = LaneSpec> {
    let any_lane = (0..3_u8, vec(0..3_u8, 0..3));
    prop_oneof![
        3 => (0..6_u8).prop_map(LaneSpec::Due),
        6 => (0..6_u8).prop_map(LaneSpec::Used),
        1 => any_lane.prop_map(|(account, groups)| LaneSpec::Any { account, groups }),
    ]
}

fn pick() -> impl Strategy<Value = PickSpec> {
    (lane(), weighted(0.1, any::<u16>())).prop_map(|(lane, again)| PickSpec { lane, again })
}

fn job() -> impl Strategy<Value = JobSpec> {
    let delay_ms = prop_oneof![4 => Just(0_i64), 2 => 1..5_000_i64, 1 => -5_000..0_i64];
    let attempts_max = prop_oneof![60 => 1..4_u32, 1 => Just(0_u32)];
    let names = (weighted(0.1, any::<u16>()), weighted(0.2, 0..3_u8), weighted(0.3, 0..3_u8));
    (names, mostly_first(), needs(), 0..3_u8, delay_ms, attempts_max, any::<u8>()).prop_map(
        |((again, unique_key, run), account, needs, class, delay_ms, attempts_max, args)| JobSpec {
            again,
            account,
            needs,
            class,
            delay_ms,
            attempts_max,
            unique_key,
            run,
            args,
        },
    )
}

fn lease() -> impl Strategy<Value = LeaseSpec> {
    prop_oneof![
        // The last ones are the likeliest to be in force.
        10 => (0..4_u16).prop_map(LeaseSpec::Given),
        2 => any::<u16>().prop_map(LeaseSpec::Given),
        1 => (any::<u16>(), any::<u16>()).prop_map(|(job, token)| LeaseSpec::Mixed(job, token)),
        1 => Just(LeaseSpec::Never),
    ]
}

fn saved() -> impl Strategy<Value = SavedSpec> {
    let progress = weighted(0.3, 0..1_u64 << 53);
    (weighted(0.4, 0..3_u8), progress, vec((needs(), 0..90_000_u32), 0..2))
        .prop_map(|(checkpoint, progress, unspent)| SavedSpec { checkpoint, progress, unspent })
}

fn outcome() -> impl Strategy<Value = OutcomeSpec> {
    prop_oneof![
        5 => Just(OutcomeSpec::Done),
        2 => moment().prop_map(OutcomeSpec::Snooze),
        3 => moment().prop_map(OutcomeSpec::Retry),
        1 => Just(OutcomeSpec::Cancel),
        1 => Just(OutcomeSpec::Dead),
        1 => (vec(0..3_u8, 0..3), 0..4_u8)
            .prop_map(|(groups, reason)| OutcomeSpec::Pause { groups, reason }),
        1 => Just(OutcomeSpec::HandBack),
    ]
}

fn feedback() -> impl Strategy<Value = FeedbackSpec> {
    let sent_ms_ago = || prop_oneof![2 => Just(0_i64), 1 => 0..3_000_i64];
    let accepted =
        (of(0..6_u32), 0..3_u32, sent_ms_ago()).prop_map(|(remaining, in_flight, sent_ms_ago)| {
            FeedbackSpec::Accepted { remaining, in_flight, sent_ms_ago }
        });
    let rejected =
        (of(moment()), of(1..4_u32), sent_ms_ago()).prop_map(|(for_ms, refund, sent_ms_ago)| {
            FeedbackSpec::Rejected { for_ms, refund, sent_ms_ago }
        });
    prop_oneof![
        4 => accepted,
        4 => rejected,
        1 => (1..20_u32).prop_map(FeedbackSpec::Charged),
        1 => (1..5_000_u64).prop_map(FeedbackSpec::Late),
        2 => Just(FeedbackSpec::Released),
    ]
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        2 => any::<u16>().prop_map(Reading::Job),
        4 => filter().prop_map(Reading::Jobs),
        1 => of(0..4_u8).prop_map(Reading::Counts),
        2 => any::<u16>().prop_map(Reading::Position),
        1 => lane().prop_map(Reading::Lane),
        2 => of(0..4_u8).prop_map(Reading::Limits),
        1 => Just(Reading::Accounts),
        1 => Just(Reading::Runs),
    ]
}

fn filter() -> impl Strategy<Value = FilterSpec> {
    let which = (of(0..7_u8), of(0..4_u8), weighted(0.3, 0..3_u8), of(0..4_u8));
    let where_ = (weighted(0.2, (any::<u16>(), 0..38_usize)), weighted(0.3, any::<u16>()));
    (which, where_, 0..6_usize).prop_map(|((state, account, kind, run), (prefix, after), limit)| {
        FilterSpec { state, account, kind, run, prefix, after, limit }
    })
}
