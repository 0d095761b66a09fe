use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tracing::{info, warn};
use waitless_job::{JobState, LeaseToken};
use waitless_store::ops::{Reap, Renewal};

use crate::session::{Session, Surroundings};

/// Most leases ended, or ended jobs removed, in one step.
const STEP_MAX: usize = 1_000;

/// The attempts that run now.
#[derive(Default)]
pub(crate) struct Live(Mutex<HashMap<LeaseToken, Weak<Session>>>);

impl Live {
    pub(crate) fn add(&self, session: &Arc<Session>) {
        self.lock().insert(session.lease.token, Arc::downgrade(session));
    }

    /// Those whose lease this worker still has.
    fn sessions(&self) -> Vec<Arc<Session>> {
        let mut live = self.lock();
        live.retain(|_, session| session.strong_count() > 0);
        let sessions = live.values().filter_map(Weak::upgrade);
        sessions.filter(|session| session.ended().is_none()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<LeaseToken, Weak<Session>>> {
        self.0.lock().expect("bookkeeping does not panic")
    }
}

/// Keeps house beside the claimer, in a task of its own, so that renewals depend on no poll:
/// renews leases, ends those of dead workers, removes ended jobs.
pub(crate) struct Keeper {
    pub(crate) surroundings: Surroundings,
    pub(crate) live: Arc<Live>,
    pub(crate) keep_ended_ms: u64,
}

impl Keeper {
    /// Keeps house until it is dropped.
    pub(crate) async fn run(self) {
        let clock = &self.surroundings.clock;
        let lease_ms = self.surroundings.lease_ms;
        let period = Duration::from_millis((lease_ms / 3).max(1));
        let mut last = clock.now();
        let mut reap_from = clock.now();
        loop {
            tokio::time::sleep(period).await;
            let now = clock.now();
            if now.since(last) > lease_ms {
                // This process was stopped, or the store was away: other workers may have been,
                // too. Their leases get as long to be renewed as they had.
                warn!(ms = now.since(last), "this worker was not running; ends no leases for now");
                reap_from = now.plus(lease_ms);
            }
            last = now;
            // Without a renewal its own leases may have expired, too, and are not ended here.
            let renewed = self.renew().await;
            if renewed && now >= reap_from {
                self.reap().await;
            }
            self.prune().await;
        }
    }

    /// Renews every lease, and answers whether the store took that down.
    async fn renew(&self) -> bool {
        let sessions = self.live.sessions();
        if sessions.is_empty() {
            return true;
        }
        let now = self.surroundings.clock.now();
        let expires_at = now.plus(self.surroundings.lease_ms);
        // The guards are held until the answer: no other step of these sessions comes between.
        let (renewals, _steps): (Vec<Renewal>, Vec<_>) = sessions
            .iter()
            .map(|session| {
                let (saved, step) = session.for_renewal();
                (Renewal { lease: session.lease, expires_at, saved }, step)
            })
            .unzip();
        match self.surroundings.store.renew(renewals.clone(), now).await {
            Ok(renewed) => {
                for ((session, renewal), renewed) in sessions.iter().zip(&renewals).zip(renewed) {
                    if renewed {
                        session.renewed(&renewal.saved);
                    } else if session.ended().is_none() {
                        // A session that has just ended its lease itself is not lost.
                        session.lose();
                    }
                }
                true
            }
            Err(error) => {
                warn!(%error, "leases were not renewed; trying again");
                false
            }
        }
    }

    async fn reap(&self) {
        let now = self.surroundings.clock.now();
        match self.surroundings.store.reap(Reap::Expired, STEP_MAX, now).await {
            Ok(jobs) => {
                for job in jobs {
                    let dead = job.state == JobState::Dead;
                    warn!(job = %job.id, dead, "a job's worker stopped reporting");
                }
            }
            Err(error) => warn!(%error, "expired leases were not ended; trying again"),
        }
    }

    async fn prune(&self) {
        let now = self.surroundings.clock.now();
        let keep_ms = i64::try_from(self.keep_ended_ms).unwrap_or(i64::MAX);
        let before = waitless_job::UnixMillis(now.0.saturating_sub(keep_ms));
        match self.surroundings.store.prune(before, STEP_MAX).await {
            Ok(0) => {}
            Ok(jobs) => info!(jobs, "removed jobs that ended long ago"),
            Err(error) => warn!(%error, "ended jobs were not removed; trying again"),
        }
    }
}
