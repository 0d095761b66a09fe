//! What a dataset has to say so that it can be imported: everything but the doing, which is
//! [`import`](crate::import)'s.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use waitless_job::UnixMillis;

/// A dataset, or a family of them. All of it is deciding: nothing here waits, sends or lands.
pub(crate) trait Source: Sync {
    /// How far an import has come: its checkpoint. What is added to it later has a serde default,
    /// because the checkpoints of earlier versions go on; one that cannot be read begins anew.
    type Cursor: Serialize + DeserializeOwned + Send + Sync;
    /// What a page tells about the way on, beside its number of rows.
    type Seen: Default + Send + Sync;

    /// Where an import begins.
    fn begin(&self, now: UnixMillis) -> Next<Self::Cursor>;

    /// What a cursor that an earlier attempt has left is worth at `now`.
    fn resume(&self, cursor: Self::Cursor, _now: UnixMillis) -> Next<Self::Cursor> {
        Next::Ask(cursor)
    }

    /// The same way on without the days that the upstream does not tell any more at `now`: an
    /// import may have waited for days, and even one that did not may go on past midnight. Asked
    /// for a day too far back, the upstream refuses the whole request.
    fn within_reach(&self, cursor: Self::Cursor, _now: UnixMillis) -> Self::Cursor {
        cursor
    }

    /// What to ask.
    fn ask(&self, cursor: &Self::Cursor) -> Ask;

    /// What a row of the answer is: rows to land, or reasons why it goes to the quarantine.
    fn read(&self, cursor: &Self::Cursor, row: &RawValue, seen: &mut Self::Seen) -> Vec<Read>;

    /// What to do after the page that a cursor has brought. All of its rows have landed.
    fn next(
        &self,
        cursor: &Self::Cursor,
        page: &Page<Self::Seen>,
        now: UnixMillis,
    ) -> Next<Self::Cursor>;

    /// All requests of the import, as far as that is known, `done` of them made and the next one
    /// being that of the cursor.
    fn requests_total(&self, _cursor: &Self::Cursor, _done: u64, _now: UnixMillis) -> Option<u64> {
        None
    }
}

/// A row to land, or why the row that came goes to the quarantine.
pub(crate) type Read = Result<Keyed, String>;

/// A row to land.
#[derive(Debug)]
pub(crate) struct Keyed {
    pub(crate) key: String,
    /// Sorts from old to new; empty if the upstream does not say when a row has changed. Then the
    /// last one to come wins.
    pub(crate) version: String,
    /// `None` for the row as it came.
    pub(crate) body: Option<Box<RawValue>>,
}

impl Keyed {
    /// A row that lands as it came, and says nothing of when it changed.
    pub(crate) fn plain(key: String) -> Self {
        Self { key, version: String::new(), body: None }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    /// Of the catalogue.
    pub(crate) endpoint: &'static str,
    /// What goes into the places of its path.
    pub(crate) places: Vec<(&'static str, String)>,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<Value>,
    pub(crate) expect: Expect,
    /// Whether a refusal (4xx, but for those about the credential and the rate) is an answer for
    /// [`Source::next`]. Otherwise it ends the job: the same request would be refused again.
    pub(crate) refusals_tell: bool,
    /// Whether an answer without content (204) says that there are no rows. Where the upstream does
    /// not document it, it may mean anything, and the request is made again.
    pub(crate) no_content_tells: bool,
}

impl Ask {
    pub(crate) fn new(endpoint: &'static str, expect: Expect) -> Self {
        Self {
            endpoint,
            places: Vec::new(),
            query: Vec::new(),
            body: None,
            expect,
            refusals_tell: false,
            no_content_tells: false,
        }
    }

    pub(crate) fn place(mut self, name: &'static str, value: impl ToString) -> Self {
        self.places.push((name, value.to_string()));
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub(crate) fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn refusals_tell(self) -> Self {
        Self { refusals_tell: true, ..self }
    }

    pub(crate) fn no_content_tells(self) -> Self {
        Self { no_content_tells: true, ..self }
    }
}

/// What an answer is expected to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Rows, streamed: the array at this path of objects; no path for a bare array.
    Rows(&'static [&'static str]),
    /// A small JSON, which is the page's envelope.
    Json,
    /// A ZIP with CSV in it, a row a line.
    Report,
}

/// What an answer had in it.
#[derive(Debug, Default)]
pub(crate) struct Page<S> {
    /// Rows, those in quarantine included.
    pub(crate) rows: u64,
    /// Landed rows that were new, or newer than what was there.
    pub(crate) changed: u64,
    /// Rows that went to the quarantine.
    pub(crate) rejected: u64,
    /// What the source has seen in its rows.
    pub(crate) seen: S,
    /// The answer without its rows.
    pub(crate) envelope: Value,
    /// Status and words of a refusal, if [`Ask::refusals_tell`].
    pub(crate) refusal: Option<(u16, String)>,
}

/// What comes after a page.
#[derive(Debug, PartialEq)]
pub(crate) enum Next<C> {
    /// This is asked.
    Ask(C),
    /// This is asked, but not before these milliseconds have passed. The job leaves its slot, and
    /// the cursor is saved before anything else happens.
    Wait { cursor: C, wait_ms: u64 },
    /// Everything is there.
    End,
    /// A dead letter: there is no way on that loses nothing, and a human has to look.
    Stuck {
        reason: String,
        /// Where a retry goes on, if not where this began.
        cursor: Option<C>,
    },
    /// The answer is of no use, and the same request may do better later.
    Failed(String),
}

impl<C> Next<C> {
    pub(crate) fn stuck(reason: impl Into<String>) -> Self {
        Self::Stuck { reason: reason.into(), cursor: None }
    }
}
