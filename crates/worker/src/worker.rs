use std::{future::Future, sync::Arc, time::Duration};

use apalis_core::{
    error::BoxDynError,
    task::Task,
    worker::{builder::WorkerBuilder, lifecycle::LifecycleService},
};
use futures::future::BoxFuture;
use tokio::sync::watch;
use tower_layer::{Identity, Layer, Stack};
use tower_service::Service;
use tracing::{debug, info, warn};
use waitless_job::{Clock, Handlers};
use waitless_store::{Store, ops::Outcome};

use crate::{
    AcknowledgeLayer, Granted, HandlerService, LaneBackend, Stats, WorkerConfig, WorkerError,
    backend::Handover,
    claimer::Claimer,
    keeper::{Keeper, Live},
    session::Surroundings,
    shutdown::{Phase, Shutdown},
    slots::Slots,
};

/// A worker: handlers, a store to take jobs from, slots to run them in, and tower layers around
/// each attempt.
pub struct Worker<L = Identity> {
    store: Arc<dyn Store>,
    clock: Clock,
    handlers: Handlers,
    config: WorkerConfig,
    stats: Arc<Stats>,
    hurry: BoxFuture<'static, ()>,
    layer: L,
}

impl Worker {
    /// A worker with the default configuration and no layers.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock, handlers: Handlers) -> Self {
        Self {
            store,
            clock,
            handlers,
            config: WorkerConfig::default(),
            stats: Arc::default(),
            hurry: Box::pin(std::future::pending()),
            layer: Identity::new(),
        }
    }
}

impl<L> Worker<L> {
    /// The same worker with another configuration.
    #[must_use]
    pub fn config(self, config: WorkerConfig) -> Self {
        Self { config, ..self }
    }

    /// Cuts the grace time short when this resolves: running jobs are handed back at once.
    #[must_use]
    pub fn hurry(self, hurry: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { hurry: Box::pin(hurry), ..self }
    }

    /// Wraps every attempt in a tower layer, around those added before. A layer sees a handler that
    /// left its slot as an error, and may answer with one of its own, which counts as a failed
    /// attempt. No layer may wait for tokens or retry in the slot: that is what lanes are for.
    #[must_use]
    pub fn layer<U>(self, layer: U) -> Worker<Stack<U, L>> {
        Worker {
            store: self.store,
            clock: self.clock,
            handlers: self.handlers,
            config: self.config,
            stats: self.stats,
            hurry: self.hurry,
            layer: Stack::new(layer, self.layer),
        }
    }

    /// What it counts. Shared: read it while the worker runs, and after.
    #[must_use]
    pub fn stats(&self) -> Arc<Stats> {
        Arc::clone(&self.stats)
    }

    /// Works until `stop` resolves, then takes no new job, lets running ones go on for the grace
    /// time, hands back those that did not finish, and returns.
    ///
    /// A job that asks for another permit while the worker stops is handed back at that point,
    /// with its checkpoint.
    ///
    /// # Errors
    /// [`WorkerError::Start`] if the store does not let it start, for example because it has a
    /// worker already. A store that is away for a while ends no worker.
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send) -> Result<(), WorkerError>
    where
        L: Layer<LifecycleService<HandlerService>> + Send + 'static,
        L::Service: Service<Task<Granted>, Error = BoxDynError> + Send + 'static,
        <L::Service as Service<Task<Granted>>>::Future: Send + 'static,
        <L::Service as Service<Task<Granted>>>::Response: Send + 'static,
    {
        let (phase, shutdown) = Shutdown::channel();
        let name = self.config.name.clone();
        let started = self.store.start_worker(name.clone(), self.clock.now()).await;
        let left_behind = started.map_err(WorkerError::Start)?;
        if left_behind > 0 {
            info!(jobs = left_behind, "took over the jobs of a worker that had died");
        }

        let surroundings = Surroundings {
            store: self.store,
            clock: self.clock.clone(),
            shutdown: shutdown.clone(),
            stats: Arc::clone(&self.stats),
            lease_ms: self.config.lease_ms,
        };
        let live = Arc::new(Live::default());
        let (granted, handover) = Handover::channel();
        let claimer = Claimer {
            surroundings: surroundings.clone(),
            worker: name.clone(),
            slots: Slots::new(self.config.slots, self.clock.clone(), Arc::clone(&self.stats)),
            per_account_max: self.config.per_account_max(),
            only: self.config.only,
            live: Arc::clone(&live),
            granted,
        };
        let keeper = Keeper { surroundings, live, keep_ended_ms: self.config.keep_ended_ms };
        let acknowledge = AcknowledgeLayer {
            clock: self.clock,
            shutdown: shutdown.clone(),
            stats: self.stats,
            handler_timeout: Duration::from_millis(self.config.handler_timeout_ms),
            backoff: self.config.backoff,
        };

        let claiming = tokio::spawn(claimer.run());
        let keeping = tokio::spawn(keeper.run());
        let worker = WorkerBuilder::new(name.as_str())
            .backend(LaneBackend::new(handover.clone(), acknowledge))
            .chain(|_| self.layer)
            .build(HandlerService::new(self.handlers));
        let running = worker.run_until(async move {
            shutdown.reached(Phase::Stopping).await;
            Ok::<(), apalis_core::error::WorkerError>(())
        });
        tokio::pin!(running);
        let ran = tokio::select! {
            ran = &mut running => ran,
            () = stop_in_phases(stop, self.hurry, &phase, self.config.grace_ms) => running.await,
        };

        phase.send_replace(Phase::HandingBack);
        if claiming.await.is_err() {
            warn!("the claimer panicked");
        }
        // The loop does not poll any more, and the claimer adds nothing: what is left was claimed
        // and never started.
        while let Some(granted) = handover.take() {
            if let Err(error) = granted.session.settle(Outcome::HandBack).await {
                warn!(%error, job = %granted.record().id, "a job could not be handed back");
            }
        }
        keeping.abort();
        debug!(worker = %name, "the worker has ended");
        ran.map_err(WorkerError::Loop)
    }
}

/// Says when running jobs may go on and when they are handed back.
async fn stop_in_phases(
    stop: impl Future<Output = ()>,
    hurry: impl Future<Output = ()>,
    phase: &watch::Sender<Phase>,
    grace_ms: u64,
) {
    stop.await;
    info!(grace_ms, "stopping: takes no new job, running ones may finish");
    phase.send_replace(Phase::Stopping);
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(grace_ms)) => {}
        () = hurry => {}
    }
    info!("handing back the jobs that did not finish");
    phase.send_replace(Phase::HandingBack);
}
