//! One job, attempt by attempt, without a queue: tokens are always there, and nothing waits.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use waitless_job::{
    BucketKey, Feedback, HandlerResult, Handlers, JobContext, JobOps, JobRecord, Leave, Needs,
    NewJob, Permit, Progress, Quota, UnixMillis,
};
use waitless_store::{MemoryStore, Reader, Store};
use waitless_upstream::{Catalogue, Client, ClientConfig};
use waitless_wb::{Connector, Dataset, Tokens, handlers, plan};

use crate::{NOON, SELLER, recorder::Recorder, server::Server, token};

pub(crate) struct Attempts {
    pub(crate) sink: Arc<Recorder>,
    pub(crate) record: JobRecord,
    dataset: Dataset,
    args: Arc<str>,
    handlers: Handlers,
    /// Permits that an attempt gets before it is parked.
    pub(crate) permits: u32,
    /// The time it is.
    pub(crate) now: UnixMillis,
    /// The limit groups of the permits that attempts have asked for, in order.
    pub(crate) asked: Vec<String>,
}

/// What an attempt has staged, and what it may still ask for.
struct Ops {
    permits: Mutex<u32>,
    staged: Mutex<(Option<Arc<str>>, Option<Progress>)>,
    asked: Mutex<Vec<String>>,
    now: UnixMillis,
}

/// What a test may choose; the rest is as it ships.
pub(crate) struct Setup {
    pub(crate) dataset: Dataset,
    pub(crate) catalogue: Catalogue,
    pub(crate) config: ClientConfig,
    pub(crate) tokens: Tokens,
}

impl Default for Setup {
    fn default() -> Self {
        let tokens = Tokens::new();
        tokens.put(token());
        Self {
            dataset: Dataset::Orders,
            catalogue: waitless_wb::catalogue(),
            config: ClientConfig::default(),
            tokens,
        }
    }
}

impl Attempts {
    pub(crate) async fn at(server: &Server) -> Self {
        Self::with(server, Setup::default()).await
    }

    pub(crate) async fn with(server: &Server, setup: Setup) -> Self {
        let job = import_of(setup.dataset);
        Self::of_job(&server.base_url(), setup, job).await
    }

    pub(crate) async fn of_job(place: &str, setup: Setup, job: NewJob) -> Self {
        let client = Client::new(Arc::new(setup.catalogue), setup.config).expect("a client");
        let sink = Recorder::open().await;
        let place = place.parse().expect("a URL");
        let connector = Connector::new(client, setup.tokens, sink.clone()).base_url(place);
        let handlers = handlers(connector).expect("names");
        // A store knows how to make a record of a job.
        let store = MemoryStore::new();
        let limits = setup_limits();
        store.set_limits(limits, NOON).await.expect("limits");
        let id = store.enqueue(vec![job], NOON).await.expect("a job")[0].id;
        let (record, args) = store.job(id).await.expect("the store").expect("the job");
        Self {
            sink,
            record,
            dataset: setup.dataset,
            args,
            handlers,
            permits: 100,
            now: NOON,
            asked: Vec::new(),
        }
    }

    /// Runs an attempt and saves what it staged, as a worker does.
    pub(crate) async fn run(&mut self) -> HandlerResult {
        let before = (self.record.checkpoint.clone(), Some(self.record.progress));
        let ops = Arc::new(Ops {
            permits: self.permits.into(),
            staged: Mutex::new(before),
            asked: Mutex::default(),
            now: self.now,
        });
        let ctx = JobContext::new(self.record.account.clone(), ops.clone());
        let result = self.handlers.call(Arc::new(self.record.clone()), &self.args, ctx).await;
        let staged = ops.staged.lock().expect("no test panics under it").clone();
        self.asked.append(&mut ops.asked.lock().expect("no test panics under it"));
        (self.record.checkpoint, self.record.progress) = (staged.0, staged.1.unwrap_or_default());
        result
    }

    /// Runs attempts until one ends otherwise than by being put off; answers with the waits too.
    pub(crate) async fn run_on(&mut self) -> (HandlerResult, Vec<u64>) {
        let mut waits = Vec::new();
        loop {
            match self.run().await {
                Err(Leave::Snooze { wait_ms }) => waits.push(wait_ms),
                result => return (result, waits),
            }
        }
    }

    pub(crate) async fn keys(&self) -> Vec<String> {
        let rows = self.sink.rows(SELLER, self.dataset.as_str()).await;
        rows.into_iter().map(|(key, _)| key).collect()
    }

    pub(crate) async fn landed(&self) -> usize {
        self.sink.rows(SELLER, self.dataset.as_str()).await.len()
    }
}

/// An import of two days.
pub(crate) fn import_of(dataset: Dataset) -> NewJob {
    let since = Some("2026-09-30".parse().expect("a day"));
    let plan = plan(&token(), &waitless_wb::catalogue(), &[dataset], since, NOON);
    plan.expect("a plan").jobs.remove(0)
}

fn setup_limits() -> Vec<(BucketKey, waitless_job::Policy)> {
    let seller = SELLER.parse().expect("a name");
    waitless_wb::catalogue().limits(&seller, "personal").expect("a family")
}

#[async_trait]
impl JobOps for Ops {
    async fn permit(&self, needs: Needs) -> Result<Permit, Leave> {
        let groups = needs.as_slice().iter().map(|need| need.group.to_string());
        self.asked.lock().expect("no test panics under it").push(groups.collect());
        let mut left = self.permits.lock().expect("no test panics under it");
        *left = left.checked_sub(1).ok_or(Leave::Parked)?;
        Ok(Permit::new(needs, self.now, 60, Arc::default()))
    }

    async fn try_permit(&self, _: Needs) -> Result<Result<Permit, u64>, Leave> {
        panic!("imports have no use for this")
    }

    async fn peek(&self, _: BucketKey) -> Result<Quota, Leave> {
        panic!("imports have no use for this")
    }

    async fn report(&self, _: BucketKey, _: Feedback) -> Result<(), Leave> {
        Ok(())
    }

    fn stage_checkpoint(&self, json: Arc<str>) {
        self.staged.lock().expect("no test panics under it").0 = Some(json);
    }

    fn stage_progress(&self, progress: Progress) {
        self.staged.lock().expect("no test panics under it").1 = Some(progress);
    }

    fn now(&self) -> UnixMillis {
        self.now
    }

    async fn stopping(&self) {
        std::future::pending().await
    }
}
