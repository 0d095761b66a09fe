use serde::Serialize;
use waitless_bucket::{Quota, UnixMillis, peek, wait_for_requests_ms};
use waitless_job::{BlockedBy, BucketKey, JobRecord, JobState};
use waitless_store::model::LimitView;

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
    /// if each of them makes one request.
    pub ready_at: Option<UnixMillis>,
    /// The reasons with their numbers, the deciding one first.
    pub reasons: Vec<Reason>,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Reason {
    /// Its account is paused.
    Paused {
        /// Why.
        reason: String,
    },
    /// A bucket it draws on.
    Bucket {
        /// Which.
        bucket: BucketKey,
        /// Its limit, as text.
        limit: String,
        /// What it holds.
        quota: Quota,
        /// Level in hundredths of a token; below zero in debt.
        level_hundredths: i64,
        /// Milliseconds until this job's token is there, those ahead of it served first.
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
    let Situation { job, ahead, limits, paused } = situation;
    let mut buckets = Vec::new();
    let mut longest: Option<(u64, BlockedBy)> = None;
    for need in job.needs.as_slice() {
        let bucket = BucketKey { account: job.account.clone(), group: need.group.clone() };
        let Some(view) = limits.iter().find(|view| view.bucket == bucket) else {
            buckets.push(Reason::UnknownLimit { bucket });
            continue;
        };
        let requests = (ahead + 1).saturating_mul(u64::from(need.cost.tokens()));
        let wait_ms = wait_for_requests_ms(view.state.as_ref(), &view.policy, requests, now);
        let quota = peek(view.state.as_ref(), &view.policy, now);
        if longest.as_ref().is_none_or(|(longest_ms, _)| wait_ms > *longest_ms) {
            let by = match quota.held_until {
                Some(until) => BlockedBy::Hold { bucket: bucket.clone(), until },
                None => BlockedBy::Bucket { bucket: bucket.clone() },
            };
            longest = Some((wait_ms, by));
        }
        buckets.push(Reason::Bucket {
            bucket,
            limit: view.policy.to_string(),
            quota,
            level_hundredths: level_hundredths(view, now),
            wait_ms,
            limiting: false,
        });
    }

    let wait_ms = longest.as_ref().map_or(0, |(wait_ms, _)| *wait_ms);
    let mut reasons = Vec::new();
    let blocked_by = if let Some(reason) = paused {
        reasons.push(Reason::Paused { reason: (*reason).to_owned() });
        BlockedBy::Paused { reason: (*reason).to_owned() }
    } else if let Some((1.., by)) = longest {
        by
    } else {
        reasons.push(Reason::Slots);
        BlockedBy::Slots
    };
    for reason in &mut buckets {
        if let Reason::Bucket { wait_ms: this_ms, limiting, .. } = reason {
            *limiting = paused.is_none() && *this_ms == wait_ms && wait_ms > 0;
        }
    }
    buckets.sort_by_key(|reason| !matches!(reason, Reason::Bucket { limiting: true, .. }));
    reasons.extend(buckets);
    if *ahead > 0 {
        reasons.push(Reason::Ahead { jobs: *ahead });
    }
    Explanation {
        state: JobState::Waiting,
        ready_at: paused.is_none().then(|| now.plus(wait_ms)),
        blocked_by: Some(blocked_by),
        reasons,
    }
}

/// What a bucket holds at `now`, in hundredths of a token; below zero in debt.
#[must_use]
pub fn level_hundredths(view: &LimitView, now: UnixMillis) -> i64 {
    let state = waitless_bucket::current(view.state.as_ref(), &view.policy, now);
    state.t.saturating_mul(100).div_euclid(state.iv.max(1))
}
