use std::{sync::Arc, time::Duration};

use waitless_job::{BucketKey, Clock, NewJob, UnixMillis};
use waitless_store::{MemoryStore, Reader, Store};
use waitless_worker::{Stats, Worker, WorkerConfig};

use crate::{
    SimulateError,
    options::Options,
    probes::Probes,
    report::{Report, ratio, seconds},
    request::{KIND, Request},
    scenario::Scenario,
    strategy::World,
    trace::Trace,
    upstream::Upstream,
};

/// A moment to start at; nothing depends on it.
const START: UnixMillis = UnixMillis(1_767_225_600_000);

/// Virtual time between two looks at whether everything is done.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Jobs enqueued in one step.
const BATCH: usize = 1_000;

/// Runs a scenario under virtual time, on this thread, and says what came of it. Must not be
/// called from inside a tokio runtime.
///
/// # Errors
/// [`SimulateError`].
pub fn run(name: &str, scenario: &Scenario, options: &Options) -> Result<Report, SimulateError> {
    Ok(in_virtual_time(name, scenario, options, false)?.report)
}

/// The same, with everything that the upstream has seen.
///
/// # Errors
/// [`SimulateError`].
pub fn trace(name: &str, scenario: &Scenario, options: &Options) -> Result<Trace, SimulateError> {
    in_virtual_time(name, scenario, options, true)
}

fn in_virtual_time(
    name: &str,
    scenario: &Scenario,
    options: &Options,
    is_traced: bool,
) -> Result<Trace, SimulateError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(SimulateError::Runtime)?;
    runtime.block_on(simulate(name, scenario, options, is_traced))
}

async fn simulate(
    name: &str,
    scenario: &Scenario,
    options: &Options,
    is_traced: bool,
) -> Result<Trace, SimulateError> {
    let store = Arc::new(MemoryStore::new());
    let clock = Clock::starting_at(START);
    let probes = Probes::plan(scenario, options.seed)?;
    let (jitter_ms, latency_ms) = (options.jitter_ms.clone(), scenario.latency_ms());
    let upstream = Upstream::new(START, jitter_ms, latency_ms, options.seed, is_traced);
    let world = World { upstream: Arc::new(upstream), probes: Arc::clone(&probes) };
    prepare(&*store, scenario, options, &world).await?;

    let config = WorkerConfig {
        slots: options.slots.unwrap_or(scenario.slots),
        handler_timeout_ms: u64::MAX / 4,
        // Ended jobs are only counted; a million of them need not be kept.
        keep_ended_ms: 0,
        ..WorkerConfig::default()
    };
    let slots = config.slots;
    let handlers = options.strategy.handlers(world.clone())?;
    let worker = Worker::new(Arc::clone(&store) as _, clock.clone(), handlers).config(config);
    let stats = worker.stats();
    let asking = Arc::clone(&probes).enqueue(Arc::clone(&store) as _, clock, options.strategy);
    let asking = tokio::spawn(asking);
    let all = scenario.requests() + probes.len();
    let upstream = Arc::clone(&world.upstream);
    worker
        .run_until(async move {
            while upstream.counts().accepted < all {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        })
        .await?;
    asking.await.expect("enqueueing does not panic")?;
    debug_assert_eq!(
        waitless_store::fsck::fsck(&store.audit().await?),
        [],
        "the store is sound in the end"
    );
    let limits = if is_traced { store.limits(None).await? } else { Vec::new() };
    let report = report(name, scenario, options, slots, &stats, &world);
    Ok(Trace { report, seen: world.upstream.seen(), limits })
}

/// Sets the limits and enqueues the backlog, account after account.
async fn prepare(
    store: &dyn Store,
    scenario: &Scenario,
    options: &Options,
    world: &World,
) -> Result<(), SimulateError> {
    world.probes.set_limits(store, &world.upstream, START).await?;
    for accounts in &scenario.accounts {
        for account in accounts.ids() {
            let account = account?;
            let mut jobs = Vec::new();
            for backlog in &accounts.backlog {
                let bucket = BucketKey { account: account.clone(), group: backlog.group.clone() };
                let policy = match options.margin_ms {
                    Some(margin_ms) => backlog.limit.with_margin_ms(margin_ms)?,
                    None => backlog.limit,
                };
                world.upstream.limit(bucket.clone(), &policy, &backlog.truth);
                store.set_limits(vec![(bucket, policy)], START).await?;
                let request = Request { group: backlog.group.clone(), probe: None };
                for _ in 0..backlog.requests {
                    let job = NewJob::new(KIND, &account, &request, START)?;
                    jobs.push(options.strategy.needs(job, &backlog.group));
                }
            }
            for batch in jobs.chunks(BATCH) {
                store.enqueue(batch.to_vec(), START).await?;
            }
        }
    }
    Ok(())
}

fn report(
    name: &str,
    scenario: &Scenario,
    options: &Options,
    slots: usize,
    stats: &Stats,
    world: &World,
) -> Report {
    let stats = stats.snapshot();
    let counts = world.upstream.counts();
    let makespan_ms = counts.last_answer_at.since(START);
    let bound_ms = scenario.bound_ms().max(world.probes.bound_ms());
    let (busy, idle) = world.probes.waits();
    Report {
        scenario: name.to_owned(),
        strategy: options.strategy.to_string(),
        slots,
        makespan_seconds: seconds(makespan_ms),
        bound_seconds: seconds(bound_ms),
        makespan_over_bound: ratio(makespan_ms, bound_ms),
        requests: counts.accepted,
        wakeups_per_request: ratio(stats.wakeups, counts.accepted),
        upstream_429: counts.refused,
        slot_wait_seconds: seconds(stats.slot_held_ms.saturating_sub(counts.request_ms)),
        slot_busy_share: ratio(stats.slot_held_ms, makespan_ms.saturating_mul(slots as u64)),
        interactive_busy_wait_seconds: busy,
        interactive_idle_wait_seconds: idle,
    }
}
