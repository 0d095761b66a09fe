//! The reference store: everything in maps under one lock.

mod reader;
mod state;

use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use tokio::sync::watch;
use waitless_job::WorkerName;

use crate::{StoreError, Tables, Transact};
use state::State;

/// A store in memory. The reference that other stores are compared with, and what simulations run
/// on; it is gone with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    // A std mutex: steps are short and never wait for anything while they hold it.
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a step that panicked may have left half of its writes")
    }
}

#[async_trait]
impl Transact for MemoryStore {
    // Nothing is undone here when a step errs: the engine refuses before its first write, and
    // memory itself does not fail.
    async fn transact<R, F>(&self, step: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: FnOnce(&mut dyn Tables) -> Result<R, StoreError> + Send + 'static,
    {
        step(&mut *self.state())
    }

    async fn own(&self, _worker: &WorkerName) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn change_sender(&self) -> &watch::Sender<u64> {
        &self.changes
    }
}
