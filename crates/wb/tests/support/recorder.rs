//! A sink that notes how its rows came.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use tempfile::TempDir;
use waitless_sink::{Batch, Counts, Landed, Quarantined, Rejects, Sink, SinkError};

#[derive(Debug)]
pub(crate) struct Recorder {
    inner: Arc<dyn Sink>,
    batches: AtomicUsize,
    largest: AtomicUsize,
    bodies: Mutex<HashMap<String, String>>,
    _dir: TempDir,
}

impl Recorder {
    /// In a file of its own, which goes with it.
    pub(crate) async fn open() -> Arc<Self> {
        let dir = tempfile::tempdir().expect("a directory");
        let url = format!("sqlite:{}", dir.path().join("rows.db").display());
        let inner = waitless_sink::open(&url).await.expect("a sink");
        let (batches, largest, bodies) = Default::default();
        Arc::new(Self { inner, batches, largest, bodies, _dir: dir })
    }

    pub(crate) fn batches(&self) -> usize {
        self.batches.load(Ordering::Relaxed)
    }

    /// Rows of the largest batch.
    pub(crate) fn largest(&self) -> usize {
        self.largest.load(Ordering::Relaxed)
    }

    /// The body that came last under a key, of any dataset.
    pub(crate) fn last_body(&self, key: &str) -> String {
        self.bodies.lock().expect("no test panics under it")[key].clone()
    }

    /// Every key with its version.
    pub(crate) async fn rows(&self, account: &str, dataset: &str) -> Vec<(String, String)> {
        self.scan(account, dataset, None, 10_000_000).await.expect("a scan")
    }
}

#[async_trait]
impl Sink for Recorder {
    async fn land(&self, batch: Batch) -> Result<Landed, SinkError> {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(batch.rows.len(), Ordering::Relaxed);
        let bodies = batch.rows.iter().map(|row| (row.key.clone(), row.body.get().to_owned()));
        self.bodies.lock().expect("no test panics under it").extend(bodies);
        self.inner.land(batch).await
    }

    async fn quarantine(&self, rejects: Rejects) -> Result<Quarantined, SinkError> {
        self.inner.quarantine(rejects).await
    }

    async fn count(&self, account: &str, dataset: &str) -> Result<Counts, SinkError> {
        self.inner.count(account, dataset).await
    }

    async fn counts(&self) -> Result<Vec<(String, String, Counts)>, SinkError> {
        self.inner.counts().await
    }

    async fn scan(
        &self,
        account: &str,
        dataset: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, String)>, SinkError> {
        self.inner.scan(account, dataset, after, limit).await
    }
}
