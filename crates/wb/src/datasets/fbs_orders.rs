//! Orders that sellers ship themselves, in windows of time.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use waitless_job::UnixMillis;

use super::sameness::{Circle, leaps};
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
    /// Of the `next`s of this window.
    #[serde(default)]
    circle: Circle,
    /// Whether that `next` is far behind the orders of its page.
    #[serde(default)]
    leaps: bool,
}

impl Cursor {
    fn window_at(from: i64, until: i64) -> Self {
        Self { from, until, next: 0, circle: Circle::default(), leaps: false }
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

    fn next_page(cursor: &Cursor, next: i64, greatest: Option<i64>) -> Next<Cursor> {
        let leaps = greatest.is_some_and(|greatest| leaps(greatest, next));
        match cursor.circle.with(next.cast_unsigned()) {
            Some(circle) => Next::Ask(Cursor { next, circle, leaps, ..cursor.clone() }),
            None => Next::stuck(format!(
                "the upstream gives {next} to go on with, where it has sent us before: asking on \
                 would never end, retry the job later"
            )),
        }
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
    /// The greatest id.
    type Seen = Option<i64>;

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

    fn read(&self, _cursor: &Cursor, row: &RawValue, seen: &mut Option<i64>) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| KEY.read(&fields));
        let id = key.as_ref().ok().and_then(|key| key.parse().ok());
        *seen = id.max(*seen);
        vec![key.map(Keyed::plain)]
    }

    /// A window ends with `next` 0, or with an empty page. A page that is not full is no end.
    fn next(&self, cursor: &Cursor, page: &Page<Option<i64>>, _now: UnixMillis) -> Next<Cursor> {
        if page.rows == 0 && cursor.leaps {
            return Next::Stuck {
                reason: format!(
                    "the upstream gave {} to go on with, far behind the orders that came with it, \
                     and nothing is there, so orders may have been left out: retry the job later, \
                     it goes on with these 30 days",
                    cursor.next
                ),
                cursor: Some(Cursor::window_at(cursor.from, cursor.until)),
            };
        }
        if page.rows == 0 {
            return Self::next_window(cursor);
        }
        match page.envelope.get("next").and_then(Value::as_i64) {
            Some(0) => Self::next_window(cursor),
            Some(next) => Self::next_page(cursor, next, page.seen),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::datasets::play::{Ended, NOON, Told, play, scoped, small_pages};

    const DAY: i64 = 86_400;

    fn orders(since: &str) -> FbsOrders {
        small_pages(ENDPOINT, 10, since, FbsOrders::of)
    }

    fn page(next: impl Into<Value>) -> Told {
        Told::Rows(vec![json!({ "id": 7 })], json!({ "next": next.into(), "orders": [] }))
    }

    #[test]
    fn windows_of_thirty_days_follow_each_other_until_now() {
        // 2026-07-03 begins in Moscow at 21:00 of the day before in UTC.
        let played = play(&orders("2026-07-03"), None, |_, _| page(0));
        let from = NOON.0 / 1_000 - 90 * DAY - 15 * 3_600;
        let starts = [0, 30, 60, 90].map(|days| (from + days * DAY).to_string());
        assert_eq!(played.query("dateFrom"), starts.each_ref());
        let now = (NOON.0 / 1_000).to_string();
        assert_eq!(played.query("dateTo"), [&starts[1], &starts[2], &starts[3], &now]);
        assert_eq!(played.query("next"), ["0"; 4]);
        assert_eq!((played.totals, played.ended), (vec![Some(4); 3], Ended::Complete));
        let shipped = play(&scoped("2026-10-01", FbsOrders::of), None, |_, _| page(0));
        assert_eq!((shipped.asks.len(), shipped.query("limit")), (1, vec!["1000"]));
    }

    #[test]
    fn pages_follow_next_until_it_is_0_or_a_page_is_empty() {
        let played = play(&orders("2026-09-30"), None, |_, time| page([55, 13, 0][time]));
        assert_eq!(played.query("next"), ["0", "55", "13"]);
        assert_eq!(played.ended, Ended::Complete);
        let played = play(&orders("2026-09-30"), None, |_, time| match time {
            0 => page(55),
            _ => Told::Rows(vec![], json!({ "next": 55, "orders": [] })),
        });
        assert_eq!((played.asks.len(), played.ended), (2, Ended::Complete));
    }

    #[test]
    fn a_circle_of_pages_is_found_however_long_it_is_and_where_it_begins() {
        for (before, length) in [(0, 1), (0, 2), (1, 1), (5, 3), (40, 17), (3, 100)] {
            let played = play(&orders("2026-09-30"), None, |_, time| {
                page(1 + if time < before { time } else { before + (time - before) % length })
            });
            assert!(played.stuck().contains("sent us before"), "{}", played.stuck());
            let most = 3 * (before.max(length) + 1) + 2;
            assert!(played.asks.len() <= most, "{before} {length}: {}", played.asks.len());
        }
    }

    #[test]
    fn a_long_way_without_a_circle_is_none() {
        let played = play(&orders("2026-09-30"), None, |_, time| {
            page(if time < 1_000 { time + 1 } else { 0 })
        });
        assert_eq!((played.asks.len(), played.ended), (1_001, Ended::Complete));
    }

    #[test]
    fn a_next_far_behind_its_orders_with_nothing_there_stops_and_a_retry_begins_the_window_anew() {
        let odd = 9_000_000_000_000_000_000_i64;
        let none = || Told::Rows(vec![], json!({ "next": 0, "orders": [] }));
        let played = play(&orders("2026-09-30"), None, |_, time| match time {
            0 => page(55),
            1 => page(odd),
            _ => none(),
        });
        assert!(played.stuck().contains("may have been left out"), "{}", played.stuck());
        let again = play(&orders("2026-09-30"), Some(&played.checkpoint), |_, _| page(0));
        assert_eq!((again.query("next"), &again.ended), (vec!["0"], &Ended::Complete));
        // Where there is something, it was a real one.
        let played = play(&orders("2026-09-30"), None, |_, time| page([odd, odd + 1, 0][time]));
        assert_eq!((played.asks.len(), played.ended), (3, Ended::Complete));
    }

    #[test]
    fn orders_without_a_way_on_stop() {
        for next in [Value::Null, json!("55"), json!([]), json!(1.5)] {
            let played = play(&orders("2026-09-30"), None, |_, _| page(next.clone()));
            assert!(played.stuck().contains("without the `next`"), "{}", played.stuck());
        }
    }
}
