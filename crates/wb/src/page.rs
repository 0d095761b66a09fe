//! Landing a page while it streams.

use std::sync::Arc;

use serde_json::value::RawValue;
use waitless_job::{AccountId, Leave, UnixMillis};
use waitless_sink::{Batch, Reject, Rejects, Row, Sink};
use waitless_upstream::{Rows, UpstreamError};

use crate::{Dataset, MoscowTime, row::Head};

/// What a page, or the part of it that has landed, had in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Page {
    /// Rows, those in quarantine included.
    pub(crate) rows: u64,
    /// When the last row that says so has changed.
    pub(crate) last: Option<MoscowTime>,
    /// Rows that were new, or newer than what was there.
    pub(crate) changed: u64,
    /// Rows that went to the quarantine.
    pub(crate) rejected: u64,
}

/// Where the rows of a page belong.
pub(crate) struct Landing {
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) account: AccountId,
    pub(crate) dataset: Dataset,
    pub(crate) fetched_at: UnixMillis,
}

impl Landing {
    /// Lands all rows of a page; `landed` hears after each chunk how much that is so far. Once this
    /// returns, all of them are durable.
    ///
    /// If the page breaks off, the chunks that have landed stay. Landing them again with the whole
    /// page changes nothing.
    pub(crate) async fn land(
        &self,
        mut rows: Rows,
        mut landed: impl FnMut(&Page),
    ) -> Result<Page, Leave> {
        let mut page = Page::default();
        while let Some(chunk) = rows.next_chunk().await.map_err(UpstreamError::leave)? {
            self.land_chunk(chunk, &mut page).await?;
            landed(&page);
        }
        if page.rejected > 0 {
            tracing::warn!(
                account = %self.account, dataset = %self.dataset, rows = page.rejected,
                "rows that cannot be keyed are in quarantine"
            );
        }
        Ok(page)
    }

    async fn land_chunk(&self, chunk: Vec<Box<RawValue>>, page: &mut Page) -> Result<(), Leave> {
        let (mut rows, mut rejects) = (Vec::with_capacity(chunk.len()), Vec::new());
        for body in chunk {
            page.rows += 1;
            let head = Head::of(self.dataset, &body);
            page.last = head.changed_at.or(page.last);
            match (head.key, head.changed_at) {
                (Ok(key), Some(at)) => rows.push(Row { key, version: at.to_string(), body }),
                (Err(reason), _) => rejects.push(Reject { reason, body: body.get().to_owned() }),
                (Ok(_), None) => unreachable!("a row without a version has no key"),
            }
        }
        let (account, dataset) = (self.account.as_str(), self.dataset.as_str());
        let fetched_at = self.fetched_at.0;
        if !rows.is_empty() {
            let (account, dataset) = (account.to_owned(), dataset.to_owned());
            let landed = self.sink.land(Batch { account, dataset, fetched_at, rows }).await?;
            page.changed += landed.inserted + landed.updated;
        }
        if !rejects.is_empty() {
            page.rejected += u64::try_from(rejects.len()).expect("at most a thousand");
            let (account, dataset) = (account.to_owned(), dataset.to_owned());
            let rejects = Rejects { account, dataset, fetched_at, rows: rejects };
            self.sink.quarantine(rejects).await?;
        }
        Ok(())
    }
}
