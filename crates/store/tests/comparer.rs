//! The comparer of stores finds the bugs that are planted in one.

use std::sync::Arc;

use async_trait::async_trait;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use tokio::sync::watch;
use waitless_bucket::{BucketState, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, JobId, JobRecord, JobState, LaneKey, LeaseToken, RunId, WorkerName,
};
use waitless_store::{
    MemoryStore, Reader, StoreError, Tables, Transact,
    conformance::sequence::{compare, operations},
    model::{Account, Audit, Lane, Limit, LimitView, Place, Rank, Run},
    ops::JobFilter,
};

type Result<T> = std::result::Result<T, StoreError>;

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    ForgetsCheckpoints,
    GivesTokensForNothing,
    SleepsAMillisecondTooLong,
    ServesWaitListsBackwards,
    ForgetsWhoIsExcluded,
    EndsLeasesLate,
    PrunesAMomentTooMuch,
    ForgetsKeysOfRetryableJobs,
    ForgetsLeasesThatWereGiven,
    ForgetsPauses,
    ForgetsPaces,
}

/// The reference with a bug in it.
struct Planted(MemoryStore, Bug);

/// Its tables.
struct PlantedTables<'a>(&'a mut dyn Tables, Bug);

macro_rules! as_the_reference_does {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) -> $answer:ty;)*) => {
        $(fn $name(&mut self $(, $argument: $type)*) -> Result<$answer> {
            self.0.$name($($argument),*)
        })*
    };
}

impl Tables for PlantedTables<'_> {
    as_the_reference_does! {
        fn limit(&mut self, bucket: &BucketKey) -> Option<Limit>;
        fn limits_of(&mut self, account: &AccountId) -> Vec<(BucketKey, Limit)>;
        fn bucket(&mut self, bucket: &BucketKey) -> Option<BucketState>;
        fn account(&mut self, id: &AccountId) -> Option<Account>;
        fn put_account(&mut self, account: &Account) -> ();
        fn put_run(&mut self, run: &Run) -> ();
        fn job(&mut self, id: &JobId) -> Option<JobRecord>;
        fn args(&mut self, id: &JobId) -> Arc<str>;
        fn next_seq(&mut self) -> u64;
        fn lane(&mut self, key: &LaneKey) -> Lane;
        fn lane_head(&mut self, key: &LaneKey) -> Option<JobRecord>;
        fn lanes_on(&mut self, bucket: &BucketKey) -> Vec<LaneKey>;
        fn lanes_of(&mut self, account: &AccountId) -> Vec<LaneKey>;
        fn parked_until(&mut self, now: UnixMillis, limit: usize) -> Vec<LaneKey>;
        fn next_parked(&mut self) -> Option<UnixMillis>;
        fn delayed_until(&mut self, now: UnixMillis, limit: usize) -> Vec<JobRecord>;
        fn next_delayed(&mut self) -> Option<UnixMillis>;
    }

    fn put_limit(&mut self, bucket: &BucketKey, limit: &Limit) -> Result<()> {
        let paused = limit.paused.clone().filter(|_| self.1 != Bug::ForgetsPauses);
        self.0.put_limit(bucket, &Limit { paused, ..limit.clone() })
    }

    fn put_bucket(&mut self, bucket: &BucketKey, state: &BucketState) -> Result<()> {
        let before = self.0.bucket(bucket)?;
        if self.1 == Bug::GivesTokensForNothing && before.is_some_and(|before| before.t > state.t) {
            return Ok(());
        }
        let pace = state.pace.filter(|_| self.1 != Bug::ForgetsPaces);
        self.0.put_bucket(bucket, &BucketState { pace, ..*state })
    }

    fn live_job_with_key(&mut self, unique_key: &str) -> Result<Option<JobId>> {
        let Some(id) = self.0.live_job_with_key(unique_key)? else {
            return Ok(None);
        };
        let job = self.0.job(&id)?;
        let is_retryable = job.is_some_and(|job| job.state == JobState::Retryable);
        let is_forgotten = self.1 == Bug::ForgetsKeysOfRetryableJobs && is_retryable;
        Ok((!is_forgotten).then_some(id))
    }

    fn leased_as(&mut self, token: &LeaseToken) -> Result<Option<JobRecord>> {
        if self.1 == Bug::ForgetsLeasesThatWereGiven {
            return Ok(None);
        }
        self.0.leased_as(token)
    }

    fn insert_job(&mut self, job: &JobRecord, args: &Arc<str>) -> Result<()> {
        if self.1 == Bug::ServesWaitListsBackwards {
            let job = JobRecord { seq: u64::MAX - job.seq, ..job.clone() };
            return self.0.insert_job(&job, args);
        }
        self.0.insert_job(job, args)
    }

    fn update_job(&mut self, before: &JobRecord, after: &JobRecord) -> Result<()> {
        if self.1 == Bug::ForgetsCheckpoints && after.state == JobState::Waiting {
            let checkpoint = before.checkpoint.clone();
            return self.0.update_job(before, &JobRecord { checkpoint, ..after.clone() });
        }
        self.0.update_job(before, after)
    }

    fn prune(&mut self, ended_before: UnixMillis, limit: usize) -> Result<usize> {
        let more = u64::from(self.1 == Bug::PrunesAMomentTooMuch);
        self.0.prune(ended_before.plus(more), limit)
    }

    fn put_lane(&mut self, key: &LaneKey, lane: &Lane) -> Result<()> {
        let place = match lane.place {
            Place::Parked { ready_at } if self.1 == Bug::SleepsAMillisecondTooLong => {
                Place::Parked { ready_at: ready_at.plus(1) }
            }
            place => place,
        };
        self.0.put_lane(key, &Lane { place, ..*lane })
    }

    fn ready(
        &mut self,
        limit: usize,
        accounts: &waitless_store::ops::Accounts,
    ) -> Result<Vec<(LaneKey, Rank)>> {
        let all = waitless_store::ops::Accounts::default();
        let accounts = if self.1 == Bug::ForgetsWhoIsExcluded { &all } else { accounts };
        self.0.ready(limit, accounts)
    }

    fn leased_until(&mut self, until: UnixMillis, limit: usize) -> Result<Vec<JobRecord>> {
        let late = i64::from(self.1 == Bug::EndsLeasesLate && until.0 < i64::MAX);
        self.0.leased_until(UnixMillis(until.0 - late * 10_000), limit)
    }
}

#[async_trait]
impl Transact for Planted {
    async fn transact<R, F>(&self, step: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut dyn Tables) -> Result<R> + Send + 'static,
    {
        let bug = self.1;
        self.0.transact(move |tables| step(&mut PlantedTables(tables, bug))).await
    }

    async fn own(&self, worker: &WorkerName) -> Result<bool> {
        self.0.own(worker).await
    }

    fn change_sender(&self) -> &watch::Sender<u64> {
        self.0.change_sender()
    }
}

#[async_trait]
impl Reader for Planted {
    async fn job(&self, id: JobId) -> Result<Option<(JobRecord, Arc<str>)>> {
        Reader::job(&self.0, id).await
    }
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobRecord>> {
        self.0.jobs(filter).await
    }
    async fn job_counts(&self, run: Option<RunId>) -> Result<Vec<(JobState, u64)>> {
        self.0.job_counts(run).await
    }
    async fn position(&self, id: JobId) -> Result<Option<u64>> {
        self.0.position(id).await
    }
    async fn lane(&self, key: LaneKey) -> Result<Lane> {
        self.0.lane(key).await
    }
    async fn limits(&self, account: Option<AccountId>) -> Result<Vec<LimitView>> {
        self.0.limits(account).await
    }
    async fn accounts(&self) -> Result<Vec<Account>> {
        self.0.accounts().await
    }
    async fn runs(&self) -> Result<Vec<Run>> {
        self.0.runs().await
    }
    async fn audit(&self) -> Result<Audit> {
        self.0.audit().await
    }
}

/// Whether one of a thousand random sequences, the same ones each time, tells the two apart.
async fn is_found(bug: Bug) -> bool {
    let mut runner = TestRunner::deterministic();
    let sequences = operations(80);
    for _ in 0..1_000 {
        let sequence = sequences.new_tree(&mut runner).expect("sequences can be drawn");
        let planted = Planted(MemoryStore::new(), bug);
        if compare(&MemoryStore::new(), &planted, &sequence.current()).await.is_err() {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn every_planted_bug_is_found() {
    for bug in [
        Bug::ForgetsCheckpoints,
        Bug::GivesTokensForNothing,
        Bug::SleepsAMillisecondTooLong,
        Bug::ServesWaitListsBackwards,
        Bug::ForgetsWhoIsExcluded,
        Bug::EndsLeasesLate,
        Bug::PrunesAMomentTooMuch,
        Bug::ForgetsKeysOfRetryableJobs,
        Bug::ForgetsLeasesThatWereGiven,
        Bug::ForgetsPauses,
        Bug::ForgetsPaces,
    ] {
        assert!(is_found(bug).await, "{bug:?} was not found");
    }
    assert!(!is_found(Bug::None).await, "a bug was found that is not there");
}
