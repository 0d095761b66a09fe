use serde::{Serialize, Serializer};
use waitless_bucket::{Policy, Quota, UnixMillis, effective, peek, wait_for_requests_ms, wait_ms};
use waitless_job::{BlockedBy, BucketKey, JobRecord, JobState, Need};
use waitless_store::model::LimitView;

/// The wait for a request that no wait will ever do for.
const NEVER_MS: u64 = u64::MAX;

/// What is known about a job and its surroundings, read from a store.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The job.
    pub job: &'a JobRecord,
    /// Jobs before it in its lane, while it waits.
    pub ahead: u64,
    /// The limits of its account.
    pub limits: &'a [LimitView],
    /// Why its account is paused, if it is.
    pub paused: Option<&'a str>,
}

/// Why a job is where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Its state.
    pub state: JobState,
    /// What keeps it waiting, while it waits.
    pub blocked_by: Option<BlockedBy>,
    /// The earliest moment at which it can start, while it has not: for a job with others ahead,
    /// if each of them makes one request like its own. `None` if it can never start as things are:
    /// its account or one of its limits is paused, a limit is missing, or its cost is above a burst.
    pub ready_at: Option<UnixMillis>,
    /// The reasons with their numbers, the deciding one first.
    pub reasons: Vec<Reason>,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Reason {
    /// Its account, or a limit that it draws on, is paused.
    Paused {
        /// The bucket of the limit; `None` if it is the whole account.
        #[serde(skip_serializing_if = "Option::is_none")]
        bucket: Option<BucketKey>,
        /// Why.
        reason: String,
    },
    /// A bucket it draws on.
    Bucket {
        /// Which.
        bucket: BucketKey,
        /// Its published limit, as text.
        limit: String,
        /// The limit that it keeps to, as text, while refusals have made it slower than published.
        #[serde(skip_serializing_if = "Option::is_none")]
        slower: Option<String>,
        /// What it holds.
        quota: Quota,
        /// Level in hundredths of a token; below zero in debt.
        level_hundredths: i64,
        /// Milliseconds until this job's token is there, those ahead of it served first;
        /// `u64::MAX`, and `null` in JSON, if it can never go because its cost is above the burst.
        #[serde(serialize_with = "null_if_never")]
        wait_ms: u64,
        /// Whether this is what the job waits for.
        limiting: bool,
    },
    /// A limit it draws on is not configured.
    UnknownLimit {
        /// Of which bucket.
        bucket: BucketKey,
    },
    /// Jobs ahead of it in its lane.
    Ahead {
        /// How many.
        jobs: u64,
    },
    /// Its tokens are there: it waits for a slot, or for a worker to run at all.
    Slots,
    /// It may not run before a moment.
    NotBefore {
        /// The moment.
        run_at: UnixMillis,
        /// Why, if an attempt failed.
        error: Option<String>,
    },
    /// A worker has it.
    Running {
        /// Which.
        worker: String,
        /// The lease ends then unless it is renewed.
        lease_expires_at: UnixMillis,
    },
    /// It has ended.
    Ended {
        /// When.
        finished_at: Option<UnixMillis>,
        /// Why, if not by success.
        error: Option<String>,
    },
}

/// Explains a job.
#[must_use]
pub fn explain(situation: &Situation<'_>, now: UnixMillis) -> Explanation {
    let job = situation.job;
    let answer =
        |ready_at, reasons| Explanation { state: job.state, blocked_by: None, ready_at, reasons };
    let error = || job.error.as_deref().map(str::to_owned);
    match job.state {
        JobState::Waiting => waiting(situation, now),
        JobState::Scheduled | JobState::Retryable => {
            answer(Some(job.run_at), vec![Reason::NotBefore { run_at: job.run_at, error: error() }])
        }
        JobState::Running => {
            let running = job.lease.as_ref().map(|lease| Reason::Running {
                worker: lease.worker.to_string(),
                lease_expires_at: lease.expires_at,
            });
            answer(None, running.into_iter().collect())
        }
        JobState::Succeeded | JobState::Cancelled | JobState::Dead => {
            answer(None, vec![Reason::Ended { finished_at: job.finished_at, error: error() }])
        }
    }
}

fn waiting(situation: &Situation<'_>, now: UnixMillis) -> Explanation {
    let Situation { job, ahead, limits, .. } = situation;
    let mut buckets = Vec::new();
    let mut longest: Option<(u64, BlockedBy)> = None;
    for need in job.needs.as_slice() {
        let bucket = BucketKey { account: job.account.clone(), group: need.group.clone() };
        let (this_ms, by, reason) = match limits.iter().find(|view| view.bucket == bucket) {
            Some(view) => drawing_on(view, need, *ahead, now),
            None => (
                NEVER_MS,
                BlockedBy::Bucket { bucket: bucket.clone() },
                Reason::UnknownLimit { bucket },
            ),
        };
        if longest.as_ref().is_none_or(|(longest_ms, _)| this_ms > *longest_ms) {
            longest = Some((this_ms, by));
        }
        buckets.push(reason);
    }

    let longest_ms = longest.as_ref().map_or(0, |(longest_ms, _)| *longest_ms);
    let pauses = pauses(situation);
    let is_paused = !pauses.is_empty();
    let mut reasons = Vec::new();
    let blocked_by = if let Some((bucket, reason)) = pauses.first().cloned() {
        BlockedBy::Paused { bucket, reason }
    } else if let Some((1.., by)) = longest {
        by
    } else {
        reasons.push(Reason::Slots);
        BlockedBy::Slots
    };
    reasons.extend(pauses.into_iter().map(|(bucket, reason)| Reason::Paused { bucket, reason }));
    for reason in &mut buckets {
        if let Reason::Bucket { wait_ms, limiting, .. } = reason {
            *limiting = !is_paused && *wait_ms == longest_ms && longest_ms > 0;
        }
    }
    buckets.sort_by_key(|reason| {
        !matches!(reason, Reason::UnknownLimit { .. } | Reason::Bucket { limiting: true, .. })
    });
    reasons.extend(buckets);
    if *ahead > 0 {
        reasons.push(Reason::Ahead { jobs: *ahead });
    }
    Explanation {
        state: JobState::Waiting,
        ready_at: (!is_paused && longest_ms < NEVER_MS).then(|| now.plus(longest_ms)),
        blocked_by: Some(blocked_by),
        reasons,
    }
}

/// What is paused that the job cannot do without, with the reasons: first its account, which has no
/// bucket, then its limits.
fn pauses(situation: &Situation<'_>) -> Vec<(Option<BucketKey>, String)> {
    let Situation { job, limits, paused, .. } = situation;
    let account = paused.map(|reason| (None, reason.to_owned()));
    let lane = job.lane();
    let drawn_on = lane.buckets().filter_map(|bucket| {
        let view = limits.iter().find(|view| view.bucket == bucket)?;
        let reason = view.paused.as_deref()?.to_owned();
        Some((Some(bucket), reason))
    });
    account.into_iter().chain(drawn_on).collect()
}

/// How long a need waits for its bucket, what blocks it meanwhile, and the bucket with its numbers.
fn drawing_on(
    view: &LimitView,
    need: &Need,
    ahead: u64,
    now: UnixMillis,
) -> (u64, BlockedBy, Reason) {
    let (bucket, state) = (view.bucket.clone(), view.state.as_ref());
    let alone_ms = wait_ms(state, &view.policy, need.cost, now);
    let wait_ms = if ahead == 0 || alone_ms == NEVER_MS {
        // Exact for any cost, where the sum of many requests counts tokens that go one by one.
        alone_ms
    } else {
        let tokens = (ahead + 1).saturating_mul(u64::from(need.cost.tokens()));
        wait_for_requests_ms(state, &view.policy, tokens, now)
    };
    let quota = peek(state, &view.policy, now);
    let by = match quota.held_until {
        Some(until) => BlockedBy::Hold { bucket: bucket.clone(), until },
        None => BlockedBy::Bucket { bucket: bucket.clone() },
    };
    let reason = Reason::Bucket {
        bucket,
        limit: view.policy.to_string(),
        slower: slower_policy(view).map(|policy| policy.to_string()),
        quota,
        level_hundredths: level_hundredths(view, now),
        wait_ms,
        limiting: false,
    };
    (wait_ms, by, reason)
}

fn null_if_never<S: Serializer>(wait_ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*wait_ms).filter(|wait_ms| *wait_ms < NEVER_MS).serialize(serializer)
}

/// The limit that a bucket keeps to, while refusals have made it slower than published.
#[must_use]
pub fn slower_policy(view: &LimitView) -> Option<Policy> {
    let kept = effective(view.state.as_ref(), &view.policy);
    (kept != view.policy).then_some(kept)
}

/// What a bucket holds at `now`, in hundredths of a token; below zero in debt.
#[must_use]
pub fn level_hundredths(view: &LimitView, now: UnixMillis) -> i64 {
    let state = waitless_bucket::current(view.state.as_ref(), &view.policy, now);
    state.t.saturating_mul(100).div_euclid(state.iv.max(1))
}
