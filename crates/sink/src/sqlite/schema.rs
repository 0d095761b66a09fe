//! The tables, and the versions they came by.

use std::sync::Arc;

use refinery::error::Kind;
use rusqlite::Connection;

use crate::{SinkError, SinkUrl};

mod embedded {
    refinery::embed_migrations!("../../migrations/sink-sqlite");
}

/// The history has a table of its own name, so that other tables of Waitless may live in the same
/// file with a history of theirs.
const HISTORY: &str = "sink_schema_history";

/// Applies the migrations that the file lacks, all or none.
///
/// `connection` must begin its transactions as IMMEDIATE: a deferred one that has read before it
/// writes fails at once, whatever the busy handler says, if another process has written meanwhile.
pub(crate) fn bring_up_to_date(
    connection: &mut Connection,
    url: &SinkUrl,
) -> Result<(), SinkError> {
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    let done = match runner.run(connection) {
        // Another process may have applied the same migrations between our look at the history and
        // our turn to write. Then the second look finds nothing left to do.
        Err(error) if matches!(error.kind(), Kind::Connection(..)) => runner.run(connection),
        done => done,
    };
    let known = runner.get_migrations().iter().map(|migration| migration.version()).max();
    let known = i64::from(known.unwrap_or_default());
    done.map(drop).map_err(|error| name(error, url, known))
}

fn name(error: refinery::Error, url: &SinkUrl, known: i64) -> SinkError {
    let url = url.clone();
    match error.kind() {
        Kind::MissingVersion(migration) if i64::from(migration.version()) > known => {
            SinkError::SchemaNewer { url, found: migration.version().into(), known }
        }
        // A full disk or a lock is no fault of the migration. The rest of its errors keep their
        // place, "error applying migrations" among them.
        Kind::Connection(_, source) => match source.downcast_ref().and_then(weather) {
            Some(source) => SinkError::from_sqlite(&url, "opening", source),
            None => SinkError::Migration { url, source: Arc::new(error) },
        },
        _ => SinkError::Migration { url, source: Arc::new(error) },
    }
}

/// The error again, if it comes from the file and not from the SQL.
fn weather(error: &rusqlite::Error) -> Option<rusqlite::Error> {
    match error {
        rusqlite::Error::SqliteFailure(failure, text)
            if failure.code != rusqlite::ErrorCode::Unknown =>
        {
            Some(rusqlite::Error::SqliteFailure(*failure, text.clone()))
        }
        _ => None,
    }
}
