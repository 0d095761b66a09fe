//! Orders that sellers ship themselves, in windows of time.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use waitless_job::UnixMillis;

use crate::{
    MoscowTime,
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const ENDPOINT: &str = "marketplace.fbs.orders.list";
const KEY: Key = Key::of(&[part("id")]);

/// The longest window: 30 days, in seconds.
const WINDOW_SECONDS: i64 = 30 * 86_400;

/// How far the windows have come. Times are in seconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// The window begins there.
    from: i64,
    /// The last window ends there.
    pub(crate) until: i64,
    /// What the upstream gave to ask for the next page with; 0 for the first of a window.
    next: i64,
    /// An earlier `next` of this window, and pages since its beginning: a circle of pages is found
    /// without remembering all of them, because `mark` moves up less and less often (Brent).
    #[serde(default)]
    mark: i64,
    #[serde(default)]
    pages: u64,
}

impl Cursor {
    fn window_at(from: i64, until: i64) -> Self {
        Self { from, until, next: 0, mark: 0, pages: 0 }
    }

    fn window_end(&self) -> i64 {
        self.from.saturating_add(WINDOW_SECONDS).min(self.until)
    }
}

#[derive(Debug)]
pub(crate) struct FbsOrders {
    limit: u64,
    from: i64,
}

impl FbsOrders {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        let from = MoscowTime::midnight(scope.since).moment();
        Self { limit: scope.page_rows(ENDPOINT, 1_000), from: from.0.div_euclid(1_000) }
    }

    fn next_page(cursor: &Cursor, next: i64) -> Next<Cursor> {
        // The mark of a window's beginning is 0, which ends it and cannot come.
        if next == cursor.next || next == cursor.mark {
            return Next::stuck(format!(
                "the upstream gives {next} to go on with, where it has sent us before: asking on \
                 would never end, retry the job later"
            ));
        }
        let pages = cursor.pages.saturating_add(1);
        let mark = if pages.is_power_of_two() { next } else { cursor.mark };
        Next::Ask(Cursor { next, mark, pages, ..cursor.clone() })
    }

    fn next_window(cursor: &Cursor) -> Next<Cursor> {
        let end = cursor.window_end();
        if end >= cursor.until {
            return Next::End;
        }
        Next::Ask(Cursor::window_at(end, cursor.until))
    }
}

impl Source for FbsOrders {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, now: UnixMillis) -> Next<Cursor> {
        let until = now.0.div_euclid(1_000);
        Next::Ask(Cursor::window_at(self.from.min(until), until))
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        Ask::new(ENDPOINT, Expect::Rows(&["orders"]))
            .query("limit", self.limit)
            .query("next", cursor.next)
            .query("dateFrom", cursor.from)
            .query("dateTo", cursor.window_end())
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| KEY.read(&fields));
        vec![key.map(Keyed::plain)]
    }

    /// A window ends with `next` 0, or with an empty page. A page that is not full is no end.
    fn next(&self, cursor: &Cursor, page: &Page<()>, _now: UnixMillis) -> Next<Cursor> {
        if page.rows == 0 {
            return Self::next_window(cursor);
        }
        match page.envelope.get("next").and_then(Value::as_i64) {
            Some(0) => Self::next_window(cursor),
            Some(next) => Self::next_page(cursor, next),
            None => Next::stuck(
                "a page of orders came without the `next` to go on with: retry the job later",
            ),
        }
    }

    /// At least a page for each window that is left; how many there are shows at its end.
    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        let left = cursor.until.saturating_sub(cursor.from).max(1);
        Some(done + u64::try_from(left).ok()?.div_ceil(WINDOW_SECONDS.unsigned_abs()))
    }
}
