use waitless_job::{NameError, NewJobError};
use waitless_store::StoreError;
use waitless_worker::WorkerError;

/// Why a simulation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A name of the scenario is malformed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A job could not be made.
    #[error(transparent)]
    Job(#[from] NewJobError),
    /// The store refused something.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The worker ended.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A margin does not fit a limit.
    #[error(transparent)]
    Policy(#[from] waitless_bucket::PolicyError),
    /// There is no thread or timer for it.
    #[error("the simulation cannot start: {0}")]
    Runtime(#[source] std::io::Error),
}
