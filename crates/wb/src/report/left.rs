use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// How many more bytes may be unpacked. Clones share it, as the files of a report do.
#[derive(Debug, Clone)]
pub(super) struct Left(Arc<AtomicU64>);

impl Left {
    pub(super) fn of(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// Takes so many; `false` if there are fewer.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let fewer = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok()
    }
}
