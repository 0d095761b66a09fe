use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use waitless_bucket::UnixMillis;

use crate::{
    AccountId, BucketKey, Class, JobId, Kind, LaneKey, LeaseToken, Needs, RunId, WorkerName,
};

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Not before its `run_at`.
    Scheduled,
    /// In its lane, until a token and a slot are there.
    Waiting,
    /// A worker has it under a lease.
    Running,
    /// An attempt failed; waits for its backoff to end.
    Retryable,
    /// Done.
    Succeeded,
    /// Given up because it is no longer wanted.
    Cancelled,
    /// Given up because it cannot be done; a dead letter.
    Dead,
}

impl JobState {
    /// Every state, in the order of a job's life.
    pub const ALL: [Self; 7] = [
        Self::Scheduled,
        Self::Waiting,
        Self::Running,
        Self::Retryable,
        Self::Succeeded,
        Self::Cancelled,
        Self::Dead,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Retryable => "retryable",
            Self::Succeeded => "succeeded",
            Self::Cancelled => "cancelled",
            Self::Dead => "dead",
        }
    }

    /// Whether the job has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Scheduled | Self::Waiting | Self::Running | Self::Retryable => false,
            Self::Succeeded | Self::Cancelled | Self::Dead => true,
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for JobState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is not a job state: use one of {all}")
        })
    }
}

/// The right to run a job until a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Fences late reports.
    pub token: LeaseToken,
    /// Who has it.
    pub worker: WorkerName,
    /// From then on the job may go to somebody else.
    pub expires_at: UnixMillis,
}

/// How far a job has come, in requests to its upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Requests answered.
    pub requests_done: u64,
    /// Requests in all, as far as known or estimated by now.
    pub requests_total: Option<u64>,
    /// Rows landed.
    pub rows: u64,
}

impl Progress {
    /// Requests still to make: at least one while the job lives and its total is unknown.
    #[must_use]
    pub fn requests_left(&self) -> u64 {
        self.requests_total.map_or(1, |total| total.saturating_sub(self.requests_done).max(1))
    }
}

/// A job as the store keeps it, without its arguments (which never change and may be large).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobRecord {
    /// Names it.
    pub id: JobId,
    /// Names its handler.
    pub kind: Kind,
    /// Whose quota it spends.
    pub account: AccountId,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// How urgent it is.
    pub class: Class,
    /// Order of arrival in this store.
    pub seq: u64,
    /// What its next request takes.
    pub needs: Needs,
    /// Where it is in its life.
    pub state: JobState,
    /// Not before then, while `scheduled` or `retryable`.
    pub run_at: UnixMillis,
    /// Attempts that have ended, whichever way; a snooze is none.
    pub attempts: u32,
    /// Most attempts.
    pub attempts_max: u32,
    /// Times it was put back without a failure: denied permits and snoozes.
    pub snoozes: u64,
    /// Who runs it, while `running`.
    pub lease: Option<Lease>,
    /// Its own cursor, as JSON.
    pub checkpoint: Option<Arc<str>>,
    /// How far it has come.
    pub progress: Progress,
    /// Why the last attempt failed, or why the job was given up.
    pub error: Option<Arc<str>>,
    /// No two live jobs share one.
    pub unique_key: Option<Arc<str>>,
    /// When it was enqueued.
    pub created_at: UnixMillis,
    /// When a worker first had it.
    pub started_at: Option<UnixMillis>,
    /// When it ended.
    pub finished_at: Option<UnixMillis>,
}

impl JobRecord {
    /// The lane it waits in.
    #[must_use]
    pub fn lane(&self) -> LaneKey {
        LaneKey::of(&self.account, &self.needs)
    }
}

/// What keeps a waiting job waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum BlockedBy {
    /// The bucket has too few tokens.
    Bucket {
        /// Which.
        bucket: BucketKey,
    },
    /// The upstream has closed the bucket.
    Hold {
        /// Which.
        bucket: BucketKey,
        /// It opens then.
        until: UnixMillis,
    },
    /// Its tokens are there; it waits for a free slot, or for the jobs ahead of it.
    Slots,
    /// Its account, or a limit that it draws on, is paused.
    Paused {
        /// The bucket of the limit; `None` if it is the whole account.
        #[serde(skip_serializing_if = "Option::is_none")]
        bucket: Option<BucketKey>,
        /// Why.
        reason: String,
    },
}
