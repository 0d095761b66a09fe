//! How many jobs go through the store, and how the number that wait slows it down. Prints one line
//! for each figure, measured on the disk that holds the target directory, every commit flushed.
//!
//! `cargo bench` measures; `cargo test --benches` only sees that it runs.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::Instant};
use waitless_job::{LaneKey, LeaseToken, NewJob, UnixMillis};
use waitless_store::{
    Reader, Store, StoreError,
    ops::{Accounts, Claim, Claimed, DueRequest, LeaseRef, Outcome, Pick, Saved, Settle, Settled},
};
use waitless_store_sqlite::SqliteStore;

const NOW: UnixMillis = UnixMillis(1_700_000_000_000);
const FREE: &str = "1000000/s burst 1000000 margin 0";
const BATCH: usize = 1_000;

/// How much is measured.
struct Sizes {
    jobs: usize,
    claimed_at_once: [usize; 2],
    lanes: usize,
    few_waiting: usize,
    many_waiting: usize,
    claims: usize,
}

const MEASURED: Sizes = Sizes {
    jobs: 50_000,
    claimed_at_once: [50, 256],
    lanes: 10_000,
    few_waiting: 10_000,
    many_waiting: 1_000_000,
    claims: 400,
};

const TRIED: Sizes = Sizes {
    jobs: 200,
    claimed_at_once: [5, 20],
    lanes: 20,
    few_waiting: 40,
    many_waiting: 200,
    claims: 3,
};

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let sizes = if is_measured { MEASURED } else { TRIED };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async {
        for at_once in sizes.claimed_at_once {
            throughput(sizes.jobs, at_once).await;
            throughput_of_a_worker(sizes.jobs, 2 * at_once).await;
        }
        let few = claim_latency(sizes.few_waiting, sizes.lanes, sizes.claims).await;
        let many = claim_latency(sizes.many_waiting, sizes.lanes, sizes.claims).await;
        println!("due + claim, p99 of many over p99 of few: {:.2}", many / few);
    });
}

async fn fresh(lanes: usize) -> (Arc<SqliteStore>, tempfile::TempDir) {
    // Not the system's directory for temporary files, which may be memory.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    let directory = directory.expect("a directory can be made");
    let store = SqliteStore::open(directory.path().join("queue.db")).await;
    let store = store.expect("a file can be made");
    let limits = (0..lanes).map(|lane| {
        let bucket = format!("account-{lane}/orders").parse().expect("a bucket");
        (bucket, FREE.parse().expect("a limit"))
    });
    store.set_limits(limits.collect(), NOW).await.expect("limits can be set");
    (Arc::new(store), directory)
}

/// Enqueues jobs to lanes in turn.
async fn enqueue(store: &SqliteStore, jobs: usize, lanes: usize) {
    let group: waitless_job::LimitGroup = "orders".parse().expect("a group");
    for from in (0..jobs).step_by(BATCH) {
        let batch = (from..jobs.min(from + BATCH)).map(|number| {
            let account = format!("account-{}", number % lanes);
            let args = [number as u64, 17, 42];
            let job = NewJob::new("wb.orders", account, &args, NOW).expect("a good job");
            job.needs_one(group.clone())
        });
        store.enqueue(batch.collect(), NOW).await.expect("jobs are enqueued");
    }
}

/// Asks what is due and claims at most `at_once` of it.
async fn claim(store: &SqliteStore, at_once: usize) -> Vec<Claimed> {
    let request = DueRequest { limit: at_once, accounts: Accounts::default() };
    let due = store.due(request, NOW).await.expect("due is answered");
    // In turn from every lane, as a worker does that is fair to its accounts.
    let mut lanes: Vec<(LaneKey, u32)> =
        due.lanes.into_iter().map(|due| (due.lane, due.available)).collect();
    let mut picks = Vec::with_capacity(at_once);
    while picks.len() < at_once && !lanes.is_empty() {
        lanes.retain_mut(|(lane, available)| {
            if picks.len() < at_once {
                picks.push(Pick { lane: lane.clone(), lease: LeaseToken::new(NOW) });
                *available -= 1;
            }
            *available > 0
        });
    }
    let claim =
        Claim { worker: "worker".parse().expect("a name"), expires_at: NOW.plus(60_000), picks };
    store.claim(claim, NOW).await.expect("a claim is answered")
}

fn settle(claimed: &Claimed) -> Settle {
    let token = claimed.job.lease.as_ref().expect("it was claimed").token;
    let lease = LeaseRef { job: claimed.job.id, token };
    Settle { lease, outcome: Outcome::Done, saved: Saved::default() }
}

/// Jobs that do nothing, from enqueue to outcome. Each reports its outcome by itself.
async fn throughput(jobs: usize, at_once: usize) {
    let lanes = 200.min(jobs);
    let (store, _directory) = fresh(lanes).await;
    let started = Instant::now();
    enqueue(&store, jobs, lanes).await;
    let enqueued = started.elapsed();

    let (mut claiming, mut settling) = (Duration::ZERO, Duration::ZERO);
    let mut done = 0;
    while done < jobs {
        let from = Instant::now();
        let claimed = claim(&store, at_once).await;
        claiming += from.elapsed();
        assert!(!claimed.is_empty(), "jobs wait and tokens are there");
        let from = Instant::now();
        done += settle_each(&store, &claimed).await;
        settling += from.elapsed();
    }
    let all = started.elapsed();
    let rate = |time: Duration| jobs as f64 / time.as_secs_f64();
    println!(
        "{jobs} jobs, {at_once} claimed at once, one step after the other: {:.0} jobs/s \
         (enqueue {:.0}/s, due + claim {:.0}/s, settle {:.0}/s)",
        rate(all),
        rate(enqueued),
        rate(claiming),
        rate(settling),
    );
    all_succeeded(&store, jobs).await;
}

/// The same as a worker does it: it claims for the slots that are free while the jobs in the
/// others report their outcomes.
async fn throughput_of_a_worker(jobs: usize, slots: usize) {
    let lanes = 200.min(jobs);
    let (store, _directory) = fresh(lanes).await;
    let started = Instant::now();
    enqueue(&store, jobs, lanes).await;
    let mut settling = JoinSet::new();
    let mut claimed = 0;
    while claimed < jobs {
        // Half of the slots at a time, so that a claim is worth its step.
        while settling.len() > slots / 2 {
            is_settled(&settling.join_next().await.expect("some are settling").expect("it ends"));
        }
        for job in claim(&store, slots - settling.len()).await {
            claimed += 1;
            let (store, settle) = (Arc::clone(&store), settle(&job));
            settling.spawn(async move { store.settle(vec![settle], NOW).await });
        }
    }
    settling.join_all().await.iter().for_each(is_settled);
    let rate = jobs as f64 / started.elapsed().as_secs_f64();
    println!("{jobs} jobs, a worker of {slots} slots: {rate:.0} jobs/s");
    all_succeeded(&store, jobs).await;
}

async fn all_succeeded(store: &SqliteStore, jobs: usize) {
    let counts = store.job_counts(None).await.expect("jobs can be counted");
    assert_eq!(counts, [(waitless_job::JobState::Succeeded, jobs as u64)]);
}

fn is_settled(settled: &Result<Vec<Settled>, StoreError>) {
    assert!(matches!(settled.as_deref(), Ok([Settled::Now(_)])), "{settled:?}");
}

async fn settle_each(store: &Arc<SqliteStore>, claimed: &[Claimed]) -> usize {
    let mut settling = JoinSet::new();
    for claimed in claimed {
        let (store, settle) = (Arc::clone(store), settle(claimed));
        settling.spawn(async move { store.settle(vec![settle], NOW).await });
    }
    let settled = settling.join_all().await;
    settled.iter().for_each(is_settled);
    settled.len()
}

/// Due and claim of 20 jobs while this many wait. Answers with the 99th percentile in ms.
async fn claim_latency(waiting: usize, lanes: usize, claims: usize) -> f64 {
    const AT_ONCE: usize = 20;
    let (store, _directory) = fresh(lanes).await;
    let started = Instant::now();
    enqueue(&store, waiting, lanes).await;
    let enqueued = started.elapsed();
    let mut times = Vec::with_capacity(claims);
    for _ in 0..claims {
        let from = Instant::now();
        let claimed = claim(&store, AT_ONCE.min(waiting / claims)).await;
        times.push(from.elapsed());
        assert!(!claimed.is_empty(), "jobs wait and tokens are there");
        settle_each(&store, &claimed).await;
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "due + claim, {waiting} waiting in {lanes} lanes (enqueued in {:.1} s): p50 {:.2} ms, \
         p99 {:.2} ms",
        enqueued.as_secs_f64(),
        ms(at(50)),
        ms(at(99)),
    );
    ms(at(99))
}
