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
    moscow::days_after,
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
    /// No row has changed at this time or later.
    never: MoscowTime,
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
        Self {
            kind,
            endpoint,
            since: MoscowTime::midnight(scope.since),
            // A day more than has begun: the upstream's clock is not ours, and days pass.
            never: MoscowTime::midnight(days_after(scope.today, 2)),
            full_rows: scope.page_rows(endpoint, PAGE_ROWS),
        }
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

    fn read(&self, cursor: &Cursor, row: &RawValue, seen: &mut Option<MoscowTime>) -> Vec<Read> {
        let head = Head::of(self.kind, row);
        if let Some(at) = head.changed_at.filter(|at| *at >= self.never) {
            // Asking on from there would leave out everything before, and say nothing of it.
            return vec![Err(format!("`lastChangeDate`: `{at}` has not come yet"))];
        }
        // A row from before what was asked for says nothing of the way on, unless all of them are.
        let gets_on = |at: MoscowTime| at >= cursor.date_from;
        if head.changed_at.is_some_and(gets_on) || !seen.is_some_and(gets_on) {
            *seen = head.changed_at.or(*seen);
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::datasets::play::{Ended, Told, play, small_pages};

    fn order(number: u32, at: &str) -> Value {
        json!({ "srid": format!("order-{number}"), "lastChangeDate": at })
    }

    /// Orders of an upstream whose first page ends with one of that time.
    fn imported(odd: &str) -> (Vec<String>, Vec<String>, Ended) {
        let orders = small_pages("orders", 10, "2026-09-30", Changes::orders);
        let played = play(&orders, None, |ask, _| {
            let second = |second: u32| format!("2026-09-30T10:00:{second:02}");
            Told::Rows(
                match ask.query[0].1.as_str() {
                    "2026-09-30T00:00:00" => {
                        vec![order(1, &second(1)), order(2, &second(2)), order(3, odd)]
                    }
                    "2026-09-30T10:00:02" => vec![order(2, &second(2)), order(4, &second(4))],
                    "2026-09-30T10:00:04" => vec![order(4, &second(4))],
                    _ => vec![],
                },
                Value::Null,
            )
        });
        let keys = played.keys().into_iter().map(str::to_owned).collect();
        (keys, played.rejects, played.ended)
    }

    #[test]
    fn a_change_in_the_future_is_no_place_to_go_on_from() {
        let (keys, rejects, ended) = imported("9999-12-31T23:59:59");
        assert_eq!(
            (keys, ended),
            (["order-1", "order-2", "order-4"].map(str::to_owned).into(), Ended::Complete)
        );
        assert_eq!(rejects, ["`lastChangeDate`: `9999-12-31T23:59:59` has not come yet"]);
    }

    #[test]
    fn a_change_before_what_was_asked_for_is_no_place_to_go_on_from_either() {
        let (keys, rejects, ended) = imported("0001-01-01T00:00:00");
        assert_eq!((keys.len(), rejects.len(), ended), (4, 0, Ended::Complete));
    }
}
