//! The [`Store`] of everything that runs steps as transactions.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use waitless_bucket::{Cost, Policy, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, Feedback, JobId, JobRecord, LimitGroup, NewJob, WorkerName,
};

use super::Result;
use crate::{
    Store, Transact, engine,
    model::{Account, Run},
    ops::{
        Acquire, Acquired, Claim, Claimed, Due, DueRequest, Enqueued, Reap, Renewal, Settle,
        Settled, Taken,
    },
};

/// Most leases of a dead predecessor that are ended in one step.
const REAPED_MAX: usize = 1_000;

#[async_trait]
impl<T: Transact> Store for T {
    async fn start_worker(&self, worker: WorkerName, now: UnixMillis) -> Result<usize> {
        if !self.own(&worker).await? {
            return Ok(0);
        }
        let mut ended = 0;
        loop {
            let reaped = self.reap(Reap::All, REAPED_MAX, now).await?;
            ended += reaped.len();
            if reaped.len() < REAPED_MAX {
                return Ok(ended);
            }
        }
    }

    async fn set_limits(&self, limits: Vec<(BucketKey, Policy)>, now: UnixMillis) -> Result<()> {
        self.transact(move |tables| engine::set_limits(tables, &limits, now)).await?;
        changed(self);
        Ok(())
    }

    async fn put_account(&self, account: Account) -> Result<()> {
        self.transact(move |tables| engine::put_account(tables, &account)).await
    }

    async fn pause_account(
        &self,
        account: AccountId,
        reason: Option<String>,
        now: UnixMillis,
    ) -> Result<bool> {
        let known = self
            .transact(move |tables| engine::pause_account(tables, &account, reason.as_deref(), now))
            .await?;
        changed(self);
        Ok(known)
    }

    async fn pause_limits(
        &self,
        account: AccountId,
        groups: Option<Vec<LimitGroup>>,
        reason: Option<Arc<str>>,
        now: UnixMillis,
    ) -> Result<usize> {
        let changed_limits = self
            .transact(move |tables| {
                engine::pause_limits(tables, &account, groups.as_deref(), reason.as_ref(), now)
            })
            .await?;
        if changed_limits > 0 {
            changed(self);
        }
        Ok(changed_limits)
    }

    async fn put_run(&self, run: Run) -> Result<()> {
        self.transact(move |tables| tables.put_run(&run)).await
    }

    async fn enqueue(&self, jobs: Vec<NewJob>, now: UnixMillis) -> Result<Vec<Enqueued>> {
        let enqueued = self.transact(move |tables| engine::enqueue(tables, &jobs, now)).await?;
        changed(self);
        Ok(enqueued)
    }

    async fn due(&self, request: DueRequest, now: UnixMillis) -> Result<Due> {
        self.transact(move |tables| engine::due(tables, &request, now)).await
    }

    async fn claim(&self, claim: Claim, now: UnixMillis) -> Result<Vec<Claimed>> {
        self.transact(move |tables| engine::claim(tables, &claim, now)).await
    }

    async fn acquire(&self, acquire: Acquire, now: UnixMillis) -> Result<Acquired> {
        let gives_back = !acquire.saved.unspent.is_empty();
        let acquired = self.transact(move |tables| engine::acquire(tables, &acquire, now)).await?;
        if gives_back || matches!(acquired, Acquired::Denied { .. }) {
            changed(self);
        }
        Ok(acquired)
    }

    async fn renew(&self, renewals: Vec<Renewal>, now: UnixMillis) -> Result<Vec<bool>> {
        let gives_back = renewals.iter().any(|renewal| !renewal.saved.unspent.is_empty());
        let renewed = self
            .transact(move |tables| {
                renewals.iter().map(|renewal| engine::renew(tables, renewal, now)).collect()
            })
            .await?;
        if gives_back {
            changed(self);
        }
        Ok(renewed)
    }

    async fn settle(&self, settles: Vec<Settle>, now: UnixMillis) -> Result<Vec<Settled>> {
        let settled = self
            .transact(move |tables| {
                settles.iter().map(|settle| engine::settle(tables, settle, now)).collect()
            })
            .await?;
        changed(self);
        Ok(settled)
    }

    async fn reap(&self, which: Reap, limit: usize, now: UnixMillis) -> Result<Vec<JobRecord>> {
        let reaped = self.transact(move |tables| engine::reap(tables, which, limit, now)).await?;
        if !reaped.is_empty() {
            changed(self);
        }
        Ok(reaped)
    }

    async fn requeue(&self, job: JobId, now: UnixMillis) -> Result<bool> {
        let was = self.transact(move |tables| engine::requeue(tables, &job, now)).await?;
        if was {
            changed(self);
        }
        Ok(was)
    }

    async fn prune(&self, ended_before: UnixMillis, limit: usize) -> Result<usize> {
        self.transact(move |tables| tables.prune(ended_before, limit)).await
    }

    async fn feedback(&self, bucket: BucketKey, feedback: Feedback, now: UnixMillis) -> Result<()> {
        let is_news =
            self.transact(move |tables| engine::feedback(tables, &bucket, feedback, now)).await?;
        if is_news {
            changed(self);
        }
        Ok(())
    }

    async fn take(&self, draws: Vec<(BucketKey, Cost)>, now: UnixMillis) -> Result<Taken> {
        self.transact(move |tables| engine::take(tables, &draws, now)).await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.change_sender().subscribe()
    }
}

fn changed(store: &impl Transact) {
    store.change_sender().send_modify(|count| *count = count.wrapping_add(1));
}
