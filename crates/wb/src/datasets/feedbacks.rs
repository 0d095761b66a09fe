//! What buyers have written about products.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use waitless_job::UnixMillis;

use super::sameness::{self, Circle, Print};
use crate::{
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const ENDPOINT: &str = "feedbacks.list";
const KEY: Key = Key::of(&[part("id")]);

/// The largest number of feedbacks that the upstream skips.
const SKIP_MAX: u64 = 199_990;

/// How far the two passes have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Which pass. Those without an answer come first: one that is answered meanwhile is met again
    /// among the answered, the other way round it would be missed.
    answered: bool,
    skip: u64,
    #[serde(default)]
    circle: Circle,
    /// Only feedbacks from then on, in seconds since the Unix epoch; 0 for all. It moves up where
    /// more would have to be skipped than the upstream does.
    #[serde(default)]
    from: i64,
}

/// What a page has in it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    print: Print,
    /// When the last feedback that says so was written, in seconds since the Unix epoch.
    last: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct Feedbacks {
    take: u64,
}

impl Feedbacks {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        Self { take: scope.page_rows(ENDPOINT, 5_000) }
    }
}

impl Source for Feedbacks {
    type Cursor = Cursor;
    type Seen = Seen;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor::default())
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        let ask = Ask::new(ENDPOINT, Expect::Rows(&["data", "feedbacks"]))
            .query("isAnswered", cursor.answered)
            .query("take", self.take)
            .query("skip", cursor.skip)
            .query("order", "dateAsc");
        if cursor.from == 0 { ask } else { ask.query("dateFrom", cursor.from) }
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, seen: &mut Seen) -> Vec<Read> {
        let read = Fields::of(row).and_then(|fields| {
            let written = fields.text("createdDate").ok();
            let written = written.and_then(|text| text.parse::<DateTime<Utc>>().ok());
            seen.last = written.map(|at| at.timestamp()).or(seen.last);
            KEY.read(&fields).map(Keyed::plain)
        });
        seen.print.note_row(row, &read);
        vec![read]
    }

    fn next(&self, cursor: &Cursor, page: &Page<Seen>, _now: UnixMillis) -> Next<Cursor> {
        if page.rows < self.take {
            return match cursor.answered {
                false => Next::Ask(Cursor { answered: true, ..Cursor::default() }),
                true => Next::End,
            };
        }
        let Some(circle) = cursor.circle.with(page.seen.print.value()) else {
            return Next::stuck(sameness::reason(cursor.skip));
        };
        let skip = cursor.skip.saturating_add(page.rows);
        if skip <= SKIP_MAX {
            return Next::Ask(Cursor { skip, circle, ..cursor.clone() });
        }
        match page.seen.last {
            // That second is asked for again, because the page may have ended in the middle of it.
            Some(last) if last > cursor.from => {
                Next::Ask(Cursor { skip: 0, circle, from: last, ..cursor.clone() })
            }
            _ => Next::stuck(format!(
                "there are more than {SKIP_MAX} feedbacks, which is as many as the upstream skips, \
                 and none says a `createdDate` to go on from"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped, small_pages};

    fn feedbacks(take: u32) -> Feedbacks {
        small_pages(ENDPOINT, take, "2026-10-01", Feedbacks::of)
    }

    fn feedback(answered: &str, number: u64) -> Value {
        let written = format!("2026-09-30T{:02}:{:02}:00Z", number / 60 % 24, number % 60);
        json!({ "id": format!("{answered}-{number:06}"), "createdDate": written })
    }

    /// An upstream with so many feedbacks, answered and not.
    fn shop(unanswered: u64, answered: u64) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let asked = |name: &str| {
                let found = ask.query.iter().find(|(known, _)| *known == name);
                found.expect("it is asked for").1.as_str()
            };
            let kind = asked("isAnswered");
            let count = if kind == "true" { answered } else { unanswered };
            let [take, skip] = ["take", "skip"].map(|name| asked(name).parse::<u64>().unwrap());
            let rows = (skip..count.min(skip + take)).map(|number| feedback(kind, number));
            Told::Rows(rows.collect(), Value::Null)
        }
    }

    #[test]
    fn those_without_an_answer_come_first_and_a_short_page_ends_a_pass() {
        let played = play(&feedbacks(10), None, shop(15, 20));
        assert_eq!(played.query("isAnswered"), ["false", "false", "true", "true", "true"]);
        assert_eq!(played.query("skip"), ["0", "10", "0", "10", "20"]);
        assert_eq!(played.query("order"), ["dateAsc"; 5]);
        assert_eq!((played.rows.len(), played.ended), (35, Ended::Complete));
        let none = play(&scoped("2026-10-01", Feedbacks::of), None, shop(0, 0));
        assert_eq!((none.asks.len(), none.query("take")), (2, vec!["5000", "5000"]));
    }

    #[test]
    fn one_that_is_answered_between_the_passes_is_met_again() {
        let played = play(&feedbacks(10), None, |ask, time| match time {
            0 => Told::Rows(vec![json!({ "id": "x", "answer": null })], Value::Null),
            _ => {
                assert_eq!(ask.query[0], ("isAnswered", "true".to_owned()));
                Told::Rows(vec![json!({ "id": "x", "answer": { "text": "thanks" } })], Value::Null)
            }
        });
        assert_eq!(played.rows["x"].1["answer"]["text"], "thanks");
    }

    #[test]
    fn the_same_page_for_ever_stops() {
        let played = play(&feedbacks(2), None, |_, _| {
            Told::Rows(vec![feedback("a", 1), feedback("a", 2)], Value::Null)
        });
        assert_eq!(played.asks.len(), 2);
        assert!(played.stuck().contains("the page from row 2 on"), "{}", played.stuck());
    }

    #[test]
    fn beyond_what_can_be_skipped_the_time_of_writing_goes_on() {
        let feedbacks = feedbacks(5_000);
        let after = |from, last| {
            let cursor = Cursor { skip: 195_000, from, ..Cursor::default() };
            let seen = Seen { last, ..Seen::default() };
            feedbacks.next(&cursor, &Page { rows: 5_000, seen, ..Page::default() }, UnixMillis(0))
        };
        let Next::Ask(next) = after(0, Some(1_790_000_000)) else { panic!("it goes on") };
        let asked = feedbacks.ask(&next);
        assert!(asked.query.contains(&("skip", "0".to_owned())));
        assert!(asked.query.contains(&("dateFrom", "1790000000".to_owned())));
        for (from, last) in [(0, None), (1_790_000_000, Some(1_790_000_000))] {
            let Next::Stuck { reason, .. } = after(from, last) else { panic!("no way on") };
            assert!(reason.contains("more than 199990 feedbacks"), "{reason}");
        }
    }
}
