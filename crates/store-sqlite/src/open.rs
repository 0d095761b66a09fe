//! Opening connections and setting them up.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior, config::DbConfig};
use waitless_store::StoreError;

use crate::{
    Durability, Options,
    error::{READ_ONLY, opening},
    schema,
};

/// How often a lock is tried. SQLite's own `busy_timeout` soon sleeps 100 ms at a time, and a
/// process that writes without a pause leaves the lock free for moments that such a sleeper misses.
const LOCK_TRY_EVERY: Duration = Duration::from_millis(1);

/// Pages that the writer keeps in memory: 64 MiB, so that the upper levels of the indexes of a
/// million jobs stay there.
const WRITER_CACHE_KIB: u32 = 64 * 1024;

/// The write-ahead log is cut to this size after it grew beyond, in bytes.
const LOG_BYTES_KEPT: u32 = 64 * 1024 * 1024;

/// Pages of the log after which the writer itself copies it into the file: 64 MiB. Most of it was
/// copied beside it by then, but only a log of which nothing is left to copy begins anew.
const LOG_PAGES_MAX: u32 = 16_000;

/// Longest wait for a look at the tables of a file that is in use.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// Statements that a connection keeps prepared: more than there are queries.
const STATEMENTS_MAX: usize = 64;

/// The file as messages name it.
pub(crate) fn name_of(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// The connection that writes, and where its file really is: durable, and with its tables up to
/// date.
pub(crate) fn writer(path: &Path, options: &Options) -> Result<(Connection, PathBuf), StoreError> {
    let store = name_of(path);
    let failed = |error| opening(&store, &error);
    let path = absolute(path, &store)?;
    let also = if options.create {
        OpenFlags::SQLITE_OPEN_CREATE
    } else if path.exists() {
        OpenFlags::empty()
    } else {
        let reason = "there is no such file; check the path, or enqueue something first".into();
        return Err(StoreError::Open { store, reason });
    };
    if !options.create {
        check_untouched(&path, &store)?;
    }
    let mut connection = open(&path, also, options).map_err(failed)?;
    // Before anything is written: the file may be somebody else's.
    schema::check(&connection, &store)?;
    // Without the right to write, SQLite opens the file all the same, to be read.
    if connection.is_readonly(MAIN_DB).map_err(failed)? {
        return Err(StoreError::Open { store, reason: READ_ONLY.into() });
    }
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    use_write_ahead_log(&connection, &store)?;
    set_up(&connection, options).map_err(failed)?;
    schema::bring_up_to_date(&mut connection, &store)?;
    let path = path.canonicalize().map_err(|error| StoreError::Open {
        store: store.clone(),
        reason: format!("its path cannot be resolved: {error}"),
    })?;
    Ok((connection, path))
}

/// Refuses a file in which there is no store, and leaves every byte of it as it is.
fn check_untouched(path: &Path, store: &str) -> Result<(), StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let look = |has_log: bool| {
        let connection = if has_log {
            let connection = Connection::open_with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            );
            // Closing it would otherwise write a log that a killed process left into the file.
            connection.and_then(|connection| {
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                connection.busy_timeout(LOOK_MAX)?;
                Ok(connection)
            })
        } else {
            // Immutable: without a lock, without a log, and without undoing what a killed process
            // left half done.
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_URI
                | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(immutable_uri(path), flags)
        };
        schema::check_existing(&connection.map_err(|error| opening(store, &error))?, store)
    };
    let has_log = log.exists();
    match look(has_log) {
        // A worker may have opened it meanwhile, and written under our eyes.
        Err(_) if !has_log && log.exists() => look(true),
        looked => looked,
    }
}

/// The address under which SQLite takes a file for one that nobody writes to.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// A connection that only reads a file which [`writer`] has opened before.
pub(crate) fn reader(path: &Path, options: &Options) -> rusqlite::Result<Connection> {
    // Opened for writing all the same: whoever closes the file last empties its write-ahead log.
    let connection = open(path, OpenFlags::empty(), options)?;
    connection.execute_batch("PRAGMA query_only = ON")?;
    Ok(connection)
}

/// A connection that copies the log of such a file.
pub(crate) fn checkpointer(path: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::empty(), options)?;
    connection.pragma_update(None, "synchronous", synchronous(options))?;
    Ok(connection)
}

fn open(path: &Path, also: OpenFlags, options: &Options) -> rusqlite::Result<Connection> {
    // No mutex: a connection is used by one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | also;
    let mut connection = Connection::open_with_flags(path, flags)?;
    let tries_max = i32::try_from(options.busy_ms_max).unwrap_or(i32::MAX);
    connection.busy_handler(Some(move |tries| {
        thread::sleep(LOCK_TRY_EVERY);
        tries < tries_max
    }))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // The query planner's stability guarantee. Without it SQLite compares what is bound with the
    // conditions of partial indexes, and prepares a statement anew whenever that has changed: a
    // third of all time went into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

fn set_up(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", synchronous(options))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The undo log of savepoints stays in memory.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -i64::from(WRITER_CACHE_KIB))?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    if let Some(bytes_max) = options.bytes_max {
        let page_bytes: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = i64::try_from(bytes_max).unwrap_or(i64::MAX) / page_bytes;
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

/// FULL: a commit is on the disk before it is reported. NORMAL, the usual companion of the
/// write-ahead log, loses the last commits with the power.
fn synchronous(options: &Options) -> &'static str {
    match options.durability {
        Durability::Full => "FULL",
        Durability::Off => "OFF",
    }
}

/// Absolute, so that no path is taken for one of SQLite's `file:` URIs, and the working directory
/// may change later.
fn absolute(path: &Path, store: &str) -> Result<PathBuf, StoreError> {
    let refused = |reason| Err(StoreError::Open { store: store.into(), reason });
    let absolute = match std::path::absolute(path) {
        Ok(absolute) => absolute,
        Err(error) => return refused(format!("that is no path: {error}; give that of a file")),
    };
    match absolute.parent() {
        Some(directory) if !directory.is_dir() => {
            refused(format!("the directory {} does not exist; make it first", directory.display()))
        }
        _ if absolute.is_dir() => {
            refused("it is a directory; give the path of a file in it".to_owned())
        }
        _ => Ok(absolute),
    }
}

fn use_write_ahead_log(connection: &Connection, store: &str) -> Result<(), StoreError> {
    const TRIES_MAX: u32 = 5_000;
    let mut tries = 0;
    let mode: String = loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            // SQLite answers "busy" here without asking the busy handler when two processes change
            // the mode of a new file at once: waiting for each other would be a deadlock.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && tries < TRIES_MAX =>
            {
                tries += 1;
                thread::sleep(LOCK_TRY_EVERY);
            }
            mode => break mode.map_err(|error| opening(store, &error))?,
        }
    };
    if mode == "wal" {
        return Ok(());
    }
    Err(StoreError::Open {
        store: store.into(),
        reason: format!(
            "its file system cannot keep a write-ahead log (the journal mode stays {mode}); put \
             the file on a local file system"
        ),
    })
}
