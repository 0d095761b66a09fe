//! The tables, and the versions they came by.

use refinery::error::Kind;
use rusqlite::{Connection, OptionalExtension};
use waitless_store::StoreError;

use crate::error::{named, opening};

mod embedded {
    refinery::embed_migrations!("../../migrations/store-sqlite");
}

/// The history has a table of its own name, so that landed rows, which have a history of theirs,
/// may share the file.
pub(crate) const HISTORY: &str = "store_schema_history";

/// A file in which one of these tables exists is one of ours.
const HISTORIES: [&str; 2] = [HISTORY, "sink_schema_history"];

/// Brings an empty or older database up to date. [`SqliteStore`](crate::SqliteStore) does it when
/// it opens a file; this is for checks that want the schema alone.
///
/// # Errors
/// [`StoreError::Newer`] if a newer program has written it, [`StoreError::Open`] if it belongs to
/// another program, or what SQLite says.
pub fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    check(connection, "the database")?;
    bring_up_to_date(connection, "the database")
}

/// Refuses what is not for this program. Changes nothing.
pub(crate) fn check(connection: &Connection, store: &str) -> Result<(), StoreError> {
    check_tables(connection, store).map(|_| ())
}

/// Refuses, too, what is not a store yet. Changes nothing.
pub(crate) fn check_existing(connection: &Connection, store: &str) -> Result<(), StoreError> {
    let reason = match check_tables(connection, store)? {
        Holds::Store => return Ok(()),
        Holds::Rows => {
            "it holds landed rows and no jobs; give the path of the store instead, \
                        which is another file"
        }
        Holds::Nothing => {
            "it is empty, and no store; give the path of a file that `waitless import` made"
        }
    };
    Err(StoreError::Open { store: store.into(), reason: reason.into() })
}

/// What a file of ours has in it.
enum Holds {
    Nothing,
    /// Landed rows alone.
    Rows,
    Store,
}

fn check_tables(connection: &Connection, store: &str) -> Result<Holds, StoreError> {
    let failed = |error| opening(store, &error);
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .map_err(failed)?;
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).and_then(Iterator::collect).map_err(failed)?;
    let ours = tables.iter().any(|table| HISTORIES.contains(&table.as_str()));
    if !ours && !tables.is_empty() {
        return Err(StoreError::Open {
            store: store.into(),
            reason: "it is the database of another program; give the path of a file that waitless \
                     made, or of one that does not exist yet"
                .into(),
        });
    }
    if !tables.iter().any(|table| table == HISTORY) {
        return Ok(if ours { Holds::Rows } else { Holds::Nothing });
    }
    let newest = connection
        .query_row(&format!("SELECT max(version) FROM {HISTORY}"), [], |row| row.get(0))
        .optional()
        .map_err(failed)?
        .flatten();
    let (found, known): (i64, i64) = (newest.unwrap_or(0), newest_known());
    if found > known {
        let version = |version: i64| u32::try_from(version).unwrap_or(u32::MAX);
        return Err(StoreError::Newer {
            store: store.into(),
            found: version(found),
            known: version(known),
        });
    }
    Ok(Holds::Store)
}

/// Applies the migrations that the file lacks, all or none.
///
/// `connection` must begin its transactions as IMMEDIATE: a deferred one that has read before it
/// writes fails at once, whatever the busy handler says, if another process has written meanwhile.
pub(crate) fn bring_up_to_date(connection: &mut Connection, store: &str) -> Result<(), StoreError> {
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    let done = match runner.run(connection) {
        // Another process may have applied the same migrations between our look at the history and
        // our turn to write. Then the second look finds nothing left to do.
        Err(error) if matches!(error.kind(), Kind::Connection(..)) => runner.run(connection),
        done => done,
    };
    match done {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.kind() {
            Kind::Connection(_, source) => match source.downcast_ref::<rusqlite::Error>() {
                Some(error) => named(store, error),
                None => failed(store, &error),
            },
            _ => failed(store, &error),
        }),
    }
}

fn failed(store: &str, error: &refinery::Error) -> StoreError {
    StoreError::Open {
        store: store.into(),
        reason: format!("its tables could not be brought up to date: {error}"),
    }
}

fn newest_known() -> i64 {
    let runner = embedded::migrations::runner();
    let newest = runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
    newest.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::{cmp::Reverse, path::Path};

    use refinery::Target;
    use waitless_job::{Class, UnixMillis};
    use waitless_store::{
        Reader, Store,
        fsck::fsck,
        model::{Lane, Place, Rank},
        ops::{Accounts, DueRequest},
    };

    use super::*;
    use crate::SqliteStore;

    const NOW: UnixMillis = UnixMillis(1_700_000_000_000);

    /// A store as the program of that version has left it: a paused account, a bucket with five
    /// tokens, and a job that waits for one of them.
    fn store_of(version: i32, path: &Path) {
        let mut connection = Connection::open(path).expect("a file can be made");
        let mut runner = embedded::migrations::runner().set_target(Target::Version(version));
        runner.set_migration_table_name(HISTORY);
        runner.run(&mut connection).expect("an empty database can be brought up to date");
        connection
            .execute_batch(
                "INSERT INTO limits (account, limit_group, tokens, interval_ms, burst, margin_ms)
                 VALUES ('a', 'x', 1, 60000, 10, 0);
                 INSERT INTO buckets (account, limit_group, t, ts, iv, hold)
                 VALUES ('a', 'x', 300000, 1700000000000, 60000, NULL);
                 INSERT INTO accounts (id, name, upstream, added_at, token_expires_at, paused)
                 VALUES ('b', 'A seller', 'wb', 7, NULL, 'why');
                 INSERT INTO jobs (seq, id, kind, account, groups, costs, class, state, run_at,
                     attempts, attempts_max, snoozes, requests_done, rows_landed, created_at)
                 VALUES (0, zeroblob(16), 'kind', 'a', 'x', '1', 1, 'waiting', 1700000000000,
                     0, 8, 0, 0, 0, 1700000000000);
                 INSERT INTO args (seq, args) VALUES (0, 'null');
                 INSERT INTO lanes (account, groups, waiting, place, ready_at, class, full_at,
                     time_to_full_ms)
                 VALUES ('a', 'x', 1, 'ready', NULL, 1, 1700000300000, 600000);
                 UPDATE counters SET value = 1 WHERE name = 'enqueued';",
            )
            .expect("the first version has these columns");
    }

    #[tokio::test]
    async fn a_file_of_each_older_version_is_brought_up_to_date_with_what_it_holds() {
        for version in 1..newest_known() {
            let directory = tempfile::tempdir().expect("a directory can be made");
            let path = directory.path().join("queue.db");
            store_of(i32::try_from(version).expect("a small number"), &path);
            let store = SqliteStore::open(&path).await.expect("it is a store");

            let audit = store.audit().await.expect("a store can be read");
            assert_eq!(fsck(&audit), [], "of version {version}");
            let (limit, bucket) = (&audit.limits[0].1, &audit.buckets[0].1);
            assert_eq!((limit.policy.burst(), &limit.paused), (10, &None));
            assert_eq!((bucket.whole_tokens(), bucket.pace), (5, None));
            let account = &audit.accounts[0];
            assert_eq!(account.paused.as_deref(), Some("why"));
            assert_eq!((&account.token_family, &account.categories), (&None, &None));
            let rank = Rank {
                class: Class::Normal,
                full_at: NOW.plus(300_000),
                token_ms: Reverse(0),
                time_to_full_ms: 600_000,
            };
            assert_eq!(audit.lanes[0].1, Lane { waiting: 1, place: Place::Ready(rank) });

            // Whoever asks for due lanes finds it, and puts its rank right.
            let worker = "worker-1".parse().expect("a name");
            store.start_worker(worker, NOW).await.expect("nobody else works on it");
            let all = DueRequest { limit: 9, accounts: Accounts::default() };
            let due = store.due(all, NOW).await.expect("due is answered");
            assert_eq!(due.lanes[0].rank, Rank { token_ms: Reverse(60_000), ..rank });
            let audit = store.audit().await.expect("a store can be read");
            assert_eq!(fsck(&audit), [], "of version {version}");
        }
    }
}
