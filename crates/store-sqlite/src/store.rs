use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use tokio::sync::watch;
use waitless_job::WorkerName;
use waitless_store::{StoreError, Tables, Transact};

use crate::{Options, open, owner::Ownership, readers::Readers, step::step, writer::Writer};

/// A store in an SQLite file.
///
/// Any number of them, in any number of processes, may have the same file open; one of them may be
/// a worker's. Dropping it waits until every step that was accepted is committed, and closes the
/// file.
#[derive(Debug)]
pub struct SqliteStore {
    /// Before the writer, so that it is dropped first: who closes the file last empties its
    /// write-ahead log, and the writer does it best.
    readers: Readers,
    writer: Writer,
    path: PathBuf,
    name: Arc<str>,
    owned: Mutex<Option<Ownership>>,
    changes: watch::Sender<u64>,
}

impl SqliteStore {
    /// Opens a file, makes it if it does not exist, and brings its tables up to date.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the path will not do, [`StoreError::Newer`] if a newer program has
    /// written the file, [`StoreError::Full`] or [`StoreError::Unavailable`] if it may work later.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default()).await
    }

    /// Opens a store that is there already. A file that is none, or is not there, is left as it
    /// is; the tables of an older program are brought up to date.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub async fn open_existing(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Options { create: false, ..Options::default() }).await
    }

    /// The same as [`SqliteStore::open`], but not quite as usual.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub async fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let given = path.as_ref();
        let name = open::name_of(given).into();
        let (writer, path) = Writer::start(given, &options).await?;
        Ok(Self {
            readers: Readers::new(path.clone(), Arc::clone(&name), options),
            writer,
            path,
            name,
            owned: Mutex::default(),
            changes: watch::Sender::default(),
        })
    }

    /// Where the file is: absolute, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
    }
}

#[async_trait]
impl Transact for SqliteStore {
    async fn transact<R, F>(&self, run: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: FnOnce(&mut dyn Tables) -> Result<R, StoreError> + Send + 'static,
    {
        let stopped = || StoreError::Unavailable {
            reason: format!("the thread that writes to {} has stopped", self.name),
        };
        let (step, answer) = step(run);
        if !self.writer.send(step).await {
            return Err(stopped());
        }
        match answer.await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(stopped()),
        }
    }

    async fn own(&self, worker: &WorkerName) -> Result<bool, StoreError> {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        match &*owned {
            // Asked again, perhaps because the first answer was lost.
            Some(ownership) => ownership.confirm(&self.name, worker)?,
            None => *owned = Some(Ownership::take(&self.path, &self.name, worker)?),
        }
        Ok(true)
    }

    fn change_sender(&self) -> &watch::Sender<u64> {
        &self.changes
    }
}
