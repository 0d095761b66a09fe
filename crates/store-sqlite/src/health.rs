//! What a file says about itself, for whoever checks it.

use std::fs::{self, File, TryLockError};

use rusqlite::Connection;
use rustix::fs::statvfs;
use waitless_store::StoreError;

use crate::{
    SqliteStore,
    owner::{lock_path, owner},
    schema::HISTORY,
};

/// Faults of a file that are listed at most.
const FAULTS_MAX: u32 = 20;

/// What a file says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Version of its tables.
    pub schema_version: u32,
    /// How it keeps what is being written: `wal`.
    pub journal_mode: String,
    /// What SQLite finds wrong with its pages and indexes; empty for a sound file, 20 lines at
    /// most.
    pub faults: Vec<String>,
    /// Its size.
    pub bytes: u64,
    /// Size of its write-ahead log.
    pub log_bytes: u64,
    /// Space left on its disk for this user, where the system tells it.
    pub bytes_free: Option<u64>,
}

impl SqliteStore {
    /// Checks the file. Reads all of it, and disturbs nobody who writes to it.
    ///
    /// # Errors
    /// What SQLite says.
    pub async fn health(&self) -> Result<Health, StoreError> {
        let size = |path| fs::metadata(path).map_or(0, |file| file.len());
        let bytes = size(self.path().to_owned());
        let mut log = self.path().as_os_str().to_owned();
        log.push("-wal");
        let log_bytes = size(log.into());
        let bytes_free =
            statvfs(self.path()).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        let read = |connection: &Connection| {
            let history = format!("SELECT max(version) FROM {HISTORY}");
            let check = format!("PRAGMA quick_check({FAULTS_MAX})");
            let lines: Vec<String> = connection
                .prepare(&check)?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok((
                connection.query_row(&history, [], |row| row.get(0))?,
                connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?,
                lines.into_iter().filter(|line| line != "ok").collect(),
            ))
        };
        let (schema_version, journal_mode, faults) = self.readers().read(read).await?;
        Ok(Health { schema_version, journal_mode, faults, bytes, log_bytes, bytes_free })
    }

    /// Who works on this file, as far as known; `None` if nobody does.
    ///
    /// Looks by taking a share of the worker's lock for an instant. A worker that starts at that
    /// very instant tries again.
    #[must_use]
    pub fn worker(&self) -> Option<String> {
        // A file that cannot be opened is no answer, and neither is a lock that cannot be tried:
        // whoever starts a worker is told.
        let mut lock = File::open(lock_path(self.path())).ok()?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(owner(&mut lock)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use waitless_job::{UnixMillis, WorkerName};
    use waitless_store::Store;

    use super::*;

    #[tokio::test]
    async fn a_sound_file_says_so_and_names_its_worker() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queue.db");
        let store = SqliteStore::open(&path).await.unwrap();
        let health = store.health().await.unwrap();
        assert_eq!((health.journal_mode.as_str(), health.faults), ("wal", vec![]));
        assert!(health.schema_version >= 1);

        assert_eq!(store.worker(), None);
        let name = WorkerName::new("worker-1").unwrap();
        store.start_worker(name, UnixMillis(0)).await.unwrap();
        let owner = format!("worker worker-1, process {}", std::process::id());
        let beside = SqliteStore::open(&path).await.unwrap();
        assert_eq!(beside.worker(), Some(owner));
        drop(store);
        assert_eq!(beside.worker(), None);
    }

    #[tokio::test]
    async fn no_worker_is_refused_because_somebody_looks_for_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queue.db");
        let store = SqliteStore::open(&path).await.unwrap();
        let first = WorkerName::new("worker-1").unwrap();
        store.start_worker(first.clone(), UnixMillis(0)).await.unwrap();
        drop(store);
        let looking = SqliteStore::open(&path).await.unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = looking.worker();
                }
            });
            for _ in 0..200 {
                let taken = crate::owner::Ownership::take(&path, "the store", &first);
                if taken.is_err() {
                    done.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                taken.unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
