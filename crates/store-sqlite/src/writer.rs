//! The thread that writes: many steps, one transaction, one flush of the disk.

use std::{
    fmt, mem,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
    vec,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use waitless_store::StoreError;

use crate::{
    Options, checkpoint::Checkpoints, error::named, open, step::Step, tables::SqliteTables,
};

/// Steps that wait in front of the writer at most; who comes later waits before it is accepted.
const WAITING_MAX: usize = 1_024;

/// Steps that share one commit at most.
const GROUP_MAX: usize = 512;

/// Rows after whose change a transaction takes no further step: bounds how long one commit lets
/// the first of its callers wait.
const CHANGES_MAX: u64 = 10_000;

/// After so many changed rows the writer leaves the lock alone for a moment, so that another
/// process that waits for the same file gets its turn. It costs about one part in fifty.
const REST_AFTER_CHANGES: u64 = 20_000;
const REST: Duration = Duration::from_millis(2);

/// The thread and the way to it. Dropping it runs what was accepted, then closes the file.
pub(crate) struct Writer {
    /// Some until dropped.
    steps: Option<mpsc::Sender<Box<dyn Step>>>,
    /// Some until dropped.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread and waits until it has opened the file. Answers with the file's real
    /// path.
    pub(crate) async fn start(
        path: &Path,
        options: &Options,
    ) -> Result<(Self, PathBuf), StoreError> {
        let (steps, receiver) = mpsc::channel(WAITING_MAX);
        let (opened, is_open) = oneshot::channel();
        let store: Arc<str> = open::name_of(path).into();
        let unavailable = |reason| StoreError::Unavailable { reason };
        let thread = thread::Builder::new().name("waitless-store-writer".into()).spawn({
            let (path, options) = (path.to_owned(), options.clone());
            move || match open::writer(&path, &options) {
                Ok((connection, path)) => {
                    // If nobody waits any more, the channel is closed and the loop ends at once.
                    let _ = opened.send(Ok(path.clone()));
                    let checkpoints = Checkpoints::new(path, options);
                    Group { checkpoints, connection, store }.serve(receiver);
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        });
        let thread = thread.map_err(|error| {
            unavailable(format!("the operating system gave no thread to write with: {error}"))
        })?;
        let writer = Self { steps: Some(steps), thread: Some(thread) };
        let path = is_open
            .await
            .map_err(|_| unavailable("the thread that writes has stopped".to_owned()))??;
        Ok((writer, path))
    }

    /// Hands over a step, and waits while too many are waiting. Answers whether it was accepted.
    pub(crate) async fn send(&self, step: Box<dyn Step>) -> bool {
        let steps = self.steps.as_ref().expect("some until dropped");
        steps.send(step).await.is_ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // First the channel: the thread ends when it is closed and empty.
        self.steps = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened, and its callers have been told.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

/// What the thread works with.
struct Group {
    /// Before the connection, so that it is dropped first: who closes the file last empties its
    /// write-ahead log.
    checkpoints: Checkpoints,
    connection: Connection,
    store: Arc<str>,
}

impl Group {
    fn serve(mut self, mut steps: mpsc::Receiver<Box<dyn Step>>) {
        let mut waiting = Vec::with_capacity(GROUP_MAX);
        let mut rested_at = self.connection.total_changes();
        while steps.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
            let mut group = mem::take(&mut waiting).into_iter();
            while group.len() > 0 {
                if let Err(error) = self.transaction(&mut group) {
                    // The lock was not to be had: asking for it once more for each of the rest
                    // would make the last caller wait for hours.
                    group.by_ref().for_each(|step| step.refuse(named(&self.store, &error)));
                }
            }
            let changes = self.connection.total_changes();
            self.checkpoints.after(changes);
            if changes - rested_at >= REST_AFTER_CHANGES {
                thread::sleep(REST);
                rested_at = changes;
            }
        }
    }

    /// Runs steps of a group in one transaction until it is large enough, commits, and answers
    /// them. Errs if the transaction could not begin; then no step was taken from the group.
    fn transaction(&self, group: &mut vec::IntoIter<Box<dyn Step>>) -> rusqlite::Result<()> {
        // Always IMMEDIATE: a transaction that reads before it writes fails at once, however long
        // it is ready to wait, if another process has written meanwhile.
        self.execute("BEGIN IMMEDIATE")?;
        let changes_before = self.connection.total_changes();
        // Alone a step needs no savepoint, whose undo log costs a copy of every page it changes.
        let is_alone = group.len() == 1;
        let mut done = Vec::with_capacity(group.len());
        let mut failure = None;
        for mut step in group.by_ref() {
            // What nobody waits for is not done: a claim whose caller is gone would lease jobs to
            // nobody. A caller that leaves must expect either.
            if step.is_abandoned() {
                continue;
            }
            let ran = if is_alone {
                step.run(&mut SqliteTables::new(&self.connection, &self.store));
                Ok(())
            } else {
                self.run_in_savepoint(step.as_mut())
            };
            failure = match ran {
                Err(error) => Some(named(&self.store, &error)),
                // After some errors SQLite has rolled the whole transaction back already, and with
                // it the steps before this one.
                Ok(()) if self.connection.is_autocommit() => {
                    Some(rolled_back_by(step.error(), &self.store))
                }
                Ok(()) => None,
            };
            done.push(step);
            let changes = self.connection.total_changes() - changes_before;
            if failure.is_some() || changes >= CHANGES_MAX {
                break;
            }
        }
        if failure.is_none() {
            let end = if done.iter().any(|step| step.is_kept()) { "COMMIT" } else { "ROLLBACK" };
            failure = self.execute(end).err().map(|error| named(&self.store, &error));
        }
        if failure.is_some() && !self.connection.is_autocommit() {
            // Nothing more can be done about an error here; the next BEGIN reports it.
            let _ = self.execute("ROLLBACK");
        }
        answer(done, failure.as_ref());
        Ok(())
    }

    /// Runs a step so that, if it errs, it is undone and the steps before it are not. Errs if the
    /// transaction is of no use any more.
    fn run_in_savepoint(&self, step: &mut dyn Step) -> rusqlite::Result<()> {
        self.execute("SAVEPOINT step")?;
        let is_kept = step.run(&mut SqliteTables::new(&self.connection, &self.store));
        if self.connection.is_autocommit() {
            return Ok(());
        }
        if !is_kept {
            self.execute("ROLLBACK TO step")?;
        }
        self.execute("RELEASE step")
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}

/// What befell the steps before one with whose error SQLite gave up the whole transaction.
fn rolled_back_by(error: Option<&StoreError>, store: &str) -> StoreError {
    match error {
        Some(StoreError::Full { .. }) => StoreError::Full { store: store.into() },
        Some(error) => StoreError::Unavailable { reason: error.to_string() },
        None => StoreError::Unavailable { reason: format!("{store} rolled back a transaction") },
    }
}

/// A step that erred by itself says so; the others are done unless their transaction failed.
fn answer(done: Vec<Box<dyn Step>>, failure: Option<&StoreError>) {
    for step in done {
        match failure {
            Some(failure) if step.is_kept() => step.refuse(match failure {
                StoreError::Full { store } => StoreError::Full { store: store.clone() },
                StoreError::Damaged { what } => StoreError::Damaged { what: what.clone() },
                other => StoreError::Unavailable { reason: other.to_string() },
            }),
            _ => step.answer(),
        }
    }
}
