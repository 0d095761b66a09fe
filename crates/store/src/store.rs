use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use waitless_bucket::{Policy, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, Feedback, JobId, JobRecord, JobState, LaneKey, LimitGroup, NewJob,
    WorkerName,
};

use crate::{
    StoreError,
    model::{Account, Audit, Lane, LimitView, Run},
    ops::{
        Acquire, Acquired, Claim, Claimed, Due, DueRequest, Enqueued, JobFilter, Reap, Renewal,
        Settle, Settled, Taken,
    },
};

/// What the queue asks of a store. Each method is one atomic step; `now` is the caller's time.
///
/// Every method may be repeated after [`StoreError::Unavailable`]. Ids and leases are made by the
/// client, so the second time finds what the first one did; where it cannot, it errs on the safe
/// side: a permit asked for twice may take its tokens twice, and an outcome reported twice is
/// answered with [`Settled::Stale`].
#[async_trait]
pub trait Store: Reader {
    /// Announces a worker. A store that takes one worker at a time refuses a second with
    /// [`StoreError::Owned`], for as long as the first keeps the store open, and ends the leases
    /// that a dead predecessor has left. Answers how many jobs that were.
    async fn start_worker(&self, worker: WorkerName, now: UnixMillis) -> Result<usize, StoreError>;

    /// Sets limits. Buckets and lanes that they change are carried over, without the pace that was
    /// learnt under the old numbers; a pause and a hold stay as they are.
    async fn set_limits(
        &self,
        limits: Vec<(BucketKey, Policy)>,
        now: UnixMillis,
    ) -> Result<(), StoreError>;

    /// Adds an account, or changes its name, its upstream and what is known of its token. Its pause
    /// stays as it is; a new account is not paused.
    async fn put_account(&self, account: Account) -> Result<(), StoreError>;

    /// Pauses an account's lanes with a reason, or resumes them with `None`. Answers whether the
    /// account is known.
    async fn pause_account(
        &self,
        account: AccountId,
        reason: Option<String>,
        now: UnixMillis,
    ) -> Result<bool, StoreError>;

    /// Pauses limits of an account with a reason, or resumes them with `None`: those of these groups,
    /// or all of them. Groups that have no limit there are passed over, and a limit that is paused
    /// already keeps its reason. Answers how many limits it changed.
    async fn pause_limits(
        &self,
        account: AccountId,
        groups: Option<Vec<LimitGroup>>,
        reason: Option<Arc<str>>,
        now: UnixMillis,
    ) -> Result<usize, StoreError>;

    /// Adds a run.
    async fn put_run(&self, run: Run) -> Result<(), StoreError>;

    /// Enqueues jobs, all or none. Answers in the order of the batch.
    async fn enqueue(
        &self,
        jobs: Vec<NewJob>,
        now: UnixMillis,
    ) -> Result<Vec<Enqueued>, StoreError>;

    /// Lanes whose first job could start now. Moves delayed jobs that are due into their lanes.
    async fn due(&self, request: DueRequest, now: UnixMillis) -> Result<Due, StoreError>;

    /// Takes jobs from lanes.
    async fn claim(&self, claim: Claim, now: UnixMillis) -> Result<Vec<Claimed>, StoreError>;

    /// A permit for a running job.
    async fn acquire(&self, acquire: Acquire, now: UnixMillis) -> Result<Acquired, StoreError>;

    /// Extends leases. Answers, in order, whether each is still the job's.
    async fn renew(&self, renewals: Vec<Renewal>, now: UnixMillis)
    -> Result<Vec<bool>, StoreError>;

    /// Takes down how attempts ended. Answers in order.
    async fn settle(
        &self,
        settles: Vec<Settle>,
        now: UnixMillis,
    ) -> Result<Vec<Settled>, StoreError>;

    /// Ends leases; their jobs wait again, one attempt older, or are dead letters if it was the
    /// last. Answers with at most `limit` of them as they are now.
    async fn reap(
        &self,
        which: Reap,
        limit: usize,
        now: UnixMillis,
    ) -> Result<Vec<JobRecord>, StoreError>;

    /// Puts a dead or cancelled job back into its lane, with its checkpoint and all its attempts.
    /// Answers whether it was put back.
    async fn requeue(&self, job: JobId, now: UnixMillis) -> Result<bool, StoreError>;

    /// Removes at most `limit` jobs that ended before a moment. Answers how many.
    async fn prune(&self, ended_before: UnixMillis, limit: usize) -> Result<usize, StoreError>;

    /// Takes down what an upstream's answer said about a bucket.
    async fn feedback(
        &self,
        bucket: BucketKey,
        feedback: Feedback,
        now: UnixMillis,
    ) -> Result<(), StoreError>;

    /// Takes tokens for a caller outside the queue, all or none.
    async fn take(
        &self,
        draws: Vec<(BucketKey, waitless_bucket::Cost)>,
        now: UnixMillis,
    ) -> Result<Taken, StoreError>;

    /// Changes when there may be something due earlier than was last told. At most once per step;
    /// other processes on the same store are not heard here, so a listener looks again after a
    /// second anyway.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// What people and pages ask of a store. Reading disturbs no worker.
#[async_trait]
pub trait Reader: Send + Sync + 'static {
    /// One job with its arguments.
    async fn job(&self, id: JobId) -> Result<Option<(JobRecord, Arc<str>)>, StoreError>;

    /// Jobs, oldest first.
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobRecord>, StoreError>;

    /// How many jobs are in each state, of one run or of all; states with none are left out.
    async fn job_counts(
        &self,
        run: Option<waitless_job::RunId>,
    ) -> Result<Vec<(JobState, u64)>, StoreError>;

    /// How many jobs wait before this one in its lane; `None` if it does not wait.
    async fn position(&self, id: JobId) -> Result<Option<u64>, StoreError>;

    /// A lane; an empty one for a key that nobody has used.
    async fn lane(&self, key: LaneKey) -> Result<Lane, StoreError>;

    /// Limits in order of their buckets, of one account or of all.
    async fn limits(&self, account: Option<AccountId>) -> Result<Vec<LimitView>, StoreError>;

    /// Every account, by id.
    async fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Every run, oldest first.
    async fn runs(&self) -> Result<Vec<Run>, StoreError>;

    /// Everything, for `fsck` and for comparing stores. Reads the whole store.
    async fn audit(&self) -> Result<Audit, StoreError>;
}
