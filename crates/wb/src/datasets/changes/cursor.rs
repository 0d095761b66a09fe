use serde::{Deserialize, Serialize};

use crate::{
    MoscowTime,
    source::{Next, Page},
};

/// How far the rows' last changes have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Rows changed before that time have landed. The next request asks from it on.
    pub(crate) date_from: MoscowTime,
    /// Requests in a row that have brought something new without getting beyond it.
    #[serde(default)]
    standing: u32,
}

/// How often a cursor may stand still although something new came. Once is usual: the cap has cut
/// the last second of a dataset in two. More means rows that change while they are read.
const STANDING_MAX: u32 = 5;

impl Cursor {
    /// The beginning.
    pub(crate) fn at(date_from: MoscowTime) -> Self {
        Self { date_from, standing: 0 }
    }

    /// What to do after the page that this cursor has brought. `full_rows` is about how many rows a
    /// full page has.
    ///
    /// As `dateFrom` is inclusive, the last page brings the rows of the last second once more, and
    /// the end shows as a page that neither gets anywhere nor brings anything new. Bringing nothing
    /// new is not enough: a page that was cut in the middle is asked for again, and then all of its
    /// rows may have landed already while the rest of the dataset has not.
    ///
    /// A page that gets nowhere *and* is large is another matter: more rows of that second may be
    /// hidden behind the cap, no request would ever bring them, and going on would lose them.
    pub(super) fn after(&self, page: &Page<Option<MoscowTime>>, full_rows: u64) -> Next<Self> {
        if page.rows == 0 {
            return Next::End;
        }
        let from = self.date_from;
        let Some(last) = page.seen else {
            return Next::stuck(format!(
                "none of the {} rows from {from} on says when it last changed, so there is no way \
                 on: look at the quarantine for what they say instead",
                page.rows
            ));
        };
        if last > from {
            return Next::Ask(Self::at(last));
        }
        if last < from {
            return Next::stuck(format!(
                "asked for rows from {from} on, the upstream sent a page that ends with one of \
                 {last}: going on there would go round in circles"
            ));
        }
        if page.rows.saturating_mul(2) >= full_rows {
            return Next::stuck(format!(
                "all of the {} rows from {from} on have changed in that very second, and there may \
                 be more behind the upstream's cap, which no request by last change would bring: \
                 fetch that day by hand with flag=1, and import from the next day on",
                page.rows
            ));
        }
        if page.changed == 0 {
            return Next::End;
        }
        if self.standing >= STANDING_MAX {
            return Next::stuck(format!(
                "the rows of {from} were different each of {} times they were asked for",
                self.standing + 1
            ));
        }
        Next::Ask(Self { standing: self.standing + 1, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u64 = 100;

    fn time(seconds: u32) -> MoscowTime {
        format!("2026-10-01T10:00:{seconds:02}").parse().unwrap()
    }

    fn page(rows: u64, last: u32, changed: u64) -> Page<Option<MoscowTime>> {
        Page { rows, seen: Some(time(last)), changed, ..Page::default() }
    }

    fn after(page: &Page<Option<MoscowTime>>) -> Next<Cursor> {
        Cursor::at(time(30)).after(page, FULL)
    }

    #[test]
    fn a_page_that_gets_further_is_followed_even_if_all_of_it_had_landed() {
        assert_eq!(after(&page(100, 31, 100)), Next::Ask(Cursor::at(time(31))));
        assert_eq!(after(&page(100, 31, 0)), Next::Ask(Cursor::at(time(31))));
    }

    #[test]
    fn the_end_is_an_empty_page_or_one_that_gets_nowhere_and_brings_nothing_new() {
        assert_eq!(after(&Page::default()), Next::End);
        assert_eq!(after(&page(3, 30, 0)), Next::End);
    }

    #[test]
    fn the_rest_of_a_last_second_that_the_cap_has_cut_is_not_the_end() {
        let again = Cursor { standing: 1, ..Cursor::at(time(30)) };
        assert_eq!(after(&page(7, 30, 3)), Next::Ask(again));
        assert_eq!(again.after(&page(7, 30, 0), FULL), Next::End);
    }

    #[test]
    fn a_checkpoint_of_the_first_version_can_be_read() {
        let saved = r#"{"date_from":"2026-10-01T10:00:30"}"#;
        assert_eq!(serde_json::from_str::<Cursor>(saved).unwrap(), Cursor::at(time(30)));
        let saved = r#"{"date_from":"2026-10-01T10:00:30","standing":2}"#;
        let again = Cursor { standing: 2, ..Cursor::at(time(30)) };
        assert_eq!(serde_json::to_string(&again).unwrap(), saved);
    }

    #[test]
    fn what_would_lose_rows_or_never_end_stops() {
        let stuck = |next: Next<Cursor>, words: &str| match next {
            Next::Stuck { reason, .. } => assert!(reason.contains(words), "{reason}"),
            other => panic!("{words}: {other:?}"),
        };
        // As large as a page can be, and all of one second: also if it has landed before.
        stuck(after(&page(50, 30, 50)), "behind the upstream's cap");
        stuck(after(&page(50, 30, 0)), "behind the upstream's cap");
        stuck(after(&page(9, 29, 9)), "in circles");
        stuck(after(&Page { rows: 4, ..Page::default() }), "look at the quarantine");
        let long = Cursor { standing: STANDING_MAX, ..Cursor::at(time(30)) };
        stuck(long.after(&page(7, 30, 1), FULL), "different each of 6 times");
    }
}
