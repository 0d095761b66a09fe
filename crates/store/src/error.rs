use waitless_job::{BucketKey, JobId, NewJobError};

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A job cannot be enqueued whatever the store holds. Nothing of its batch was.
    #[error(
        "job {index} of the batch ({id}) was refused, and none of the batch was enqueued: {source}"
    )]
    Job {
        /// Its place in the batch, from 0.
        index: usize,
        /// Its id.
        id: JobId,
        /// What is wrong with it.
        #[source]
        source: NewJobError,
    },
    /// A bucket has no limit.
    #[error("no limit is configured for bucket {bucket}: set one before work draws on it")]
    UnknownLimit {
        /// Which bucket.
        bucket: BucketKey,
    },
    /// A request costs more than its bucket can ever hold.
    #[error(
        "a request of cost {cost} can never go: bucket {bucket} holds {burst} at most; lower the \
         cost or raise the burst"
    )]
    CostAboveBurst {
        /// Which bucket.
        bucket: BucketKey,
        /// Tokens asked for.
        cost: u32,
        /// Tokens it holds.
        burst: u32,
    },
    /// The store is in use by another worker.
    #[error("{store} already has a worker ({owner}): stop it, or give this one another store")]
    Owned {
        /// Which store.
        store: String,
        /// Who has it, as far as known.
        owner: String,
    },
    /// The store was written by a newer version of Waitless.
    #[error(
        "{store} has schema version {found}, this program knows versions up to {known}: use a \
         newer waitless, or another store"
    )]
    Newer {
        /// Which store.
        store: String,
        /// Its version.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// The store has no room left. What was asked was not done; it may be asked again.
    #[error("{store} is full, nothing was written: free space on its disk and try again")]
    Full {
        /// Which store.
        store: String,
    },
    /// What lies there is no store, or cannot be opened.
    #[error("cannot open {store}: {reason}")]
    Open {
        /// Which store.
        store: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The store did not answer. Whether it did what was asked is not known; every operation may
    /// be repeated.
    #[error("the store did not answer: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
    /// The store holds something it cannot have written.
    #[error("the store is damaged: {what}; check it with `waitless doctor`")]
    Damaged {
        /// What was found.
        what: String,
    },
}
