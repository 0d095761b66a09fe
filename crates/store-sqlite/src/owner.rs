//! The lock that makes a worker the only one on its file.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use waitless_job::WorkerName;
use waitless_store::StoreError;

/// Longest text that is read from a lock file, in bytes: whatever it is, it goes into a message.
const OWNER_BYTES_MAX: u64 = 200;

/// How often, and how many times more, the lock is tried before another worker is said to have it:
/// for 0.3 s. A start blocks its thread meanwhile, which only one that is refused does for long.
const TRY_EVERY: Duration = Duration::from_millis(5);
const TRIES_MAX: u32 = 60;

/// Held for as long as the worker may work. The operating system frees it when the process ends,
/// however it ends; the file stays, because removing it would let two workers lock two files of
/// the same name.
#[derive(Debug)]
pub(crate) struct Ownership {
    pub(crate) worker: WorkerName,
    _lock: File,
}

impl Ownership {
    /// Locks `<path>.lock`, if need be after a moment, and writes there who has it.
    pub(crate) fn take(path: &Path, store: &str, worker: &WorkerName) -> Result<Self, StoreError> {
        let path = lock_path(path);
        let failed = |error: std::io::Error| StoreError::Open {
            store: store.into(),
            reason: format!(
                "its lock file {} cannot be used: {error}; this user must have the right to \
                 write it",
                path.display()
            ),
        };
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            // Whose text stands there is of interest if the lock is taken.
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut tries = 0;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                // Whoever looks for a worker holds a share of the lock for an instant.
                Err(TryLockError::WouldBlock) if tries < TRIES_MAX => {
                    tries += 1;
                    thread::sleep(TRY_EVERY);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Owned { store: store.into(), owner: owner(&mut lock) });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        let text = format!("worker {worker}, process {}\n", process::id());
        lock.set_len(0).and_then(|()| lock.write_all(text.as_bytes())).map_err(failed)?;
        Ok(Self { worker: worker.clone(), _lock: lock })
    }

    /// Refuses another worker beside this one.
    pub(crate) fn confirm(&self, store: &str, worker: &WorkerName) -> Result<(), StoreError> {
        if self.worker == *worker {
            return Ok(());
        }
        let owner = format!("worker {}, this process", self.worker);
        Err(StoreError::Owned { store: store.into(), owner })
    }
}

pub(crate) fn owner(lock: &mut File) -> String {
    let mut text = Vec::new();
    let read = lock.rewind().and_then(|()| lock.take(OWNER_BYTES_MAX).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).trim().escape_debug().to_string();
    // The owner writes its name a moment after it has the lock.
    if read.is_err() || text.is_empty() { "it did not say its name".into() } else { text }
}

pub(crate) fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    name.into()
}
