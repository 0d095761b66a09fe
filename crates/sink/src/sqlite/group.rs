//! Group commit: many changes, one transaction, each change whole or not at all.

use std::slice;

use rusqlite::Connection;

use super::change::{Change, Outcome};
use crate::{SinkError, SinkUrl};

/// Makes the changes and commits them. Each answer is final, and durable if it is no error.
///
/// All share one transaction. If it fails, nothing of it is kept and each change is made again in a
/// transaction of its own, so that a bad one does not take the others with it, and a small batch is
/// not refused because its large neighbour filled the disk.
///
/// A savepoint for each change would do the same without the second try. It was measured: the copy
/// it keeps of every page costs a fifth of all landing, for failures that hardly ever happen, and
/// SQLite may roll back the whole transaction all the same (it does when the disk is full).
pub(crate) fn commit(
    connection: &mut Connection,
    url: &SinkUrl,
    changes: &[Change],
) -> Vec<Result<Outcome, SinkError>> {
    let error = match commit_together(connection, changes) {
        Ok(outcomes) => return outcomes.into_iter().map(Ok).collect(),
        Err(error) => SinkError::from_sqlite(url, "landing rows", error),
    };
    // The lock was not to be had. To ask for it once more for each change would make the last
    // caller wait a quarter of an hour.
    if changes.len() == 1 || matches!(error, SinkError::Busy { .. }) {
        return vec![Err(error); changes.len()];
    }
    commit_one_by_one(connection, url, changes)
}

fn commit_one_by_one(
    connection: &mut Connection,
    url: &SinkUrl,
    changes: &[Change],
) -> Vec<Result<Outcome, SinkError>> {
    let mut outcomes = Vec::with_capacity(changes.len());
    for change in changes {
        outcomes.append(&mut commit(connection, url, slice::from_ref(change)));
        if let Some(Err(busy @ SinkError::Busy { .. })) = outcomes.last() {
            let busy = busy.clone();
            outcomes.resize(changes.len(), Err(busy));
            break;
        }
    }
    outcomes
}

/// One transaction for all. After an error nothing of it is left.
fn commit_together(
    connection: &mut Connection,
    changes: &[Change],
) -> rusqlite::Result<Vec<Outcome>> {
    let transaction = connection.transaction()?;
    let apply = |change: &Change| change.apply(&transaction);
    let outcomes = changes.iter().map(apply).collect::<rusqlite::Result<_>>()?;
    transaction.commit()?;
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::value::RawValue;
    use tempfile::TempDir;

    use super::*;
    use crate::sqlite::connection::open_writer;
    use crate::{Batch, Landed, Row};

    fn open(directory: &Path) -> (SinkUrl, Connection) {
        let url = SinkUrl::File(directory.join("rows.db"));
        let connection = open_writer(&url).expect("it opens");
        (url, connection)
    }

    /// `rows` rows of about 10 kB, with keys that start with `name`.
    fn batch(name: &str, rows: usize) -> Change {
        let body = RawValue::from_string(format!("\"{}\"", "x".repeat(10_000))).expect("JSON");
        let row =
            |row| Row { key: format!("{name}{row}"), version: "1".into(), body: body.clone() };
        Change::Land(Batch {
            account: "a".into(),
            dataset: "d".into(),
            fetched_at: 0,
            rows: (0..rows).map(row).collect(),
        })
    }

    fn inserted(inserted: u64) -> Outcome {
        Outcome::Landed(Landed { inserted, ..Landed::default() })
    }

    fn rows(connection: &Connection) -> i64 {
        let count = "SELECT count(*) FROM landing";
        connection.query_row(count, [], |row| row.get(0)).expect("it counts")
    }

    /// Leaves the disk `pages` more pages, or takes the limit away.
    fn limit_pages(connection: &Connection, pages: Option<i64>) {
        let used: i64 =
            connection.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("it counts");
        let max = pages.map_or(i64::from(u32::MAX) - 1, |pages| used + pages);
        connection
            .query_row(&format!("PRAGMA max_page_count = {max}"), [], |row| row.get::<_, i64>(0))
            .expect("it is set");
    }

    #[test]
    fn a_full_disk_refuses_the_large_batch_and_takes_its_small_neighbours() {
        let directory = TempDir::new().expect("a directory");
        let (url, mut connection) = open(directory.path());
        limit_pages(&connection, Some(20));
        let group = [batch("before", 3), batch("large", 500), batch("after", 3)];

        let mut outcomes = commit(&mut connection, &url, &group).into_iter();
        assert_eq!(outcomes.next().unwrap().unwrap(), inserted(3));
        let error = outcomes.next().unwrap().unwrap_err();
        assert!(matches!(error, SinkError::Full { .. }), "{error:?}");
        assert_eq!(outcomes.next().unwrap().unwrap(), inserted(3));
        assert_eq!(rows(&connection), 6, "nothing of the large batch");

        limit_pages(&connection, None);
        let outcomes = commit(&mut connection, &url, &group[1..2]);
        assert_eq!(outcomes[0].as_ref().unwrap(), &inserted(500));
        assert_eq!(rows(&connection), 506);
    }

    #[test]
    fn a_batch_that_sqlite_refuses_does_not_take_the_others_with_it() {
        let directory = TempDir::new().expect("a directory");
        let (url, mut connection) = open(directory.path());
        connection
            .execute_batch(
                "CREATE TRIGGER refuse BEFORE INSERT ON landing WHEN new.natural_key = 'bad1'
                 BEGIN SELECT raise(ABORT, 'refused'); END",
            )
            .expect("a trigger");
        let group = [batch("before", 2), batch("bad", 2), batch("after", 2)];

        let outcomes = commit(&mut connection, &url, &group);
        assert_eq!(outcomes[0].as_ref().unwrap(), &inserted(2));
        let error = outcomes[1].as_ref().unwrap_err();
        assert!(matches!(error, SinkError::Sqlite { .. }), "{error:?}");
        assert_eq!(outcomes[2].as_ref().unwrap(), &inserted(2));
        assert_eq!(rows(&connection), 4, "not even the good row of the bad batch");
    }

    #[test]
    fn a_connection_that_may_not_write_says_read_only() {
        let directory = TempDir::new().expect("a directory");
        let (url, mut connection) = open(directory.path());
        connection.execute_batch("PRAGMA query_only = ON").expect("it is set");
        let outcomes = commit(&mut connection, &url, &[batch("a", 1), batch("b", 1)]);
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(matches!(error, SinkError::ReadOnly { .. }), "{error:?}");
        }
    }
}
