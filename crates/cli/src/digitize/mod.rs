//! Works a run off and shows how: what `demo` and `import` have in common.

mod frame;
mod live;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use tokio::sync::watch;
use waitless_job::{AccountId, Clock, Handlers, JobRecord, RunId};
use waitless_store::{Store, ops::JobFilter};
use waitless_worker::{StatsSnapshot, Worker, WorkerConfig};

use crate::{args::Global, exit::Exit, signals::Signals};

pub(crate) use frame::Frame;
pub(crate) use live::Live;

/// Time between two looks at the run.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Most jobs of a run that are looked at.
const JOBS_MAX: usize = 10_000;

/// A run to be worked off.
pub(crate) struct Digitization {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) handlers: Handlers,
    pub(crate) run: RunId,
    /// What people call the accounts.
    pub(crate) names: HashMap<AccountId, String>,
    pub(crate) slots: usize,
    /// Most slots of one account; all of them where there is only one.
    pub(crate) slots_per_account_max: usize,
    /// Accounts whose jobs are not ours to work off.
    pub(crate) leave_alone: Vec<AccountId>,
}

/// What came of it.
pub(crate) struct Driven {
    /// The signal that ended it before its time, if one did.
    pub(crate) interrupted: Option<Exit>,
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
            leave_alone: self.leave_alone.clone(),
            ..WorkerConfig::default()
        };
        let worker =
            Worker::new(Arc::clone(&self.store), self.clock.clone(), self.handlers.clone())
                .config(config)
                .hurry(is_true(hurried));
        let stats = worker.stats();
        let mut working = tokio::spawn(worker.run_until(is_true(stopped)));

        let mut live = Live::new(global);
        let mut interrupted = None;
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
                    let frame = self.frame(started_at, stats.snapshot(), refused()).await?;
                    let finished = frame.is_finished();
                    live.show(frame);
                    if finished {
                        stop.send_replace(true);
                    }
                }
            }
        };
        worked.context("the worker panicked")??;
        live.show(self.frame(started_at, stats.snapshot(), refused()).await?);
        live.end();
        Ok(Driven { interrupted, stats: stats.snapshot(), jobs: self.jobs().await? })
    }

    async fn jobs(&self) -> Result<Vec<JobRecord>> {
        let filter = JobFilter { run: Some(self.run), limit: JOBS_MAX, ..JobFilter::default() };
        Ok(self.store.jobs(filter).await?)
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
