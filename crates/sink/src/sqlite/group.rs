//! Group commit: many changes, one transaction, each change whole or not at all.

use std::slice;

use rusqlite::Connection;

use super::change::{Change, Outcome};
use crate::{SinkError, SinkUrl};

/// Makes the changes and commits them; each answer is final and durable.
///
/// The changes share one transaction, in which each has its savepoint: one that fails does not
/// take the others with it. If the transaction as a whole fails (SQLite rolls all of it back when
/// the disk is full, for one), each change is tried in a transaction of its own, so that a small
/// batch is not refused because of a large neighbour.
pub(crate) fn commit(
    connection: &mut Connection,
    url: &SinkUrl,
    changes: &[Change],
) -> Vec<Result<Outcome, SinkError>> {
    let together = try_together(connection, changes);
    match together.map_err(|error| SinkError::from_sqlite(url, "landing rows", error)) {
        Ok(outcomes) => outcomes
            .into_iter()
            .map(|outcome| {
                outcome.map_err(|error| SinkError::from_sqlite(url, "landing rows", error))
            })
            .collect(),
        // The lock was not to be had: asking for it once more for each change would make the last
        // caller wait for half an hour.
        Err(error @ SinkError::Busy { .. }) => vec_of(&error, changes.len()),
        Err(error) if changes.len() == 1 => vec_of(&error, 1),
        Err(_) => one_by_one(connection, url, changes),
    }
}

fn one_by_one(
    connection: &mut Connection,
    url: &SinkUrl,
    changes: &[Change],
) -> Vec<Result<Outcome, SinkError>> {
    let mut outcomes = Vec::with_capacity(changes.len());
    for change in changes {
        outcomes.append(&mut commit(connection, url, slice::from_ref(change)));
        if let Some(Err(error @ SinkError::Busy { .. })) = outcomes.last() {
            let rest = vec_of(error, changes.len() - outcomes.len());
            outcomes.extend(rest);
            break;
        }
    }
    outcomes
}

fn vec_of(error: &SinkError, len: usize) -> Vec<Result<Outcome, SinkError>> {
    (0..len).map(|_| Err(error.clone())).collect()
}

/// One transaction for all. An error means that nothing was committed.
fn try_together(
    connection: &mut Connection,
    changes: &[Change],
) -> rusqlite::Result<Vec<rusqlite::Result<Outcome>>> {
    let mut transaction = connection.transaction()?;
    let mut outcomes = Vec::with_capacity(changes.len());
    if let [only] = changes {
        // Alone it needs no savepoint, whose undo log costs a copy of every page.
        outcomes.push(Ok(only.apply(&transaction)?));
    } else {
        for change in changes {
            let savepoint = transaction.savepoint()?;
            match change.apply(&savepoint) {
                Ok(outcome) => {
                    savepoint.commit()?;
                    outcomes.push(Ok(outcome));
                }
                Err(error) => {
                    drop(savepoint);
                    // After some errors SQLite has already rolled back the transaction, and with
                    // it the changes before this one.
                    if transaction.is_autocommit() {
                        return Err(error);
                    }
                    outcomes.push(Err(error));
                }
            }
        }
    }
    transaction.commit()?;
    Ok(outcomes)
}
