//! The realization report, line by line.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::days::Days;
use crate::{
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const ENDPOINT: &str = "finance.sales-reports.detailed";
const KEY: Key = Key::of(&[part("rrdId")]);

/// The last line that has landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Its number; 0 before the first page.
    rrd_id: i64,
    /// The days asked for. They stay as they are past midnight: with another end the numbers would
    /// be those of another answer.
    pub(crate) days: Days,
}

#[derive(Debug)]
pub(crate) struct Finance {
    limit: u64,
    days: Days,
}

impl Finance {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        let days = Days { start: scope.since.min(scope.today), end: scope.today };
        Self { limit: scope.page_rows(ENDPOINT, 100_000), days }
    }
}

impl Source for Finance {
    type Cursor = Cursor;
    /// The number of the last line that has one.
    type Seen = Option<i64>;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { rrd_id: 0, days: self.days })
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        Ask::new(ENDPOINT, Expect::Rows(&[])).body(json!({
            "dateFrom": cursor.days.start,
            "dateTo": cursor.days.end,
            "limit": self.limit,
            "rrdId": cursor.rrd_id,
        }))
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, seen: &mut Option<i64>) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| KEY.read(&fields));
        let number = key.as_ref().ok().and_then(|key| key.parse().ok());
        *seen = number.or(*seen);
        vec![key.map(Keyed::plain)]
    }

    /// The end is an answer without content, never a page that is not full.
    fn next(&self, cursor: &Cursor, page: &Page<Option<i64>>, _now: UnixMillis) -> Next<Cursor> {
        if page.rows == 0 {
            return Next::End;
        }
        let rrd_id = cursor.rrd_id;
        match page.seen {
            Some(last) if last > rrd_id => Next::Ask(Cursor { rrd_id: last, ..cursor.clone() }),
            Some(last) => Next::stuck(format!(
                "asked for lines behind rrdId {rrd_id}, the upstream sent a page that ends with \
                 {last}: going on there would go round in circles, retry the job later"
            )),
            None => Next::stuck(format!(
                "none of the {} lines behind rrdId {rrd_id} has a number, so there is no way on: \
                 look at the quarantine for what they say instead",
                page.rows
            )),
        }
    }
}
