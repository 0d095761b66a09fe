use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use waitless_bucket::{BucketState, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, Class, JobId, JobRecord, JobState, LaneKey, LeaseToken, Needs, RunId,
};

use crate::{
    StoreError, Tables,
    model::{Account, Lane, Limit, Place, Pruned, Rank, Run},
    ops::Accounts,
};

type Result<T> = std::result::Result<T, StoreError>;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) limits: BTreeMap<BucketKey, Limit>,
    pub(super) buckets: BTreeMap<BucketKey, BucketState>,
    pub(super) accounts: BTreeMap<AccountId, Account>,
    pub(super) runs: BTreeMap<RunId, Run>,

    pub(super) jobs: BTreeMap<JobId, (JobRecord, Arc<str>)>,
    live_by_unique_key: HashMap<Arc<str>, JobId>,
    running_by_lease: HashMap<LeaseToken, JobId>,
    pub(super) enqueued: u64,
    pub(super) pruned: Pruned,

    /// Lanes in which somebody waits; the key orders them by account.
    pub(super) lanes: BTreeMap<LaneKey, (Lane, WaitList)>,
    parked: BTreeSet<(UnixMillis, LaneKey)>,
    ready: BTreeSet<(Rank, LaneKey)>,

    pub(super) delayed: BTreeSet<(UnixMillis, JobId)>,
    pub(super) leased: BTreeSet<(UnixMillis, JobId)>,
    ended: BTreeSet<(UnixMillis, JobId)>,
}

pub(super) type WaitList = BTreeMap<(Class, u64), JobId>;

const EMPTY_LANE: Lane = Lane { waiting: 0, place: Place::Empty };

impl State {
    fn record(&self, id: &JobId) -> &JobRecord {
        &self.jobs.get(id).expect("indexes name jobs that exist").0
    }

    fn index(&mut self, job: &JobRecord) {
        if let (Some(key), false) = (&job.unique_key, job.state.is_final()) {
            self.live_by_unique_key.insert(Arc::clone(key), job.id);
        }
        match job.state {
            JobState::Waiting => {
                let (_, list) =
                    self.lanes.entry(job.lane()).or_insert((EMPTY_LANE, WaitList::new()));
                list.insert((job.class, job.seq), job.id);
            }
            JobState::Scheduled | JobState::Retryable => {
                self.delayed.insert((job.run_at, job.id));
            }
            JobState::Running => {
                self.leased.insert((lease_end(job), job.id));
                if let Some(lease) = &job.lease {
                    self.running_by_lease.insert(lease.token, job.id);
                }
            }
            JobState::Succeeded | JobState::Cancelled | JobState::Dead => {
                self.ended.insert((job.finished_at.unwrap_or_default(), job.id));
            }
        }
    }

    fn unindex(&mut self, job: &JobRecord) {
        if let Some(key) = &job.unique_key
            && self.live_by_unique_key.get(key) == Some(&job.id)
        {
            self.live_by_unique_key.remove(key);
        }
        match job.state {
            JobState::Waiting => {
                if let Some((_, list)) = self.lanes.get_mut(&job.lane()) {
                    list.remove(&(job.class, job.seq));
                }
            }
            JobState::Scheduled | JobState::Retryable => {
                self.delayed.remove(&(job.run_at, job.id));
            }
            JobState::Running => {
                self.leased.remove(&(lease_end(job), job.id));
                if let Some(lease) = &job.lease {
                    self.running_by_lease.remove(&lease.token);
                }
            }
            JobState::Succeeded | JobState::Cancelled | JobState::Dead => {
                self.ended.remove(&(job.finished_at.unwrap_or_default(), job.id));
            }
        }
    }

    fn unindex_lane(&mut self, key: &LaneKey, place: Place) {
        match place {
            Place::Empty | Place::Paused => {}
            Place::Parked { ready_at } => {
                self.parked.remove(&(ready_at, key.clone()));
            }
            Place::Ready(rank) => {
                self.ready.remove(&(rank, key.clone()));
            }
        }
    }

    fn account_lanes<'a>(
        &'a self,
        account: &'a AccountId,
    ) -> impl Iterator<Item = &'a LaneKey> + 'a {
        // The lane without groups is the first of its account.
        let first = LaneKey::of(account, &Needs::none());
        self.lanes
            .range(first..)
            .take_while(move |(key, _)| key.account() == account)
            .map(|(key, _)| key)
    }
}

fn lease_end(job: &JobRecord) -> UnixMillis {
    job.lease.as_ref().map_or(UnixMillis::default(), |lease| lease.expires_at)
}

impl Tables for State {
    fn limit(&mut self, bucket: &BucketKey) -> Result<Option<Limit>> {
        Ok(self.limits.get(bucket).cloned())
    }

    fn put_limit(&mut self, bucket: &BucketKey, limit: &Limit) -> Result<()> {
        self.limits.insert(bucket.clone(), limit.clone());
        Ok(())
    }

    fn limits_of(&mut self, account: &AccountId) -> Result<Vec<(BucketKey, Limit)>> {
        let of_account = self.limits.iter().filter(|(bucket, _)| bucket.account == *account);
        Ok(of_account.map(|(bucket, limit)| (bucket.clone(), limit.clone())).collect())
    }

    fn bucket(&mut self, bucket: &BucketKey) -> Result<Option<BucketState>> {
        Ok(self.buckets.get(bucket).copied())
    }

    fn put_bucket(&mut self, bucket: &BucketKey, state: &BucketState) -> Result<()> {
        match self.buckets.get_mut(bucket) {
            Some(stored) => *stored = *state,
            None => drop(self.buckets.insert(bucket.clone(), *state)),
        }
        Ok(())
    }

    fn account(&mut self, id: &AccountId) -> Result<Option<Account>> {
        Ok(self.accounts.get(id).cloned())
    }

    fn put_account(&mut self, account: &Account) -> Result<()> {
        self.accounts.insert(account.id.clone(), account.clone());
        Ok(())
    }

    fn put_run(&mut self, run: &Run) -> Result<()> {
        self.runs.insert(run.id, run.clone());
        Ok(())
    }

    fn job(&mut self, id: &JobId) -> Result<Option<JobRecord>> {
        Ok(self.jobs.get(id).map(|(job, _)| job.clone()))
    }

    fn args(&mut self, id: &JobId) -> Result<Arc<str>> {
        let (_, args) = self.jobs.get(id).expect("asked for a job of this step");
        Ok(Arc::clone(args))
    }

    fn live_job_with_key(&mut self, unique_key: &str) -> Result<Option<JobId>> {
        Ok(self.live_by_unique_key.get(unique_key).copied())
    }

    fn leased_as(&mut self, token: &LeaseToken) -> Result<Option<JobRecord>> {
        Ok(self.running_by_lease.get(token).map(|id| self.record(id).clone()))
    }

    fn next_seq(&mut self) -> Result<u64> {
        let seq = self.enqueued;
        self.enqueued += 1;
        Ok(seq)
    }

    fn insert_job(&mut self, job: &JobRecord, args: &Arc<str>) -> Result<()> {
        self.index(job);
        self.jobs.insert(job.id, (job.clone(), Arc::clone(args)));
        Ok(())
    }

    fn update_job(&mut self, before: &JobRecord, after: &JobRecord) -> Result<()> {
        self.unindex(before);
        self.index(after);
        let (job, _) = self.jobs.get_mut(&after.id).expect("an update follows an insert");
        *job = after.clone();
        Ok(())
    }

    fn prune(&mut self, ended_before: UnixMillis, limit: usize) -> Result<usize> {
        let mut count = 0;
        while count < limit
            && let Some((ended_at, id)) = self.ended.first().copied()
            && ended_at < ended_before
        {
            self.ended.pop_first();
            let (job, _) = self.jobs.remove(&id).expect("indexes name jobs that exist");
            match job.state {
                JobState::Cancelled => self.pruned.cancelled += 1,
                JobState::Dead => self.pruned.dead += 1,
                _ => self.pruned.succeeded += 1,
            }
            count += 1;
        }
        Ok(count)
    }

    fn lane(&mut self, key: &LaneKey) -> Result<Lane> {
        Ok(self.lanes.get(key).map_or(EMPTY_LANE, |(lane, _)| *lane))
    }

    fn put_lane(&mut self, key: &LaneKey, lane: &Lane) -> Result<()> {
        let before = self.lane(key)?;
        self.unindex_lane(key, before.place);
        match lane.place {
            Place::Empty => {
                self.lanes.remove(key);
                return Ok(());
            }
            Place::Paused => {}
            Place::Parked { ready_at } => drop(self.parked.insert((ready_at, key.clone()))),
            Place::Ready(rank) => drop(self.ready.insert((rank, key.clone()))),
        }
        let (stored, _) = self.lanes.get_mut(key).expect("a lane that is not empty has a list");
        *stored = *lane;
        Ok(())
    }

    fn lane_head(&mut self, key: &LaneKey) -> Result<Option<JobRecord>> {
        let first = self.lanes.get(key).and_then(|(_, list)| list.values().next());
        Ok(first.map(|id| self.record(id).clone()))
    }

    fn lanes_on(&mut self, bucket: &BucketKey) -> Result<Vec<LaneKey>> {
        let of_account = self.account_lanes(&bucket.account);
        Ok(of_account.filter(|key| key.draws_on(&bucket.group)).cloned().collect())
    }

    fn lanes_of(&mut self, account: &AccountId) -> Result<Vec<LaneKey>> {
        Ok(self.account_lanes(account).cloned().collect())
    }

    fn parked_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<LaneKey>> {
        let due = self.parked.iter().take_while(|(ready_at, _)| *ready_at <= now);
        Ok(due.take(limit).map(|(_, key)| key.clone()).collect())
    }

    fn next_parked(&mut self) -> Result<Option<UnixMillis>> {
        Ok(self.parked.first().map(|(ready_at, _)| *ready_at))
    }

    fn ready(&mut self, limit: usize, accounts: &Accounts) -> Result<Vec<(LaneKey, Rank)>> {
        let wanted = self.ready.iter().filter(|(_, key)| accounts.include(key.account().as_str()));
        Ok(wanted.take(limit).map(|(rank, key)| (key.clone(), *rank)).collect())
    }

    fn delayed_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<JobRecord>> {
        let due = self.delayed.iter().take_while(|(run_at, _)| *run_at <= now);
        Ok(due.take(limit).map(|(_, id)| self.record(id).clone()).collect())
    }

    fn next_delayed(&mut self) -> Result<Option<UnixMillis>> {
        Ok(self.delayed.first().map(|(run_at, _)| *run_at))
    }

    fn leased_until(&mut self, until: UnixMillis, limit: usize) -> Result<Vec<JobRecord>> {
        let ended = self.leased.iter().take_while(|(expires_at, _)| *expires_at <= until);
        Ok(ended.take(limit).map(|(_, id)| self.record(id).clone()).collect())
    }
}
