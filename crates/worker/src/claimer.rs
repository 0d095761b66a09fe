use std::{collections::HashSet, sync::Arc};

use tokio::sync::mpsc;
use tracing::warn;
use waitless_job::{AccountId, LeaseToken, UnixMillis, WorkerName};
use waitless_scheduler::{Free, dispatch};
use waitless_store::{
    StoreError,
    ops::{Accounts, Claim, Due, DueRequest, LeaseRef, Pick},
};

use crate::{
    granted::Granted,
    keeper::Live,
    retry::{self, Pause},
    session::{Session, Surroundings},
    shutdown::Phase,
    slots::Slots,
};

/// Longest sleep without looking: work that another process enqueued rings no bell here.
const IDLE_MS_MAX: u64 = 1_000;

/// The one part of a worker that asks the store for jobs.
///
/// Looks, claims as many jobs as there are free slots, then sleeps until the next known moment, a
/// freed slot, a change in the store, or a second.
pub(crate) struct Claimer {
    pub(crate) surroundings: Surroundings,
    pub(crate) worker: WorkerName,
    pub(crate) slots: Arc<Slots>,
    pub(crate) per_account_max: usize,
    pub(crate) only: Option<HashSet<AccountId>>,
    pub(crate) live: Arc<Live>,
    pub(crate) granted: mpsc::UnboundedSender<Granted>,
}

/// What one look came to.
enum Looked {
    /// Jobs were claimed, or might be by looking again at once.
    Again,
    /// Nothing to do before then, as far as is known.
    NothingBefore(Option<UnixMillis>),
    /// No slot is free.
    Full,
}

impl Claimer {
    /// Claims until the worker stops.
    pub(crate) async fn run(self) {
        let mut changes = self.surroundings.store.changes();
        let mut pause = Pause::default();
        while !self.surroundings.shutdown.is(Phase::Stopping) {
            // Marked as seen before the look: a change during the look ends the next sleep.
            changes.mark_unchanged();
            let until = match self.look().await {
                Ok(Looked::Again) => {
                    pause = Pause::default();
                    continue;
                }
                Ok(Looked::Full) => None,
                Ok(Looked::NothingBefore(next_at)) => {
                    let floor = self.surroundings.clock.now().plus(IDLE_MS_MAX);
                    Some(next_at.unwrap_or(floor).min(floor))
                }
                Err(error) => {
                    warn!(%error, "the store was not asked for work; trying again");
                    tokio::select! {
                        () = pause.sleep() => {}
                        () = self.surroundings.shutdown.reached(Phase::Stopping) => {}
                    }
                    continue;
                }
            };
            pause = Pause::default();
            tokio::select! {
                () = self.sleep_until(until) => {}
                () = self.slots.freed() => {}
                // With all slots taken there is nothing to look for, whatever changes.
                _ = changes.changed(), if until.is_some() => {}
                () = self.surroundings.shutdown.reached(Phase::Stopping) => {}
            }
        }
    }

    async fn sleep_until(&self, until: Option<UnixMillis>) {
        match until {
            Some(until) => self.surroundings.clock.sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    async fn look(&self) -> Result<Looked, StoreError> {
        let (free, running) = self.slots.free();
        if free == 0 {
            return Ok(Looked::Full);
        }
        let full = |(account, slots): (&AccountId, &usize)| {
            (*slots >= self.per_account_max).then(|| account.clone())
        };
        // More lanes than free slots: the best few may all be of one account, which may have only
        // its share.
        let limit = free * 2 + 8;
        let except = running.iter().filter_map(full).collect();
        let request = DueRequest { limit, accounts: Accounts { only: self.only.clone(), except } };
        let now = self.surroundings.clock.now();
        let Due { lanes, next_at } = self.surroundings.store.due(request, now).await?;
        let free = Free { slots: free, per_account_max: self.per_account_max, running: &running };
        let picks = dispatch(&lanes, &free);
        if picks.is_empty() {
            // Nothing was picked though lanes were due: their accounts have their share, and the
            // next freed slot changes that.
            return Ok(Looked::NothingBefore(next_at));
        }
        self.claim(
            picks.into_iter().map(|lane| Pick { lane, lease: LeaseToken::new(now) }).collect(),
        )
        .await?;
        Ok(Looked::Again)
    }

    async fn claim(&self, picks: Vec<Pick>) -> Result<(), StoreError> {
        let surroundings = &self.surroundings;
        let now = surroundings.clock.now();
        let expires_at = now.plus(surroundings.lease_ms);
        let claim = Claim { worker: self.worker.clone(), expires_at, picks };
        // The same picks under the same leases again, if the store does not answer: a claim that was
        // taken down unheard is found, and not left to its lease.
        let clock = &surroundings.clock;
        let patience = now.plus(surroundings.lease_ms / 2);
        let answer = retry::until_answered("claim", clock, patience, || {
            surroundings.store.claim(claim.clone(), now)
        });
        for claimed in answer.await? {
            surroundings.stats.woke();
            let record = Arc::new(claimed.job);
            let token = record.lease.as_ref().expect("a claimed job has a lease").token;
            let slot = Arc::new(self.slots.take(&record.account));
            let session = Session::new(
                surroundings.clone(),
                Arc::clone(&record),
                LeaseRef { job: record.id, token },
                now,
                claimed.grant_ttl_ms,
            );
            self.live.add(&session);
            let granted = Granted { session, args: claimed.args, _slot: slot };
            if let Err(unsent) = self.granted.send(granted) {
                // The loop that runs jobs is gone; the lease runs out and the job is made again.
                warn!(job = %unsent.0.record().id, "a claimed job found no worker loop");
            }
        }
        Ok(())
    }
}
