use serde::Serialize;

/// What came of a simulation. Times are virtual, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// The strategy.
    pub strategy: String,
    /// Slots.
    pub slots: usize,
    /// From the start to the last answer.
    pub makespan_seconds: f64,
    /// What the slowest bucket needs by arithmetic alone.
    pub bound_seconds: f64,
    /// The one by the other; 1 cannot be beaten.
    pub makespan_over_bound: f64,
    /// Requests that the upstream answered.
    pub requests: u64,
    /// Times a job was given a slot, by request.
    pub wakeups_per_request: f64,
    /// Requests that the upstream refused.
    pub upstream_429: u64,
    /// Time that jobs held slots without a request under way.
    pub slot_wait_seconds: f64,
    /// Time that slots were held, as a share of all there was.
    pub slot_busy_share: f64,
    /// What an interactive job waited on a bucket that the backlog drains.
    pub interactive_busy_wait_seconds: Option<Waits>,
    /// What it waited on a bucket that nobody else uses.
    pub interactive_idle_wait_seconds: Option<Waits>,
}

/// Waits of many jobs, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Waits {
    /// How many jobs.
    pub jobs: usize,
    /// Half of them waited no longer.
    pub p50: f64,
    /// All but one of a hundred waited no longer.
    pub p99: f64,
}

impl Waits {
    /// Percentiles of waits in milliseconds; `None` of none.
    pub(crate) fn of(waits_ms: &mut [u64]) -> Option<Self> {
        waits_ms.sort_unstable();
        let last = waits_ms.len().checked_sub(1)?;
        let at = |percent: usize| seconds(waits_ms[(last * percent).div_ceil(100)]);
        Some(Self { jobs: waits_ms.len(), p50: at(50), p99: at(99) })
    }
}

/// Milliseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "for people; 2^53 ms are 285,000 years")]
pub(crate) fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// A ratio of counts.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(crate) fn ratio(of: u64, to: u64) -> f64 {
    if to == 0 { 0.0 } else { of as f64 / to as f64 }
}
