//! Landing an answer's rows.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::{sync::mpsc, task};
use waitless_job::{AccountId, Leave, UnixMillis};
use waitless_sink::{Batch, Reject, Rejects, Row, Sink};
use waitless_upstream::{Rows, UpstreamError};

use crate::{
    Dataset,
    report::{Report, ReportError, ReportRow},
    source::{Page, Source},
};

/// Most rows of a batch. A row that came may be many that land.
const BATCH_ROWS_MAX: usize = 1_000;

/// Where the rows of an answer belong.
pub(crate) struct Landing<'a, S: Source> {
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) account: AccountId,
    pub(crate) dataset: Dataset,
    pub(crate) fetched_at: UnixMillis,
    pub(crate) source: &'a S,
    pub(crate) cursor: &'a S::Cursor,
}

impl<S: Source> Landing<'_, S> {
    /// Lands all rows of an answer; `landed` hears after each chunk how much that is so far. Once
    /// this returns, all of them are durable.
    ///
    /// If the answer breaks off, the chunks that have landed stay. Landing them again with the
    /// whole answer changes nothing.
    pub(crate) async fn stream(
        &self,
        mut rows: Rows,
        mut landed: impl FnMut(u64),
    ) -> Result<Page<S::Seen>, Leave> {
        let mut page = Page::default();
        while let Some(chunk) = rows.next_chunk().await.map_err(UpstreamError::leave)? {
            let mut batch = Batches::default();
            for row in chunk {
                self.sort(row, &mut page, &mut batch);
            }
            self.land(batch, &mut page).await?;
            landed(page.changed);
        }
        page.envelope = rows.envelope().clone();
        self.warn(&page);
        Ok(page)
    }

    /// Lands all rows of a report in the same way. It is unpacked on a thread of its own: a report
    /// of half a gigabyte would keep the worker's other jobs, and the renewal of their leases,
    /// waiting for seconds.
    pub(crate) async fn report(
        &self,
        zip: Vec<u8>,
        mut landed: impl FnMut(u64),
    ) -> Result<Page<S::Seen>, Leave> {
        let mut page = Page::default();
        // One chunk ahead of the sink and no more.
        let (sender, mut chunks) = mpsc::channel(1);
        let unpacking = task::spawn_blocking(move || unpack(zip, &sender));
        while let Some(chunk) = chunks.recv().await {
            let mut batch = Batches::default();
            for row in chunk {
                match row {
                    ReportRow::Object(row) => self.sort(row, &mut page, &mut batch),
                    ReportRow::Odd { reason, text } => {
                        page.rows += 1;
                        batch.rejects.push(Reject { reason, body: text });
                    }
                }
            }
            self.land(batch, &mut page).await?;
            landed(page.changed);
        }
        let unpacked = unpacking.await;
        unpacked.map_err(|error| Leave::Retry { error: error.to_string() })??;
        self.warn(&page);
        Ok(page)
    }

    /// Tells the rows to land in what came from what cannot be keyed.
    fn sort(&self, came: Box<RawValue>, page: &mut Page<S::Seen>, batch: &mut Batches) {
        page.rows += 1;
        let mut read = self.source.read(self.cursor, &came, &mut page.seen);
        // Most rows are one row to land, as it came.
        if let [Ok(keyed)] = &mut read[..] {
            let body = keyed.body.take().unwrap_or(came);
            let (key, version) =
                (std::mem::take(&mut keyed.key), std::mem::take(&mut keyed.version));
            batch.rows.push(Row { key, version, body });
            return;
        }
        let mut reason = None;
        for one in read {
            match one {
                Ok(keyed) => batch.rows.push(Row {
                    key: keyed.key,
                    version: keyed.version,
                    body: keyed.body.unwrap_or_else(|| came.clone()),
                }),
                // The row is kept once, whatever else is wrong with it.
                Err(problem) => drop(reason.get_or_insert(problem)),
            }
        }
        if let Some(reason) = reason {
            batch.rejects.push(Reject { reason, body: came.get().to_owned() });
        }
    }

    fn warn(&self, page: &Page<S::Seen>) {
        if page.rejected > 0 {
            tracing::warn!(
                account = %self.account, dataset = %self.dataset, rows = page.rejected,
                "rows that cannot be keyed are in quarantine"
            );
        }
    }

    async fn land(&self, batch: Batches, page: &mut Page<S::Seen>) -> Result<(), Leave> {
        let Batches { mut rows, rejects } = batch;
        let whose = || (self.account.to_string(), self.dataset.to_string());
        let fetched_at = self.fetched_at.0;
        while !rows.is_empty() {
            let behind = rows.split_off(rows.len().min(BATCH_ROWS_MAX));
            let (account, dataset) = whose();
            let landed = self.sink.land(Batch { account, dataset, fetched_at, rows }).await?;
            page.changed += landed.inserted + landed.updated;
            rows = behind;
        }
        if !rejects.is_empty() {
            page.rejected += u64::try_from(rejects.len()).expect("at most a chunk");
            let (account, dataset) = whose();
            self.sink.quarantine(Rejects { account, dataset, fetched_at, rows: rejects }).await?;
        }
        Ok(())
    }
}

/// Sends the chunks of all files of a report, as long as somebody takes them: an attempt may end in
/// the middle.
fn unpack(zip: Vec<u8>, chunks: &mpsc::Sender<Vec<ReportRow>>) -> Result<(), ReportError> {
    let mut report = Report::open(zip)?;
    let mut file = 0;
    while let Some(mut rows) = report.file(file)? {
        while let Some(chunk) = rows.next_chunk()? {
            if chunks.blocking_send(chunk).is_err() {
                return Ok(());
            }
        }
        file += 1;
    }
    Ok(())
}

/// What a chunk becomes.
#[derive(Default)]
struct Batches {
    rows: Vec<Row>,
    rejects: Vec<Reject>,
}
