//! The limiter alone, for callers that have no queue.

use std::{sync::Arc, time::Duration};

use waitless_bucket::{Patience, Quota, peek, wait_or_refuse};
use waitless_job::{BucketKey, Clock, Cost};

use crate::{Store, StoreError, ops::Taken};

/// What a caller outside the queue is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// The tokens are taken: send now.
    Allowed {
        /// Whole tokens left.
        remaining: u32,
        /// Milliseconds that the caller has waited.
        waited_ms: u64,
    },
    /// Waiting would pass the ceiling: a local 429.
    Refused {
        /// Whole seconds after which asking again makes sense.
        retry_after_seconds: u64,
    },
}

/// Takes tokens for callers outside the queue.
#[derive(Clone)]
pub struct Limiter {
    store: Arc<dyn Store>,
    clock: Clock,
}

impl Limiter {
    /// A limiter on this store's buckets.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Takes tokens if they are there now, else says how long to wait.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::CostAboveBurst`], or the store's own.
    pub async fn acquire(&self, bucket: BucketKey, cost: Cost) -> Result<Taken, StoreError> {
        self.store.take(vec![(bucket, cost)], self.clock.now()).await
    }

    /// Takes tokens, waiting for them up to a ceiling in milliseconds; without one, up to the
    /// bucket's own ([`waitless_bucket::Policy::wait_ceiling_ms`]).
    ///
    /// Sleeps while it waits. A job never does: it asks for its permit and leaves its slot.
    ///
    /// # Errors
    /// As [`Limiter::acquire`].
    pub async fn acquire_waiting(
        &self,
        bucket: BucketKey,
        cost: Cost,
        ceiling_ms: Option<u64>,
    ) -> Result<Grant, StoreError> {
        let ceiling_ms = match ceiling_ms {
            Some(ceiling_ms) => ceiling_ms,
            None => self.policy(&bucket).await?.wait_ceiling_ms(),
        };
        let started = self.clock.now();
        loop {
            let waited_ms = self.clock.now().since(started);
            let wait_ms = match self.acquire(bucket.clone(), cost).await? {
                Taken::Allowed { remaining } => {
                    return Ok(Grant::Allowed { remaining, waited_ms });
                }
                Taken::Denied { wait_ms, .. } => wait_ms,
            };
            match wait_or_refuse(wait_ms, waited_ms, ceiling_ms) {
                Patience::Wait { wait_ms } => {
                    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                }
                Patience::Refuse { retry_after_seconds } => {
                    return Ok(Grant::Refused { retry_after_seconds });
                }
            }
        }
    }

    /// Looks at a bucket without spending.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], or the store's own.
    pub async fn quota(&self, bucket: &BucketKey) -> Result<Quota, StoreError> {
        let view = self.view(bucket).await?;
        Ok(peek(view.state.as_ref(), &view.policy, self.clock.now()))
    }

    async fn policy(&self, bucket: &BucketKey) -> Result<waitless_bucket::Policy, StoreError> {
        Ok(self.view(bucket).await?.policy)
    }

    async fn view(&self, bucket: &BucketKey) -> Result<crate::model::LimitView, StoreError> {
        let limits = self.store.limits(Some(bucket.account.clone())).await?;
        let view = limits.into_iter().find(|view| view.bucket == *bucket);
        view.ok_or_else(|| StoreError::UnknownLimit { bucket: bucket.clone() })
    }
}
