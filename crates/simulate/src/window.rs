use waitless_bucket::Policy;
use waitless_job::UnixMillis;

use crate::truth::Truth;

/// The theoretical arrival time of the generic cell rate algorithm (ITU-T I.371), in units of
/// 1/tokens ms so that it stays exact.
pub(crate) struct Window {
    tokens: i128,
    interval: i128,
    burst: i128,
    arrival: i128,
    truth: Truth,
    /// When the other client takes its next token, in ms from the start of the simulation.
    steals_at_ms: u64,
    steals_every_ms: u64,
    closed_until: Option<UnixMillis>,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted {
        /// Requests that may still go at once, if the answer says so.
        remaining: Option<u32>,
    },
    /// 429.
    Refused {
        /// Time to wait in milliseconds, if the answer says so: whole seconds.
        wait_ms: Option<u64>,
    },
}

impl Window {
    pub(crate) fn new(policy: &Policy, truth: &Truth) -> Self {
        Self {
            tokens: i128::from(policy.tokens()) * i128::from(truth.rate_percent),
            interval: i128::from(policy.interval_ms()) * 100,
            burst: i128::from(policy.burst()),
            arrival: i128::MIN / 2,
            steals_at_ms: truth.hidden.map_or(u64::MAX, |hidden| hidden.from_seconds * 1_000),
            steals_every_ms: policy.interval_ms() * 3,
            truth: truth.clone(),
            closed_until: None,
        }
    }

    /// Takes or refuses a request that arrives at `at`, `since_start_ms` after the start.
    pub(crate) fn request(&mut self, at: UnixMillis, since_start_ms: u64) -> Answer {
        if let Some(closed_ms) = self.closed_for_ms(at, since_start_ms) {
            return self.refused(closed_ms);
        }
        let now = i128::from(at.0) * self.tokens;
        let missing = self.arrival - (self.burst - 1) * self.interval - now;
        if missing > 0 {
            let wait_ms = (missing + self.tokens - 1) / self.tokens;
            return self.refused(u64::try_from(wait_ms).unwrap_or(u64::MAX));
        }
        self.arrival = self.arrival.max(now) + self.interval;
        let left = (now + self.burst * self.interval - self.arrival) / self.interval;
        let remaining = u32::try_from(left).expect("an accepted request leaves at most the burst");
        Answer::Accepted { remaining: self.truth.headers.then_some(remaining) }
    }

    /// The moments, in ms from the start, at which the other client has taken a token by then.
    pub(crate) fn steal(&mut self, start: UnixMillis, since_start_ms: u64) -> Vec<u64> {
        let until_ms = self.truth.hidden.map_or(0, |hidden| hidden.until_seconds * 1_000);
        let mut stolen = Vec::new();
        while self.steals_at_ms <= since_start_ms && self.steals_at_ms < until_ms {
            let now = i128::from(start.plus(self.steals_at_ms).0) * self.tokens;
            self.arrival = self.arrival.max(now) + self.interval;
            stolen.push(self.steals_at_ms);
            self.steals_at_ms += self.steals_every_ms;
        }
        stolen
    }

    fn closed_for_ms(&mut self, at: UnixMillis, since_start_ms: u64) -> Option<u64> {
        let closed = self.truth.closed?;
        if since_start_ms < closed.after_seconds * 1_000 {
            return None;
        }
        let until = *self.closed_until.get_or_insert(at.plus(closed.for_seconds * 1_000));
        (at < until).then(|| until.since(at))
    }

    fn refused(&self, wait_ms: u64) -> Answer {
        let wait_ms = wait_ms.div_ceil(1_000).saturating_mul(1_000);
        Answer::Refused { wait_ms: self.truth.headers.then_some(wait_ms) }
    }
}
