use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::Notify;
use waitless_job::{AccountId, Clock, UnixMillis};

use crate::stats::Stats;

/// The places for running jobs, and whose jobs have them.
#[derive(Debug)]
pub(crate) struct Slots {
    total: usize,
    // A std mutex: held for a few map operations only.
    by_account: Mutex<HashMap<AccountId, usize>>,
    freed: Notify,
    clock: Clock,
    stats: Arc<Stats>,
}

impl Slots {
    pub(crate) fn new(total: usize, clock: Clock, stats: Arc<Stats>) -> Arc<Self> {
        Arc::new(Self { total, by_account: Mutex::default(), freed: Notify::new(), clock, stats })
    }

    /// Slots free now, and those taken by account. Only the one claimer takes slots, so no fewer
    /// are free until it does.
    pub(crate) fn free(&self) -> (usize, HashMap<AccountId, usize>) {
        let by_account = self.lock().clone();
        (self.total.saturating_sub(by_account.values().sum()), by_account)
    }

    /// Takes a slot for a job of this account until the answer is dropped.
    pub(crate) fn take(self: &Arc<Self>, account: &AccountId) -> Slot {
        *self.lock().entry(account.clone()).or_insert(0) += 1;
        Slot { slots: Arc::clone(self), account: account.clone(), since: self.clock.now() }
    }

    /// Resolves when a slot was freed since the last time.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AccountId, usize>> {
        self.by_account.lock().expect("counting does not panic")
    }
}

/// One taken slot.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    account: AccountId,
    since: UnixMillis,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut by_account = self.slots.lock();
        if let Some(taken) = by_account.get_mut(&self.account) {
            *taken -= 1;
            if *taken == 0 {
                by_account.remove(&self.account);
            }
        }
        // Unlock before the wake, or the claimer wakes into a locked mutex.
        drop(by_account);
        self.slots.stats.held_slot(self.slots.clock.now().since(self.since));
        self.slots.freed.notify_one();
    }
}
