//! A store in an SQLite file keeps every promise.

use tempfile::TempDir;
use waitless_store_sqlite::SqliteStore;

async fn fresh() -> (SqliteStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let store = SqliteStore::open(directory.path().join("queue.db")).await;
    (store.expect("a file can be made"), directory)
}

waitless_store::conformance!(fresh);
