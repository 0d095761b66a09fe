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

use crate::{Granted, acknowledge::AcknowledgeLayer};

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
