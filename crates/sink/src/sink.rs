use std::fmt;

use async_trait::async_trait;

use crate::{Batch, Counts, Landed, Quarantined, Rejects, SinkError};

/// A place where fetched rows land, each once.
///
/// All methods may be called at the same time from any number of tasks. What one call has
/// answered, every later call sees.
#[async_trait]
pub trait Sink: fmt::Debug + Send + Sync {
    /// Lands a batch: all of it or nothing, and durably once this returns.
    ///
    /// A row replaces the stored row of its key if its version is not older. A batch without rows
    /// answers zeros and touches nothing.
    ///
    /// A future that is dropped before it is ready may still land its batch. Landing it again is
    /// always safe.
    ///
    /// # Errors
    ///
    /// [`SinkError::EmptyKey`] if a row has no key: such rows belong into the
    /// [quarantine](Sink::quarantine). [`SinkError::Full`], [`SinkError::ReadOnly`],
    /// [`SinkError::Busy`], [`SinkError::Sqlite`] and [`SinkError::Closed`] if the batch could not
    /// be stored. Other batches are not affected, and this one may be landed again.
    async fn land(&self, batch: Batch) -> Result<Landed, SinkError>;

    /// Keeps rows that could not be keyed: all of them or none, and durably once this returns.
    ///
    /// The same body of the same account and dataset is kept once, with its first reason and
    /// moment.
    ///
    /// # Errors
    ///
    /// As for [`Sink::land`], but for the key.
    async fn quarantine(&self, rejects: Rejects) -> Result<Quarantined, SinkError>;

    /// How many rows one account has in one dataset; zeros if the sink has never heard of it.
    ///
    /// # Errors
    ///
    /// [`SinkError::Busy`], [`SinkError::Sqlite`] or [`SinkError::Closed`] if it could not be read.
    async fn count(&self, account: &str, dataset: &str) -> Result<Counts, SinkError>;

    /// Account, dataset and counts of everything that has at least one row, in that order.
    ///
    /// # Errors
    ///
    /// As for [`Sink::count`].
    async fn counts(&self) -> Result<Vec<(String, String, Counts)>, SinkError>;

    /// Keys and versions of one dataset in the byte order of the keys: at most `limit` of those
    /// behind the key `after`, or from the start.
    ///
    /// Pass the last key of one page to get the next; an empty page (with a `limit` above zero) is
    /// the end. Each page is a snapshot of its own.
    ///
    /// # Errors
    ///
    /// As for [`Sink::count`].
    async fn scan(
        &self,
        account: &str,
        dataset: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, String)>, SinkError>;
}
