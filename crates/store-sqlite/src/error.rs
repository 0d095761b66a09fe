//! What SQLite's errors are called above the store.

use rusqlite::{Error, ErrorCode, ffi::SQLITE_IOERR_SHMSIZE};
use waitless_store::StoreError;

/// Names an error of a connection that is open.
pub(crate) fn named(store: &str, error: &Error) -> StoreError {
    let extended_code = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { store: store.into() },
        // The index of the write-ahead log could not grow: the disk is full as well.
        Some(_) if extended_code == Some(SQLITE_IOERR_SHMSIZE) => {
            StoreError::Full { store: store.into() }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Unavailable {
            reason: format!(
                "another process kept {store} locked; find who writes to it, then try again"
            ),
        },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => {
            StoreError::Damaged { what: format!("{store}: {error}") }
        }
        // The engine checks what the schema requires, so a row that violates it is a row that
        // nobody can have written.
        Some(ErrorCode::ConstraintViolation) => {
            StoreError::Damaged { what: format!("{store}: {error}") }
        }
        Some(_) => StoreError::Unavailable { reason: format!("{store}: {error}") },
    }
}

/// Names an error that came while the file was being opened.
pub(crate) fn opening(store: &str, error: &Error) -> StoreError {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            "it is not an SQLite database; give the path of a file that waitless made, or of one \
             that does not exist yet"
                .into()
        }
        Some(ErrorCode::ReadOnly) => READ_ONLY.into(),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure) => {
            format!(
                "{error}; it must be a file in a directory, and this user must have the right to \
             read and write both"
            )
        }
        _ => return named(store, error),
    };
    StoreError::Open { store: store.into(), reason }
}

/// What to do about a file that may not be written.
pub(crate) const READ_ONLY: &str =
    "it is read-only; give this user the right to write the file and its directory";
