//! Works a run off and shows how: what `demo` and `import` have in common.

mod frame;
mod line;
mod live;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use tokio::sync::watch;
use waitless_job::{AccountId, Clock, Handlers, JobId, JobRecord};
use waitless_store::Store;
use waitless_wb::Dataset;
use waitless_worker::{StatsSnapshot, Worker, WorkerConfig};

use crate::{args::Global, exit::Exit, signals::Signals};

pub(crate) use frame::Frame;
pub(crate) use live::Live;

/// Time between two looks at the run.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long ended jobs are kept, in milliseconds: the next import goes on where the last one of its
/// dataset ended.
const KEEP_ENDED_MS: u64 = 400 * 86_400_000;

/// The dataset that a job brings.
pub(crate) fn dataset_of(job: &JobRecord) -> Option<Dataset> {
    let (_, dataset) = job.unique_key.as_deref()?.rsplit_once('/')?;
    dataset.parse().ok()
}

/// A run to be worked off.
pub(crate) struct Digitization {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) handlers: Handlers,
    /// The jobs to follow to their end.
    pub(crate) jobs: Vec<JobId>,
    /// What people call the accounts.
    pub(crate) names: HashMap<AccountId, String>,
    pub(crate) slots: usize,
    /// Most slots of one account; all of them where there is only one.
    pub(crate) slots_per_account_max: usize,
    /// Whether to give up when the upstream has not answered a single request after some tries.
    pub(crate) gives_up: bool,
}

/// What came of it.
pub(crate) struct Driven {
    /// The signal that ended it before its time, if one did.
    pub(crate) interrupted: Option<Exit>,
    /// Why it was given up, if it was.
    pub(crate) gave_up: Option<String>,
    /// Why what is left of it waits for a person, if it did when it was stopped.
    pub(crate) paused: Vec<String>,
    /// What the worker counted.
    pub(crate) stats: StatsSnapshot,
    /// The run's jobs as they are now.
    pub(crate) jobs: Vec<JobRecord>,
}

impl Digitization {
    /// Works until every job of the run has ended, or a signal comes.
    pub(crate) async fn drive(self, global: &Global, refused: impl Fn() -> u64) -> Result<Driven> {
        let mut signals = Signals::listen()?;
        let (stop, stopped) = watch::channel(false);
        let (hurry, hurried) = watch::channel(false);
        let config = WorkerConfig {
            slots: self.slots,
            slots_per_account_max: Some(self.slots_per_account_max),
            // Of others this process has no token.
            only: Some(self.names.keys().cloned().collect()),
            keep_ended_ms: KEEP_ENDED_MS,
            ..WorkerConfig::default()
        };
        let worker =
            Worker::new(Arc::clone(&self.store), self.clock.clone(), self.handlers.clone())
                .config(config)
                .hurry(is_true(hurried));
        let stats = worker.stats();
        let mut working = tokio::spawn(worker.run_until(is_true(stopped)));

        let mut live = Live::new(global);
        let (mut interrupted, mut gave_up, mut paused) = (None, None, Vec::new());
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let started_at = self.clock.now();
        let worked = loop {
            tokio::select! {
                worked = &mut working => break worked,
                exit = signals.next() => {
                    if interrupted.is_none() {
                        live.note("stopping: finishes what is under way; again to stop at once");
                        interrupted = Some(exit);
                        stop.send_replace(true);
                    } else {
                        hurry.send_replace(true);
                    }
                }
                _ = ticks.tick() => {
                    // A look that fails is no reason to stop working.
                    let frame = match self.frame(started_at, stats.snapshot(), refused()).await {
                        Ok(frame) => frame,
                        Err(error) => {
                            tracing::warn!("cannot look at the jobs: {error:#}");
                            continue;
                        }
                    };
                    if self.gives_up && gave_up.is_none() {
                        gave_up = frame.nothing_works();
                    }
                    // Kept: somebody may resume it while the worker stops.
                    if paused.is_empty() {
                        paused = frame.all_paused().unwrap_or_default();
                    }
                    if frame.is_finished() || gave_up.is_some() || !paused.is_empty() {
                        stop.send_replace(true);
                    }
                    live.show(frame);
                }
            }
        };
        worked.context("the worker panicked")??;
        live.show(self.frame(started_at, stats.snapshot(), refused()).await?);
        live.end();
        let (stats, jobs) = (stats.snapshot(), self.jobs().await?);
        Ok(Driven { interrupted, gave_up, paused, stats, jobs })
    }

    async fn jobs(&self) -> Result<Vec<JobRecord>> {
        let mut jobs = Vec::with_capacity(self.jobs.len());
        for id in &self.jobs {
            jobs.extend(self.store.job(*id).await?.map(|(job, _)| job));
        }
        Ok(jobs)
    }

    async fn frame(
        &self,
        started_at: waitless_job::UnixMillis,
        stats: StatsSnapshot,
        refused: u64,
    ) -> Result<Frame> {
        Ok(Frame {
            now: self.clock.now(),
            started_at,
            jobs: self.jobs().await?,
            limits: self.store.limits(None).await?,
            accounts: self.store.accounts().await?,
            names: self.names.clone(),
            slots: self.slots,
            stats,
            refused,
        })
    }
}

async fn is_true(mut flag: watch::Receiver<bool>) {
    if flag.wait_for(|set| *set).await.is_err() {
        // Whoever could have set it is gone without doing so.
        std::future::pending::<()>().await;
    }
}
