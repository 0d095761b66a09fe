use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use apalis_core::{
    backend::{Backend, BackendConfig, finalize::Ephemeral},
    task::Task,
    worker::context::WorkerContext,
};
use tokio::sync::mpsc;
use waitless_job::{JobContext, JobRecord};

use crate::{acknowledge::AcknowledgeLayer, session::Session, slots::Slot};

/// A claimed job on its way through the tower stack: the arguments of an apalis task.
#[derive(Clone)]
pub struct Granted {
    pub(crate) session: Arc<Session>,
    pub(crate) args: Arc<str>,
    /// Free again when the last clone of this is gone.
    pub(crate) _slot: Arc<Slot>,
}

impl Granted {
    /// The job.
    #[must_use]
    pub fn record(&self) -> &Arc<JobRecord> {
        &self.session.record
    }

    /// Its arguments, as JSON.
    #[must_use]
    pub fn args(&self) -> &str {
        &self.args
    }

    /// Its way to the queue.
    #[must_use]
    pub fn context(&self) -> JobContext {
        JobContext::new(self.session.record.account.clone(), Arc::clone(&self.session) as _)
    }
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granted").field("job", &self.session.record.id).finish_non_exhaustive()
    }
}

/// An apalis backend that yields what the claimer has claimed.
///
/// `poll_next` of apalis knows no capacity, so the claimer asks the store for no more jobs than
/// there are free slots, and whatever arrives here starts at once. No poll ever errs: an error
/// would end the worker.
#[derive(Debug)]
pub struct LaneBackend {
    handover: Handover,
    acknowledge: AcknowledgeLayer,
}

impl LaneBackend {
    pub(crate) fn new(handover: Handover, acknowledge: AcknowledgeLayer) -> Self {
        Self { handover, acknowledge }
    }
}

/// Where claimed jobs wait for the loop to start them, which it does at its next poll. Shared, so
/// that whoever ends the worker finds the jobs that the loop, stopping, did not poll any more.
#[derive(Debug, Clone)]
pub(crate) struct Handover(Arc<Mutex<mpsc::UnboundedReceiver<Granted>>>);

impl Handover {
    pub(crate) fn channel() -> (mpsc::UnboundedSender<Granted>, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Self(Arc::new(Mutex::new(receiver))))
    }

    /// Takes a job that the loop has not started.
    pub(crate) fn take(&self) -> Option<Granted> {
        self.lock().try_recv().ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, mpsc::UnboundedReceiver<Granted>> {
        self.0.lock().expect("receiving does not panic")
    }
}

impl Backend for LaneBackend {
    type Task = Task<Granted>;
    type Error = Infallible;

    fn poll_ready(
        &mut self,
        _: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Option<Result<Task<Granted>, Infallible>>> {
        let granted = self.handover.lock().poll_recv(cx);
        granted.map(|granted| granted.map(|granted| Ok(Task::new(granted))))
    }

    fn poll_close(
        &mut self,
        _: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
}

impl BackendConfig for LaneBackend {
    type Args = Granted;
    type Id = ();
    // Ours already yields decoded tasks. `Durable` would turn a payload that does not decode into
    // the end of the worker.
    type Kind = Ephemeral;
    type Config = ();
    type Layer = AcknowledgeLayer;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> AcknowledgeLayer {
        self.acknowledge.clone()
    }
}
