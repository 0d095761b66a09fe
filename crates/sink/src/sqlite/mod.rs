//! The sink in an SQLite file.
//!
//! One thread owns the connection that writes, another one the connection that reads, and both
//! take what they are asked from a channel. SQLite has one writer at a time anyway; with a thread
//! for it, waiting batches share one commit (and one flush of the disk), and no async task is ever
//! blocked by a disk.

mod change;
mod connection;
mod group;
mod queries;
mod reader;
mod schema;
mod thread;
mod writer;

use async_trait::async_trait;
use rusqlite::{Connection, named_params};
use tokio::sync::oneshot;

use self::change::{Change, Outcome};
use self::thread::Thread;
use self::writer::Command;
use crate::batch::keep_winners;
use crate::{Batch, Counts, Landed, Quarantined, Rejects, Sink, SinkError, SinkUrl};

/// A [`Sink`] in an SQLite file or in memory.
///
/// Any number of sinks, in any number of processes, may have the same file open.
///
/// Dropping it waits until every batch that was accepted is committed, which takes as
/// long as one commit, and closes the file.
#[derive(Debug)]
pub struct SqliteSink {
    url: SinkUrl,
    /// None in memory, where only one connection sees the rows: the writer reads as well.
    ///
    /// Before the writer, so that it is dropped first: who closes the file last empties its
    /// write-ahead log.
    reader: Option<Thread<Read>>,
    writer: Thread<Command>,
}

/// A question to one connection. It sends its answer itself.
type Read = Box<dyn FnOnce(&Connection) + Send>;

impl SqliteSink {
    /// Opens the file, makes it if it does not exist, and brings its tables up to date.
    ///
    /// # Errors
    ///
    /// [`SinkError::DirectoryMissing`], [`SinkError::CannotOpen`], [`SinkError::NotSqlite`],
    /// [`SinkError::ReadOnly`] or [`SinkError::WalRefused`] if the path will not do,
    /// [`SinkError::SchemaNewer`] or [`SinkError::Migration`] if the file is not for this program,
    /// [`SinkError::Full`] or [`SinkError::Busy`] if it may work later.
    pub async fn open(url: SinkUrl) -> Result<Self, SinkError> {
        let writer = writer::start(&url).await?;
        let reader = match url {
            SinkUrl::Memory => None,
            // After the writer, which makes the file and its tables.
            SinkUrl::File(_) => Some(reader::start(&url).await?),
        };
        Ok(Self { url, reader, writer })
    }

    async fn write(&self, change: Change) -> Result<Outcome, SinkError> {
        let (reply, answer) = oneshot::channel();
        self.writer.send(Command::Write { change, reply }).await.map_err(|_| self.closed())?;
        answer.await.map_err(|_| self.closed())?
    }

    async fn read<T, F>(&self, doing: &'static str, query: F) -> Result<T, SinkError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // Nobody listens any more if the future was dropped.
            let _ = reply.send(query(connection));
        });
        match &self.reader {
            Some(reader) => reader.send(read).await.map_err(|_| self.closed())?,
            None => self.writer.send(Command::Read(read)).await.map_err(|_| self.closed())?,
        }
        let answer = answer.await.map_err(|_| self.closed())?;
        answer.map_err(|error| SinkError::from_sqlite(&self.url, doing, error))
    }

    fn closed(&self) -> SinkError {
        SinkError::Closed { url: self.url.clone() }
    }
}

#[async_trait]
impl Sink for SqliteSink {
    async fn land(&self, mut batch: Batch) -> Result<Landed, SinkError> {
        if let Some(row) = batch.rows.iter().position(|row| row.key.is_empty()) {
            let Batch { account, dataset, .. } = batch;
            return Err(SinkError::EmptyKey { account, dataset, row });
        }
        if batch.rows.is_empty() {
            return Ok(Landed::default());
        }
        let given = batch.rows.len();
        keep_winners(&mut batch.rows);
        let lost = given - batch.rows.len();

        match self.write(Change::Land(batch)).await? {
            Outcome::Landed(mut landed) => {
                landed.unchanged += lost as u64;
                Ok(landed)
            }
            Outcome::Quarantined(_) => unreachable!("a batch lands"),
        }
    }

    async fn quarantine(&self, rejects: Rejects) -> Result<Quarantined, SinkError> {
        if rejects.rows.is_empty() {
            return Ok(Quarantined::default());
        }
        match self.write(Change::Quarantine(rejects)).await? {
            Outcome::Quarantined(quarantined) => Ok(quarantined),
            Outcome::Landed(_) => unreachable!("rejects are quarantined"),
        }
    }

    async fn count(&self, account: &str, dataset: &str) -> Result<Counts, SinkError> {
        let (account, dataset) = (account.to_owned(), dataset.to_owned());
        self.read("counting rows", move |connection| {
            let mut count = connection.prepare_cached(queries::COUNT)?;
            count.query_row(named_params! { ":account": account, ":dataset": dataset }, counts_of)
        })
        .await
    }

    async fn counts(&self) -> Result<Vec<(String, String, Counts)>, SinkError> {
        self.read("counting rows", |connection| {
            let mut counts = connection.prepare_cached(queries::COUNTS)?;
            let rows = counts.query_map([], |row| {
                Ok((row.get("account")?, row.get("dataset")?, counts_of(row)?))
            })?;
            rows.collect()
        })
        .await
    }

    async fn scan(
        &self,
        account: &str,
        dataset: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, String)>, SinkError> {
        let (account, dataset) = (account.to_owned(), dataset.to_owned());
        let after = after.unwrap_or_default().to_owned();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("scanning keys", move |connection| {
            let mut scan = connection.prepare_cached(queries::SCAN)?;
            let rows = scan.query_map(
                named_params! {
                    ":account": account, ":dataset": dataset, ":after": after, ":limit": limit,
                },
                |row| Ok((row.get("natural_key")?, row.get("version")?)),
            )?;
            rows.collect()
        })
        .await
    }
}

/// What `count.sql` and `counts.sql` return, by the names of their columns.
fn counts_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Counts> {
    let count = |column| row.get(column).map(i64::unsigned_abs);
    Ok(Counts { rows: count("rows")?, quarantined: count("quarantined")? })
}
