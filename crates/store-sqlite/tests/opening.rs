//! What is no store of ours is refused, with what to do.

use std::{fs, path::Path};

use rusqlite::Connection;
use tempfile::TempDir;
use waitless_store::{Reader, Store, StoreError, fsck::fsck};
use waitless_store_sqlite::{Options, SqliteStore};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

async fn refusal(path: &Path) -> String {
    match SqliteStore::open(path).await {
        Err(error @ StoreError::Open { .. }) => error.to_string(),
        Err(other) => panic!("refused for another reason: {other:?}"),
        Ok(_) => panic!("{} was opened", path.display()),
    }
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let directory = directory();
    let text = refusal(&directory.path().join("missing/queue.db")).await;
    assert!(text.contains("missing does not exist; make it first"), "{text}");
}

#[tokio::test]
async fn a_directory_is_no_file() {
    let directory = directory();
    let text = refusal(directory.path()).await;
    assert!(text.contains("it is a directory"), "{text}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let directory = directory();
    let path = directory.path().join("notes.txt");
    let text = "buy milk\n".repeat(1_000);
    fs::write(&path, &text).expect("a file can be written");
    let refusal = refusal(&path).await;
    assert!(refusal.contains("not an SQLite database"), "{refusal}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
}

#[tokio::test]
async fn the_database_of_another_program_is_left_as_it_is() {
    let directory = directory();
    let path = directory.path().join("books.db");
    let theirs = Connection::open(&path).expect("a file can be made");
    theirs.execute_batch("CREATE TABLE jobs (title TEXT)").expect("it is empty");
    let before = fs::read(&path).expect("it is there");
    let refusal = refusal(&path).await;
    assert!(refusal.contains("the database of another program"), "{refusal}");
    assert_eq!(fs::read(&path).expect("it is there"), before);
}

#[tokio::test]
async fn landed_rows_may_share_the_file() {
    let directory = directory();
    let path = directory.path().join("both.db");
    let sink = Connection::open(&path).expect("a file can be made");
    sink.execute_batch("CREATE TABLE sink_schema_history (version INTEGER)").expect("it is empty");
    let store = SqliteStore::open(&path).await.expect("the file is ours as well");
    assert_eq!(store.job_counts(None).await.expect("jobs can be counted"), []);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let directory = directory();
    let path = directory.path().join("queue.db");
    drop(SqliteStore::open(&path).await.expect("a file can be made"));
    let future = Connection::open(&path).expect("it is there");
    future
        .execute_batch(
            "INSERT INTO store_schema_history (version, name, applied_on, checksum)
             VALUES (9, 'future', '2030-01-01T00:00:00Z', '1')",
        )
        .expect("a history has these columns");
    match SqliteStore::open(&path).await {
        Err(StoreError::Newer { found: 9, known: 4, store }) => {
            assert!(store.ends_with("queue.db"), "{store}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_file_is_not_made_unless_wanted() {
    let directory = directory();
    let path = directory.path().join("queue.db");
    let options = Options { create: false, ..Options::default() };
    let refused = SqliteStore::open_with(&path, options.clone()).await;
    assert!(matches!(refused, Err(StoreError::Open { .. })), "{refused:?}");
    assert!(!path.exists());
    drop(SqliteStore::open(&path).await.expect("a file can be made"));
    SqliteStore::open_with(&path, options).await.expect("now it is there");
}

#[tokio::test]
async fn a_name_that_looks_like_a_uri_is_a_path() {
    let directory = directory();
    let path = directory.path().join("file:queue.db?mode=memory");
    drop(SqliteStore::open(&path).await.expect("a file can be made"));
    assert!(path.exists());
}

#[tokio::test]
async fn opening_one_new_file_many_times_at_once_works() {
    let directory = directory();
    let path = directory.path().join("queue.db");
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let path = path.clone();
        opening.spawn(async move { SqliteStore::open(&path).await });
    }
    for store in opening.join_all().await {
        let store = store.expect("all of them open it");
        assert_eq!(fsck(&store.audit().await.expect("it can be read")), []);
    }
}

#[tokio::test]
async fn what_was_enqueued_is_there_when_the_file_is_opened_again() {
    let directory = directory();
    let path = directory.path().join("queue.db");
    let now = waitless_job::UnixMillis(1_000);
    let job = waitless_job::NewJob::new("kind", "a", &[1, 2], now).expect("a good job");
    let id = job.id;
    let store = SqliteStore::open(&path).await.expect("a file can be made");
    store.enqueue(vec![job], now).await.expect("it is enqueued");
    drop(store);
    // Whoever closes the file last leaves nothing beside it.
    assert!(!path.with_extension("db-wal").exists());
    let store = SqliteStore::open(&path).await.expect("it is there");
    let (_, args) = store.job(id).await.expect("it can be read").expect("it is there");
    assert_eq!(&*args, "[1,2]");
}

#[tokio::test]
async fn what_is_no_store_yet_is_left_as_it_is_when_one_must_be_there() {
    let directory = directory();
    let empty = directory.path().join("empty %41?#.db");
    fs::write(&empty, "").expect("a file can be written");
    let rows = directory.path().join("rows.db");
    let landed = Connection::open(&rows).expect("a file can be made");
    landed
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE sink_schema_history (version)")
        .expect("it is empty");
    // Once with its log beside it, and once without.
    let mut landed = Some(landed);
    for (path, says) in [(&empty, "it is empty"), (&rows, "landed rows"), (&rows, "landed rows")] {
        let before = fs::read(path).expect("it is there");
        match SqliteStore::open_existing(path).await {
            Err(StoreError::Open { reason, .. }) => assert!(reason.contains(says), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(path).expect("it is there"), before, "{}", path.display());
        if path == &rows {
            landed.take();
        }
    }
    let missing = directory.path().join("missing.db");
    SqliteStore::open_existing(&missing).await.expect_err("it is not there");
    assert!(!missing.exists());

    let store = directory.path().join("store %41?#.db");
    drop(SqliteStore::open(&store).await.expect("a file can be made"));
    drop(SqliteStore::open_existing(&store).await.expect("it is a store"));
    let beside = SqliteStore::open_existing(&store).await.expect("it is a store");
    SqliteStore::open_existing(&store).await.expect("it is one in use");
    drop(beside);
}
