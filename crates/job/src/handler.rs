use std::{collections::HashMap, fmt, future::Future, sync::Arc};

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::{Job, JobContext, JobRecord, Kind, Leave, NameError};

/// What a handler answers: `Ok` when the job is done, otherwise how it leaves its slot.
pub type HandlerResult = Result<(), Leave>;

/// The code that runs the jobs of one kind. Async functions over `(Job<Args>, JobContext)` are
/// handlers.
pub trait Handler<Args>: Send + Sync + 'static {
    /// Runs one attempt.
    fn run(
        &self,
        job: Job<Args>,
        ctx: JobContext,
    ) -> impl Future<Output = HandlerResult> + Send + 'static;
}

impl<F, Args, Fut> Handler<Args> for F
where
    F: Fn(Job<Args>, JobContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult> + Send + 'static,
{
    fn run(
        &self,
        job: Job<Args>,
        ctx: JobContext,
    ) -> impl Future<Output = HandlerResult> + Send + 'static {
        self(job, ctx)
    }
}

type Erased =
    dyn Fn(Arc<JobRecord>, &str, JobContext) -> BoxFuture<'static, HandlerResult> + Send + Sync;

/// The handlers of a worker, by kind.
#[derive(Clone, Default)]
pub struct Handlers(HashMap<Kind, Arc<Erased>>);

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Handlers {
    /// No handlers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the handler of a kind; a later one for the same kind replaces it.
    ///
    /// # Errors
    /// [`NameError`] if the kind is not a name.
    pub fn with<Args>(
        mut self,
        kind: impl AsRef<str>,
        handler: impl Handler<Args>,
    ) -> Result<Self, NameError>
    where
        Args: DeserializeOwned + Send + 'static,
    {
        let handler = Arc::new(handler);
        let erased = move |record: Arc<JobRecord>, args: &str, ctx: JobContext| {
            let args: Result<Args, _> = serde_json::from_str(args);
            let handler = Arc::clone(&handler);
            let run: BoxFuture<'static, HandlerResult> = match args {
                Ok(args) => Box::pin(async move { handler.run(Job { args, record }, ctx).await }),
                Err(error) => Box::pin(std::future::ready(Err(Leave::Dead {
                    reason: format!("the arguments are not what the handler expects: {error}"),
                }))),
            };
            run
        };
        self.0.insert(Kind::new(kind)?, Arc::new(erased));
        Ok(self)
    }

    /// Runs one attempt of a job whose arguments are still JSON. Arguments that do not decode, and
    /// a kind without a handler, go to the dead letters: trying again cannot help.
    pub fn call(
        &self,
        record: Arc<JobRecord>,
        args: &str,
        ctx: JobContext,
    ) -> BoxFuture<'static, HandlerResult> {
        match self.0.get(&record.kind) {
            Some(handler) => handler(record, args, ctx),
            None => Box::pin(std::future::ready(Err(Leave::Dead {
                reason: format!(
                    "no handler for jobs of kind `{}` in this worker; it has {self:?}",
                    record.kind
                ),
            }))),
        }
    }
}
