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

/// How far the upstream's clock may be ahead of ours: a day, in seconds. A moment beyond is no way on.
const AHEAD_S: i64 = 86_400;

/// How far the two passes have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Which pass. Those without an answer come first: one that is answered meanwhile is met again
    /// among the answered, the other way round it would be missed.
    answered: bool,
    /// Feedbacks from `from` on that have landed.
    skip: u64,
    #[serde(default)]
    circle: Circle,
    /// Only feedbacks written from then on, in seconds since the Unix epoch; 0 for all. Each page
    /// moves it up, because who skips by number misses some: a feedback that is answered meanwhile
    /// leaves its list and moves all behind it up by one.
    #[serde(default)]
    from: i64,
}

/// What a page has in it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    print: Print,
    /// When the first and the last two feedbacks that say so were written, in seconds since the Unix
    /// epoch.
    first: Option<i64>,
    before_last: Option<i64>,
    last: Option<i64>,
}

impl Seen {
    fn note(&mut self, written: i64) {
        self.first = self.first.or(Some(written));
        self.before_last = self.last.replace(written).or(self.before_last);
    }

    /// From when on the next page is asked for, if the page says it. They come in the order of time,
    /// so the earlier of the last two is a feedback further back at most; and a last one whose moment
    /// is wrong would leave out all between.
    fn way_on(&self, now: UnixMillis) -> Option<i64> {
        let last = self.last?;
        let last = self.before_last.map_or(last, |before| before.min(last));
        Some(last).filter(|last| *last <= now.0 / 1_000 + AHEAD_S)
    }
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
            if let Some(at) = written {
                seen.note(at.timestamp());
            }
            KEY.read(&fields).map(Keyed::plain)
        });
        seen.print.note_row(row, &read);
        vec![read]
    }

    fn next(&self, cursor: &Cursor, page: &Page<Seen>, now: UnixMillis) -> Next<Cursor> {
        if page.rows < self.take {
            return match cursor.answered {
                false => Next::Ask(Cursor { answered: true, ..Cursor::default() }),
                true => Next::End,
            };
        }
        // The second before is asked for again: the page may have ended in the middle of one, and
        // whether the upstream means from that second on, or behind it, is not said.
        let from = page.seen.way_on(now).map_or(0, |last| last - 1);
        let Some(circle) = cursor.circle.with(page.seen.print.value()) else {
            return Next::stuck(sameness::reason(cursor.skip));
        };
        // From there on the very same page would come if it began no earlier.
        let gets_on = page.seen.first.is_some_and(|first| first < from);
        if from > cursor.from && gets_on {
            return Next::Ask(Cursor { skip: 0, circle, from, ..cursor.clone() });
        }
        // A page of one second, or one that does not say when its feedbacks were written.
        let skip = cursor.skip.saturating_add(page.rows);
        if skip <= SKIP_MAX {
            return Next::Ask(Cursor { skip, circle, ..cursor.clone() });
        }
        Next::stuck(format!(
            "there are more than {SKIP_MAX} feedbacks, which is as many as the upstream skips, and \
             none says a `createdDate` to go on from"
        ))
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

    fn asked<'a>(ask: &'a Ask, name: &str) -> Option<&'a str> {
        ask.query.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The page of these feedbacks, which are in the order of time, that is asked for.
    fn page_of(feedbacks: impl Iterator<Item = Value>, ask: &Ask) -> Told {
        let number = |name| asked(ask, name).map_or(0, |text| text.parse::<i64>().unwrap());
        let is_wanted = |feedback: &Value| {
            let written: DateTime<Utc> = feedback["createdDate"].as_str().unwrap().parse().unwrap();
            written.timestamp() >= number("dateFrom")
        };
        let [skip, take] = ["skip", "take"].map(|name| usize::try_from(number(name)).unwrap());
        Told::Rows(feedbacks.filter(is_wanted).skip(skip).take(take).collect(), Value::Null)
    }

    /// An upstream with so many feedbacks, answered and not.
    fn shop(unanswered: u64, answered: u64) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let kind = asked(ask, "isAnswered").expect("it is asked for");
            let count = if kind == "true" { answered } else { unanswered };
            page_of((0..count).map(|number| feedback(kind, number)), ask)
        }
    }

    #[test]
    fn those_without_an_answer_come_first_and_a_short_page_ends_a_pass() {
        let played = play(&feedbacks(10), None, shop(15, 20));
        assert_eq!(played.query("isAnswered"), ["false", "false", "true", "true", "true"]);
        assert_eq!(played.query("skip"), ["0"; 5]);
        let second = |text: &str| text.parse::<DateTime<Utc>>().unwrap().timestamp().to_string();
        // Each page begins a second before the last but one feedback of the page before.
        let [ninth, eighteenth] = ["2026-09-30T00:07:59Z", "2026-09-30T00:15:59Z"].map(second);
        assert_eq!(played.query("dateFrom"), ["", &ninth, "", &ninth, &eighteenth]);
        assert_eq!(played.query("order"), ["dateAsc"; 5]);
        assert_eq!((played.rows.len(), played.ended), (35, Ended::Complete));
        let none = play(&scoped("2026-10-01", Feedbacks::of), None, shop(0, 0));
        assert_eq!((none.asks.len(), none.query("take")), (2, vec!["5000", "5000"]));
    }

    #[test]
    fn feedbacks_that_are_answered_during_the_pass_move_no_other_out_of_sight() {
        // Before each request one more of those that have landed, or of all, is answered.
        for answered_of in [5, 40] {
            let mut open: Vec<u64> = (0..40).collect();
            let mut answered = Vec::new();
            let played = play(&feedbacks(10), None, |ask, time| {
                if time > 0 && !open.is_empty() {
                    answered.push(open.remove(time * 7 % answered_of.min(open.len())));
                    answered.sort_unstable();
                }
                let is_answered = asked(ask, "isAnswered") == Some("true");
                let list = if is_answered { &answered } else { &open };
                page_of(list.iter().map(|number| feedback("id", *number)), ask)
            });
            assert_eq!((played.rows.len(), played.ended), (40, Ended::Complete));
        }
    }

    #[test]
    fn feedbacks_of_one_second_are_skipped_by_number() {
        let played = play(&feedbacks(10), None, |ask, _| {
            let one = |number| json!({ "id": number, "createdDate": "2026-09-30T10:00:00Z" });
            let count = if asked(ask, "isAnswered") == Some("true") { 0 } else { 35 };
            page_of((0..count).map(one), ask)
        });
        assert_eq!(played.query("skip"), ["0", "10", "20", "30", "0"]);
        assert_eq!((played.rows.len(), played.ended), (35, Ended::Complete));
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
        assert!(played.stuck().contains("the very rows of one before it"), "{}", played.stuck());
    }

    #[test]
    fn what_does_not_say_when_it_was_written_is_skipped_as_far_as_the_upstream_does() {
        let feedbacks = feedbacks(5_000);
        let after = |skip| {
            let cursor = Cursor { skip, ..Cursor::default() };
            feedbacks.next(&cursor, &Page { rows: 5_000, ..Page::default() }, UnixMillis(0))
        };
        let Next::Ask(next) = after(190_000) else { panic!("it goes on") };
        assert_eq!((next.skip, next.from), (195_000, 0));
        let Next::Stuck { reason, .. } = after(195_000) else { panic!("no way on") };
        assert!(reason.contains("more than 199990 feedbacks"), "{reason}");
    }
}
