//! The thread that copies the write-ahead log into the file, beside the one that writes.
//!
//! SQLite would do it in the middle of a commit: beside a million waiting jobs the caller who came
//! at that moment waited 10 to 20 ms longer than the others.

use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use crate::{Options, open};

/// Rows after whose change the log is worth copying: about a thousand of its pages.
const CHANGES: u64 = 2_000;

/// Asks for a copy now and then. Dropping it waits for the one that is being made.
pub(crate) struct Checkpoints {
    path: PathBuf,
    options: Options,
    /// Rows that had changed when a copy was last asked for.
    asked_at: u64,
    /// None until the first time: who only looks at a store needs no such thread.
    thread: Option<Thread>,
}

struct Thread {
    /// Some until dropped.
    wake: Option<SyncSender<()>>,
    /// Some until dropped.
    handle: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(crate) fn new(path: PathBuf, options: Options) -> Self {
        Self { path, options, asked_at: 0, thread: None }
    }

    /// Called between transactions with the number of rows that have changed so far.
    pub(crate) fn after(&mut self, changes: u64) {
        if changes - self.asked_at < CHANGES {
            return;
        }
        self.asked_at = changes;
        if self.thread.is_none() {
            self.thread = Thread::start(self.path.clone(), self.options.clone());
        }
        // Without a thread, or while it is at work, the log grows until it is large enough for the
        // writer itself.
        if let Some(Thread { wake: Some(wake), .. }) = &self.thread {
            let _ = wake.try_send(());
        }
    }
}

impl Thread {
    fn start(path: PathBuf, options: Options) -> Option<Self> {
        let (wake, woken) = sync_channel(1);
        let handle = thread::Builder::new()
            .name("waitless-store-checkpoint".into())
            .spawn(move || {
                if let Ok(connection) = open::checkpointer(&path, &options) {
                    copy_when_woken(&connection, &woken);
                }
            })
            .ok()?;
        Some(Self { wake: Some(wake), handle: Some(handle) })
    }
}

fn copy_when_woken(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // PASSIVE: waits for nobody, and nobody waits for it. What it could not copy, because
        // somebody reads an older state, the next one does; an error is the writer's to report.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(handle) = self.handle.take() {
            // A panic of the thread was printed when it happened, and cost nobody anything.
            let _ = handle.join();
        }
    }
}
