//! Opening a connection and setting it up.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use super::schema;
use crate::{SinkError, SinkUrl};

/// How often a lock is tried, and how long to sleep in between: about half a minute in all.
///
/// SQLite's own `busy_timeout` soon sleeps 100 ms at a time. Beside a process that lands without a
/// pause, single rows then waited up to 261 ms for the lock; trying every millisecond, up to 71 ms.
const LOCK_TRIES_MAX: i32 = 30_000;
const LOCK_TRY_EVERY: Duration = Duration::from_millis(1);

/// Rows of 700 bytes fit a page of 16 kB well: with SQLite's 4 kB they land at half the speed.
const LARGE_PAGES: &str = "PRAGMA page_size = 16384";

/// FULL: a commit is on the disk before it is reported. NORMAL, the usual companion of the
/// write-ahead log, loses the last commits with the power.
///
/// The log is copied into the file every 2,000 pages (32 MB), not every 1,000: each copy flushes the
/// disk twice, and the writer waits for it.
const DURABLE_AND_FAST: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA cache_size = -32768;
";

fn lock_is_busy(tries: i32) -> bool {
    thread::sleep(LOCK_TRY_EVERY);
    tries < LOCK_TRIES_MAX
}

/// The connection that writes: durable, and with its tables up to date.
pub(crate) fn open_writer(url: &SinkUrl) -> Result<Connection, SinkError> {
    let mut connection = match url {
        SinkUrl::Memory => Connection::open_in_memory().map_err(failed(url))?,
        SinkUrl::File(path) => {
            let path = absolute(path)?;
            open(url, &path, OpenFlags::SQLITE_OPEN_CREATE)?
        }
    };
    // Without the right to write, SQLite opens the file all the same, to be read.
    if connection.is_readonly(MAIN_DB).map_err(failed(url))? {
        return Err(SinkError::ReadOnly { url: url.clone() });
    }
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    if matches!(url, SinkUrl::File(_)) {
        // The size of a page is settled by the first write to a new file, so it comes first.
        connection.execute_batch(LARGE_PAGES).map_err(failed(url))?;
        use_wal(&connection, url)?;
        connection.execute_batch(DURABLE_AND_FAST).map_err(failed(url))?;
    }
    schema::bring_up_to_date(&mut connection, url)?;
    Ok(connection)
}

/// A connection that only reads, to a file that [`open_writer`] has opened before.
pub(crate) fn open_reader(url: &SinkUrl) -> Result<Connection, SinkError> {
    let path = absolute(url.path())?;
    let connection = open(url, &path, OpenFlags::empty())?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(failed(url))?;
    Ok(connection)
}

fn open(url: &SinkUrl, path: &Path, also: OpenFlags) -> Result<Connection, SinkError> {
    // No mutex: a connection belongs to one thread.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | also;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed(url))?;
    connection.busy_handler(Some(lock_is_busy)).map_err(failed(url))?;
    Ok(connection)
}

/// Absolute, so that no path is taken for one of SQLite's `file:` URIs, and the working directory
/// may change later.
fn absolute(path: &Path) -> Result<PathBuf, SinkError> {
    let missing = |directory: &Path| SinkError::DirectoryMissing {
        path: path.into(),
        directory: directory.into(),
    };
    let absolute = std::path::absolute(path).map_err(|_| missing(Path::new(".")))?;
    match absolute.parent() {
        Some(directory) if !directory.is_dir() => Err(missing(directory)),
        _ => Ok(absolute),
    }
}

fn use_wal(connection: &Connection, url: &SinkUrl) -> Result<(), SinkError> {
    let mut tries = 0;
    let mode: String = loop {
        // SQLite answers "busy" here without asking the busy handler when two processes change
        // the mode of a new file at once: waiting for each other would be a deadlock.
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode.map_err(failed(url)) {
            Err(SinkError::Busy { .. }) if lock_is_busy(tries) => tries += 1,
            mode => break mode?,
        }
    };
    if mode == "wal" { Ok(()) } else { Err(SinkError::WalRefused { url: url.clone(), mode }) }
}

fn failed(url: &SinkUrl) -> impl Fn(rusqlite::Error) -> SinkError {
    |error| SinkError::from_sqlite(url, "opening", error)
}
