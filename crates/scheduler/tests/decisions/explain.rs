use proptest::prelude::*;
use serde_json::json;
use waitless_bucket::{AllDecision, BucketState, Draw, Pace, evaluate_all, peek};
use waitless_job::{BlockedBy, BucketKey, JobRecord, JobState, Lease, Needs, UnixMillis};
use waitless_scheduler::{Explanation, Reason, Situation, explain, level_hundredths};
use waitless_store::model::LimitView;

use crate::{
    buckets::{any_bucket, any_policy, exact_policy, last_grant, open_bucket},
    scene::{NOW, job, job_id, limit, needs},
};

const MINUTE_MS: u64 = 60_000;

fn bucket(text: &str) -> BucketKey {
    text.parse().expect("a bucket")
}

/// A limit whose bucket holds so many tokens.
fn with_level(bucket: &str, policy: &str, tokens: i64) -> LimitView {
    let view = limit(bucket, policy);
    let full = BucketState::full(&view.policy, NOW);
    LimitView { state: Some(BucketState { t: full.iv * tokens, ..full }), ..view }
}

/// The same, closed until a moment.
fn held(view: LimitView, until: UnixMillis) -> LimitView {
    let state = view.state.map(|state| BucketState { hold: Some(until), ..state });
    LimitView { state, ..view }
}

fn waiting(needs: Needs) -> JobRecord {
    JobRecord { needs, ..job(JobState::Waiting) }
}

/// What is said of a bucket, with the numbers that other tests are about taken from the limit.
fn of_bucket(view: &LimitView, wait_ms: u64, limiting: bool) -> Reason {
    Reason::Bucket {
        bucket: view.bucket.clone(),
        limit: view.policy.to_string(),
        slower: None,
        quota: peek(view.state.as_ref(), &view.policy, NOW),
        level_hundredths: level_hundredths(view, NOW),
        wait_ms,
        limiting,
    }
}

fn explained(job: &JobRecord, limits: &[LimitView]) -> Explanation {
    explain(&Situation { job, ahead: 0, limits, paused: None }, NOW)
}

fn still_waiting(by: BlockedBy, ready_at: Option<UnixMillis>, reasons: Vec<Reason>) -> Explanation {
    Explanation { state: JobState::Waiting, blocked_by: Some(by), ready_at, reasons }
}

#[test]
fn a_job_that_does_not_wait_has_the_one_reason_of_its_state() {
    let later = NOW.plus(MINUTE_MS);
    let with_error = |state| JobRecord { error: Some("timed out".into()), ..job(state) };
    let lease = Lease {
        token: job_id(1).to_string().parse().expect("a UUID"),
        worker: "worker-1".parse().expect("a name"),
        expires_at: later,
    };
    let running = |lease| JobRecord { lease, ..job(JobState::Running) };
    let ended = |job| JobRecord { finished_at: Some(NOW), ..job };
    let error = || Some("timed out".to_owned());
    for (job, ready_at, reasons) in [
        (
            JobRecord { run_at: later, ..job(JobState::Scheduled) },
            Some(later),
            vec![Reason::NotBefore { run_at: later, error: None }],
        ),
        (
            JobRecord { run_at: later, ..with_error(JobState::Retryable) },
            Some(later),
            vec![Reason::NotBefore { run_at: later, error: error() }],
        ),
        (
            running(Some(lease)),
            None,
            vec![Reason::Running { worker: "worker-1".into(), lease_expires_at: later }],
        ),
        (running(None), None, vec![]),
        (
            ended(job(JobState::Succeeded)),
            None,
            vec![Reason::Ended { finished_at: Some(NOW), error: None }],
        ),
        (
            ended(with_error(JobState::Cancelled)),
            None,
            vec![Reason::Ended { finished_at: Some(NOW), error: error() }],
        ),
        (
            ended(with_error(JobState::Dead)),
            None,
            vec![Reason::Ended { finished_at: Some(NOW), error: error() }],
        ),
    ] {
        let expected = Explanation { state: job.state, blocked_by: None, ready_at, reasons };
        // Limits and jobs ahead matter to those who wait.
        let limits = [with_level("a/orders", "1/min burst 1 margin 0", 0)];
        assert_eq!(explained(&job, &limits), expected);
    }
}

#[test]
fn a_job_whose_tokens_are_there_waits_for_a_slot() {
    let orders = limit("a/orders", "1/min burst 10 margin 0");
    assert_eq!(
        explained(&waiting(needs(&[("orders", 1)])), std::slice::from_ref(&orders)),
        still_waiting(
            BlockedBy::Slots,
            Some(NOW),
            vec![Reason::Slots, of_bucket(&orders, 0, false)]
        )
    );
    assert_eq!(
        explained(&waiting(Needs::none()), &[orders]),
        still_waiting(BlockedBy::Slots, Some(NOW), vec![Reason::Slots])
    );
}

#[test]
fn the_bucket_with_the_longest_wait_is_the_limiting_one_and_comes_first() {
    let limits = [
        limit("a/cards", "1/min burst 10 margin 0"),
        with_level("a/orders", "1/min burst 10 margin 0", 0),
        with_level("a/prices", "1/min burst 10 margin 0", -4),
        // Of another account: none of this job's business.
        with_level("b/orders", "1/d burst 1 margin 0", 0),
    ];
    let job = waiting(needs(&[("cards", 1), ("orders", 1), ("prices", 1)]));
    assert_eq!(
        explained(&job, &limits),
        still_waiting(
            BlockedBy::Bucket { bucket: bucket("a/prices") },
            Some(NOW.plus(5 * MINUTE_MS)),
            vec![
                of_bucket(&limits[2], 5 * MINUTE_MS, true),
                of_bucket(&limits[0], 0, false),
                of_bucket(&limits[1], MINUTE_MS, false),
            ]
        )
    );
}

#[test]
fn a_closed_bucket_is_named_with_the_moment_it_opens() {
    let until = NOW.plus(5 * MINUTE_MS);
    let orders = held(with_level("a/orders", "1/min burst 10 margin 0", 10), until);
    assert_eq!(
        explained(&waiting(needs(&[("orders", 1)])), std::slice::from_ref(&orders)),
        still_waiting(
            BlockedBy::Hold { bucket: bucket("a/orders"), until },
            Some(until),
            vec![of_bucket(&orders, 5 * MINUTE_MS, true)]
        )
    );
}

#[test]
fn a_job_of_a_paused_account_has_no_moment_and_no_limiting_bucket() {
    let orders = with_level("a/orders", "1/min burst 10 margin 0", 0);
    let job = waiting(needs(&[("orders", 1)]));
    let reason = || "its token was refused".to_owned();
    let limits = std::slice::from_ref(&orders);
    assert_eq!(
        explain(&Situation { job: &job, ahead: 1, limits, paused: Some(&reason()) }, NOW),
        still_waiting(
            BlockedBy::Paused { bucket: None, reason: reason() },
            None,
            vec![
                Reason::Paused { bucket: None, reason: reason() },
                of_bucket(&orders, 2 * MINUTE_MS, false),
                Reason::Ahead { jobs: 1 },
            ]
        )
    );
}

#[test]
fn a_job_on_a_paused_limit_has_no_moment_and_says_which_limit_it_is() {
    let orders = limit("a/orders", "1/min burst 10 margin 0");
    let sales = with_level("a/sales", "1/min burst 10 margin 0", 0);
    let sales = LimitView { paused: Some("not in the token".into()), ..sales };
    let job = waiting(needs(&[("orders", 1), ("sales", 1)]));
    let reason = || "not in the token".to_owned();
    let limits = [orders.clone(), sales.clone()];
    let paused = Reason::Paused { bucket: Some(bucket("a/sales")), reason: reason() };
    let buckets = || [of_bucket(&orders, 0, false), of_bucket(&sales, MINUTE_MS, false)];
    let [of_orders, of_sales] = buckets();
    assert_eq!(
        explained(&job, &limits),
        still_waiting(
            BlockedBy::Paused { bucket: Some(bucket("a/sales")), reason: reason() },
            None,
            vec![paused.clone(), of_orders, of_sales]
        )
    );
    // The account comes first: who resumes the limit alone has not helped the job.
    let [of_orders, of_sales] = buckets();
    assert_eq!(
        explain(&Situation { job: &job, ahead: 0, limits: &limits, paused: Some("by hand") }, NOW),
        still_waiting(
            BlockedBy::Paused { bucket: None, reason: "by hand".into() },
            None,
            vec![
                Reason::Paused { bucket: None, reason: "by hand".into() },
                paused,
                of_orders,
                of_sales
            ]
        )
    );
}

#[test]
fn a_bucket_that_has_learnt_to_go_slower_says_so() {
    let orders = limit("a/orders", "1/min burst 1 margin 0");
    let pace = Pace { slower: 250, proven: 0, streak: 0, refusals: 1, refused_at: NOW };
    let empty = BucketState { t: 0, ts: NOW, iv: 75_000, hold: None, pace: Some(pace) };
    let orders = LimitView { state: Some(empty), ..orders };
    let explanation = explained(&waiting(needs(&[("orders", 1)])), std::slice::from_ref(&orders));
    assert_eq!(explanation.ready_at, Some(NOW.plus(75_000)));
    match &explanation.reasons[..] {
        [Reason::Bucket { limit, slower, .. }] => {
            assert_eq!(limit, "1/min burst 1 margin 0ms");
            assert_eq!(slower.as_deref(), Some("1/75s burst 1 margin 0ms"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn jobs_ahead_take_their_tokens_first() {
    let orders = with_level("a/orders", "1/min burst 10 margin 0", 2);
    for (cost, ahead, wait_minutes) in [(1, 1, 0), (1, 2, 1), (1, 41, 40), (2, 1, 2), (3, 4, 13)] {
        let job = waiting(needs(&[("orders", cost)]));
        let limits = std::slice::from_ref(&orders);
        let explanation = explain(&Situation { job: &job, ahead, limits, paused: None }, NOW);
        let wait_ms = wait_minutes * MINUTE_MS;
        let (by, mut reasons) = match wait_ms {
            0 => (BlockedBy::Slots, vec![Reason::Slots]),
            _ => (BlockedBy::Bucket { bucket: bucket("a/orders") }, vec![]),
        };
        reasons.push(of_bucket(&orders, wait_ms, wait_ms > 0));
        reasons.push(Reason::Ahead { jobs: ahead });
        assert_eq!(
            explanation,
            still_waiting(by, Some(NOW.plus(wait_ms)), reasons),
            "cost {cost}, {ahead} ahead"
        );
    }
}

#[test]
fn a_job_whose_cost_is_above_the_burst_can_never_go() {
    let limits = [
        with_level("a/cards", "1/min burst 10 margin 0", 0),
        limit("a/orders", "1/min burst 2 margin 0"),
    ];
    for ahead in [0, 7] {
        let job = waiting(needs(&[("cards", 1), ("orders", 3)]));
        let explanation =
            explain(&Situation { job: &job, ahead, limits: &limits, paused: None }, NOW);
        let mut reasons = vec![
            of_bucket(&limits[1], u64::MAX, true),
            of_bucket(&limits[0], (ahead + 1) * MINUTE_MS, false),
        ];
        reasons.extend((ahead > 0).then_some(Reason::Ahead { jobs: ahead }));
        assert_eq!(
            explanation,
            still_waiting(BlockedBy::Bucket { bucket: bucket("a/orders") }, None, reasons)
        );
    }
}

#[test]
fn a_reader_of_json_sees_no_moment_where_there_is_none() {
    let orders = with_level("a/orders", "1/min burst 2 margin 0", 0);
    let limits = std::slice::from_ref(&orders);
    let read = |cost| {
        let explanation = explained(&waiting(needs(&[("orders", cost)])), limits);
        let mut read = serde_json::to_value(explanation).expect("it serializes");
        read["reasons"][0]["quota"].take();
        read
    };
    let expected = |ready_at: Option<UnixMillis>, wait_ms: Option<u64>| {
        json!({
            "state": "waiting",
            "blocked_by": {"type": "bucket", "bucket": "a/orders"},
            "ready_at": ready_at,
            "reasons": [{
                "type": "bucket",
                "bucket": "a/orders",
                "limit": "1/min burst 2 margin 0ms",
                "quota": null,
                "level_hundredths": 0,
                "wait_ms": wait_ms,
                "limiting": true,
            }],
        })
    };
    assert_eq!(read(2), expected(Some(NOW.plus(2 * MINUTE_MS)), Some(2 * MINUTE_MS)));
    assert_eq!(read(3), expected(None, None));
}

#[test]
fn a_job_whose_limit_is_missing_cannot_go_before_there_is_one() {
    let cards = with_level("a/cards", "1/min burst 10 margin 0", 0);
    assert_eq!(
        explained(
            &waiting(needs(&[("cards", 1), ("orders", 1)])),
            &[cards.clone(), limit("b/orders", "1/min")]
        ),
        still_waiting(
            BlockedBy::Bucket { bucket: bucket("a/orders") },
            None,
            vec![
                Reason::UnknownLimit { bucket: bucket("a/orders") },
                of_bucket(&cards, MINUTE_MS, false),
            ]
        )
    );
}

#[test]
fn a_level_is_told_in_hundredths_of_a_token_rounded_down() {
    for (units_of_60_000, hundredths) in [
        (0, 0),
        (1, 0),
        (600, 1),
        (599, 0),
        (60_000, 100),
        (599_999, 999),
        (-1, -1),
        (-60_000, -100),
    ] {
        let view = limit("a/orders", "1/min burst 10 margin 0");
        let state = BucketState { t: units_of_60_000, ..BucketState::full(&view.policy, NOW) };
        let view = LimitView { state: Some(state), ..view };
        assert_eq!(level_hundredths(&view, NOW), hundredths, "{units_of_60_000} units");
    }
    assert_eq!(level_hundredths(&limit("a/orders", "1/min burst 10 margin 0"), NOW), 1_000);
}

proptest! {
    #[test]
    fn a_first_job_could_go_at_the_moment_named_and_not_a_millisecond_before(
        orders in (any_policy(), any_bucket()),
        sales in (any_policy(), any_bucket()),
        cost_permille in (0..=1_000_u64, prop_oneof![Just(0), Just(1_000), 0..=1_000_u64]),
    ) {
        let view = |bucket: &str, (policy, stored): (_, Option<crate::buckets::Stored>)| LimitView {
            policy,
            state: stored.map(|stored| stored.of(&policy)),
            ..limit(bucket, "1/s")
        };
        let limits = [view("a/orders", orders), view("a/sales", sales)];
        let cost = |view: &LimitView, permille| {
            let tokens = 1 + u64::from(view.policy.burst() - 1) * permille / 1_000;
            u32::try_from(tokens).expect("at most the burst")
        };
        let needs = needs(&[
            ("orders", cost(&limits[0], cost_permille.0)),
            ("sales", cost(&limits[1], cost_permille.1)),
        ]);
        let draws: Vec<Draw<'_>> = needs
            .as_slice()
            .iter()
            .zip(&limits)
            .map(|(need, view)| Draw {
                state: view.state.as_ref(),
                policy: &view.policy,
                cost: need.cost,
            })
            .collect();
        let could_go = |at| matches!(evaluate_all(&draws, at), AllDecision::Allowed(_));
        let ready_at = explained(&waiting(needs.clone()), &limits).ready_at;
        let ready_at = ready_at.expect("no cost is above its burst");
        prop_assert!(could_go(ready_at));
        prop_assert!(ready_at == NOW || !could_go(UnixMillis(ready_at.0 - 1)));
    }

    #[test]
    fn a_job_with_others_ahead_is_ready_when_the_last_of_as_many_requests_goes(
        policy in exact_policy(),
        stored in open_bucket(),
        ahead in 1..100_u64,
    ) {
        let state = stored.map(|stored| stored.of(&policy));
        let limits = [LimitView { policy, state, ..limit("a/orders", "1/s") }];
        let job = waiting(needs(&[("orders", 1)]));
        let situation = Situation { job: &job, ahead, limits: &limits, paused: None };
        prop_assert_eq!(
            explain(&situation, NOW).ready_at,
            Some(last_grant(state, &policy, ahead + 1, NOW))
        );
    }
}
