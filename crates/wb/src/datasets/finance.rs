//! The realization report, line by line.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::{days::Days, sameness::leaps};
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
    /// The number of the last line that has one to go on from.
    type Seen = Option<i64>;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { rrd_id: 0, days: self.days })
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        Ask::new(ENDPOINT, Expect::Rows(&[])).no_content_tells().body(json!({
            "dateFrom": cursor.days.start,
            "dateTo": cursor.days.end,
            "limit": self.limit,
            "rrdId": cursor.rrd_id,
        }))
    }

    fn read(&self, cursor: &Cursor, row: &RawValue, seen: &mut Option<i64>) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| KEY.read(&fields));
        let number: Option<i64> = key.as_ref().ok().and_then(|key| key.parse().ok());
        // A line from before what was asked for says nothing of the way on, unless all of them are.
        let gets_on = |number: i64| number > cursor.rrd_id;
        // Neither does one whose number leaps. Should it be a real one, the next page begins with it.
        let leaps =
            |number: i64| seen.is_some_and(|before| gets_on(before) && leaps(before, number));
        let number = number.filter(|number| !leaps(*number));
        if number.is_some_and(gets_on) || !seen.is_some_and(gets_on) {
            *seen = number.or(*seen);
        }
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped, small_pages};

    fn finance() -> Finance {
        small_pages(ENDPOINT, 10, "2026-07-03", Finance::of)
    }

    fn line(number: i64) -> Value {
        json!({ "rrdId": number, "forPay": "12.50" })
    }

    /// An upstream with so many lines, numbered from 1.
    fn report(count: i64) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let body = ask.body.as_ref().unwrap();
            let from = body["rrdId"].as_i64().unwrap() + 1;
            let until = count.min(from + body["limit"].as_i64().unwrap() - 1);
            Told::Rows((from..=until).map(line).collect(), Value::Null)
        }
    }

    #[test]
    fn lines_follow_their_numbers_until_there_are_none() {
        let played = play(&finance(), None, report(25));
        let ask = |rrd_id| {
            let (from, to) = ("2026-07-03", "2026-10-01");
            json!({ "dateFrom": from, "dateTo": to, "limit": 10, "rrdId": rrd_id })
        };
        // 25 is behind a page that is not full: the end is an answer without content.
        assert_eq!(played.body(""), [0, 10, 20, 25].map(ask));
        assert_eq!((played.rows.len(), played.ended), (25, Ended::Complete));
        assert_eq!(play(&finance(), None, report(0)).asks.len(), 1);
        let shipped = play(&scoped("2026-07-03", Finance::of), None, report(3));
        assert_eq!(shipped.body("/limit")[0], json!(100_000));
    }

    #[test]
    fn the_end_of_the_days_stays_past_midnight() {
        let checkpoint = play(&finance(), None, report(25)).checkpoint;
        let later = small_pages(ENDPOINT, 10, "2026-07-10", Finance::of);
        let played = play(&later, Some(&checkpoint), report(25));
        assert_eq!(played.body("/dateTo"), [json!("2026-10-01")]);
        assert_eq!(played.body("/dateFrom"), [json!("2026-07-03")]);
    }

    #[test]
    fn numbers_that_do_not_grow_stop() {
        let played =
            play(&finance(), None, |_, _| Told::Rows((1..=10).map(line).collect(), Value::Null));
        assert!(played.stuck().contains("ends with 10"), "{}", played.stuck());
        assert_eq!(played.asks.len(), 2);
        let played = play(&finance(), None, |_, _| Told::Rows(vec![line(-3)], Value::Null));
        assert!(played.stuck().contains("ends with -3"), "{}", played.stuck());
    }

    #[test]
    fn a_line_without_a_number_is_left_out_and_a_page_of_them_stops() {
        let mut odd = false;
        let played = play(&finance(), None, |ask, time| {
            odd = !odd;
            let Told::Rows(mut rows, envelope) = report(15)(ask, time) else { unreachable!() };
            if odd {
                rows.push(json!({ "rrdId": "soon" }));
                rows.push(json!({ "rrdId": null }));
            }
            Told::Rows(rows, envelope)
        });
        assert!(played.keys().contains(&"soon"), "a text is a key, and no number to go on from");
        assert_eq!(played.rejects[0], "`rrdId` is null");
        let played = play(&finance(), None, |_, _| Told::Rows(vec![json!({}); 3], Value::Null));
        assert!(
            played.stuck().contains("none of the 3 lines behind rrdId 0"),
            "{}",
            played.stuck()
        );
    }

    #[test]
    fn a_number_that_cannot_be_is_no_place_to_go_on_from() {
        let played = play(&finance(), None, |ask, time| {
            let Told::Rows(mut rows, envelope) = report(25)(ask, time) else { unreachable!() };
            if time == 0 {
                *rows.last_mut().unwrap() = line(9_000_000_000_000_000_000);
            }
            Told::Rows(rows, envelope)
        });
        assert_eq!(played.body("/rrdId"), [0, 9, 19, 25].map(Value::from));
        assert_eq!((played.rows.len(), played.ended), (26, Ended::Complete));
    }

    #[test]
    fn numbers_that_are_far_apart_take_a_page_more() {
        let far = 5_000_000_000_000;
        let lines = [1, 2, far, far + 1, 3 * far];
        let played = play(&finance(), None, |ask, _| {
            let from = ask.body.as_ref().unwrap()["rrdId"].as_i64().unwrap();
            let behind = lines.into_iter().filter(|number| *number > from);
            Told::Rows(behind.map(line).collect(), Value::Null)
        });
        assert_eq!(played.body("/rrdId"), [0, 2, far + 1, 3 * far].map(Value::from));
        assert_eq!((played.rows.len(), played.ended), (5, Ended::Complete));
    }

    #[test]
    fn a_number_given_as_a_text_is_a_number() {
        let played = play(&finance(), None, |_, time| {
            let rows = if time == 0 { vec![json!({ "rrdId": "17" })] } else { vec![] };
            Told::Rows(rows, Value::Null)
        });
        assert_eq!(played.body("/rrdId"), [json!(0), json!(17)]);
    }
}
