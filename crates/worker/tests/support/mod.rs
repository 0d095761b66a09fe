//! What the tests of the worker share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::sync::Arc;

use tokio::{sync::oneshot, task::JoinHandle};
use waitless_job::{
    BucketKey, Clock, Handlers, JobId, JobRecord, JobState, NewJob, Policy, UnixMillis,
};
use waitless_store::{MemoryStore, Reader, Store, fsck};
use waitless_worker::{Stats, Worker, WorkerConfig, WorkerError};

pub const START: UnixMillis = UnixMillis(1_700_000_000_000);

/// A store with one account `acct` and its limits.
pub struct Bench {
    pub store: Arc<MemoryStore>,
    pub clock: Clock,
}

impl Bench {
    pub async fn new(limits: &[(&str, &str)]) -> Self {
        let bench = Self { store: Arc::new(MemoryStore::new()), clock: Clock::starting_at(START) };
        bench.limits("acct", limits).await;
        bench
    }

    pub async fn limits(&self, account: &str, limits: &[(&str, &str)]) {
        let limits = limits
            .iter()
            .map(|(group, policy)| (bucket(account, group), policy.parse::<Policy>().unwrap()));
        self.store.set_limits(limits.collect(), self.clock.now()).await.unwrap();
    }

    pub fn job(&self, kind: &str, args: &impl serde::Serialize) -> NewJob {
        NewJob::new(kind, "acct", args, self.clock.now()).unwrap()
    }

    pub async fn enqueue(&self, job: NewJob) -> JobId {
        self.store.enqueue(vec![job], self.clock.now()).await.unwrap()[0].id
    }

    pub async fn record(&self, id: JobId) -> JobRecord {
        self.store.job(id).await.unwrap().expect("it was enqueued").0
    }

    /// Waits in virtual time until a job is in a state.
    pub async fn until(&self, id: JobId, state: JobState) -> JobRecord {
        for _ in 0..1_000_000 {
            let job = self.record(id).await;
            if job.state == state {
                return job;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        panic!("job never became {state}: {:?}", self.record(id).await);
    }

    pub fn since_start(&self) -> u64 {
        self.clock.now().since(START)
    }

    pub fn start(&self, handlers: Handlers, config: WorkerConfig) -> Running {
        Running::start(Arc::clone(&self.store) as _, self.clock.clone(), handlers, config)
    }

    pub async fn assert_sound(&self) {
        assert_eq!(fsck::fsck(&self.store.audit().await.unwrap()), []);
    }
}

/// Milliseconds of virtual time from the start to the end of a job.
pub fn ended_after_ms(job: &JobRecord) -> u64 {
    job.finished_at.expect("it has ended").since(START)
}

pub fn bucket(account: &str, group: &str) -> BucketKey {
    format!("{account}/{group}").parse().unwrap()
}

/// A worker in a task of its own.
pub struct Running {
    pub stats: Arc<Stats>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), WorkerError>>,
}

impl Running {
    pub fn start(
        store: Arc<dyn Store>,
        clock: Clock,
        handlers: Handlers,
        config: WorkerConfig,
    ) -> Self {
        let worker = Worker::new(store, clock, handlers).config(config);
        let stats = worker.stats();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(worker.run_until(async {
            let _ = stopped.await;
        }));
        Self { stats, stop, ended }
    }

    pub async fn stop(self) -> Arc<Stats> {
        let _ = self.stop.send(());
        self.ended.await.expect("the worker does not panic").expect("it ends well");
        self.stats
    }
}
