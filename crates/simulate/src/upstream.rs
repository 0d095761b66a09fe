use std::{
    collections::HashMap,
    ops::RangeInclusive,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use waitless_bucket::Policy;
use waitless_job::{BucketKey, UnixMillis};

/// A strict upstream in virtual time. It counts for itself: it knows the published numbers of a
/// limit and has arithmetic of its own, without margins.
pub(crate) struct Upstream {
    jitter_ms: RangeInclusive<u64>,
    latency_ms: RangeInclusive<u64>,
    // A std mutex: never held across an await.
    inner: Mutex<Inner>,
}

struct Inner {
    random: fastrand::Rng,
    buckets: HashMap<BucketKey, Window>,
    counts: Counts,
}

/// What the upstream has seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    /// Time that accepted and refused requests took together.
    pub(crate) request_ms: u64,
    pub(crate) last_answer_at: UnixMillis,
}

/// The theoretical arrival time of the generic cell rate algorithm (ITU-T I.371), in units of
/// 1/tokens ms so that it stays exact.
struct Window {
    tokens: i128,
    interval: i128,
    burst: i128,
    arrival: i128,
}

impl Window {
    fn accepts(&mut self, at: UnixMillis) -> bool {
        let now = i128::from(at.0) * self.tokens;
        let tolerance = (self.burst - 1) * self.interval;
        if now < self.arrival - tolerance {
            return false;
        }
        self.arrival = self.arrival.max(now) + self.interval;
        true
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    /// 429.
    Refused,
}

impl Upstream {
    pub(crate) fn new(
        jitter_ms: RangeInclusive<u64>,
        latency_ms: RangeInclusive<u64>,
        seed: u64,
    ) -> Self {
        let inner = Inner {
            random: fastrand::Rng::with_seed(seed),
            buckets: HashMap::new(),
            counts: Counts::default(),
        };
        Self { jitter_ms, latency_ms, inner: Mutex::new(inner) }
    }

    pub(crate) fn limit(&self, bucket: BucketKey, policy: &Policy) {
        let window = Window {
            tokens: i128::from(policy.tokens()),
            interval: i128::from(policy.interval_ms()),
            burst: i128::from(policy.burst()),
            arrival: i128::MIN / 2,
        };
        self.inner().buckets.insert(bucket, window);
    }

    /// Sends a request at `sent_at` and waits for its answer.
    pub(crate) async fn request(&self, bucket: &BucketKey, sent_at: UnixMillis) -> Answer {
        let (jitter_ms, latency_ms) = {
            let random = &mut self.inner().random;
            (random.u64(self.jitter_ms.clone()), random.u64(self.latency_ms.clone()))
        };
        if jitter_ms > 0 {
            tokio::time::sleep(Duration::from_millis(jitter_ms)).await;
        }
        let accepted = {
            let mut inner = self.inner();
            let window = inner.buckets.get_mut(bucket).expect("every group has a limit");
            window.accepts(sent_at.plus(jitter_ms))
        };
        tokio::time::sleep(Duration::from_millis(latency_ms)).await;

        let mut inner = self.inner();
        let took_ms = jitter_ms + latency_ms;
        let counts = &mut inner.counts;
        counts.request_ms += took_ms;
        counts.last_answer_at = counts.last_answer_at.max(sent_at.plus(took_ms));
        if accepted {
            counts.accepted += 1;
            Answer::Accepted
        } else {
            counts.refused += 1;
            Answer::Refused
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.inner().counts
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("counting does not panic")
    }
}
