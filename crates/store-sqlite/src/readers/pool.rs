//! A few connections for readers, used away from the async threads.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::{sync::Semaphore, task};
use waitless_store::StoreError;

use crate::{Options, error::named, open};

/// Readers at a time; who comes later waits. More would only wait for the disk.
const READERS_MAX: usize = 4;

/// Connections that only read. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Readers(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    store: Arc<str>,
    options: Options,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, store: Arc<str>, options: Options) -> Self {
        let turns = Arc::new(Semaphore::new(READERS_MAX));
        Self(Arc::new(Pool { path, store, options, turns, idle: Mutex::default() }))
    }

    /// Asks something of the store as it is at one moment.
    pub(crate) async fn read<T, F>(&self, ask: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let turn = Arc::clone(&self.0.turns).acquire_owned().await;
        let pool = Arc::clone(&self.0);
        let asked = task::spawn_blocking(move || {
            // Held until the connection is idle again, even if nobody waits for the answer.
            let _turn = turn;
            pool.read(ask)
        });
        match asked.await {
            Ok(answer) => answer,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(StoreError::Unavailable {
                    reason: format!("a read of {} was cut short: {error}", self.0.store),
                }),
            },
        }
    }
}

impl Pool {
    fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.try_read(ask).map_err(|error| named(&self.store, &error))
    }

    fn try_read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        // A panic elsewhere cannot have left the list half changed.
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open::reader(&self.path, &self.options)?,
        };
        // One transaction, so that all statements see the same moment.
        let snapshot = connection.unchecked_transaction()?;
        let answer = ask(&connection)?;
        snapshot.finish()?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(answer)
    }
}
