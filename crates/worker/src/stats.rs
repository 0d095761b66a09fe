use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

/// What a worker counts. Cheap to read at any time.
#[derive(Debug, Default)]
pub struct Stats {
    wakeups: AtomicU64,
    requests: AtomicU64,
    stale_permits: AtomicU64,
    stale_settles: AtomicU64,
    slot_held_ms: AtomicU64,
    slot_wait_ms: AtomicU64,
    succeeded: AtomicU64,
    parked: AtomicU64,
    snoozed: AtomicU64,
    paused: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    dead: AtomicU64,
    handed_back: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StatsSnapshot {
    /// Jobs that were given a slot.
    pub wakeups: u64,
    /// Permits spent: requests that went to an upstream.
    pub requests: u64,
    /// Permits that came to be spent too late and were given back.
    pub stale_permits: u64,
    /// Reports that came after the lease had gone to somebody else.
    pub stale_settles: u64,
    /// Milliseconds that jobs held slots, summed over slots.
    pub slot_held_ms: u64,
    /// Milliseconds between a denied permit and the next grant, or the end of the attempt, while
    /// the job kept its slot. A job that parks keeps none: its denial ends its lease. Must stay 0.
    pub slot_wait_ms: u64,
    /// Attempts that ended as done.
    pub succeeded: u64,
    /// Attempts that ended because a permit was denied.
    pub parked: u64,
    /// Attempts that asked to be put back.
    pub snoozed: u64,
    /// Attempts that paused the limits they draw on.
    pub paused: u64,
    /// Attempts that failed and are made again.
    pub failed: u64,
    /// Jobs cancelled.
    pub cancelled: u64,
    /// Jobs that became dead letters.
    pub dead: u64,
    /// Attempts cut short because the worker stopped.
    pub handed_back: u64,
}

/// How an attempt ended, as far as counting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Succeeded,
    Parked,
    Snoozed,
    Paused,
    Failed,
    Cancelled,
    Dead,
    HandedBack,
    Stale,
}

impl Stats {
    /// The counts now.
    #[must_use]
    pub fn snapshot(&self) -> StatsSnapshot {
        StatsSnapshot {
            wakeups: self.wakeups.load(Relaxed),
            requests: self.requests.load(Relaxed),
            stale_permits: self.stale_permits.load(Relaxed),
            stale_settles: self.stale_settles.load(Relaxed),
            slot_held_ms: self.slot_held_ms.load(Relaxed),
            slot_wait_ms: self.slot_wait_ms.load(Relaxed),
            succeeded: self.succeeded.load(Relaxed),
            parked: self.parked.load(Relaxed),
            snoozed: self.snoozed.load(Relaxed),
            paused: self.paused.load(Relaxed),
            failed: self.failed.load(Relaxed),
            cancelled: self.cancelled.load(Relaxed),
            dead: self.dead.load(Relaxed),
            handed_back: self.handed_back.load(Relaxed),
        }
    }

    pub(crate) fn woke(&self) {
        self.wakeups.fetch_add(1, Relaxed);
    }

    pub(crate) fn sent(&self, requests: u64) {
        self.requests.fetch_add(requests, Relaxed);
    }

    pub(crate) fn permit_went_stale(&self) {
        self.stale_permits.fetch_add(1, Relaxed);
    }

    pub(crate) fn held_slot(&self, ms: u64) {
        self.slot_held_ms.fetch_add(ms, Relaxed);
    }

    pub(crate) fn waited_in_slot(&self, ms: u64) {
        self.slot_wait_ms.fetch_add(ms, Relaxed);
    }

    pub(crate) fn ended(&self, how: Ended) {
        let counter = match how {
            Ended::Succeeded => &self.succeeded,
            Ended::Parked => &self.parked,
            Ended::Snoozed => &self.snoozed,
            Ended::Paused => &self.paused,
            Ended::Failed => &self.failed,
            Ended::Cancelled => &self.cancelled,
            Ended::Dead => &self.dead,
            Ended::HandedBack => &self.handed_back,
            Ended::Stale => &self.stale_settles,
        };
        counter.fetch_add(1, Relaxed);
    }
}
