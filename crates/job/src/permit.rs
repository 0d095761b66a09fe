use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use waitless_bucket::UnixMillis;

use crate::Needs;

/// Proof that tokens were taken for one request.
///
/// Spend it right before the request goes out. A permit that is dropped unspent is given back to
/// its buckets when the job next speaks to its store.
#[derive(Debug)]
#[must_use = "tokens were taken for this permit"]
pub struct Permit {
    needs: Needs,
    granted_at: UnixMillis,
    ttl_ms: u64,
    spent: Arc<AtomicBool>,
}

impl Permit {
    /// A permit for `needs` taken at `granted_at`, which may be spent for `ttl_ms` milliseconds.
    /// `spent` is how whoever took the tokens learns what became of them.
    pub fn new(needs: Needs, granted_at: UnixMillis, ttl_ms: u64, spent: Arc<AtomicBool>) -> Self {
        Self { needs, granted_at, ttl_ms, spent }
    }

    /// Whether the permit may still be spent at `now`.
    #[must_use]
    pub fn is_fresh(&self, now: UnixMillis) -> bool {
        now.since(self.granted_at) <= self.ttl_ms
    }

    /// Spends the permit: its request is being sent at `now`.
    ///
    /// # Errors
    /// [`StalePermit`] if the permit is older than its time to live. The upstream might count the
    /// request into a later interval than the bucket did; ask for a new permit. The tokens of the
    /// stale one are given back.
    pub fn spend(self, now: UnixMillis) -> Result<SentPermit, StalePermit> {
        if !self.is_fresh(now) {
            return Err(StalePermit { age_ms: now.since(self.granted_at), ttl_ms: self.ttl_ms });
        }
        self.spent.store(true, Ordering::Release);
        Ok(SentPermit { needs: self.needs, sent_at: now })
    }
}

/// What is left of a spent permit: what its answer's feedback refers to.
#[derive(Debug, Clone)]
pub struct SentPermit {
    /// What was taken.
    pub needs: Needs,
    /// When the request went out.
    pub sent_at: UnixMillis,
}

/// A permit came to be spent too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the permit is {age_ms} ms old and was good for {ttl_ms} ms; it was not spent")]
pub struct StalePermit {
    /// Milliseconds since the grant.
    pub age_ms: u64,
    /// Milliseconds for which a grant is good.
    pub ttl_ms: u64,
}
