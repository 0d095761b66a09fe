//! Orders and sales: pages of the statistics service, in the order of the rows' last change.

mod cursor;
mod progress;
mod row;

use serde_json::value::RawValue;
use waitless_job::UnixMillis;

pub(crate) use self::cursor::Cursor;
use self::{progress::requests_total, row::Head};
use crate::{
    MoscowTime,
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

/// Rows on a full page, should the catalogue not say.
const PAGE_ROWS: u32 = 80_000;

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Orders,
    Sales,
}

/// Rows of one of these datasets.
#[derive(Debug)]
pub(crate) struct Changes {
    kind: Kind,
    endpoint: &'static str,
    since: MoscowTime,
    full_rows: u64,
}

impl Changes {
    pub(crate) fn orders(scope: &Scope<'_>) -> Self {
        Self::of(Kind::Orders, "orders", scope)
    }

    pub(crate) fn sales(scope: &Scope<'_>) -> Self {
        Self::of(Kind::Sales, "sales", scope)
    }

    fn of(kind: Kind, endpoint: &'static str, scope: &Scope<'_>) -> Self {
        let full_rows = scope.page_rows(endpoint, PAGE_ROWS);
        Self { kind, endpoint, since: MoscowTime::midnight(scope.since), full_rows }
    }
}

impl Source for Changes {
    type Cursor = Cursor;
    /// When the last row that says so has changed.
    type Seen = Option<MoscowTime>;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor::at(self.since))
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        Ask::new(self.endpoint, Expect::Rows(&[]))
            .query("dateFrom", cursor.date_from)
            .query("flag", 0)
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, seen: &mut Option<MoscowTime>) -> Vec<Read> {
        let head = Head::of(self.kind, row);
        *seen = head.changed_at.or(*seen);
        let keyed = |key| match head.changed_at {
            Some(at) => Ok(Keyed { key, version: at.to_string(), body: None }),
            None => unreachable!("a row without a version has no key"),
        };
        vec![head.key.and_then(keyed)]
    }

    fn next(
        &self,
        cursor: &Cursor,
        page: &Page<Option<MoscowTime>>,
        _now: UnixMillis,
    ) -> Next<Cursor> {
        cursor.after(page, self.full_rows)
    }

    fn requests_total(&self, cursor: &Cursor, done: u64, now: UnixMillis) -> Option<u64> {
        requests_total(done, self.since, cursor.date_from, MoscowTime::at(now))
    }
}
