//! Rows to land, and a look at what is stored that does not go through the sink.

#![allow(dead_code, reason = "each test binary needs a part of it")]

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use waitless_sink::{Batch, RawValue, Reject, Rejects, Row, SinkUrl, SqliteSink};

/// A directory for one test, and the file in it.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().expect("a directory");
        let path = directory.path().join("rows.db");
        Self { directory, path }
    }

    pub(crate) async fn open(&self) -> SqliteSink {
        open(&self.path).await
    }
}

pub(crate) async fn open(path: &Path) -> SqliteSink {
    SqliteSink::open(SinkUrl::File(path.into())).await.expect("it opens")
}

/// A batch of account "a", dataset "d", from (key, version, body).
pub(crate) fn batch(fetched_at: i64, rows: &[(&str, &str, &str)]) -> Batch {
    let rows = rows.iter().map(|(key, version, body)| Row {
        key: (*key).into(),
        version: (*version).into(),
        body: RawValue::from_string((*body).into()).expect("the body is JSON"),
    });
    Batch { account: "a".into(), dataset: "d".into(), fetched_at, rows: rows.collect() }
}

/// Rejects of account "a", dataset "d", from (reason, body).
pub(crate) fn rejects(fetched_at: i64, rows: &[(&str, &str)]) -> Rejects {
    let rows =
        rows.iter().map(|(reason, body)| Reject { reason: (*reason).into(), body: (*body).into() });
    Rejects { account: "a".into(), dataset: "d".into(), fetched_at, rows: rows.collect() }
}

/// Key, version, fetched_at and body of every row of account "a", dataset "d".
pub(crate) fn stored(path: &Path) -> Vec<(String, String, i64, String)> {
    let connection = Connection::open(path).expect("it opens");
    let mut rows = connection
        .prepare(
            "SELECT natural_key, version, fetched_at, body FROM landing
             WHERE account = 'a' AND dataset = 'd' ORDER BY natural_key",
        )
        .expect("it prepares");
    let rows = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .expect("it reads");
    rows.collect::<rusqlite::Result<_>>().expect("every column has its type")
}
