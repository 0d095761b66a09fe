use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use tokio::sync::{Notify, OwnedMutexGuard};
use waitless_job::{
    BucketKey, Clock, Feedback, JobOps, JobRecord, Leave, Needs, Permit, Progress, Quota,
    UnixMillis,
};
use waitless_store::{
    Store, StoreError,
    limiter::Limiter,
    ops::{Acquire, Acquired, LeaseRef, OnDenied, Outcome, Saved, Settle, Settled},
};

use crate::{
    held::{Held, LeaseEnd, Taken},
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
    /// One step at a time: what two of them saved could arrive in the wrong order.
    steps: Arc<tokio::sync::Mutex<()>>,
    lost: Notify,
}

/// How long a step may take when the worker hands its jobs back.
const HANDING_BACK_MS: u64 = 3_000;

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
            held: Mutex::new(Held::with(first)),
            steps: Arc::default(),
            lost: Notify::new(),
        })
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
    /// longer than the lease, another worker has the job, and the answer is stale. A worker that
    /// hands its jobs back has no such time.
    pub(crate) async fn settle(&self, outcome: Outcome) -> Result<Settled, StoreError> {
        let _step = self.steps.lock().await;
        let (saved, requests) = self.held().outgoing_all();
        self.stats.sent(requests);
        self.stop_waiting_in_slot();
        let settle = Settle { lease: self.lease, outcome, saved };
        let mut tries = 0;
        let patience_ms = if self.shutdown.is(Phase::HandingBack) {
            HANDING_BACK_MS
        } else {
            self.lease_ms.saturating_mul(2)
        };
        let deadline = self.clock.now().plus(patience_ms);
        let answer = retry::until_answered("settle", &self.clock, deadline, || {
            tries += 1;
            let mut this = settle.clone();
            if tries > 1 {
                // Given back once: a try whose answer was lost may have done it.
                this.saved.unspent.clear();
            }
            self.store.settle(vec![this], self.clock.now())
        });
        let answers = answer.await?;
        self.held().saved(&settle.saved);
        Ok(answers.first().copied().unwrap_or(Settled::Stale))
    }

    /// What a renewal of the lease saves on the way, and the right to do so: none while another
    /// step of this session is under way, which saves by itself.
    pub(crate) fn for_renewal(&self) -> (Saved, Option<OwnedMutexGuard<()>>) {
        match Arc::clone(&self.steps).try_lock_owned() {
            Err(_) => (Saved::default(), None),
            Ok(step) => {
                let (saved, requests) = self.held().outgoing();
                self.stats.sent(requests);
                (saved, Some(step))
            }
        }
    }

    /// The renewal has saved this.
    pub(crate) fn renewed(&self, saved: &Saved) {
        self.held().saved(saved);
    }

    /// The number of attempts that failed in a row before this one: a checkpoint that this attempt
    /// has staged starts the count anew.
    pub(crate) fn failed_before(&self) -> u32 {
        if self.held().moved { 0 } else { self.record.attempts }
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
        held.give(first);
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
        let _step = self.steps.lock().await;
        let (saved, requests) = self.held().outgoing();
        self.stats.sent(requests);
        let mut acquire = Acquire { lease: self.lease, needs: needs.clone(), on_denied, saved };
        let deadline = self.clock.now().plus(self.lease_ms / 2);
        let mut granted_at = self.clock.now();
        let mut tries = 0;
        let answer = retry::until_answered("acquire", &self.clock, deadline, || {
            granted_at = self.clock.now();
            tries += 1;
            let mut this = acquire.clone();
            if tries > 1 {
                // Given back once: a try whose answer was lost may have done it.
                this.saved.unspent.clear();
            }
            self.store.acquire(this, granted_at)
        });
        let answer = answer.await;
        match &answer {
            Ok(Acquired::Granted { .. } | Acquired::Denied { .. }) => {
                self.held().saved(&acquire.saved);
            }
            Ok(Acquired::Stale) => {}
            Err(error) if retry::is_passing(error) => {}
            Err(_) => self.held().put_back(std::mem::take(&mut acquire.saved)),
        }
        match answer {
            Ok(Acquired::Granted { grant_ttl_ms }) => {
                self.stop_waiting_in_slot();
                let taken = Taken::new(needs, granted_at, grant_ttl_ms);
                let permit = taken.permit();
                self.held().give(taken);
                Ok(Acquiring::Permit(permit))
            }
            Ok(Acquired::Denied { wait_ms }) => Ok(Acquiring::Denied { wait_ms }),
            Ok(Acquired::Stale) => {
                self.lose();
                Err(Leave::LeaseLost)
            }
            Err(error) => Err(leave(error)),
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
        self.held().stage_checkpoint(json);
    }

    fn stage_progress(&self, progress: Progress) {
        self.held().stage_progress(progress);
    }

    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    async fn stopping(&self) {
        self.shutdown.reached(Phase::Stopping).await;
    }
}
