//! What the promises are tried with: a store, a few names, and short ways to ask.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use waitless_bucket::{Cost, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, JobId, JobRecord, JobState, LaneKey, LeaseToken, Need, Needs, NewJob,
    Progress, WorkerName,
};

use crate::{
    Store,
    fsck::fsck,
    model::{Account, Place},
    ops::{
        Accounts, Acquire, Acquired, Claim, Claimed, Due, DueRequest, LeaseRef, OnDenied, Outcome,
        Pick, Saved, Settle, Settled, Unspent,
    },
};

/// The moment at which every promise begins.
pub const NOW: UnixMillis = UnixMillis(1_700_000_000_000);

/// Milliseconds for which leases are given.
pub(super) const LEASE_MS: u64 = 60_000;

/// `ms` after the beginning.
pub(super) fn at(ms: u64) -> UnixMillis {
    NOW.plus(ms)
}

/// Reads a name, a key or a policy that the suite itself has written.
pub(super) fn read<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("the suite writes names and policies right")
}

/// The needs written `orders` or `orders:2+sales`.
pub(super) fn needs(text: &str) -> Needs {
    Needs::new(text.split('+').filter(|need| !need.is_empty()).map(|need| {
        let (group, cost) = need.split_once(':').unwrap_or((need, "1"));
        Need { group: read(group), cost: cost_of(read(cost)) }
    }))
}

pub(super) fn cost_of(tokens: u32) -> Cost {
    Cost::new(tokens).expect("the suite asks for at least one token")
}

/// The `number`th id of this suite; ids sort by their number.
pub(super) fn id(number: u64) -> JobId {
    read(&format!("00000000-0000-7000-8000-{number:012x}"))
}

/// Saves a checkpoint.
pub(super) fn checkpoint(json: &str) -> Saved {
    Saved { checkpoint: Some(json.into()), ..Saved::default() }
}

/// A permit that was taken at a moment and not spent.
pub(super) fn unspent(groups: &str, taken_at: UnixMillis) -> Unspent {
    Unspent { needs: needs(groups), taken_at }
}

/// Saves everything there is to save.
pub(super) fn everything(json: &str, unspent: Vec<Unspent>) -> Saved {
    let progress = Progress { requests_done: 3, requests_total: Some(9), rows: 77 };
    Saved { checkpoint: Some(json.into()), progress: Some(progress), unspent }
}

/// A store in use.
pub(super) struct Scene<'a> {
    pub(super) store: &'a dyn Store,
    jobs: AtomicU64,
    leases: AtomicU64,
    worker: WorkerName,
}

impl<'a> Scene<'a> {
    /// A fresh store with these limits: `("acct/orders", "1/min burst 1 margin 0")`.
    pub(super) async fn with(store: &'a dyn Store, limits: &[(&str, &str)]) -> Self {
        let scene = Self {
            store,
            jobs: AtomicU64::new(1),
            leases: AtomicU64::new(1),
            worker: read("worker-1"),
        };
        scene.limit(limits, NOW).await;
        scene
    }

    pub(super) async fn limit(&self, limits: &[(&str, &str)], now: UnixMillis) {
        let limits = limits.iter().map(|(bucket, policy)| (read(bucket), read(policy))).collect();
        self.store.set_limits(limits, now).await.expect("limits can be set");
    }

    pub(super) async fn account(&self, id: &str) {
        self.store.put_account(account(id)).await.expect("an account can be added");
    }

    pub(super) async fn pause(&self, id: &str, reason: Option<&str>, now: UnixMillis) -> bool {
        let paused = self.store.pause_account(read(id), reason.map(Into::into), now).await;
        paused.expect("an account can be paused")
    }

    /// A job of a lane that is due at once.
    pub(super) fn job(&self, lane: &str) -> NewJob {
        let (account, groups) = lane.split_once('/').expect("a lane is written account/groups");
        let job = NewJob::new("kind", account, &(), NOW).expect("the suite writes jobs right");
        let number = self.jobs.fetch_add(1, Ordering::Relaxed);
        NewJob { id: id(number), ..job.needs(needs(groups)) }
    }

    pub(super) async fn enqueue(&self, job: NewJob, now: UnixMillis) -> JobId {
        let id = job.id;
        let enqueued = self.store.enqueue(vec![job], now).await.expect("a job can be enqueued");
        assert_eq!(enqueued.len(), 1, "one answer for one job");
        assert_eq!((enqueued[0].id, enqueued[0].existed), (id, false), "the job is new");
        id
    }

    /// Enqueues `count` jobs of a lane.
    pub(super) async fn fill(&self, lane: &str, count: usize, now: UnixMillis) -> Vec<JobId> {
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            ids.push(self.enqueue(self.job(lane), now).await);
        }
        ids
    }

    pub(super) fn lease(&self) -> LeaseToken {
        let number = self.leases.fetch_add(1, Ordering::Relaxed);
        LeaseToken(id(0xffff_0000_0000 + number).0)
    }

    pub(super) fn claim_of(&self, picks: Vec<Pick>, now: UnixMillis) -> Claim {
        Claim { worker: self.worker.clone(), expires_at: now.plus(LEASE_MS), picks }
    }

    pub(super) fn pick(&self, lane: &str) -> Pick {
        Pick { lane: read(lane), lease: self.lease() }
    }

    /// Claims once from each of these lanes.
    pub(super) async fn claim_all(&self, lanes: &[&str], now: UnixMillis) -> Vec<Claimed> {
        let picks = lanes.iter().map(|lane| self.pick(lane)).collect();
        self.store.claim(self.claim_of(picks, now), now).await.expect("a claim is answered")
    }

    pub(super) async fn claim(&self, lane: &str, now: UnixMillis) -> Option<Claimed> {
        self.claim_all(&[lane], now).await.pop()
    }

    /// Claims a job that is there, with its token.
    pub(super) async fn start(&self, lane: &str, now: UnixMillis) -> (JobRecord, LeaseRef) {
        let claimed = self.claim(lane, now).await.expect("a job and its tokens are there");
        let token = claimed.job.lease.as_ref().expect("a claimed job has a lease").token;
        let lease = LeaseRef { job: claimed.job.id, token };
        (claimed.job, lease)
    }

    pub(super) async fn acquire(
        &self,
        lease: LeaseRef,
        needs: &str,
        on_denied: OnDenied,
        saved: Saved,
        now: UnixMillis,
    ) -> Acquired {
        let acquire = Acquire { lease, needs: self::needs(needs), on_denied, saved };
        self.store.acquire(acquire, now).await.expect("a permit is answered")
    }

    pub(super) async fn settle(
        &self,
        lease: LeaseRef,
        outcome: Outcome,
        saved: Saved,
        now: UnixMillis,
    ) -> Settled {
        let settle = Settle { lease, outcome, saved };
        let settled = self.store.settle(vec![settle], now).await.expect("a report is answered");
        assert_eq!(settled.len(), 1, "one answer for one report");
        settled[0]
    }

    /// Enqueues, claims and settles one job of a lane.
    pub(super) async fn run(&self, lane: &str, outcome: Outcome, now: UnixMillis) -> JobId {
        let id = self.enqueue(self.job(lane), now).await;
        let (job, lease) = self.start(lane, now).await;
        assert_eq!(job.id, id, "the lane had no other job");
        self.settle(lease, outcome, Saved::default(), now).await;
        id
    }

    pub(super) async fn due(&self, now: UnixMillis) -> Due {
        let request = DueRequest { limit: 100, accounts: Accounts::default() };
        self.store.due(request, now).await.expect("due is answered")
    }

    /// The lanes that are due, as text.
    pub(super) async fn due_lanes(&self, now: UnixMillis) -> Vec<String> {
        self.due(now).await.lanes.iter().map(|due| due.lane.to_string()).collect()
    }

    pub(super) async fn record(&self, id: JobId) -> JobRecord {
        self.store.job(id).await.expect("a job can be read").expect("the job is there").0
    }

    pub(super) async fn state(&self, id: JobId) -> JobState {
        self.record(id).await.state
    }

    pub(super) async fn place(&self, lane: &str) -> Place {
        self.store.lane(read::<LaneKey>(lane)).await.expect("a lane can be read").place
    }

    /// Takes tokens of a bucket until it denies.
    pub(super) async fn drain(&self, bucket: &str, now: UnixMillis) {
        let bucket: BucketKey = read(bucket);
        loop {
            let draws = vec![(bucket.clone(), Cost::ONE)];
            match self.store.take(draws, now).await.expect("a take is answered") {
                crate::ops::Taken::Allowed { .. } => {}
                crate::ops::Taken::Denied { .. } => return,
            }
        }
    }

    /// Every promise ends so: what the store holds is sound.
    pub(super) async fn is_sound(&self) {
        let audit = self.store.audit().await.expect("a store can be read");
        assert_eq!(fsck(&audit), [], "the store is not sound");
    }
}

/// An account that is not paused.
pub(super) fn account(id: &str) -> Account {
    Account {
        id: read::<AccountId>(id),
        name: Arc::from("A seller"),
        upstream: Arc::from("wb"),
        added_at: NOW,
        token_expires_at: Some(at(86_400_000)),
        token_family: Some("service".into()),
        categories: Some(vec!["Content".into(), "a \"+\", Ю".into()]),
        paused: None,
    }
}
