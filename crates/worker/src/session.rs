use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use tokio::sync::Notify;
use waitless_job::{
    BucketKey, Clock, Feedback, JobOps, JobRecord, Leave, Needs, Permit, Progress, Quota,
    UnixMillis,
};
use waitless_store::{
    Store, StoreError,
    limiter::Limiter,
    ops::{Acquire, Acquired, LeaseRef, OnDenied, Outcome, Saved, Settle, Settled, Unspent},
};

use crate::{
    retry,
    shutdown::{Phase, Shutdown},
    stats::Stats,
};

/// One attempt of one job: what it holds, and what it has to save.
pub(crate) struct Session {
    pub(crate) record: Arc<JobRecord>,
    pub(crate) lease: LeaseRef,
    store: Arc<dyn Store>,
    clock: Clock,
    shutdown: Shutdown,
    stats: Arc<Stats>,
    lease_ms: u64,
    // A std mutex: never held across an await.
    held: Mutex<Held>,
    lost: Notify,
}

#[derive(Default)]
struct Held {
    /// The permit that came with the slot, until the handler asks for it.
    first: Option<Taken>,
    /// Permits the handler was given.
    given: Vec<Taken>,
    checkpoint: Option<Arc<str>>,
    progress: Option<Progress>,
    /// When a permit was denied while the job kept its slot.
    denied_at: Option<UnixMillis>,
    /// The lease has ended in a step that this session made, or was lost.
    ended: Option<LeaseEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseEnd {
    /// A denied permit has put the job into its lane, or the worker is stopping and has.
    Parked,
    /// Somebody else has the job.
    Lost,
}

struct Taken {
    needs: Needs,
    granted_at: UnixMillis,
    ttl_ms: u64,
    spent: Arc<AtomicBool>,
}

impl Taken {
    fn new(needs: Needs, granted_at: UnixMillis, ttl_ms: u64) -> Self {
        Self { needs, granted_at, ttl_ms, spent: Arc::default() }
    }

    fn unspent(&self) -> Unspent {
        Unspent { needs: self.needs.clone(), taken_at: self.granted_at }
    }

    fn permit(&self) -> Permit {
        Permit::new(self.needs.clone(), self.granted_at, self.ttl_ms, Arc::clone(&self.spent))
    }
}

/// What a session shares with all others of its worker.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) shutdown: Shutdown,
    pub(crate) stats: Arc<Stats>,
    pub(crate) lease_ms: u64,
}

impl Session {
    /// A session for a job claimed at `granted_at` together with the tokens it needs.
    pub(crate) fn new(
        surroundings: Surroundings,
        record: Arc<JobRecord>,
        lease: LeaseRef,
        granted_at: UnixMillis,
        grant_ttl_ms: u64,
    ) -> Arc<Self> {
        let Surroundings { store, clock, shutdown, stats, lease_ms } = surroundings;
        let first = (!record.needs.is_empty())
            .then(|| Taken::new(record.needs.clone(), granted_at, grant_ttl_ms));
        Arc::new(Self {
            record,
            lease,
            store,
            clock,
            shutdown,
            stats,
            lease_ms,
            held: Mutex::new(Held { first, ..Held::default() }),
            lost: Notify::new(),
        })
    }

    /// Everything to be saved with the next step. What the step could not save is put back with
    /// [`Session::restage`].
    pub(crate) fn take_saved(&self) -> Saved {
        let mut held = self.held();
        let mut unspent = Vec::new();
        let mut requests = 0;
        held.given.retain(|taken| {
            if taken.spent.load(Ordering::Acquire) {
                requests += 1;
                return false;
            }
            // The permit itself holds the other reference; without it nobody can spend it.
            let abandoned = Arc::strong_count(&taken.spent) == 1;
            if abandoned {
                unspent.push(taken.unspent());
            }
            !abandoned
        });
        self.stats.sent(requests);
        Saved { checkpoint: held.checkpoint.take(), progress: held.progress.take(), unspent }
    }

    /// The same at the end of the attempt: permits that are still out come back, too.
    fn take_all_saved(&self) -> Saved {
        let mut saved = self.take_saved();
        let mut held = self.held();
        let first = held.first.take();
        saved.unspent.extend(first.iter().chain(&held.given).map(Taken::unspent));
        held.given.clear();
        saved
    }

    pub(crate) fn restage(&self, saved: Saved) {
        let mut held = self.held();
        // What the handler has staged meanwhile is newer.
        held.checkpoint = held.checkpoint.take().or(saved.checkpoint);
        held.progress = held.progress.take().or(saved.progress);
        held.given
            .extend(saved.unspent.into_iter().map(|one| Taken::new(one.needs, one.taken_at, 0)));
    }

    pub(crate) fn ended(&self) -> Option<LeaseEnd> {
        self.held().ended
    }

    /// Notes that the job belongs to somebody else, and stops its handler.
    pub(crate) fn lose(&self) {
        self.held().ended = Some(LeaseEnd::Lost);
        self.lost.notify_one();
    }

    /// Resolves when the lease was lost.
    pub(crate) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// Ends the attempt in the store. Stands by its lease until the store answers: if that takes
    /// longer than the lease, another worker has the job, and the answer is stale.
    pub(crate) async fn settle(&self, outcome: Outcome) -> Result<Settled, StoreError> {
        let settle = Settle { lease: self.lease, outcome, saved: self.take_all_saved() };
        self.stop_waiting_in_slot();
        let deadline = self.clock.now().plus(self.lease_ms.saturating_mul(2));
        let answer = retry::until_answered("settle", &self.clock, deadline, || {
            self.store.settle(vec![settle.clone()], self.clock.now())
        });
        let answers = answer.await?;
        Ok(answers.first().copied().unwrap_or(Settled::Stale))
    }

    /// The number of attempts that failed in a row before this one, as far as this attempt knows:
    /// a checkpoint that it staged starts the count anew.
    pub(crate) fn failed_before(&self) -> u32 {
        let moved = self.held().checkpoint.is_some();
        if moved { 0 } else { self.record.attempts }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("bookkeeping does not panic")
    }

    fn stop_waiting_in_slot(&self) {
        let denied_at = self.held().denied_at.take();
        if let Some(denied_at) = denied_at {
            self.stats.waited_in_slot(self.clock.now().since(denied_at));
        }
    }

    /// The permit that came with the slot, if it is the one asked for and can still be spent.
    fn first_permit(&self, needs: &Needs) -> Option<Permit> {
        let mut held = self.held();
        let first = held.first.take()?;
        let permit = first.permit();
        let usable = first.needs == *needs && permit.is_fresh(self.clock.now());
        if first.needs == *needs && !usable {
            self.stats.permit_went_stale();
        }
        // One that is of no use is dropped here and counted as unspent by the next step.
        held.given.push(first);
        usable.then_some(permit)
    }

    async fn acquire(&self, needs: Needs, on_denied: OnDenied) -> Result<Acquiring, Leave> {
        match self.ended() {
            Some(LeaseEnd::Parked) => return Err(Leave::Parked),
            Some(LeaseEnd::Lost) => return Err(Leave::LeaseLost),
            None => {}
        }
        if let Some(permit) = self.first_permit(&needs) {
            return Ok(Acquiring::Permit(permit));
        }
        let saved = self.take_saved();
        let acquire = Acquire { lease: self.lease, needs: needs.clone(), on_denied, saved };
        let deadline = self.clock.now().plus(self.lease_ms / 2);
        let mut granted_at = self.clock.now();
        let answer = retry::until_answered("acquire", &self.clock, deadline, || {
            granted_at = self.clock.now();
            self.store.acquire(acquire.clone(), granted_at)
        });
        match answer.await {
            Ok(Acquired::Granted { grant_ttl_ms }) => {
                self.stop_waiting_in_slot();
                let taken = Taken::new(needs, granted_at, grant_ttl_ms);
                let permit = taken.permit();
                self.held().given.push(taken);
                Ok(Acquiring::Permit(permit))
            }
            Ok(Acquired::Denied { wait_ms }) => Ok(Acquiring::Denied { wait_ms }),
            Ok(Acquired::Stale) => {
                self.lose();
                Err(Leave::LeaseLost)
            }
            Err(error) => {
                self.restage(acquire.saved);
                Err(leave(error))
            }
        }
    }

    /// The worker stops: the job goes back into its lane instead of making another request.
    async fn hand_back(&self) -> Leave {
        match self.settle(Outcome::HandBack).await {
            Ok(Settled::Now(_)) => {
                self.held().ended = Some(LeaseEnd::Parked);
                Leave::Parked
            }
            Ok(Settled::Stale) => {
                self.lose();
                Leave::LeaseLost
            }
            Err(error) => leave(error),
        }
    }
}

enum Acquiring {
    Permit(Permit),
    Denied { wait_ms: u64 },
}

/// A store error inside a handler. Misconfigured limits do not mend themselves by trying again.
fn leave(error: StoreError) -> Leave {
    match error {
        StoreError::UnknownLimit { .. } | StoreError::CostAboveBurst { .. } => {
            Leave::Dead { reason: error.to_string() }
        }
        error => Leave::from(error),
    }
}

#[async_trait]
impl JobOps for Session {
    async fn permit(&self, needs: Needs) -> Result<Permit, Leave> {
        // The first permit is honoured while stopping: its token is taken already.
        let is_first = self.held().first.is_some();
        if !is_first && self.ended().is_none() && self.shutdown.is(Phase::Stopping) {
            return Err(self.hand_back().await);
        }
        match self.acquire(needs, OnDenied::Park).await? {
            Acquiring::Permit(permit) => Ok(permit),
            Acquiring::Denied { .. } => {
                self.held().ended = Some(LeaseEnd::Parked);
                Err(Leave::Parked)
            }
        }
    }

    async fn try_permit(&self, needs: Needs) -> Result<Result<Permit, u64>, Leave> {
        match self.acquire(needs, OnDenied::Tell).await? {
            Acquiring::Permit(permit) => Ok(Ok(permit)),
            Acquiring::Denied { wait_ms } => {
                let now = self.clock.now();
                self.held().denied_at.get_or_insert(now);
                Ok(Err(wait_ms))
            }
        }
    }

    async fn peek(&self, bucket: BucketKey) -> Result<Quota, Leave> {
        let limiter = Limiter::new(Arc::clone(&self.store), self.clock.clone());
        limiter.quota(&bucket).await.map_err(leave)
    }

    async fn report(&self, bucket: BucketKey, feedback: Feedback) -> Result<(), Leave> {
        let deadline = self.clock.now().plus(self.lease_ms / 2);
        let answer = retry::until_answered("feedback", &self.clock, deadline, || {
            self.store.feedback(bucket.clone(), feedback, self.clock.now())
        });
        answer.await.map_err(leave)
    }

    fn stage_checkpoint(&self, json: Arc<str>) {
        self.held().checkpoint = Some(json);
    }

    fn stage_progress(&self, progress: Progress) {
        self.held().progress = Some(progress);
    }

    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    async fn stopping(&self) {
        self.shutdown.reached(Phase::Stopping).await;
    }
}
