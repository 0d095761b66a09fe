use std::collections::BTreeMap;

use proptest::prelude::*;
use waitless_bucket::reject;
use waitless_job::{BucketKey, JobRecord, JobState, Progress};
use waitless_scheduler::{Binding, PausedLimit, run_progress};
use waitless_store::model::LimitView;

use crate::scene::{NOW, job, limit, needs};

const REQUEST_MS: u64 = 500;

fn any_job() -> impl Strategy<Value = JobRecord> {
    let wanted = prop::sample::select(vec![
        needs(&[]),
        needs(&[("orders", 1)]),
        needs(&[("sales", 3)]),
        needs(&[("orders", 2), ("sales", 1)]),
    ]);
    let progress = (0..50_u64, prop::option::of(0..80_u64), 0..1_000_u64);
    (prop::sample::select(&JobState::ALL[..]), wanted, progress).prop_map(
        |(state, needs, (requests_done, requests_total, rows))| JobRecord {
            needs,
            progress: Progress { requests_done, requests_total, rows },
            ..job(state)
        },
    )
}

proptest! {
    #[test]
    fn a_run_is_the_sum_of_its_jobs(jobs in prop::collection::vec(any_job(), 0..20)) {
        let limits = [
            limit("a/orders", "1/min burst 1 margin 0"),
            limit("a/sales", "1/h burst 5 margin 0"),
            limit("b/orders", "1/d burst 1 margin 0"),
        ];
        let progress = run_progress(&jobs, &limits, 4, REQUEST_MS, NOW);

        let sum = |of: fn(&Progress) -> u64| jobs.iter().map(|job| of(&job.progress)).sum::<u64>();
        prop_assert_eq!(progress.requests_done, sum(|progress| progress.requests_done));
        prop_assert_eq!(progress.rows, sum(|progress| progress.rows));
        let counted: BTreeMap<JobState, u64> = JobState::ALL
            .into_iter()
            .map(|state| (state, jobs.iter().filter(|job| job.state == state).count() as u64))
            .filter(|(_, count)| *count > 0)
            .collect();
        prop_assert_eq!(&progress.jobs, &counted);
        prop_assert_eq!(progress.is_finished(), jobs.iter().all(|job| job.state.is_final()));

        let (mut left, mut tokens_left) = (0, BTreeMap::<BucketKey, u64>::new());
        for job in jobs.iter().filter(|job| !job.state.is_final()) {
            let total = job.progress.requests_total.unwrap_or(0);
            // A job that lives makes one request more, and that of a running one has its token.
            let of_job = total.saturating_sub(job.progress.requests_done).max(1)
                - u64::from(job.state == JobState::Running);
            left += of_job;
            for bucket in job.lane().buckets() {
                let need = job.needs.as_slice().iter().find(|need| need.group == bucket.group);
                let cost = need.expect("a lane has the groups of its needs").cost.tokens();
                *tokens_left.entry(bucket).or_default() += of_job * u64::from(cost);
            }
        }
        tokens_left.retain(|_, tokens| *tokens > 0);
        prop_assert_eq!(progress.requests_left, left);
        prop_assert_eq!(progress.eta.is_some(), left > 0);
        let of_eta = progress.eta.iter().flat_map(|eta| &eta.buckets);
        let of_eta: BTreeMap<_, _> =
            of_eta.map(|time| (time.bucket.clone(), time.requests_left)).collect();
        prop_assert_eq!(of_eta, tokens_left);
    }
}

#[test]
fn a_run_ends_when_its_slowest_bucket_has_granted_the_last_request() {
    let pages = |state, group, done, total| JobRecord {
        needs: needs(&[(group, 1)]),
        progress: Progress { requests_done: done, requests_total: Some(total), rows: 0 },
        ..job(state)
    };
    let jobs = [
        pages(JobState::Waiting, "orders", 10, 30),
        // Its eleventh request is under way.
        pages(JobState::Running, "sales", 10, 26),
        pages(JobState::Succeeded, "sales", 40, 40),
    ];
    let limits =
        [limit("a/orders", "1/min burst 10 margin 0"), limit("a/sales", "1/min burst 1 margin 0")];
    let progress = run_progress(&jobs, &limits, 8, REQUEST_MS, NOW);
    assert_eq!((progress.requests_done, progress.requests_left), (60, 35));
    let eta = progress.eta.expect("something is left");
    assert_eq!(eta.binding, Binding::Bucket { bucket: "a/sales".parse().expect("a bucket") });
    assert_eq!(eta.at, NOW.plus(14 * 60_000 + REQUEST_MS));
}

#[test]
fn a_paused_limit_is_named_and_the_rest_of_the_run_has_its_end() {
    let pages = |groups: &[(&str, u32)], left| JobRecord {
        needs: needs(groups),
        progress: Progress { requests_done: 0, requests_total: Some(left), rows: 0 },
        ..job(JobState::Waiting)
    };
    let jobs = [
        pages(&[("orders", 1)], 5),
        pages(&[("sales", 1)], 40),
        pages(&[("orders", 1), ("sales", 1)], 2),
    ];
    let sales = LimitView {
        paused: Some("not in the token".into()),
        ..limit("a/sales", "1/h burst 1 margin 0")
    };
    let limits = [limit("a/orders", "1/min burst 1 margin 0"), sales];
    let progress = run_progress(&jobs, &limits, 8, REQUEST_MS, NOW);
    let sales = PausedLimit {
        bucket: "a/sales".parse().expect("a bucket"),
        reason: "not in the token".into(),
        jobs: 2,
        requests_left: 42,
    };
    assert_eq!(progress.paused, [sales]);
    assert_eq!(progress.requests_left, 47);
    let eta = progress.eta.expect("the orders of one job are left");
    assert_eq!(eta.at, NOW.plus(4 * 60_000 + REQUEST_MS));

    let progress = run_progress(&jobs[1..2], &limits, 8, REQUEST_MS, NOW);
    assert_eq!((progress.requests_left, progress.eta), (40, None));
}

#[test]
fn a_bucket_that_its_upstream_has_closed_is_named_with_the_moment_it_opens() {
    let job = |group| JobRecord { needs: needs(&[(group, 1)]), ..job(JobState::Waiting) };
    let jobs = [job("orders"), job("sales")];
    let until = NOW.plus(12 * 3_600_000);
    let sales = limit("a/sales", "1/min burst 1 margin 0");
    let state = reject(None, &sales.policy, Some(until), None, NOW, NOW);
    let sales = LimitView { state: Some(state), ..sales };
    let limits = [limit("a/orders", "1/min burst 1 margin 0"), sales];
    let eta = run_progress(&jobs, &limits, 8, REQUEST_MS, NOW).eta.expect("something is left");
    assert_eq!(eta.at, until.plus(REQUEST_MS));
    assert_eq!(eta.binding, Binding::Bucket { bucket: "a/sales".parse().expect("a bucket") });
    let held: Vec<_> = eta.buckets.iter().map(|time| time.held_until).collect();
    assert_eq!(held, [Some(until), None]);
}

#[test]
fn an_estimate_beyond_all_bounds_is_still_added_up() {
    let endless = JobRecord {
        needs: needs(&[("orders", 2)]),
        progress: Progress { requests_done: 1, requests_total: Some(u64::MAX), rows: u64::MAX },
        ..job(JobState::Waiting)
    };
    let limits = [limit("a/orders", "1/min burst 2 margin 0")];
    let progress = run_progress(&[endless.clone(), endless], &limits, 8, REQUEST_MS, NOW);
    assert_eq!((progress.requests_left, progress.rows), (u64::MAX, u64::MAX));
}
