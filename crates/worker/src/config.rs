use std::collections::HashSet;

use waitless_job::{AccountId, WorkerName};
use waitless_scheduler::Backoff;

/// What a worker is given. Times are in milliseconds.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Names the worker in leases and logs. Default `worker`.
    pub name: WorkerName,
    /// Jobs that run at the same time. Default 8.
    pub slots: usize,
    /// Most slots that one account may have at a time, so that an account with many lanes cannot
    /// keep the others out. Default: three quarters of the slots, rounded up.
    pub slots_per_account_max: Option<usize>,
    /// The accounts whose jobs this worker runs, for example those that it has a token of. Default
    /// all.
    pub only: Option<HashSet<AccountId>>,
    /// How long a job stays with a worker that is not heard of. Renewed every third of it.
    /// Default 60,000.
    pub lease_ms: u64,
    /// How long one attempt may take before it counts as failed. Default 600,000.
    pub handler_timeout_ms: u64,
    /// How long a job stays away whose attempt failed. Default as [`Backoff`] says.
    pub backoff: Backoff,
    /// How long running jobs may go on after the worker was asked to stop; then they are handed
    /// back, which takes up to 3,000 more. Default 20,000.
    pub grace_ms: u64,
    /// How long ended jobs are kept. Default 7 days.
    pub keep_ended_ms: u64,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            name: WorkerName::new("worker").expect("it is a name"),
            slots: 8,
            slots_per_account_max: None,
            only: None,
            lease_ms: 60_000,
            handler_timeout_ms: 600_000,
            backoff: Backoff::default(),
            grace_ms: 20_000,
            keep_ended_ms: 7 * 24 * 3_600_000,
        }
    }
}

impl WorkerConfig {
    /// Most slots that one account may have at a time.
    #[must_use]
    pub fn per_account_max(&self) -> usize {
        let share = self.slots_per_account_max.unwrap_or((self.slots * 3).div_ceil(4));
        share.clamp(1, self.slots.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_may_have_three_quarters_of_the_slots_unless_told_otherwise() {
        let share = |slots, slots_per_account_max| {
            WorkerConfig { slots, slots_per_account_max, ..WorkerConfig::default() }
                .per_account_max()
        };
        assert_eq!(share(8, None), 6);
        assert_eq!(share(1, None), 1);
        assert_eq!(share(50, Some(50)), 50);
        assert_eq!(share(4, Some(9)), 4);
    }
}
