//! Several tasks, sinks and processes at one file, and how a sink ends.

mod rows;

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rows::{Place, batch};
use rusqlite::Connection;
use tokio::task::JoinSet;
use waitless_sink::{Batch, Landed, RawValue, Row, Sink};

/// `rows` rows named after `name`, with the given version.
fn many(name: &str, rows: usize, version: &str) -> Batch {
    let body = RawValue::from_string(format!("\"{}\"", "x".repeat(700))).expect("JSON");
    let row =
        |row| Row { key: format!("{name}-{row:06}"), version: version.into(), body: body.clone() };
    Batch { rows: (0..rows).map(row).collect(), ..batch(10, &[]) }
}

fn integrity(path: &Path) -> String {
    let connection = Connection::open(path).expect("it opens");
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it checks")
}

#[tokio::test]
async fn batches_of_many_tasks_all_land_once() {
    let place = Place::new();
    let sink = Arc::new(place.open().await);
    let mut tasks = JoinSet::new();
    for task in 0..100 {
        let sink = Arc::clone(&sink);
        // Every row comes from two tasks.
        let batch = many(&format!("{}", task / 2), 50, "1");
        tasks.spawn(async move { sink.land(batch).await.unwrap() });
    }
    let mut landed = Landed::default();
    while let Some(batch) = tasks.join_next().await {
        landed += batch.unwrap();
    }
    assert_eq!(landed, Landed { inserted: 2500, updated: 0, unchanged: 2500 });
    assert_eq!(sink.count("a", "d").await.unwrap().rows, 2500);
}

#[tokio::test]
async fn two_sinks_at_one_file_see_each_others_rows_and_count_each_once() {
    let place = Place::new();
    let sinks = [Arc::new(place.open().await), Arc::new(place.open().await)];
    let mut tasks = JoinSet::new();
    for round in 0..20 {
        for sink in &sinks {
            let sink = Arc::clone(sink);
            let batch = many(&format!("{round}"), 100, "1");
            tasks.spawn(async move { sink.land(batch).await.unwrap() });
        }
    }
    let mut landed = Landed::default();
    while let Some(batch) = tasks.join_next().await {
        landed += batch.unwrap();
    }
    assert_eq!(landed, Landed { inserted: 2000, updated: 0, unchanged: 2000 });
    for sink in &sinks {
        assert_eq!(sink.count("a", "d").await.unwrap().rows, 2000);
    }
    assert_eq!(integrity(&place.path), "ok");
}

#[tokio::test]
async fn many_sinks_may_make_one_file_at_the_same_time() {
    for _ in 0..5 {
        let place = Place::new();
        let mut tasks = JoinSet::new();
        for name in 0..8 {
            let path = place.path.clone();
            tasks.spawn(async move {
                let sink = rows::open(&path).await;
                sink.land(many(&format!("{name}"), 10, "1")).await.unwrap()
            });
        }
        while let Some(landed) = tasks.join_next().await {
            assert_eq!(landed.unwrap().inserted, 10);
        }
        assert_eq!(place.open().await.count("a", "d").await.unwrap().rows, 80);
    }
}

const CHILD_PATH: &str = "WAITLESS_SINK_TEST_PATH";
const CHILD_NAME: &str = "WAITLESS_SINK_TEST_NAME";

/// Batches, and rows of each, that every process lands without a pause.
const CHILD_BATCHES: usize = 25;
const CHILD_ROWS: usize = 1000;

/// The other process of the next test: does nothing unless that test has started it.
#[tokio::test]
async fn as_a_child_lands_its_share() {
    let (Ok(path), Ok(name)) = (env::var(CHILD_PATH), env::var(CHILD_NAME)) else {
        return;
    };
    let sink = Arc::new(rows::open(Path::new(&path)).await);
    let mut tasks = JoinSet::new();
    for batch in 0..CHILD_BATCHES {
        let sink = Arc::clone(&sink);
        let batch = many(&format!("{name}-{batch}"), CHILD_ROWS, "1");
        tasks.spawn(async move { sink.land(batch).await.unwrap() });
    }
    while let Some(landed) = tasks.join_next().await {
        assert_eq!(landed.unwrap().inserted, CHILD_ROWS as u64);
    }
}

#[tokio::test]
async fn processes_that_land_without_a_pause_all_get_their_rows_in() {
    let place = Place::new();
    let child = |name: &str| {
        Command::new(env::current_exe().expect("this test"))
            .args(["--exact", "as_a_child_lands_its_share"])
            .env(CHILD_PATH, &place.path)
            .env(CHILD_NAME, name)
            .spawn()
            .expect("it starts")
    };
    let children = ["one", "two", "three"].map(child);
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let rows = (3 * CHILD_BATCHES * CHILD_ROWS) as u64;
    assert_eq!(place.open().await.count("a", "d").await.unwrap().rows, rows);
    assert_eq!(integrity(&place.path), "ok");
}

#[tokio::test]
async fn a_reader_is_not_held_up_by_another_process_that_writes() {
    let place = Place::new();
    let sink = place.open().await;
    sink.land(batch(10, &[("k", "1", "1")])).await.unwrap();
    let connection = Connection::open(&place.path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; DELETE FROM landing").unwrap();
    assert_eq!(sink.count("a", "d").await.unwrap().rows, 1);
}

#[tokio::test]
async fn dropping_a_sink_commits_what_it_has_accepted() {
    let place = Place::new();
    let sink = place.open().await;
    let other = Connection::open(&place.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Polled once, a batch is with the writer, which waits for the lock; then nobody waits for it.
    for name in ["a", "b", "c"] {
        let land = sink.land(many(name, 10, "1"));
        tokio::select! {
            biased;
            _ = land => panic!("the file is locked"),
            () = std::future::ready(()) => {}
        }
    }
    other.execute_batch("COMMIT").unwrap();
    drop(sink);
    assert_eq!(rows::stored(&place.path).len(), 30);
    let log = place.path.with_extension("db-wal");
    let other_is_last = other.close().is_ok();
    assert!(other_is_last && !log.exists(), "and leaves no log behind");
}

#[tokio::test]
async fn a_sink_outlives_an_error_and_lands_again() {
    let place = Place::new();
    let sink = place.open().await;
    sink.land(many("a", 10, "1")).await.unwrap();
    let other = Connection::open(&place.path).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON landing BEGIN SELECT raise(ABORT, 'no'); END",
        )
        .unwrap();
    sink.land(many("b", 10, "1")).await.unwrap_err();
    other.execute_batch("DROP TRIGGER refuse").unwrap();
    assert_eq!(sink.land(many("b", 10, "1")).await.unwrap().inserted, 10);
    assert_eq!(sink.count("a", "d").await.unwrap().rows, 20);
}
