//! Steps share a commit, and nothing else.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior};
use tempfile::TempDir;
use waitless_job::{JobState, NewJob, UnixMillis};
use waitless_store::{Reader, Store, StoreError, Transact, fsck::fsck, model::Run};
use waitless_store_sqlite::{Options, SqliteStore};

const NOW: UnixMillis = UnixMillis(1_700_000_000_000);

async fn store(options: Options) -> (Arc<SqliteStore>, TempDir) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let store = SqliteStore::open_with(directory.path().join("queue.db"), options).await;
    (Arc::new(store.expect("a file can be made")), directory)
}

fn job() -> NewJob {
    NewJob::new("kind", "a", &(), NOW).expect("a good job")
}

fn run(number: u8) -> Run {
    let id = format!("00000000-0000-7000-8000-0000000000{number:02x}");
    Run { id: id.parse().expect("a good id"), name: "run".into(), started_at: NOW }
}

/// Keeps the writer busy until the barrier is met, so that what comes meanwhile is one group.
fn hold_up(store: &Arc<SqliteStore>, barrier: &Arc<Barrier>) -> tokio::task::JoinHandle<()> {
    let (store, barrier) = (Arc::clone(store), Arc::clone(barrier));
    tokio::spawn(async move {
        let held = store.transact(move |_| {
            barrier.wait();
            Ok(())
        });
        held.await.expect("a step that does nothing is kept");
    })
}

#[tokio::test]
async fn a_step_that_errs_or_panics_is_undone_and_its_neighbours_are_not() {
    let (store, _directory) = store(Options::default()).await;
    let barrier = Arc::new(Barrier::new(2));
    let held = hold_up(&store, &barrier);
    let put = |number: u8, end: fn() -> Result<(), StoreError>| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            store
                .transact(move |tables| {
                    tables.put_run(&run(number))?;
                    end()
                })
                .await
        })
    };
    let good = put(1, || Ok(()));
    let bad = put(2, || Err(StoreError::Unavailable { reason: "planted".into() }));
    let worse = put(3, || panic!("planted"));
    let also_good = put(4, || Ok(()));
    tokio::task::yield_now().await;
    tokio::task::spawn_blocking(move || barrier.wait()).await.expect("they meet");

    held.await.expect("it ends");
    good.await.expect("it ends").expect("it is kept");
    let refused = bad.await.expect("it ends").expect_err("it erred");
    assert_eq!(refused.to_string(), "the store did not answer: planted");
    let panicked = worse.await.expect_err("it panicked");
    let message = panicked.into_panic().downcast::<&str>().expect("a text");
    assert_eq!(*message, "planted", "the panic is its caller's");
    also_good.await.expect("it ends").expect("it is kept");
    assert_eq!(store.runs().await.expect("runs can be read"), [run(1), run(4)]);

    // Alone, without a savepoint, as well.
    let alone = put(5, || Err(StoreError::Unavailable { reason: "planted".into() }));
    alone.await.expect("it ends").expect_err("it erred");
    put(6, || panic!("planted")).await.expect_err("it panicked");
    put(7, || Ok(())).await.expect("it ends").expect("the writer goes on");
    assert_eq!(store.runs().await.expect("runs can be read"), [run(1), run(4), run(7)]);
}

#[tokio::test]
async fn a_step_whose_caller_left_is_not_done() {
    let (store, _directory) = store(Options::default()).await;
    let barrier = Arc::new(Barrier::new(2));
    let held = hold_up(&store, &barrier);
    tokio::task::yield_now().await;
    let left = tokio::time::timeout(Duration::ZERO, store.put_run(run(1))).await;
    left.expect_err("the writer is busy");
    tokio::task::spawn_blocking(move || barrier.wait()).await.expect("they meet");
    held.await.expect("it ends");
    store.put_run(run(2)).await.expect("it is kept");
    assert_eq!(store.runs().await.expect("runs can be read"), [run(2)]);
}

#[tokio::test]
async fn what_changes_nothing_writes_nothing() {
    let (store, directory) = store(Options::default()).await;
    store.enqueue(vec![job()], NOW).await.expect("it is enqueued");
    let log = directory.path().join("queue.db-wal");
    let before = std::fs::metadata(&log).expect("it is there").len();
    let again = store.jobs(waitless_store::ops::JobFilter { limit: 1, ..Default::default() });
    let id = again.await.expect("jobs can be listed")[0].id;
    for _ in 0..50 {
        let same = NewJob { id, ..job() };
        assert!(store.enqueue(vec![same], NOW).await.expect("it is there")[0].existed);
        let request = waitless_store::ops::DueRequest {
            limit: 9,
            accounts: waitless_store::ops::Accounts::default(),
        };
        assert_eq!(store.due(request, NOW).await.expect("due is answered").lanes.len(), 1);
        store.prune(NOW, 9).await.expect("there is nothing to prune");
    }
    assert_eq!(std::fs::metadata(&log).expect("it is there").len(), before);
}

#[tokio::test]
async fn a_full_store_says_so_and_goes_on_when_there_is_space() {
    let options = Options { bytes_max: Some(400 * 1024), ..Options::default() };
    let (store, _directory) = store(options).await;
    let args = "x".repeat(10_000);
    let batch = || {
        let job = |_| NewJob::new("kind", "a", &args, NOW).expect("a good job");
        (0..5).map(job).collect::<Vec<_>>()
    };
    let mut enqueued = 0;
    let refused = loop {
        match store.enqueue(batch(), NOW).await {
            Ok(answers) => enqueued += answers.len() as u64,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Full { .. }), "{refused}");
    assert!(enqueued > 10, "{enqueued}");
    let sound = |expected: u64| {
        let store = Arc::clone(&store);
        async move {
            let audit = store.audit().await.expect("a full store can be read");
            assert_eq!(fsck(&audit), []);
            assert_eq!(audit.jobs.len() as u64, expected, "nothing of the refused batch is there");
        }
    };
    sound(enqueued).await;

    // Beside others: each is told, and what fits is done.
    let at_once = tokio::join!(
        store.enqueue(batch(), NOW),
        store.put_run(run(1)),
        store.enqueue(batch(), NOW),
        store.put_run(run(2)),
    );
    for full in [at_once.0.map(drop), at_once.2.map(drop)] {
        assert!(matches!(full, Err(StoreError::Full { .. })), "{full:?}");
    }
    for fitted in [at_once.1, at_once.3] {
        assert!(matches!(fitted, Ok(()) | Err(StoreError::Full { .. })), "{fitted:?}");
    }
    sound(enqueued).await;

    // Work goes on, and pruning makes space.
    let lease = waitless_job::LeaseToken::new(NOW);
    let mut ended = 0;
    for _ in 0..10 {
        let pick = waitless_store::ops::Pick { lane: "a/".parse().expect("a lane"), lease };
        let claim = waitless_store::ops::Claim {
            worker: "worker".parse().expect("a name"),
            expires_at: NOW.plus(1_000),
            picks: vec![pick],
        };
        let claimed = store.claim(claim, NOW).await.expect("it is answered");
        let lease = waitless_store::ops::LeaseRef { job: claimed[0].job.id, token: lease };
        let settle = waitless_store::ops::Settle {
            lease,
            outcome: waitless_store::ops::Outcome::Done,
            saved: Default::default(),
        };
        store.settle(vec![settle], NOW).await.expect("it is answered");
        ended += 1;
    }
    assert_eq!(store.prune(NOW.plus(1), 100).await.expect("it is answered"), ended);
    store.enqueue(batch(), NOW).await.expect("there is space again");
    sound(enqueued - ended as u64 + 5).await;
}

/// Holds the lock of a file that other processes write to.
fn lock(directory: &TempDir) -> Connection {
    let other = Connection::open(directory.path().join("queue.db")).expect("it is there");
    other.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    other
}

#[tokio::test]
async fn a_writer_waits_for_another_process_and_loses_nothing() {
    let (store, directory) = store(Options::default()).await;
    let other = lock(&directory);
    let mut enqueues = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let store = Arc::clone(&store);
        enqueues.spawn(async move { store.enqueue(vec![job()], NOW).await });
    }
    // Readers do not wait.
    assert_eq!(store.job_counts(None).await.expect("jobs can be counted"), []);
    assert!(enqueues.try_join_next().is_none(), "nothing is acknowledged before it is done");
    other.execute_batch("COMMIT").expect("it has the lock");
    for enqueued in enqueues.join_all().await {
        assert!(!enqueued.expect("it is enqueued")[0].existed);
    }
    let counts = store.job_counts(None).await.expect("jobs can be counted");
    assert_eq!(counts, [(JobState::Waiting, 20)]);
}

#[tokio::test]
async fn a_writer_that_has_waited_long_enough_says_so() {
    let options = Options { busy_ms_max: 20, ..Options::default() };
    let (store, directory) = store(options).await;
    let other = lock(&directory);
    let busy = tokio::join!(store.put_run(run(1)), store.put_run(run(2)), store.put_run(run(3)));
    for busy in [busy.0, busy.1, busy.2] {
        match busy {
            Err(StoreError::Unavailable { reason }) => {
                assert!(reason.contains("another process"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    other.execute_batch("ROLLBACK").expect("it has the lock");
    store.put_run(run(4)).await.expect("the lock is free");
    assert_eq!(store.runs().await.expect("runs can be read"), [run(4)]);
}

#[tokio::test]
async fn another_process_that_wants_to_write_gets_its_turn() {
    let (store, directory) = store(Options::default()).await;
    let mut other = Connection::open(directory.path().join("queue.db")).expect("it is there");
    other.busy_timeout(Duration::from_secs(30)).expect("it can wait");
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let busy = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            while !*stopped.borrow() {
                let batch = (0..200).map(|_| job()).collect();
                store.enqueue(batch, NOW).await.expect("it is enqueued");
            }
        }
    });
    let turns = tokio::task::spawn_blocking(move || {
        for _ in 0..5 {
            other
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .and_then(rusqlite::Transaction::commit)
                .expect("its turn comes");
        }
    });
    turns.await.expect("it ends");
    stop.send(true).expect("somebody listens");
    busy.await.expect("it ends");
}
