//! A process that is killed loses nothing that it has acknowledged.
//!
//! The child is this test binary again, told by its environment to work. It says on its standard
//! output what was acknowledged; when enough was, it is killed in the middle of what it does next.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use rusqlite::Connection;
use waitless_job::{JobId, LeaseToken, NewJob, UnixMillis};
use waitless_store::{
    Reader, Store,
    fsck::fsck,
    ops::{Claim, LeaseRef, Outcome, Pick, Saved, Settle},
};
use waitless_store_sqlite::SqliteStore;

/// Kills of one run. More of them: `WAITLESS_KILLS=200 cargo test`.
const KILLS: u32 = 20;

const NOW: UnixMillis = UnixMillis(1_700_000_000_000);

/// The name of the test below that is the child, and of the variable that makes it one.
const CHILD: &str = "the_child_that_is_killed";
const STORE: &str = "WAITLESS_KILL_STORE";

#[derive(Default)]
struct Acknowledged {
    enqueued: HashSet<JobId>,
    settled: HashSet<JobId>,
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_by_a_killed_process() {
    let kills = std::env::var("WAITLESS_KILLS").ok();
    let kills = kills.map_or(KILLS, |kills| kills.parse().expect("WAITLESS_KILLS is a number"));
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("queue.db");
    let mut acknowledged = Acknowledged::default();
    for kill in 0..kills {
        // Spread over a few hundred acknowledgements, none of them in step with commits.
        let after = 1 + (kill * 37) % 211;
        work_and_be_killed(&path, after, &mut acknowledged);
        check(&path, &acknowledged).await;
    }
    assert!(acknowledged.settled.len() > kills as usize, "the children came to settle something");
}

fn work_and_be_killed(path: &Path, after: u32, acknowledged: &mut Acknowledged) {
    let mut child = Command::new(std::env::current_exe().expect("a test is a program"))
        .args([CHILD, "--exact", "--nocapture"])
        .env(STORE, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts again");
    let mut seen = 0;
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    for line in output.lines() {
        // The last line may have been cut.
        let Ok(line) = line else { break };
        let Some((verb, id)) = line.split_once(' ') else { continue };
        let Ok(id) = id.parse::<JobId>() else { continue };
        match verb {
            "enqueued" => acknowledged.enqueued.insert(id),
            "settled" => acknowledged.settled.insert(id),
            _ => continue,
        };
        seen += 1;
        if seen == after {
            child.kill().expect("it runs");
        }
    }
    let status = child.wait().expect("it was started");
    assert!(!status.success(), "the child ended before it was killed");
    assert!(seen >= after, "the child ended after {seen} acknowledgements");
}

async fn check(path: &Path, acknowledged: &Acknowledged) {
    let file = Connection::open(path).expect("it is there");
    let integrity: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("a database can be checked");
    assert_eq!(integrity, "ok");
    drop(file);

    let store = SqliteStore::open(path).await.expect("it is there");
    let audit = store.audit().await.expect("a store can be read");
    assert_eq!(fsck(&audit), []);
    let kept: HashSet<_> = audit.jobs.iter().map(|job| job.id).collect();
    let ended: HashSet<_> =
        audit.jobs.iter().filter(|job| job.state.is_final()).map(|job| job.id).collect();
    assert_eq!(acknowledged.enqueued.difference(&kept).count(), 0, "enqueued and lost");
    assert_eq!(acknowledged.settled.difference(&ended).count(), 0, "settled and forgotten");
}

/// Not a test by itself: without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_child_that_is_killed() {
    let Some(path) = std::env::var_os(STORE).map(PathBuf::from) else { return };
    let store = Arc::new(SqliteStore::open(&path).await.expect("the store opens after a kill"));
    let worker = "worker".parse().expect("a good name");
    store.start_worker(worker, NOW).await.expect("the one before is dead");
    let bucket = "a/x".parse().expect("a bucket");
    let limit = "1000000/s burst 1000000 margin 0".parse().expect("a limit");
    store.set_limits(vec![(bucket, limit)], NOW).await.expect("limits can be set");
    let mut busy = tokio::task::JoinSet::new();
    for _ in 0..2 {
        busy.spawn(enqueue_for_ever(Arc::clone(&store)));
        busy.spawn(work_for_ever(Arc::clone(&store)));
    }
    busy.join_all().await;
}

/// Says it in one write, so that lines of two tasks do not mix.
fn say(verb: &str, ids: &[JobId]) {
    let lines: String = ids.iter().map(|id| format!("{verb} {id}\n")).collect();
    std::io::stdout().lock().write_all(lines.as_bytes()).expect("somebody reads");
}

async fn enqueue_for_ever(store: Arc<SqliteStore>) {
    loop {
        let job = || NewJob::new("kind", "a", &(), NOW).expect("a good job");
        let batch: Vec<_> =
            (0..3).map(|_| job().needs_one("x".parse().expect("a group"))).collect();
        let ids: Vec<_> = batch.iter().map(|job| job.id).collect();
        store.enqueue(batch, NOW).await.expect("it is enqueued");
        say("enqueued", &ids);
    }
}

async fn work_for_ever(store: Arc<SqliteStore>) {
    loop {
        let pick = || Pick { lane: "a/x".parse().expect("a lane"), lease: LeaseToken::new(NOW) };
        let claim = Claim {
            worker: "worker".parse().expect("a good name"),
            expires_at: NOW.plus(60_000),
            picks: vec![pick(), pick(), pick()],
        };
        let claimed = store.claim(claim, NOW).await.expect("it is answered");
        let settle = |claimed: &waitless_store::ops::Claimed| {
            let token = claimed.job.lease.as_ref().expect("it was claimed").token;
            Settle {
                lease: LeaseRef { job: claimed.job.id, token },
                outcome: Outcome::Done,
                saved: Saved { checkpoint: Some("[1]".into()), ..Saved::default() },
            }
        };
        let settles: Vec<_> = claimed.iter().map(settle).collect();
        let ids: Vec<_> = claimed.iter().map(|claimed| claimed.job.id).collect();
        store.settle(settles, NOW).await.expect("it is answered");
        say("settled", &ids);
    }
}
