use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use waitless_bucket::{Quota, UnixMillis};

use crate::{
    AccountId, BucketKey, Feedback, JobRecord, Leave, LimitGroup, Needs, Permit, Progress,
};

/// A job as its handler gets it.
#[derive(Debug, Clone)]
pub struct Job<Args> {
    /// The decoded arguments.
    pub args: Args,
    /// The job as it was when this attempt began.
    pub record: Arc<JobRecord>,
}

impl<Args> Job<Args> {
    /// The account whose quota it spends.
    #[must_use]
    pub fn account(&self) -> &AccountId {
        &self.record.account
    }

    /// Which attempt this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.record.attempts + 1
    }

    /// The last saved checkpoint, if there is one.
    ///
    /// # Errors
    /// [`CheckpointError`] if what was saved is not a `T`, for example because the handler's cursor
    /// has changed since.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, CheckpointError> {
        let saved = self.record.checkpoint.as_deref();
        saved.map(serde_json::from_str).transpose().map_err(CheckpointError)
    }
}

/// A checkpoint does not fit its type.
#[derive(Debug, thiserror::Error)]
#[error("the saved checkpoint cannot be read: {0}")]
pub struct CheckpointError(#[source] serde_json::Error);

/// What a running job asks of its worker. [`JobContext`] is the handler's side of it.
#[async_trait]
pub trait JobOps: Send + Sync {
    /// A permit for these needs, or the job is parked.
    async fn permit(&self, needs: Needs) -> Result<Permit, Leave>;
    /// A permit for these needs, or the wait in milliseconds; the job stays in its slot.
    async fn try_permit(&self, needs: Needs) -> Result<Result<Permit, u64>, Leave>;
    /// Looks at a bucket.
    async fn peek(&self, bucket: BucketKey) -> Result<Quota, Leave>;
    /// Reports what an answer said about a bucket.
    async fn report(&self, bucket: BucketKey, feedback: Feedback) -> Result<(), Leave>;
    /// Stages a checkpoint.
    fn stage_checkpoint(&self, json: Arc<str>);
    /// Stages progress.
    fn stage_progress(&self, progress: Progress);
    /// The time now.
    fn now(&self) -> UnixMillis;
    /// Resolves when the worker wants its slots back.
    async fn stopping(&self);
}

/// A handler's way to the queue while its job runs.
#[derive(Clone)]
pub struct JobContext {
    account: AccountId,
    ops: Arc<dyn JobOps>,
}

impl fmt::Debug for JobContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobContext").field("account", &self.account).finish_non_exhaustive()
    }
}

impl JobContext {
    /// A context for a job of this account.
    #[must_use]
    pub fn new(account: AccountId, ops: Arc<dyn JobOps>) -> Self {
        Self { account, ops }
    }

    /// A permit for one request that draws one token of this limit group.
    ///
    /// The first permit of a job comes with its slot and costs no time. If the bucket is empty, the
    /// same step that says so puts the job back into its lane with its checkpoint, and `?` leaves
    /// the slot; the job is called again when its token exists.
    ///
    /// # Errors
    /// [`Leave`]: return it. [`Leave::Parked`] without a token, [`Leave::LeaseLost`] if the job
    /// belongs to somebody else by now, [`Leave::Dead`] for a malformed or unknown limit group.
    pub async fn permit(&self, group: &str) -> Result<Permit, Leave> {
        self.permit_all(Needs::one(limit_group(group)?)).await
    }

    /// A permit for one request that draws on several limit groups, or more than one token: all or
    /// none.
    ///
    /// # Errors
    /// As [`JobContext::permit`].
    pub async fn permit_all(&self, needs: Needs) -> Result<Permit, Leave> {
        self.ops.permit(needs).await
    }

    /// A permit if there is a token now, else the wait in milliseconds; the job keeps its slot
    /// either way. For handlers with something else to do meanwhile; to wait, use
    /// [`JobContext::permit`].
    ///
    /// # Errors
    /// As [`JobContext::permit`], but never parked.
    pub async fn try_permit(&self, group: &str) -> Result<Result<Permit, u64>, Leave> {
        self.ops.try_permit(Needs::one(limit_group(group)?)).await
    }

    /// The bucket of this limit group as it is now. Spends nothing, and is never a licence to send.
    ///
    /// # Errors
    /// [`Leave`] if the store cannot be asked or knows no such limit.
    pub async fn peek(&self, group: &str) -> Result<Quota, Leave> {
        self.ops.peek(self.bucket(group)?).await
    }

    /// Leaves the slot for `wait_ms` milliseconds: `return Err(ctx.snooze(wait_ms))`. Costs no
    /// attempt.
    #[must_use = "return it as the handler's error"]
    pub fn snooze(&self, wait_ms: u64) -> Leave {
        Leave::Snooze { wait_ms }
    }

    /// Remembers how far this job has come. Saved in the same step as the next permit or the
    /// outcome, and at the latest with the next renewal of the lease; a job that is called again
    /// finds it in [`Job::checkpoint`]. Call it when the rows before it have landed.
    ///
    /// # Errors
    /// [`Leave::Dead`] if the cursor does not serialize.
    pub fn checkpoint(&self, cursor: &impl Serialize) -> Result<(), Leave> {
        let json = serde_json::to_string(cursor).map_err(|error| Leave::Dead {
            reason: format!("the checkpoint does not serialize: {error}"),
        })?;
        self.ops.stage_checkpoint(json.into());
        Ok(())
    }

    /// Says how far this job has come, for progress bars and the ETA. Saved as a checkpoint is.
    pub fn progress(&self, progress: Progress) {
        self.ops.stage_progress(progress);
    }

    /// Reports what an answer said about one of the account's buckets.
    ///
    /// # Errors
    /// [`Leave`] if the store cannot be told.
    pub async fn report(&self, group: &LimitGroup, feedback: Feedback) -> Result<(), Leave> {
        let bucket = BucketKey { account: self.account.clone(), group: group.clone() };
        self.ops.report(bucket, feedback).await
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> UnixMillis {
        self.ops.now()
    }

    /// Resolves when the worker is asked to stop. A handler that can hand its job back early may
    /// select on it; others are given the grace time and then handed back.
    pub async fn stopping(&self) {
        self.ops.stopping().await;
    }

    fn bucket(&self, group: &str) -> Result<BucketKey, Leave> {
        Ok(BucketKey { account: self.account.clone(), group: limit_group(group)? })
    }
}

fn limit_group(group: &str) -> Result<LimitGroup, Leave> {
    group.parse().map_err(|error: crate::NameError| Leave::Dead { reason: error.to_string() })
}
