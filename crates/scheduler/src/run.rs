use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use waitless_bucket::UnixMillis;
use waitless_job::{BucketKey, JobRecord, JobState};
use waitless_store::model::LimitView;

use crate::{BucketLoad, Eta, SlotLoad, eta};

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunProgress {
    /// Its jobs by state; states with none are left out.
    pub jobs: BTreeMap<JobState, u64>,
    /// Requests answered.
    pub requests_done: u64,
    /// Requests still to be made, as far as known or estimated.
    pub requests_left: u64,
    /// Rows landed.
    pub rows: u64,
    /// The paused limits that keep some of its jobs, by bucket.
    pub paused: Vec<PausedLimit>,
    /// When the rest of it ends, that is, all that no paused limit keeps; `None` when nothing of
    /// that is left to do.
    pub eta: Option<Eta>,
}

/// A paused limit that keeps jobs of a run until it is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PausedLimit {
    /// The bucket of the limit.
    pub bucket: BucketKey,
    /// Why it is paused.
    pub reason: String,
    /// Jobs that it keeps.
    pub jobs: u64,
    /// Requests that these still have to make.
    pub requests_left: u64,
}

impl RunProgress {
    /// Whether every job has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.jobs.keys().all(|state| state.is_final())
    }
}

/// Adds up a run from its jobs and the limits they draw on. `slots` and `request_ms` are what a
/// worker has and what a request takes it.
#[must_use]
pub fn run_progress(
    jobs: &[JobRecord],
    limits: &[LimitView],
    slots: u64,
    request_ms: u64,
    now: UnixMillis,
) -> RunProgress {
    let mut by_state = BTreeMap::new();
    let mut left_by_bucket: BTreeMap<BucketKey, u64> = BTreeMap::new();
    let mut paused: BTreeMap<BucketKey, PausedLimit> = BTreeMap::new();
    let reasons: HashMap<&BucketKey, &str> =
        limits.iter().filter_map(|view| Some((&view.bucket, view.paused.as_deref()?))).collect();
    // What handlers tell of themselves is added without overflow: their estimates can be anything.
    let (mut requests_done, mut requests_left, mut rows) = (0_u64, 0_u64, 0_u64);
    let mut requests_kept = 0_u64;
    for job in jobs {
        *by_state.entry(job.state).or_insert(0) += 1;
        requests_done = requests_done.saturating_add(job.progress.requests_done);
        rows = rows.saturating_add(job.progress.rows);
        if job.state.is_final() {
            continue;
        }
        let left = requests_to_be_granted(job);
        requests_left = requests_left.saturating_add(left);
        let lane = job.lane();
        let mut is_kept = false;
        for bucket in lane.buckets() {
            let Some(reason) = reasons.get(&bucket) else { continue };
            is_kept = true;
            let limit = paused.entry(bucket.clone()).or_insert_with(|| PausedLimit {
                bucket,
                reason: (*reason).to_owned(),
                jobs: 0,
                requests_left: 0,
            });
            limit.jobs += 1;
            limit.requests_left = limit.requests_left.saturating_add(left);
        }
        if is_kept {
            requests_kept = requests_kept.saturating_add(left);
            continue;
        }
        for need in job.needs.as_slice() {
            let bucket = BucketKey { account: job.account.clone(), group: need.group.clone() };
            let tokens = left.saturating_mul(u64::from(need.cost.tokens()));
            let of_bucket = left_by_bucket.entry(bucket).or_insert(0);
            *of_bucket = of_bucket.saturating_add(tokens);
        }
    }
    let loads: Vec<BucketLoad> = limits
        .iter()
        .filter_map(|view| {
            let requests_left = *left_by_bucket.get(&view.bucket)?;
            Some(BucketLoad {
                bucket: view.bucket.clone(),
                policy: view.policy,
                state: view.state,
                requests_left,
            })
        })
        .collect();
    let slots =
        SlotLoad { slots, requests_left: requests_left.saturating_sub(requests_kept), request_ms };
    RunProgress {
        jobs: by_state,
        requests_done,
        requests_left,
        rows,
        paused: paused.into_values().collect(),
        eta: eta(&loads, slots, now),
    }
}

/// Requests of a job whose tokens are not taken yet: a running job has the one of the request it
/// is making.
fn requests_to_be_granted(job: &JobRecord) -> u64 {
    let left = job.progress.requests_left();
    match job.state {
        JobState::Running => left.saturating_sub(1),
        _ => left,
    }
}
