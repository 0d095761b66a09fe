use std::{
    collections::HashMap,
    ops::RangeInclusive,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use waitless_bucket::Policy;
use waitless_job::{BucketKey, UnixMillis};

use crate::{
    trace::{Seen, What},
    truth::Truth,
    window::{Answer, Window},
};

/// A strict upstream in virtual time. It counts for itself: it knows the published numbers of a
/// limit and has arithmetic of its own, without margins.
pub(crate) struct Upstream {
    start: UnixMillis,
    jitter_ms: RangeInclusive<u64>,
    latency_ms: RangeInclusive<u64>,
    // A std mutex: never held across an await.
    inner: Mutex<Inner>,
}

struct Inner {
    random: fastrand::Rng,
    buckets: HashMap<BucketKey, Window>,
    counts: Counts,
    /// Everything it has seen, if that is of interest.
    seen: Option<Vec<Seen>>,
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

impl Upstream {
    pub(crate) fn new(
        start: UnixMillis,
        jitter_ms: RangeInclusive<u64>,
        latency_ms: RangeInclusive<u64>,
        seed: u64,
        is_traced: bool,
    ) -> Self {
        let inner = Inner {
            random: fastrand::Rng::with_seed(seed),
            buckets: HashMap::new(),
            counts: Counts::default(),
            seen: is_traced.then(Vec::new),
        };
        Self { start, jitter_ms, latency_ms, inner: Mutex::new(inner) }
    }

    pub(crate) fn limit(&self, bucket: BucketKey, policy: &Policy, truth: &Truth) {
        self.inner().buckets.insert(bucket, Window::new(policy, truth));
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
        let answer = self.arrived(bucket, sent_at.plus(jitter_ms));
        tokio::time::sleep(Duration::from_millis(latency_ms)).await;

        let mut inner = self.inner();
        let took_ms = jitter_ms + latency_ms;
        let counts = &mut inner.counts;
        counts.request_ms += took_ms;
        counts.last_answer_at = counts.last_answer_at.max(sent_at.plus(took_ms));
        match answer {
            Answer::Accepted { .. } => counts.accepted += 1,
            Answer::Refused { .. } => counts.refused += 1,
        }
        answer
    }

    fn arrived(&self, bucket: &BucketKey, at: UnixMillis) -> Answer {
        let mut inner = self.inner();
        let Inner { buckets, seen, .. } = &mut *inner;
        let window = buckets.get_mut(bucket).expect("every group has a limit");
        let at_ms = at.since(self.start);
        let stolen = window.steal(self.start, at_ms);
        let answer = window.request(at, at_ms);
        if let Some(seen) = seen {
            let see = |at_ms, what| Seen { at_ms, bucket: bucket.clone(), what };
            seen.extend(stolen.into_iter().map(|at_ms| see(at_ms, What::Stolen)));
            seen.push(match answer {
                Answer::Accepted { .. } => see(at_ms, What::Accepted),
                Answer::Refused { .. } => see(at_ms, What::Refused),
            });
        }
        answer
    }

    pub(crate) fn counts(&self) -> Counts {
        self.inner().counts
    }

    /// Everything it has seen, if it was asked to remember.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inner().seen.take().unwrap_or_default()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("counting does not panic")
    }
}
