use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use async_trait::async_trait;
use waitless_job::{AccountId, JobId, JobRecord, JobState, LaneKey, RunId};

use super::{MemoryStore, state::State};
use crate::{
    Reader, StoreError, Tables,
    model::{Account, Audit, Lane, LimitView, Run},
    ops::JobFilter,
};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Reader for MemoryStore {
    async fn job(&self, id: JobId) -> Result<Option<(JobRecord, Arc<str>)>> {
        Ok(self.state().jobs.get(&id).cloned())
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobRecord>> {
        let state = self.state();
        let from = filter.after.map_or(Bound::Unbounded, Bound::Excluded);
        let jobs = state.jobs.range((from, Bound::Unbounded)).map(|(_, (job, _))| job);
        Ok(jobs.filter(|job| matches(&filter, job)).take(filter.limit).cloned().collect())
    }

    async fn job_counts(&self, run: Option<RunId>) -> Result<Vec<(JobState, u64)>> {
        let mut counts = BTreeMap::new();
        for (job, _) in self.state().jobs.values() {
            if run.is_none() || job.run == run {
                *counts.entry(job.state).or_insert(0) += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn position(&self, id: JobId) -> Result<Option<u64>> {
        let state = self.state();
        let Some((job, _)) = state.jobs.get(&id) else {
            return Ok(None);
        };
        if job.state != JobState::Waiting {
            return Ok(None);
        }
        let list = state.lanes.get(&job.lane()).map(|(_, list)| list);
        Ok(list.map(|list| list.range(..(job.class, job.seq)).count() as u64))
    }

    async fn lane(&self, key: LaneKey) -> Result<Lane> {
        Tables::lane(&mut *self.state(), &key)
    }

    async fn limits(&self, account: Option<AccountId>) -> Result<Vec<LimitView>> {
        let state = self.state();
        let wanted = state
            .limits
            .iter()
            .filter(|(bucket, _)| account.as_ref().is_none_or(|id| *id == bucket.account));
        let views = wanted.map(|(bucket, limit)| LimitView {
            bucket: bucket.clone(),
            policy: limit.policy,
            state: state.buckets.get(bucket).copied(),
            paused: limit.paused.clone(),
            waiting: waiting_on(&state, bucket),
            running: running_on(&state, bucket),
        });
        Ok(views.collect())
    }

    async fn accounts(&self) -> Result<Vec<Account>> {
        Ok(self.state().accounts.values().cloned().collect())
    }

    async fn runs(&self) -> Result<Vec<Run>> {
        Ok(self.state().runs.values().cloned().collect())
    }

    async fn audit(&self) -> Result<Audit> {
        let state = self.state();
        let lists = state.lanes.iter().flat_map(|(key, (_, list))| {
            list.iter().map(|((class, seq), id)| (key.clone(), *class, *seq, *id))
        });
        Ok(Audit {
            jobs: state.jobs.values().map(|(job, _)| job.clone()).collect(),
            lanes: state.lanes.iter().map(|(key, (lane, _))| (key.clone(), *lane)).collect(),
            wait_lists: lists.collect(),
            delayed: state.delayed.iter().copied().collect(),
            leased: state.leased.iter().copied().collect(),
            limits: state.limits.iter().map(|(key, limit)| (key.clone(), limit.clone())).collect(),
            buckets: state.buckets.iter().map(|(key, bucket)| (key.clone(), *bucket)).collect(),
            accounts: state.accounts.values().cloned().collect(),
            enqueued: state.enqueued,
            pruned: state.pruned,
        })
    }
}

fn matches(filter: &JobFilter, job: &JobRecord) -> bool {
    filter.state.is_none_or(|state| state == job.state)
        && filter.account.as_ref().is_none_or(|account| *account == job.account)
        && filter.kind.as_ref().is_none_or(|kind| *kind == job.kind)
        && (filter.run.is_none() || filter.run == job.run)
        && filter.id_prefix.as_ref().is_none_or(|prefix| job.id.to_string().starts_with(prefix))
}

fn waiting_on(state: &State, bucket: &waitless_job::BucketKey) -> u64 {
    let lanes = state
        .lanes
        .iter()
        .filter(|(key, _)| *key.account() == bucket.account && key.draws_on(&bucket.group));
    lanes.map(|(_, (lane, _))| lane.waiting).sum()
}

fn running_on(state: &State, bucket: &waitless_job::BucketKey) -> u64 {
    let running = state.leased.iter().filter_map(|(_, id)| state.jobs.get(id));
    let drawing = running
        .filter(|(job, _)| job.account == bucket.account && job.lane().draws_on(&bucket.group));
    drawing.count() as u64
}
