//! A step on its way to the writer and its answer on the way back.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use tokio::sync::oneshot;
use waitless_store::{StoreError, Tables};

/// What a step came to: its result, or the panic that ended it.
pub(crate) type Outcome<R> = Result<Result<R, StoreError>, Box<dyn Any + Send>>;

/// A step whose type of result the writer need not know.
pub(crate) trait Step: Send {
    /// Whether nobody waits for its answer any more.
    fn is_abandoned(&self) -> bool;

    /// Carries it out, once. Answers whether what it wrote is to be kept.
    fn run(&mut self, tables: &mut dyn Tables) -> bool;

    /// Whether it ran and is to be kept.
    fn is_kept(&self) -> bool;

    /// Why it is not to be kept, if it ran into an error.
    fn error(&self) -> Option<&StoreError>;

    /// Tells its caller what came of it.
    fn answer(self: Box<Self>);

    /// Tells its caller that it was not done.
    fn refuse(self: Box<Self>, error: StoreError);
}

/// A step and where its answer goes.
pub(crate) fn step<R, F>(run: F) -> (Box<dyn Step>, oneshot::Receiver<Outcome<R>>)
where
    R: Send + 'static,
    F: FnOnce(&mut dyn Tables) -> Result<R, StoreError> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Typed { run: Some(run), outcome: None, reply }), answer)
}

struct Typed<R, F> {
    /// Some until it ran.
    run: Option<F>,
    /// Some since it ran.
    outcome: Option<Outcome<R>>,
    reply: oneshot::Sender<Outcome<R>>,
}

impl<R, F> Step for Typed<R, F>
where
    R: Send + 'static,
    F: FnOnce(&mut dyn Tables) -> Result<R, StoreError> + Send + 'static,
{
    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(&mut self, tables: &mut dyn Tables) -> bool {
        let run = self.run.take().expect("a step runs once");
        // A panic is the caller's bug and is handed to the caller. Here it would end the thread,
        // and with it the store of everybody else. What the step wrote is undone.
        self.outcome = Some(catch_unwind(AssertUnwindSafe(|| run(tables))));
        self.is_kept()
    }

    fn is_kept(&self) -> bool {
        matches!(self.outcome, Some(Ok(Ok(_))))
    }

    fn error(&self) -> Option<&StoreError> {
        match &self.outcome {
            Some(Ok(Err(error))) => Some(error),
            _ => None,
        }
    }

    fn answer(self: Box<Self>) {
        let outcome = self.outcome.expect("a step is answered after it ran");
        // Nobody listens any more if the future was dropped.
        let _ = self.reply.send(outcome);
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Ok(Err(error)));
    }
}
