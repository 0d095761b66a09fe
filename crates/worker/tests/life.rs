//! The life of a worker: handlers that misbehave, leases, shutdown, a store that is away.

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use support::{Bench, Running};
use tokio::sync::watch;
use waitless_job::{
    HandlerResult, Handlers, Job, JobContext, JobRecord, JobState, Leave, LimitGroup, WorkerName,
};
use waitless_store::{
    MemoryStore, Reader, Store, StoreError, Tables, Transact,
    model::{Account, Audit, Lane, LimitView, Run},
    ops::{JobFilter, Reap},
};
use waitless_worker::{Backoff, Worker, WorkerConfig};

async fn sleeps(job: Job<u64>, _: JobContext) -> HandlerResult {
    tokio::time::sleep(Duration::from_millis(job.args)).await;
    Ok(())
}

fn sleepers() -> Handlers {
    Handlers::new().with("sleeps", sleeps).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_attempt_and_the_worker_lives() {
    async fn panics(job: Job<()>, _: JobContext) -> HandlerResult {
        assert!(job.attempt() > 2, "attempt {} does not work", job.attempt());
        Ok(())
    }
    let bench = Bench::new(&[]).await;
    let handlers = Handlers::new().with("panics", panics).unwrap();
    let running = bench.start(handlers, WorkerConfig { slots: 1, ..WorkerConfig::default() });
    let id = bench.enqueue(bench.job("panics", &())).await;
    let job = bench.until(id, JobState::Retryable).await;
    assert_eq!(job.error.as_deref(), Some("the handler panicked: attempt 1 does not work"));
    let job = bench.until(id, JobState::Succeeded).await;
    assert_eq!(job.attempts, 3);
    // Pauses of 2 and 4 s, each up to a quarter longer.
    assert!((6_000..=7_500).contains(&bench.since_start()), "{}", bench.since_start());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_last_failed_attempt_makes_a_dead_letter() {
    async fn fails(_: Job<()>, _: JobContext) -> HandlerResult {
        Err(std::io::Error::other("the cable is cut"))?
    }
    let bench = Bench::new(&[]).await;
    let running =
        bench.start(Handlers::new().with("fails", fails).unwrap(), WorkerConfig::default());
    let id = bench.enqueue(bench.job("fails", &()).attempts_max(3)).await;
    let job = bench.until(id, JobState::Dead).await;
    assert_eq!((job.attempts, job.error.as_deref()), (3, Some("the cable is cut")));
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.failed, stats.dead), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_job_stays_away_for_as_long_as_the_worker_is_told() {
    async fn fails(_: Job<()>, _: JobContext) -> HandlerResult {
        Err(std::io::Error::other("the cable is cut"))?
    }
    let bench = Bench::new(&[]).await;
    let backoff = Backoff { first_ms: 40, ms_max: 80 };
    let config = WorkerConfig { backoff, ..WorkerConfig::default() };
    let running = bench.start(Handlers::new().with("fails", fails).unwrap(), config);
    let id = bench.enqueue(bench.job("fails", &()).attempts_max(4)).await;
    bench.until(id, JobState::Dead).await;
    // 40, 80 and 80 ms, each up to a quarter longer.
    assert!((200..=255).contains(&bench.since_start()), "{}", bench.since_start());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_pauses_its_limits_goes_on_where_it_was_when_they_are_resumed() {
    async fn pages(job: Job<()>, ctx: JobContext) -> HandlerResult {
        match job.checkpoint::<u32>()? {
            None => {
                ctx.checkpoint(&1_u32)?;
                let groups = vec!["orders".parse()?, "sales".parse()?];
                Err(Leave::Pause { groups, reason: "the token was revoked".into() })
            }
            Some(_) => {
                assert_eq!(job.attempt(), 1, "to be put back costs no attempt");
                Ok(())
            }
        }
    }
    let bench = Bench::new(&[("orders", "1/s burst 5 margin 0")]).await;
    let running =
        bench.start(Handlers::new().with("pages", pages).unwrap(), WorkerConfig::default());
    let orders: LimitGroup = "orders".parse().unwrap();
    let id = bench.enqueue(bench.job("pages", &()).needs_one(orders.clone())).await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let job = bench.record(id).await;
    assert_eq!((job.state, job.attempts, job.snoozes), (JobState::Waiting, 0, 0));
    let paused = bench.store.limits(None).await.unwrap().remove(0).paused;
    assert_eq!(paused.as_deref(), Some("the token was revoked"));

    let account = job.account.clone();
    let groups = Some(vec![orders]);
    bench.store.pause_limits(account, groups, None, bench.clock.now()).await.unwrap();
    bench.until(id, JobState::Succeeded).await;
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.wakeups, stats.paused, stats.succeeded), (2, 1, 1));
    bench.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_fails_and_frees_its_slot() {
    let bench = Bench::new(&[]).await;
    let config = WorkerConfig { slots: 1, handler_timeout_ms: 1_000, ..WorkerConfig::default() };
    let running = bench.start(sleepers(), config);
    let long = bench.enqueue(bench.job("sleeps", &3_600_000)).await;
    let short = bench.enqueue(bench.job("sleeps", &10)).await;
    let short = bench.until(short, JobState::Succeeded).await;
    assert_eq!(support::ended_after_ms(&short), 1_010);
    let job = bench.record(long).await;
    assert_eq!(job.state, JobState::Retryable);
    assert_eq!(job.error.as_deref(), Some("the handler took longer than 1s"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_decode_and_unknown_kinds_become_dead_letters() {
    let bench = Bench::new(&[]).await;
    let running = bench.start(sleepers(), WorkerConfig::default());
    let undecodable = bench.enqueue(bench.job("sleeps", &"soundly")).await;
    let unknown = bench.enqueue(bench.job("dreams", &1)).await;
    let good = bench.enqueue(bench.job("sleeps", &1)).await;
    let error = |job: JobRecord| job.error.unwrap();
    let job = bench.until(undecodable, JobState::Dead).await;
    assert!(error(job).contains("not what the handler expects"));
    let job = bench.until(unknown, JobState::Dead).await;
    assert!(error(job).contains("no handler for jobs of kind `dreams`"));
    bench.until(good, JobState::Succeeded).await;
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_while_its_job_runs() {
    let bench = Bench::new(&[]).await;
    let running =
        bench.start(sleepers(), WorkerConfig { lease_ms: 3_000, ..WorkerConfig::default() });
    let id = bench.enqueue(bench.job("sleeps", &60_000)).await;
    let job = bench.until(id, JobState::Succeeded).await;
    assert_eq!((job.attempts, support::ended_after_ms(&job)), (1, 60_000));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_is_saved_with_the_renewal_of_the_lease() {
    async fn slow(_: Job<()>, ctx: JobContext) -> HandlerResult {
        ctx.checkpoint(&"here")?;
        std::future::pending().await
    }
    let bench = Bench::new(&[]).await;
    let config = WorkerConfig { lease_ms: 3_000, grace_ms: 0, ..WorkerConfig::default() };
    let running = bench.start(Handlers::new().with("slow", slow).unwrap(), config);
    let id = bench.enqueue(bench.job("slow", &())).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(bench.record(id).await.checkpoint.as_deref(), Some("\"here\""));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_whose_lease_was_lost_is_stopped_and_what_it_did_does_not_count() {
    let bench = Bench::new(&[]).await;
    let config = WorkerConfig { lease_ms: 3_000, ..WorkerConfig::default() };
    let running = bench.start(sleepers(), config);
    let id = bench.enqueue(bench.job("sleeps", &5_000)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    // As another worker would that finds the lease expired.
    let reaped = bench.store.reap(Reap::All, 10, bench.clock.now()).await.unwrap();
    assert_eq!(reaped.len(), 1);
    let job = bench.until(id, JobState::Succeeded).await;
    assert_eq!(job.attempts, 2);
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.stale_settles, stats.succeeded), (1, 1));
    bench.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn the_jobs_of_a_worker_that_died_are_made_again_when_their_lease_ends() {
    let bench = Bench::new(&[]).await;
    let config = WorkerConfig { lease_ms: 3_000, ..WorkerConfig::default() };
    let id = bench.enqueue(bench.job("sleeps", &100)).await;
    let lane = bench.record(id).await.lane();
    let claim = waitless_store::ops::Claim {
        worker: "died".parse().unwrap(),
        expires_at: bench.clock.now().plus(3_000),
        picks: vec![waitless_store::ops::Pick {
            lane,
            lease: waitless_job::LeaseToken::new(bench.clock.now()),
        }],
    };
    assert_eq!(bench.store.claim(claim, bench.clock.now()).await.unwrap().len(), 1);
    let running = bench.start(sleepers(), config);
    let job = bench.until(id, JobState::Succeeded).await;
    assert_eq!(job.attempts, 2);
    assert!((3_100..=4_100).contains(&bench.since_start()), "{}", bench.since_start());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopping_worker_finishes_what_it_can_and_hands_back_the_rest_unharmed() {
    let bench = Bench::new(&[]).await;
    let running = bench.start(sleepers(), WorkerConfig { slots: 2, ..WorkerConfig::default() });
    let short = bench.enqueue(bench.job("sleeps", &10_000)).await;
    let long = bench.enqueue(bench.job("sleeps", &100_000)).await;
    let waiting = bench.enqueue(bench.job("sleeps", &1)).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let stats = running.stop().await.snapshot();

    assert_eq!(bench.since_start(), 20_005, "the grace time");
    assert_eq!(bench.record(short).await.state, JobState::Succeeded);
    for id in [long, waiting] {
        let job = bench.record(id).await;
        assert_eq!((job.state, job.attempts, job.lease), (JobState::Waiting, 0, None));
    }
    assert_eq!((stats.succeeded, stats.handed_back), (1, 1));
    bench.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopping_worker_hands_a_job_back_where_it_asks_for_its_next_permit() {
    async fn pages(job: Job<u64>, ctx: JobContext) -> HandlerResult {
        let mut done: u64 = job.checkpoint()?.unwrap_or(0);
        while done < job.args {
            ctx.permit("orders").await?.spend(ctx.now())?;
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            done += 1;
            ctx.checkpoint(&done)?;
        }
        Ok(())
    }
    let bench = Bench::new(&[("orders", "1000/s burst 1000 margin 0")]).await;
    let running =
        bench.start(Handlers::new().with("pages", pages).unwrap(), WorkerConfig::default());
    let id = bench.enqueue(bench.job("pages", &1_000).needs_one("orders".parse().unwrap())).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    running.stop().await;
    assert_eq!(bench.since_start(), 3_000);
    let job = bench.record(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Waiting, 0));
    assert_eq!(job.checkpoint.as_deref(), Some("3"));
    bench.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn one_account_gets_its_share_of_slots_and_no_more() {
    let bench = Bench::new(&[]).await;
    let running = bench.start(sleepers(), WorkerConfig { slots: 4, ..WorkerConfig::default() });
    for _ in 0..10 {
        bench.enqueue(bench.job("sleeps", &1_000)).await;
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    let other = waitless_job::NewJob::new("sleeps", "other", &10, bench.clock.now()).unwrap();
    let other = bench.enqueue(other).await;
    bench.until(other, JobState::Succeeded).await;
    assert!(bench.since_start() <= 21, "{}", bench.since_start());
    let counts = bench.store.job_counts(None).await.unwrap();
    assert!(counts.contains(&(JobState::Running, 3)), "{counts:?}");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_layer_of_the_user_sees_every_attempt() {
    #[derive(Clone)]
    struct Counting<S>(S, Arc<AtomicU64>);
    impl<S, R> tower_service::Service<R> for Counting<S>
    where
        S: tower_service::Service<R>,
    {
        type Response = S::Response;
        type Error = S::Error;
        type Future = S::Future;
        fn poll_ready(
            &mut self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), S::Error>> {
            self.0.poll_ready(cx)
        }
        fn call(&mut self, request: R) -> S::Future {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.call(request)
        }
    }
    let bench = Bench::new(&[]).await;
    let seen = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&seen);
    for _ in 0..5 {
        bench.enqueue(bench.job("sleeps", &1)).await;
    }
    let store = Arc::clone(&bench.store);
    Worker::new(store, bench.clock.clone(), sleepers())
        .layer(tower_layer::layer_fn(move |inner| Counting(inner, Arc::clone(&counter))))
        .run_until(tokio::time::sleep(Duration::from_secs(1)))
        .await
        .unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 5);
}

/// A store that can be away.
#[derive(Default)]
struct Away {
    inner: MemoryStore,
    is_away: AtomicBool,
    refused: AtomicU64,
}

#[async_trait]
impl Transact for Away {
    async fn transact<R, F>(&self, step: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: FnOnce(&mut dyn Tables) -> Result<R, StoreError> + Send + 'static,
    {
        if self.is_away.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(StoreError::Unavailable { reason: "it is away".into() });
        }
        self.inner.transact(step).await
    }
    async fn own(&self, worker: &WorkerName) -> Result<bool, StoreError> {
        self.inner.own(worker).await
    }
    fn change_sender(&self) -> &watch::Sender<u64> {
        self.inner.change_sender()
    }
}

#[async_trait]
impl Reader for Away {
    async fn job(
        &self,
        id: waitless_job::JobId,
    ) -> Result<Option<(JobRecord, Arc<str>)>, StoreError> {
        self.inner.job(id).await
    }
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobRecord>, StoreError> {
        self.inner.jobs(filter).await
    }
    async fn job_counts(
        &self,
        run: Option<waitless_job::RunId>,
    ) -> Result<Vec<(JobState, u64)>, StoreError> {
        self.inner.job_counts(run).await
    }
    async fn position(&self, id: waitless_job::JobId) -> Result<Option<u64>, StoreError> {
        self.inner.position(id).await
    }
    async fn lane(&self, key: waitless_job::LaneKey) -> Result<Lane, StoreError> {
        Reader::lane(&self.inner, key).await
    }
    async fn limits(
        &self,
        account: Option<waitless_job::AccountId>,
    ) -> Result<Vec<LimitView>, StoreError> {
        self.inner.limits(account).await
    }
    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.inner.accounts().await
    }
    async fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.inner.runs().await
    }
    async fn audit(&self) -> Result<Audit, StoreError> {
        self.inner.audit().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_for_a_while_ends_no_worker_and_loses_nothing() {
    let bench = Bench::new(&[]).await;
    let store = Arc::new(Away::default());
    let running = Running::start(
        Arc::clone(&store) as _,
        bench.clock.clone(),
        sleepers(),
        WorkerConfig::default(),
    );
    let mut ids = Vec::new();
    for _ in 0..20 {
        let job = bench.job("sleeps", &700);
        ids.push(store.enqueue(vec![job], bench.clock.now()).await.unwrap()[0].id);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    store.is_away.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(10)).await;
    store.is_away.store(false, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(store.refused.load(Ordering::Relaxed) > 0);
    for id in ids {
        let (job, _) = store.job(id).await.unwrap().unwrap();
        assert_eq!((job.state, job.attempts), (JobState::Succeeded, 1));
    }
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.wakeups, stats.succeeded), (20, 20));
}

#[tokio::test(start_paused = true)]
async fn a_worker_in_a_hurry_hands_its_jobs_back_at_once() {
    let bench = Bench::new(&[]).await;
    let id = bench.enqueue(bench.job("sleeps", &100_000)).await;
    let after = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    Worker::new(Arc::clone(&bench.store) as _, bench.clock.clone(), sleepers())
        .hurry(after(5))
        .run_until(after(3))
        .await
        .unwrap();
    assert_eq!(bench.since_start(), 5_000);
    let job = bench.record(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Waiting, 0));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_is_not_lost_with_the_step_that_was_to_save_it() {
    async fn pages(job: Job<()>, ctx: JobContext) -> HandlerResult {
        for page in job.checkpoint::<u32>()?.unwrap_or(0)..10 {
            ctx.permit("orders").await?.spend(ctx.now())?;
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            ctx.checkpoint(&(page + 1))?;
        }
        Ok(())
    }
    let bench = Bench::new(&[]).await;
    let store = Arc::new(Away::default());
    let limit = (support::bucket("acct", "orders"), "100/s".parse().unwrap());
    store.set_limits(vec![limit], bench.clock.now()).await.unwrap();
    let job = bench.job("pages", &()).needs_one("orders".parse().unwrap());
    let id = store.enqueue(vec![job], bench.clock.now()).await.unwrap()[0].id;
    let away = Arc::clone(&store);
    let after = |ms| tokio::time::sleep(Duration::from_millis(ms));
    // The store goes during the third page, so the step that would save it hangs; the worker is told
    // to stop, and to hurry, and cuts the attempt off in the middle of that step.
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        away.is_away.store(true, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(3_000)).await;
        away.is_away.store(false, Ordering::Relaxed);
    });
    let handlers = Handlers::new().with("pages", pages).unwrap();
    Worker::new(Arc::clone(&store) as _, bench.clock.clone(), handlers)
        .hurry(after(5_000))
        .run_until(after(4_000))
        .await
        .unwrap();
    let (job, _) = store.job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts), (JobState::Waiting, 0));
    assert_eq!(job.checkpoint.as_deref(), Some("3"));
}
