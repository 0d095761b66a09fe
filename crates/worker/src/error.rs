use waitless_store::StoreError;

/// Why a worker ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The store did not let it start.
    #[error("the worker cannot start")]
    Start(#[source] StoreError),
    /// The worker loop of apalis ended with an error. Passing faults of a store never do that.
    #[error("the worker loop ended")]
    Loop(#[source] apalis_core::error::WorkerError),
}
