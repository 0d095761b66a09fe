//! What stores are asked, and what they answer.

use std::{collections::HashSet, sync::Arc};

use waitless_bucket::UnixMillis;
use waitless_job::{
    AccountId, BucketKey, JobId, JobRecord, JobState, Kind, LaneKey, LeaseToken, LimitGroup, Needs,
    Progress, RunId, WorkerName,
};

use crate::model::Rank;

/// Answer to one job of an enqueued batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    /// The job's id: the one given, or that of the live job with the same unique key.
    pub id: JobId,
    /// Whether it was there already, and this enqueue changed nothing.
    pub existed: bool,
}

/// Asks for lanes whose first job could start now.
#[derive(Debug, Clone)]
pub struct DueRequest {
    /// Most lanes to answer with.
    pub limit: usize,
    /// Whose lanes are of interest.
    pub accounts: Accounts,
}

/// A choice of accounts; by default all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accounts {
    /// Only these, if given.
    pub only: Option<HashSet<AccountId>>,
    /// And not these.
    pub except: HashSet<AccountId>,
}

impl Accounts {
    /// Whether an account is among them.
    #[must_use]
    pub fn include(&self, account: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(account))
            && !self.except.contains(account)
    }
}

/// Lanes whose first job could start now, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The lanes.
    pub lanes: Vec<DueLane>,
    /// When to ask again if nothing wakes the asker before: the next parked lane or delayed job.
    pub next_at: Option<UnixMillis>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueLane {
    /// Its key.
    pub lane: LaneKey,
    /// Its place in the order.
    pub rank: Rank,
    /// How many of its jobs could start now: enough tokens for, and waiting.
    pub available: u32,
    /// Time in milliseconds by which one start puts off its `full_at`.
    pub token_ms: u64,
}

/// One job to take from a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// From which lane.
    pub lane: LaneKey,
    /// The lease that the job gets. Made by the client, so that a claim whose answer was lost can
    /// be repeated.
    pub lease: LeaseToken,
}

/// Takes jobs from lanes: for each pick token(s), job and lease in one step.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who takes them.
    pub worker: WorkerName,
    /// When the leases end unless they are renewed.
    pub expires_at: UnixMillis,
    /// What is taken, in this order.
    pub picks: Vec<Pick>,
}

/// A job that was taken. Picks whose lane had no token or no job any more are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The job, with its lease.
    pub job: JobRecord,
    /// Its arguments.
    pub args: Arc<str>,
    /// Milliseconds for which its permit may be spent.
    pub grant_ttl_ms: u64,
}

/// Which job speaks, and under which lease. A lease that is not the job's changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRef {
    /// The job.
    pub job: JobId,
    /// The lease it was claimed with.
    pub token: LeaseToken,
}

/// What a job has to save, and permits it did not use. Applied before anything else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Saved {
    /// A new checkpoint.
    pub checkpoint: Option<Arc<str>>,
    /// New progress.
    pub progress: Option<Progress>,
    /// Permits that were taken for this job and not spent.
    pub unspent: Vec<Unspent>,
}

/// A permit that was not spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unspent {
    /// What it had taken.
    pub needs: Needs,
    /// When.
    pub taken_at: UnixMillis,
}

/// What becomes of a running job whose permit is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDenied {
    /// It goes back into the lane of these needs, and its lease ends.
    Park,
    /// Nothing.
    Tell,
}

/// Asks for a permit for a running job.
#[derive(Debug, Clone)]
pub struct Acquire {
    /// Who asks.
    pub lease: LeaseRef,
    /// Tokens asked for.
    pub needs: Needs,
    /// What becomes of the job otherwise.
    pub on_denied: OnDenied,
    /// What it has to save.
    pub saved: Saved,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// The tokens are taken.
    Granted {
        /// Milliseconds for which the permit may be spent.
        grant_ttl_ms: u64,
    },
    /// They are not there, somebody more urgent waits for them, or the account or one of the limits
    /// is paused.
    Denied {
        /// Milliseconds until they can be; 0 if they are there and somebody more urgent is next, a
        /// minute where a pause keeps them, of which nobody knows how long it is.
        wait_ms: u64,
    },
    /// The lease is not the job's any more.
    Stale,
}

/// Takes tokens for a caller outside the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The tokens are taken.
    Allowed {
        /// Whole tokens left in the emptiest of the buckets.
        remaining: u32,
    },
    /// They are not there, or one of the limits is paused.
    Denied {
        /// The shortest wait in milliseconds; of a paused limit a minute, after which asking again
        /// makes sense.
        wait_ms: u64,
        /// The bucket that makes the caller wait longest.
        bucket: BucketKey,
    },
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The job is done.
    Done,
    /// Back until a moment; no attempt.
    Snooze {
        /// Not before then.
        until: UnixMillis,
    },
    /// The attempt failed. The last one makes the job a dead letter.
    Retry {
        /// Not before then.
        at: UnixMillis,
        /// Why.
        error: Arc<str>,
    },
    /// No longer wanted.
    Cancel {
        /// Why.
        reason: Arc<str>,
    },
    /// Cannot be done.
    Dead {
        /// Why.
        reason: Arc<str>,
    },
    /// Nothing can be done on these limits of its account before somebody has acted: they are paused
    /// in the same step that puts the job back into its lane. No attempt, no snooze.
    Pause {
        /// Which limits; those that the account does not have are passed over.
        groups: Vec<LimitGroup>,
        /// Why.
        reason: Arc<str>,
    },
    /// The worker stops and could not finish: back into the lane, no attempt, no snooze.
    HandBack,
}

/// Reports how an attempt ended.
#[derive(Debug, Clone)]
pub struct Settle {
    /// Which attempt.
    pub lease: LeaseRef,
    /// How.
    pub outcome: Outcome,
    /// What it has to save.
    pub saved: Saved,
}

/// The answer to a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It was taken down; the job is in this state now.
    Now(JobState),
    /// The lease is not the job's any more; nothing was changed.
    Stale,
}

/// Extends a lease.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// Which lease.
    pub lease: LeaseRef,
    /// Its new end.
    pub expires_at: UnixMillis,
    /// What the job has to save meanwhile.
    pub saved: Saved,
}

/// Which leases to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reap {
    /// Those past their end.
    Expired,
    /// All: nobody else can be alive, because the asker has just become the store's only worker.
    All,
}

/// Which jobs to list, oldest first. Everything given must match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// In this state.
    pub state: Option<JobState>,
    /// Of this account.
    pub account: Option<AccountId>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this run.
    pub run: Option<RunId>,
    /// Ids that begin so, as text.
    pub id_prefix: Option<String>,
    /// After this job in the order of ids.
    pub after: Option<JobId>,
    /// Most jobs to answer with.
    pub limit: usize,
}
