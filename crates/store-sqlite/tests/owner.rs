//! One worker at a time; readers and enqueuers beside it.

use waitless_job::{JobState, NewJob, UnixMillis};
use waitless_store::{
    Reader, Store, StoreError,
    ops::{Claim, Pick},
};
use waitless_store_sqlite::SqliteStore;

const NOW: UnixMillis = UnixMillis(1_700_000_000_000);

fn worker(name: &str) -> waitless_job::WorkerName {
    name.parse().expect("a good name")
}

fn job() -> NewJob {
    NewJob::new("kind", "a", &(), NOW).expect("a good job")
}

#[tokio::test]
async fn a_second_worker_is_refused_and_told_who_is_first() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("queue.db");
    let first = SqliteStore::open(&path).await.expect("a file can be made");
    first.start_worker(worker("worker-1"), NOW).await.expect("it is the first");
    first.start_worker(worker("worker-1"), NOW).await.expect("it may ask again");

    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).expect("a link can be made");
    for path in [&path, &link] {
        let second = SqliteStore::open(path).await.expect("opening is not working");
        match second.start_worker(worker("worker-2"), NOW).await {
            Err(StoreError::Owned { owner, .. }) => {
                let process = std::process::id();
                assert_eq!(owner, format!("worker worker-1, process {process}"));
            }
            other => panic!("{other:?}"),
        }
        // It may do everything else.
        second.enqueue(vec![job()], NOW).await.expect("enqueueing is not working");
        assert_eq!(second.job_counts(None).await.expect("nor is reading").len(), 1);
    }
    match first.start_worker(worker("worker-2"), NOW).await {
        Err(StoreError::Owned { owner, .. }) => {
            assert_eq!(owner, "worker worker-1, this process");
        }
        other => panic!("{other:?}"),
    }
    drop(first);
    let third = SqliteStore::open(&path).await.expect("it is there");
    third.start_worker(worker("worker-3"), NOW).await.expect("nobody has it any more");
}

#[tokio::test]
async fn a_new_worker_ends_the_leases_of_its_dead_predecessor() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("queue.db");
    let first = SqliteStore::open(&path).await.expect("a file can be made");
    first.start_worker(worker("worker-1"), NOW).await.expect("it is the first");
    first.enqueue((0..3).map(|_| job()).collect(), NOW).await.expect("they are enqueued");
    let pick = || Pick {
        lane: "a/".parse().expect("a good lane"),
        lease: waitless_job::LeaseToken::new(NOW),
    };
    let claim = Claim {
        worker: worker("worker-1"),
        expires_at: NOW.plus(60_000),
        picks: vec![pick(), pick()],
    };
    assert_eq!(first.claim(claim, NOW).await.expect("it is answered").len(), 2);
    drop(first);

    let second = SqliteStore::open(&path).await.expect("it is there");
    let ended = second.start_worker(worker("worker-2"), NOW.plus(1)).await;
    assert_eq!(ended.expect("nobody has it any more"), 2);
    let counts = second.job_counts(None).await.expect("jobs can be counted");
    assert_eq!(counts, [(JobState::Waiting, 3)]);
}

#[tokio::test]
async fn a_lock_file_that_cannot_be_written_is_named() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("queue.db");
    std::fs::create_dir(directory.path().join("queue.db.lock")).expect("it is free");
    let store = SqliteStore::open(&path).await.expect("a file can be made");
    match store.start_worker(worker("worker-1"), NOW).await {
        Err(StoreError::Open { reason, .. }) => {
            assert!(reason.contains("queue.db.lock"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}
