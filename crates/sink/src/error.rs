use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

use crate::SinkUrl;

/// What can go wrong with a sink. The text says what happened, where, and what to do about it.
///
/// Cloneable, because one failed transaction may have to be told to everybody who was part of it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// The URL has a scheme that no sink answers to, or none.
    #[error(
        "cannot land rows at a URL with the scheme {scheme:?}: \
         accepted are `sqlite:PATH` and `sqlite::memory:`"
    )]
    UrlUnknown {
        /// What stands before the first colon; empty if there is no colon.
        scheme: String,
    },

    /// The URL names PostgreSQL.
    #[error(
        "landing rows in PostgreSQL comes later: \
         for now accepted are `sqlite:PATH` and `sqlite::memory:`"
    )]
    PostgresLater,

    /// The URL is `sqlite:` and nothing else.
    #[error("`sqlite:` lacks a path: write `sqlite:PATH` or `sqlite::memory:`")]
    PathMissing,

    /// The URL starts with `sqlite://`, of which each tool makes another path.
    #[error("`sqlite://` is ambiguous: write `sqlite:PATH`, or `sqlite:/PATH` for an absolute one")]
    UrlSlashes,

    /// The directory that should hold the file does not exist, or is no directory.
    #[error(
        "cannot open {}: there is no directory {}; make it, or correct the path",
        .path.display(), .directory.display()
    )]
    DirectoryMissing {
        /// The file that was to be opened.
        path: PathBuf,
        /// The directory that is missing.
        directory: PathBuf,
    },

    /// The file could not be opened: no permission, or it is a directory.
    #[error("cannot open {url}: make sure that it is a file which this user may read and write")]
    CannotOpen {
        /// Which sink.
        url: SinkUrl,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },

    /// The file exists and is something else than an SQLite database.
    #[error("{url} is not an SQLite database: correct the path, or move the file away")]
    NotSqlite {
        /// Which sink.
        url: SinkUrl,
    },

    /// A newer Waitless has made the file, or changed its tables.
    #[error(
        "{url} was made by a newer version of Waitless: its tables are at version {found}, \
         this program knows {known}; run the newer program, or land into another file"
    )]
    SchemaNewer {
        /// Which sink.
        url: SinkUrl,
        /// The migration in the file that this program does not know.
        found: i64,
        /// The last migration that this program knows.
        known: i64,
    },

    /// The tables could not be brought up to date: the file belongs to another program, or one of
    /// its migrations was changed after it ran.
    #[error("cannot bring the tables of {url} up to date; its rows were not touched")]
    Migration {
        /// Which sink.
        url: SinkUrl,
        /// What the migration said.
        source: Arc<refinery::Error>,
    },

    /// The file system cannot do what write-ahead logging needs (some network file systems).
    #[error(
        "{url} cannot keep a write-ahead log (its journal mode stays {mode:?}): \
         put the file on a local file system"
    )]
    WalRefused {
        /// Which sink.
        url: SinkUrl,
        /// The journal mode that SQLite kept.
        mode: String,
    },

    /// The file, or the file system it is on, may not be written.
    #[error(
        "{url} is read-only: give this user the right to write the file and its directory, \
         or land into another file"
    )]
    ReadOnly {
        /// Which sink.
        url: SinkUrl,
    },

    /// A row has no key. Nothing of its batch has landed.
    #[error(
        "row {row} of a batch for account {account:?}, dataset {dataset:?} has an empty key, so \
         nothing of the batch was landed: quarantine the rows that cannot be keyed"
    )]
    EmptyKey {
        /// Whose batch.
        account: String,
        /// Of which dataset.
        dataset: String,
        /// The place of the row in the batch, counted from 0.
        row: usize,
    },

    /// There is no space left on the disk. Nothing of the batch has landed; landing works again
    /// as soon as there is space, without opening the sink anew.
    #[error(
        "no space left for {url}: nothing of what was asked is done, all that was done before is \
         safe; free space on its file system and ask again"
    )]
    Full {
        /// Which sink.
        url: SinkUrl,
    },

    /// Others kept the file locked for more than half a minute.
    #[error(
        "{url} stayed locked by another process for more than 30 s: nothing of what was asked is \
         done; find that process and end its transaction, then ask again"
    )]
    Busy {
        /// Which sink.
        url: SinkUrl,
    },

    /// SQLite failed in a way that has no name here.
    #[error("{url}: {doing} failed; SQLite says why, nothing was half done")]
    Sqlite {
        /// Which sink.
        url: SinkUrl,
        /// What the sink was doing.
        doing: &'static str,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },

    /// The operating system gave no thread for the connection.
    #[error("cannot start a thread for {url}: too many processes or threads are running")]
    Thread {
        /// Which sink.
        url: SinkUrl,
        /// What the operating system said.
        source: Arc<io::Error>,
    },

    /// The thread that owns the connection has stopped. The batch may or may not have landed.
    #[error("{url} is closed: open it again and repeat what was asked, which is always safe")]
    Closed {
        /// Which sink.
        url: SinkUrl,
    },
}

impl SinkError {
    /// Gives SQLite's error its name here.
    pub(crate) fn from_sqlite(url: &SinkUrl, doing: &'static str, source: rusqlite::Error) -> Self {
        let url = url.clone();
        let extended_code = source.sqlite_error().map(|error| error.extended_code);
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { url },
            // The index of the write-ahead log could not grow: the disk is full as well.
            Some(_) if extended_code == Some(SQLITE_IOERR_SHMSIZE) => Self::Full { url },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { url },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { url },
            Some(ErrorCode::NotADatabase) => Self::NotSqlite { url },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::CannotOpen { url, source: Arc::new(source) }
            }
            _ => Self::Sqlite { url, doing, source: Arc::new(source) },
        }
    }
}
