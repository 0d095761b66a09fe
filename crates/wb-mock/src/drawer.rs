//! The seam between what the mock does with every request and what it has to answer.
//!
//! A drawer holds one dataset of one seller. The gateway has let the request in and its bucket has
//! admitted it before a drawer is asked.

use std::collections::HashMap;
use std::fmt::Debug;

use axum::http::StatusCode;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::query::Query;
use crate::{Call, Dataset, ExpectedRow};

/// One dataset of one seller.
///
/// Rows are made one by one, in answers as in [`expected`](Self::expected): none are kept.
pub(crate) trait Drawer: Debug + Send + Sync {
    /// What an admitted request gets. Only calls come whose method names this drawer's dataset.
    fn answer(&self, call: Call, question: &Question) -> Reply;

    /// The rows that a client must end up with.
    fn expected(&self) -> ExpectedRows;

    /// How many rows [`expected`](Self::expected) has.
    fn expected_count(&self) -> u64 {
        self.expected().count() as u64
    }

    /// What an import takes at least if nothing is refused and no task needs a second look: calls,
    /// which may be those of other datasets, with their numbers.
    fn requests(&self) -> Vec<(Dataset, Call, u64)>;
}

/// Rows that a client must end up with.
pub(crate) type ExpectedRows = Box<dyn Iterator<Item = ExpectedRow> + Send>;

/// What an admitted request asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    /// Values of the parts in braces of the method's path.
    pub(crate) places: HashMap<String, String>,
    pub(crate) query: Query,
    /// The JSON body of a `POST`, else null.
    pub(crate) body: Value,
    /// The mock's time. It passes as fast as real time does, whatever the speed.
    pub(crate) now: DateTime<Utc>,
    /// What a fault script has in store for the task that this request is about or makes.
    pub(crate) fate: Option<TaskFate>,
}

/// What becomes of a task, from the moment that a question names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskFate {
    /// The task is forgotten: its status and download are 404.
    Expired,
    /// Its status is `purged`, its download 404.
    Purged,
    /// Its status is `canceled` (a report's `FAILED`), its download 404.
    Canceled,
    /// The answer has a status that nobody has documented. The task itself goes on.
    Unknown,
}

/// What a drawer answers.
#[derive(Debug)]
pub(crate) enum Reply {
    /// 200 with a JSON value. Its rows are not counted.
    Json(Value),
    /// 200 with JSON that is made while it is sent.
    Rows(StreamedRows),
    /// 200 with a ZIP archive.
    Zip(Bytes),
    /// 204.
    NoContent,
    /// An error with this body.
    Error { status: StatusCode, body: Value },
    /// An error in the shape of the method's service, with this text in it.
    Refused { status: StatusCode, detail: String },
}

impl Reply {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Json(_) | Self::Rows(_) | Self::Zip(_) => StatusCode::OK,
            Self::NoContent => StatusCode::NO_CONTENT,
            Self::Error { status, .. } | Self::Refused { status, .. } => *status,
        }
    }

    /// Rows, separated by commas, between the text before and the text after them: `[` and `]`, or
    /// more if the array is inside of an object.
    pub(crate) fn rows<I>(before: impl Into<String>, rows: I, after: impl Into<String>) -> Self
    where
        I: Iterator<Item: Serialize> + Send + 'static,
    {
        let mut rows = rows;
        let next = move |buffer: &mut Vec<u8>| match rows.next() {
            Some(row) => {
                serde_json::to_writer(buffer, &row).expect("rows are plain values");
                true
            }
            None => false,
        };
        Self::Rows(StreamedRows {
            before: before.into(),
            next: Box::new(next),
            after: after.into(),
        })
    }
}

/// Writes the next row, or returns false if there is none.
pub(crate) type NextRow = Box<dyn FnMut(&mut Vec<u8>) -> bool + Send>;

/// JSON that is made while it is sent.
pub(crate) struct StreamedRows {
    pub(crate) before: String,
    pub(crate) next: NextRow,
    pub(crate) after: String,
}

impl Debug for StreamedRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { before, after, .. } = self;
        f.debug_struct("StreamedRows").field("before", before).field("after", after).finish()
    }
}
