//! What must always hold of a store, checked over everything it holds.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;
use waitless_bucket::{BucketState, CLEAN_ANSWERS, SLOWER_MAX, UnixMillis, full_at};
use waitless_job::{AccountId, BucketKey, JobId, JobRecord, JobState, LaneKey};

use crate::model::{Audit, Limit, Place};

/// Something that cannot be in a sound store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static str,
    /// Where, and how.
    pub what: String,
}

/// Checks a store. An empty answer is a sound store.
///
/// The rules: a job is in exactly one place; a lane with waiting jobs is in the index exactly once
/// and counts them right; a lane stands paused exactly while its account or one of its limits is; a
/// lane may wake early but never sleeps too long; jobs enqueued are jobs
/// kept and jobs pruned; a bucket is never above full, its pace within
/// bounds; no two live jobs share a unique key.
#[must_use]
pub fn fsck(audit: &Audit) -> Vec<Finding> {
    let mut found = Vec::new();
    places(audit, &mut found);
    lanes(audit, &mut found);
    sums(audit, &mut found);
    buckets(audit, &mut found);
    unique_keys(audit, &mut found);
    found
}

fn places(audit: &Audit, found: &mut Vec<Finding>) {
    const RULE: &str = "a job is in exactly one place";
    let mut places: HashMap<JobId, Vec<JobState>> = HashMap::new();
    for (_, _, _, id) in &audit.wait_lists {
        places.entry(*id).or_default().push(JobState::Waiting);
    }
    for (_, id) in &audit.delayed {
        places.entry(*id).or_default().push(JobState::Scheduled);
    }
    for (_, id) in &audit.leased {
        places.entry(*id).or_default().push(JobState::Running);
    }
    for job in &audit.jobs {
        let indexed = places.remove(&job.id).unwrap_or_default();
        let expected = match job.state {
            JobState::Waiting | JobState::Running => vec![job.state],
            JobState::Scheduled | JobState::Retryable => vec![JobState::Scheduled],
            JobState::Succeeded | JobState::Cancelled | JobState::Dead => vec![],
        };
        if indexed != expected {
            let what = format!("job {} is {} but indexed as {indexed:?}", job.id, job.state);
            found.push(Finding { rule: RULE, what });
        }
        if job.lease.is_some() != (job.state == JobState::Running) {
            let what = format!("job {} is {} with lease {:?}", job.id, job.state, job.lease);
            found.push(Finding { rule: RULE, what });
        }
    }
    for (id, indexed) in places {
        let what = format!("job {id} does not exist but is indexed as {indexed:?}");
        found.push(Finding { rule: RULE, what });
    }
}

fn lanes(audit: &Audit, found: &mut Vec<Finding>) {
    let jobs: HashMap<JobId, &JobRecord> = audit.jobs.iter().map(|job| (job.id, job)).collect();
    let limits: BTreeMap<&BucketKey, &Limit> =
        audit.limits.iter().map(|(key, limit)| (key, limit)).collect();
    let states: HashMap<&BucketKey, &BucketState> =
        audit.buckets.iter().map(|(key, state)| (key, state)).collect();
    let paused: HashSet<&AccountId> = audit
        .accounts
        .iter()
        .filter(|account| account.paused.is_some())
        .map(|account| &account.id)
        .collect();
    let mut waiting: BTreeMap<&LaneKey, Vec<&JobRecord>> = BTreeMap::new();
    for (key, class, seq, id) in &audit.wait_lists {
        let Some(job) = jobs.get(id) else { continue };
        if (job.class, job.seq) != (*class, *seq) || job.lane() != *key {
            let what = format!("job {id} waits in lane {key} at ({class}, {seq})");
            found.push(Finding { rule: "a wait list is ordered by class and arrival", what });
        }
        waiting.entry(key).or_default().push(job);
    }
    let mut seen = BTreeSet::new();
    for (key, lane) in &audit.lanes {
        let listed = waiting.get(key).map_or(0, Vec::len) as u64;
        if !seen.insert(key) || lane.waiting != listed || lane.place == Place::Empty {
            let what = format!("lane {key} is {lane:?} with {listed} jobs in its wait list");
            found.push(Finding { rule: "a lane with jobs is indexed once", what });
        }
        let Some(head) = waiting.get(key).and_then(|jobs| jobs.first()) else {
            continue;
        };
        let is_limit_paused =
            key.buckets().any(|bucket| limits.get(&bucket).is_some_and(|it| it.paused.is_some()));
        let is_paused = is_limit_paused || paused.contains(&head.account);
        if is_paused != (lane.place == Place::Paused) {
            let what = format!(
                "lane {key} is {:?}, its account or one of its limits paused: {is_paused}",
                lane.place
            );
            found.push(Finding { rule: "lanes of a paused account or limit are paused", what });
        }
        if let Place::Parked { ready_at } = lane.place
            && let Some(latest) = latest_ready(&states, &limits, head)
            && ready_at > latest
        {
            let what =
                format!("lane {key} sleeps until {ready_at}, its tokens are there at {latest}");
            found.push(Finding { rule: "a lane never sleeps too long", what });
        }
    }
    for key in waiting.keys().filter(|key| !seen.contains(*key)) {
        let what = format!("lane {key} has waiting jobs and is not indexed");
        found.push(Finding { rule: "a lane with jobs is indexed once", what });
    }
}

/// The moment at which all buckets of a job are surely ready: each grants at the latest when it is
/// full and its hold has ended. `None` where a limit is missing.
fn latest_ready(
    states: &HashMap<&BucketKey, &BucketState>,
    limits: &BTreeMap<&BucketKey, &Limit>,
    job: &JobRecord,
) -> Option<UnixMillis> {
    let mut latest = UnixMillis(i64::MIN);
    for bucket in job.lane().buckets() {
        let policy = &limits.get(&bucket)?.policy;
        let cost = job.needs.as_slice().iter().find(|need| need.group == bucket.group)?.cost;
        if cost.tokens() > policy.burst() {
            return None;
        }
        let Some(state) = states.get(&bucket) else {
            continue;
        };
        let open = state.hold.unwrap_or(state.ts);
        latest = latest.max(full_at(Some(state), policy, state.ts)).max(open);
    }
    Some(latest)
}

fn sums(audit: &Audit, found: &mut Vec<Finding>) {
    let pruned = audit.pruned.succeeded + audit.pruned.cancelled + audit.pruned.dead;
    let kept = audit.jobs.len() as u64;
    if audit.enqueued != kept + pruned {
        let what = format!("{} enqueued, {kept} kept, {pruned} pruned", audit.enqueued);
        found.push(Finding { rule: "enqueued = kept + pruned", what });
    }
}

fn buckets(audit: &Audit, found: &mut Vec<Finding>) {
    let limits: BTreeMap<&BucketKey, &Limit> =
        audit.limits.iter().map(|(key, limit)| (key, limit)).collect();
    for (key, state) in &audit.buckets {
        let Some(Limit { policy, .. }) = limits.get(key) else {
            let what = format!("bucket {key} has no limit");
            found.push(Finding { rule: "every bucket has a limit", what });
            continue;
        };
        if state.t > state.iv.saturating_mul(i64::from(policy.burst())) || state.iv <= 0 {
            let what = format!("bucket {key} holds {state:?} under {policy}");
            found.push(Finding { rule: "a bucket is never above full", what });
        }
        if let Some(pace) = state.pace
            && (pace.slower.max(pace.proven) > SLOWER_MAX
                || (pace.slower > 0 && pace.proven > 0)
                || pace.streak >= CLEAN_ANSWERS)
        {
            let what = format!("bucket {key} goes at {pace:?}");
            found.push(Finding { rule: "a pace stays within its bounds", what });
        }
    }
}

fn unique_keys(audit: &Audit, found: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for job in audit.jobs.iter().filter(|job| !job.state.is_final()) {
        if let Some(key) = &job.unique_key
            && !seen.insert(key)
        {
            let what = format!("job {} is the second live one with key {key:?}", job.id);
            found.push(Finding { rule: "a unique key has one live job", what });
        }
    }
}
