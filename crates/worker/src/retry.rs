use std::{future::Future, time::Duration};

use waitless_job::{Clock, UnixMillis};
use waitless_store::StoreError;

/// First and longest pause between two tries, in milliseconds.
const PAUSE_MS: (u64, u64) = (50, 5_000);

/// Repeats a step while the store is away, until it answers or the deadline passes. Every step may
/// be repeated: the second time finds what the first one did.
pub(crate) async fn until_answered<T, F>(
    what: &'static str,
    clock: &Clock,
    deadline: UnixMillis,
    mut step: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = Pause::default();
    loop {
        match step().await {
            Err(error) if is_passing(&error) && clock.now() < deadline => {
                tracing::warn!(%error, "the store did not take `{what}`; trying again");
                pause.sleep().await;
            }
            answer => return answer,
        }
    }
}

/// Whether the same step can succeed later.
pub(crate) fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable { .. } | StoreError::Full { .. } => true,
        StoreError::Job { .. }
        | StoreError::UnknownLimit { .. }
        | StoreError::CostAboveBurst { .. }
        | StoreError::Owned { .. }
        | StoreError::Newer { .. }
        | StoreError::Open { .. }
        | StoreError::Damaged { .. } => false,
    }
}

/// Pauses that double from one to the next.
#[derive(Debug)]
pub(crate) struct Pause {
    next_ms: u64,
}

impl Default for Pause {
    fn default() -> Self {
        Self { next_ms: PAUSE_MS.0 }
    }
}

impl Pause {
    pub(crate) async fn sleep(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.next_ms)).await;
        self.next_ms = (self.next_ms * 2).min(PAUSE_MS.1);
    }
}
