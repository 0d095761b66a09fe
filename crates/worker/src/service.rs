use std::task::{Context, Poll};

use apalis_core::{error::BoxDynError, task::Task};
use futures::future::BoxFuture;
use tower_service::Service;
use waitless_job::{Handlers, Leave};

use crate::granted::Granted;

/// The innermost tower service: calls the handler of the job's kind.
#[derive(Debug, Clone)]
pub struct HandlerService(Handlers);

impl HandlerService {
    /// A service over these handlers.
    #[must_use]
    pub fn new(handlers: Handlers) -> Self {
        Self(handlers)
    }
}

impl Service<Task<Granted>> for HandlerService {
    type Response = ();
    type Error = BoxDynError;
    type Future = BoxFuture<'static, Result<(), BoxDynError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxDynError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, task: Task<Granted>) -> Self::Future {
        let granted = task.args;
        let run = self.0.call(granted.record().clone(), granted.args(), granted.context());
        Box::pin(async move { run.await.map_err(|leave| Box::new(Left(leave)) as BoxDynError) })
    }
}

/// How a handler left, on its way out through the tower stack, where only errors pass.
#[derive(Debug, thiserror::Error)]
#[error("the handler left its slot: {0:?}")]
pub(crate) struct Left(pub(crate) Leave);

/// What an error of the tower stack means: a [`Left`] of ours, or the error of a layer that
/// somebody put in between.
pub(crate) fn leave_of(error: BoxDynError) -> Leave {
    match error.downcast::<Left>() {
        Ok(left) => left.0,
        Err(error) => Leave::Retry { error: error.to_string() },
    }
}
