//! What a store keeps beside jobs and buckets.

use std::{cmp::Reverse, sync::Arc};

use serde::{Deserialize, Serialize};
use waitless_bucket::{BucketState, Policy, UnixMillis};
use waitless_job::{AccountId, BucketKey, Class, LaneKey, RunId};

/// An account as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The identity that the upstream's buckets belong to.
    pub id: AccountId,
    /// What people call it.
    pub name: Arc<str>,
    /// Which upstream it is an account of.
    pub upstream: Arc<str>,
    /// When it was first seen here.
    pub added_at: UnixMillis,
    /// When its token expires, as far as known.
    pub token_expires_at: Option<UnixMillis>,
    /// Family of its token, as far as known.
    #[serde(default)]
    pub token_family: Option<Arc<str>>,
    /// The categories that its token opens, as far as known.
    #[serde(default)]
    pub categories: Option<Vec<Arc<str>>>,
    /// Why its lanes are paused, if they are.
    pub paused: Option<Arc<str>>,
}

/// The jobs of one digitization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Names it.
    pub id: RunId,
    /// What people call it.
    pub name: Arc<str>,
    /// When it was started.
    pub started_at: UnixMillis,
}

/// A queue of jobs that draw on the same buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Jobs that wait in it.
    pub waiting: u64,
    /// Where it stands.
    pub place: Place,
}

/// Where a lane stands. A lane may wake early; it never sleeps too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "place")]
pub enum Place {
    /// Nobody waits in it.
    Empty,
    /// Its account, or a limit that it draws on, is paused.
    Paused,
    /// The tokens of its first job are not there before then.
    Parked {
        /// The earliest moment at which they can be.
        ready_at: UnixMillis,
    },
    /// The tokens of its first job were there when it was last looked at.
    Ready(Rank),
}

/// The order in which ready lanes are served: class first, then slack, then the rarer token, then the
/// smaller bucket.
///
/// Slack is the moment at which one of the lane's buckets becomes full, that is, when waste begins.
/// Buckets that are full waste time alike, and the work of most lanes is not known before their last
/// page; but work that takes tokens which are long in coming ends last, so that a late start there
/// makes the whole run late. Of equally rare tokens the smaller bucket has less of its work at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Class of the lane's first job.
    pub class: Class,
    /// When the first of its buckets is full.
    pub full_at: UnixMillis,
    /// Time for one token of that bucket, in milliseconds; the longest first.
    pub token_ms: Reverse<u64>,
    /// Time in which that bucket fills from empty, in milliseconds.
    pub time_to_full_ms: u64,
}

/// What one bucket allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Its policy.
    pub policy: Policy,
    /// Why nothing may draw on it, if nothing may.
    pub paused: Option<Arc<str>>,
}

/// One limit with its bucket, as readers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitView {
    /// Which bucket.
    pub bucket: BucketKey,
    /// Its policy.
    pub policy: Policy,
    /// Its stored state; `None` is a full bucket.
    pub state: Option<BucketState>,
    /// Why nothing may draw on it, if nothing may.
    pub paused: Option<Arc<str>>,
    /// Jobs in all lanes that draw on it.
    pub waiting: u64,
    /// Jobs under a lease whose last permit drew on it.
    pub running: u64,
}

/// Jobs that have ended and were removed from the store since, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pruned {
    /// Succeeded.
    pub succeeded: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Dead.
    pub dead: u64,
}

/// Everything a store holds, in a canonical order: what `fsck` checks, and what two stores are
/// compared by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// Every job, by id.
    pub jobs: Vec<waitless_job::JobRecord>,
    /// Every lane that the store remembers and that is not empty, by key.
    pub lanes: Vec<(LaneKey, Lane)>,
    /// The wait list of every lane in order: lane, then class, then arrival.
    pub wait_lists: Vec<(LaneKey, Class, u64, waitless_job::JobId)>,
    /// Jobs indexed by the moment before which they may not run.
    pub delayed: Vec<(UnixMillis, waitless_job::JobId)>,
    /// Jobs indexed by the end of their lease.
    pub leased: Vec<(UnixMillis, waitless_job::JobId)>,
    /// Every limit.
    pub limits: Vec<(BucketKey, Limit)>,
    /// Every stored bucket.
    pub buckets: Vec<(BucketKey, BucketState)>,
    /// Every account.
    pub accounts: Vec<Account>,
    /// Jobs ever enqueued.
    pub enqueued: u64,
    /// Ended jobs that were removed.
    pub pruned: Pruned,
}
