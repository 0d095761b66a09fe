//! A store in an SQLite file and the reference cannot be told apart.

use tempfile::TempDir;
use waitless_store::conformance::sequence::agree;
use waitless_store_sqlite::{Durability, Options, SqliteStore};

/// Sequences of one run. More of them: `WAITLESS_SEQUENCES=5000 cargo test`.
const CASES: u32 = 500;

async fn fresh() -> (SqliteStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    // A power cut would take the directory along.
    let options = Options { durability: Durability::Off, ..Options::default() };
    let store = SqliteStore::open_with(directory.path().join("queue.db"), options).await;
    (store.expect("a file can be made"), directory)
}

#[test]
fn random_operations_leave_it_as_they_leave_the_reference() {
    let cases = std::env::var("WAITLESS_SEQUENCES").ok();
    let cases = cases.map_or(CASES, |cases| cases.parse().expect("WAITLESS_SEQUENCES is a number"));
    agree(cases, file!(), fresh);
}
