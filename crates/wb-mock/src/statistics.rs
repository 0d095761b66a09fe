//! Orders and sales: the datasets that are followed by `lastChangeDate`.

use std::sync::Arc;

use axum::http::StatusCode;

use crate::date_from;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::rows::Row;
use crate::table::{Feed, Table};
use crate::{Call, Dataset, ExpectedRow, MockConfig};

/// Orders or sales of one seller.
#[derive(Debug)]
pub(crate) struct Statistics {
    feed: Feed,
    table: Arc<Table>,
}

impl Statistics {
    pub(crate) fn new(config: &MockConfig, seller: usize, feed: Feed) -> Self {
        Self { feed, table: Arc::new(Table::new(config, seller, feed)) }
    }
}

impl Drawer for Statistics {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        match date_from::page_query(&question.query) {
            Ok(query) => Reply::rows("[", self.table.rows(self.table.answer(query)), "]"),
            Err(bad) => Reply::Error { status: StatusCode::BAD_REQUEST, body: bad.body() },
        }
    }

    /// In order of their last change.
    fn expected(&self) -> ExpectedRows {
        Box::new(self.table.rows(self.table.at_the_end()).map(ExpectedRow::from))
    }

    fn expected_count(&self) -> u64 {
        self.table.rows_count()
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        let dataset = match self.feed {
            Feed::Orders => Dataset::Orders,
            Feed::Sales => Dataset::Sales,
        };
        vec![(dataset, Call::Page, self.table.import_requests())]
    }
}

impl From<Row> for ExpectedRow {
    fn from(row: Row) -> Self {
        Self {
            key: row.key().to_owned(),
            version: row.last_change_date().format("%Y-%m-%dT%H:%M:%S").to_string(),
            body: serde_json::to_string(&row).expect("a row has text keys and plain values"),
        }
    }
}
