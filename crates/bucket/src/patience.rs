/// What a caller that waits by itself (outside the queue) does about a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Sleep this many milliseconds, then ask again.
    Wait {
        /// Milliseconds.
        wait_ms: u64,
    },
    /// Waiting on would pass the ceiling: answer a local 429.
    Refuse {
        /// Whole seconds, rounded up and at least 1, after which asking again makes sense.
        retry_after_seconds: u64,
    },
}

/// Wait or refuse: the ceiling of the waiting acquire.
///
/// `waited_ms` is what the caller has waited for this request already. The ceiling is
/// [`Policy::wait_ceiling_ms`](crate::Policy::wait_ceiling_ms) unless the caller brings its own.
///
/// ```
/// use waitless_bucket::{Patience, wait_or_refuse};
///
/// assert_eq!(wait_or_refuse(1_500, 0, 120_000), Patience::Wait { wait_ms: 1_500 });
/// assert_eq!(
///     wait_or_refuse(60_001, 60_000, 120_000),
///     Patience::Refuse { retry_after_seconds: 61 }
/// );
/// ```
#[must_use]
pub fn wait_or_refuse(wait_ms: u64, waited_ms: u64, ceiling_ms: u64) -> Patience {
    if waited_ms.saturating_add(wait_ms) <= ceiling_ms {
        Patience::Wait { wait_ms }
    } else {
        Patience::Refuse { retry_after_seconds: wait_ms.div_ceil(1_000).max(1) }
    }
}
