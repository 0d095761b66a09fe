use waitless_job::{JobId, UnixMillis};

/// Longest pause between two attempts: one hour.
pub const RETRY_MS_MAX: u64 = 3_600_000;

/// When a job whose attempt failed is tried again; `attempts` have failed in a row before.
///
/// Pauses of 2, 4, 8, 16, 32 s ..., at most [`RETRY_MS_MAX`], each up to a quarter longer by an
/// amount that follows from the job and the attempt: jobs that failed together come back apart,
/// and the same job always at the same moment.
///
/// ```
/// use waitless_job::{JobId, UnixMillis};
/// use waitless_scheduler::{RETRY_MS_MAX, retry_at};
///
/// let now = UnixMillis(0);
/// let job = JobId::new(now);
/// let pause = |attempts| retry_at(job, attempts, now).since(now);
/// assert!((2_000..=2_500).contains(&pause(0)));
/// assert!((32_000..=40_000).contains(&pause(4)));
/// assert!((RETRY_MS_MAX..=RETRY_MS_MAX * 5 / 4).contains(&pause(40)));
/// ```
#[must_use]
pub fn retry_at(job: JobId, attempts: u32, now: UnixMillis) -> UnixMillis {
    let pause_ms = 2_000_u64.saturating_mul(1 << attempts.min(32)).min(RETRY_MS_MAX);
    // The low bits of a version 7 UUID are random; a multiplication by a large odd number spreads
    // what the attempt changes over the high ones.
    let (_, low) = job.0.as_u64_pair();
    let spread = low.wrapping_add(u64::from(attempts)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let extra_ms = (pause_ms / 4) * spread / u64::from(u32::MAX);
    now.plus(pause_ms + extra_ms)
}
