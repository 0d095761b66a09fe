use waitless_job::{JobId, UnixMillis};

/// How long a job stays away whose attempt failed: longer with each failure in a row. Times are in
/// milliseconds.
///
/// Pauses of 2, 4, 8, 16, 32 s ..., at most an hour, unless told otherwise. Each is up to a quarter
/// longer by an amount that follows from the job and the attempt: jobs that failed together come
/// back apart, and the same job always at the same moment.
///
/// ```
/// use waitless_job::{JobId, UnixMillis};
/// use waitless_scheduler::Backoff;
///
/// let (backoff, now) = (Backoff::default(), UnixMillis(0));
/// assert_eq!((backoff.first_ms, backoff.ms_max), (2_000, 3_600_000));
///
/// let job = JobId::new(now);
/// let pause = |attempts| backoff.retry_at(job, attempts, now).since(now);
/// assert!((2_000..=2_500).contains(&pause(0)));
/// assert!((32_000..=40_000).contains(&pause(4)));
/// assert!((3_600_000..=4_500_000).contains(&pause(40)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after one failure; each further one in a row doubles it. Default 2,000.
    pub first_ms: u64,
    /// The longest pause, before it is made up to a quarter longer. Default 3,600,000.
    pub ms_max: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first_ms: 2_000, ms_max: 3_600_000 }
    }
}

impl Backoff {
    /// When a job whose attempt failed is tried again; `attempts` have failed in a row before.
    #[must_use]
    pub fn retry_at(&self, job: JobId, attempts: u32, now: UnixMillis) -> UnixMillis {
        let pause_ms = self.first_ms.saturating_mul(1 << attempts.min(32)).min(self.ms_max);
        // The low bits of a version 7 UUID are random; a multiplication by a large odd number
        // spreads what the attempt changes over the high ones.
        let (_, low) = job.0.as_u64_pair();
        let spread =
            low.wrapping_add(u64::from(attempts)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let extra_ms = u128::from(pause_ms / 4) * u128::from(spread) / u128::from(u32::MAX);
        let extra_ms = u64::try_from(extra_ms).expect("at most a quarter");
        now.plus(pause_ms.saturating_add(extra_ms))
    }
}
