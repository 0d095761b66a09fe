use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use waitless_bucket::{BucketState, UnixMillis};
use waitless_job::{AccountId, BucketKey, JobId, JobRecord, LaneKey, LeaseToken, WorkerName};

use crate::{
    StoreError,
    model::{Account, Lane, Limit, Rank, Run},
    ops::Accounts,
};

type Result<T> = std::result::Result<T, StoreError>;

/// Rows and their indexes, as [`engine`](crate::engine) sees them while it carries out one step.
///
/// A store that can run a step as a transaction implements this and [`Transact`], and has the
/// whole [`Store`](crate::Store) from the engine: what a step means is written once.
pub trait Tables {
    /// The limit of a bucket.
    fn limit(&mut self, bucket: &BucketKey) -> Result<Option<Limit>>;
    /// Sets it.
    fn put_limit(&mut self, bucket: &BucketKey, limit: &Limit) -> Result<()>;
    /// The limits of this account, by bucket.
    fn limits_of(&mut self, account: &AccountId) -> Result<Vec<(BucketKey, Limit)>>;
    /// The stored state of a bucket; `None` is a full one.
    fn bucket(&mut self, bucket: &BucketKey) -> Result<Option<BucketState>>;
    /// Stores it.
    fn put_bucket(&mut self, bucket: &BucketKey, state: &BucketState) -> Result<()>;

    /// An account.
    fn account(&mut self, id: &AccountId) -> Result<Option<Account>>;
    /// Adds or replaces it.
    fn put_account(&mut self, account: &Account) -> Result<()>;
    /// Adds or replaces a run.
    fn put_run(&mut self, run: &Run) -> Result<()>;

    /// A job.
    fn job(&mut self, id: &JobId) -> Result<Option<JobRecord>>;
    /// Its arguments.
    fn args(&mut self, id: &JobId) -> Result<Arc<str>>;
    /// The job that is not final and has this unique key.
    fn live_job_with_key(&mut self, unique_key: &str) -> Result<Option<JobId>>;
    /// The running job that has this lease.
    fn leased_as(&mut self, token: &LeaseToken) -> Result<Option<JobRecord>>;
    /// The next number in the order of arrival, from 0.
    fn next_seq(&mut self) -> Result<u64>;
    /// Adds a job and its index entries.
    fn insert_job(&mut self, job: &JobRecord, args: &Arc<str>) -> Result<()>;
    /// Replaces a job and its index entries.
    fn update_job(&mut self, before: &JobRecord, after: &JobRecord) -> Result<()>;
    /// Removes at most `limit` jobs that ended before a moment, oldest end first, and counts them.
    fn prune(&mut self, ended_before: UnixMillis, limit: usize) -> Result<usize>;

    /// A lane; an empty one for a key that nobody has used.
    fn lane(&mut self, key: &LaneKey) -> Result<Lane>;
    /// Stores a lane and its index entry.
    fn put_lane(&mut self, key: &LaneKey, lane: &Lane) -> Result<()>;
    /// The first of a lane's waiting jobs: best class, then earliest arrival.
    fn lane_head(&mut self, key: &LaneKey) -> Result<Option<JobRecord>>;
    /// The lanes in which jobs wait that draw on this bucket, by key.
    fn lanes_on(&mut self, bucket: &BucketKey) -> Result<Vec<LaneKey>>;
    /// The lanes in which jobs of this account wait, by key.
    fn lanes_of(&mut self, account: &AccountId) -> Result<Vec<LaneKey>>;
    /// At most `limit` lanes that are parked until `now` or earlier, earliest first, then by key.
    fn parked_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<LaneKey>>;
    /// When the first parked lane is ready.
    fn next_parked(&mut self) -> Result<Option<UnixMillis>>;
    /// At most `limit` ready lanes of these accounts, by rank, then by key.
    fn ready(&mut self, limit: usize, accounts: &Accounts) -> Result<Vec<(LaneKey, Rank)>>;

    /// At most `limit` scheduled or retryable jobs due at `now`, earliest first, then by id.
    fn delayed_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<JobRecord>>;
    /// When the first scheduled or retryable job is due.
    fn next_delayed(&mut self) -> Result<Option<UnixMillis>>;
    /// At most `limit` running jobs whose lease ends at `until` or earlier, earliest first, then by
    /// id.
    fn leased_until(&mut self, until: UnixMillis, limit: usize) -> Result<Vec<JobRecord>>;
}

/// A store that runs steps as transactions on its [`Tables`].
#[async_trait]
pub trait Transact: crate::Reader {
    /// Runs one step: all of it or, if it errs, nothing.
    async fn transact<R, F>(&self, step: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut dyn Tables) -> Result<R> + Send + 'static;

    /// Makes this worker the store's only one, where the store takes only one. Answers whether it
    /// is; `false` where any number may work.
    async fn own(&self, worker: &WorkerName) -> Result<bool>;

    /// Told when a step may have made something due earlier.
    fn change_sender(&self) -> &watch::Sender<u64>;
}
