//! What buyers have written about products.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use waitless_job::UnixMillis;

use super::sameness::{self, Print};
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
    /// What the last page was.
    #[serde(default)]
    page: Option<u64>,
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
        let print = Some(page.seen.print.value());
        if cursor.page == print {
            return Next::stuck(sameness::reason(cursor.skip));
        }
        let skip = cursor.skip.saturating_add(page.rows);
        if skip <= SKIP_MAX {
            return Next::Ask(Cursor { skip, page: print, ..cursor.clone() });
        }
        match page.seen.last {
            // That second is asked for again, because the page may have ended in the middle of it.
            Some(last) if last > cursor.from => {
                Next::Ask(Cursor { skip: 0, page: print, from: last, ..cursor.clone() })
            }
            _ => Next::stuck(format!(
                "there are more than {SKIP_MAX} feedbacks, which is as many as the upstream skips, \
                 and none says a `createdDate` to go on from"
            )),
        }
    }
}
