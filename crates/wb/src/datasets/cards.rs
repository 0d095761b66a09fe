//! Product cards, in the order of their last change.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use waitless_job::UnixMillis;

use crate::{
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
    version::version,
};

const ENDPOINT: &str = "content.cards.list";
const KEY: Key = Key::of(&[part("nmID")]);

/// Pages in a row whose last cards have changed at the same moment. A mass edit may touch many
/// cards at once; a million is none.
const STANDING_MAX: u32 = 10_000;

/// The last card that has landed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Its change, as the upstream has written it; `None` before the first page.
    updated_at: Option<String>,
    nm_id: Option<u64>,
    /// Pages in a row that did not get beyond that moment.
    #[serde(default)]
    standing: u32,
}

#[derive(Debug)]
pub(crate) struct Cards {
    limit: u64,
}

impl Cards {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        Self { limit: scope.page_rows(ENDPOINT, 100) }
    }

    /// The cursor that the answer gives for the next page.
    fn following(cursor: &Cursor, envelope: &Value) -> Result<Cursor, String> {
        let updated_at = envelope.pointer("/cursor/updatedAt").and_then(Value::as_str);
        let nm_id = envelope.pointer("/cursor/nmID").and_then(Value::as_u64);
        let (Some(updated_at), Some(nm_id)) = (updated_at, nm_id) else {
            return Err("a full page came without `cursor.updatedAt` and `cursor.nmID`, so there \
                        is no way to ask for the next one: retry the job later"
                .to_owned());
        };
        let next =
            Cursor { updated_at: Some(updated_at.to_owned()), nm_id: Some(nm_id), standing: 0 };
        let Some(before) = &cursor.updated_at else { return Ok(next) };
        let in_circles = |how: &str| {
            Err(format!(
                "asked for cards behind {nm} of {before}, the upstream sent a page that {how} {nm_id} \
                 of {updated_at}: going on there would go round in circles, retry the job later",
                nm = cursor.nm_id.unwrap_or(0),
            ))
        };
        if *before == updated_at {
            if cursor.nm_id == Some(nm_id) {
                return in_circles("still ends with");
            }
            if cursor.standing >= STANDING_MAX {
                return in_circles("after thousands of that moment ends with");
            }
            return Ok(Cursor { standing: cursor.standing + 1, ..next });
        }
        let time = |text: &str| text.parse::<DateTime<Utc>>().ok();
        match (time(before), time(updated_at)) {
            (Some(before), Some(after)) if after < before => in_circles("goes back to"),
            (_, None) => in_circles("has no readable time at its end:"),
            _ => Ok(next),
        }
    }
}

impl Source for Cards {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor::default())
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        let mut from = json!({ "limit": self.limit });
        if let (Some(updated_at), Some(nm_id)) = (&cursor.updated_at, cursor.nm_id) {
            from["updatedAt"] = json!(updated_at);
            from["nmID"] = json!(nm_id);
        }
        let filter = json!({ "withPhoto": -1 });
        let settings = json!({ "sort": { "ascending": true }, "filter": filter, "cursor": from });
        Ask::new(ENDPOINT, Expect::Rows(&["cards"])).body(json!({ "settings": settings }))
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let read = Fields::of(row).and_then(|fields| {
            let key = KEY.read(&fields)?;
            // In UTC.
            Ok(Keyed { key, version: version(&fields, "updatedAt", 0)?, body: None })
        });
        vec![read]
    }

    fn next(&self, cursor: &Cursor, page: &Page<()>, _now: UnixMillis) -> Next<Cursor> {
        // `total` is the number of cards on this page, whatever its name says.
        let total = page.envelope.pointer("/cursor/total").and_then(Value::as_u64);
        if page.rows == 0 || total.unwrap_or(page.rows) < self.limit {
            return Next::End;
        }
        match Self::following(cursor, &page.envelope) {
            Ok(cursor) => Next::Ask(cursor),
            Err(reason) => Next::stuck(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped, small_pages};

    fn cards() -> Cards {
        small_pages(ENDPOINT, 10, "2026-10-01", Cards::of)
    }

    fn card(number: u64) -> Value {
        json!({ "nmID": number, "updatedAt": format!("2026-09-30T10:{:02}:00.5Z", number / 3) })
    }

    /// An upstream with so many cards, three of each moment.
    fn shop(count: u64) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let cursor = &ask.body.as_ref().unwrap()["settings"]["cursor"];
            let from = cursor["nmID"].as_u64().map_or(0, |number| number + 1);
            let cards: Vec<Value> = (from..count.min(from + 10)).map(card).collect();
            let mut cursor = cards.last().cloned().unwrap_or(json!({}));
            cursor["total"] = json!(cards.len());
            Told::Rows(cards, json!({ "cards": [], "cursor": cursor }))
        }
    }

    #[test]
    fn the_cursor_of_an_answer_asks_for_the_next_page_until_one_is_not_full() {
        let played = play(&cards(), None, shop(25));
        assert_eq!(
            played.body("/settings/cursor"),
            [
                json!({ "limit": 10 }),
                json!({ "limit": 10, "updatedAt": "2026-09-30T10:03:00.5Z", "nmID": 9 }),
                json!({ "limit": 10, "updatedAt": "2026-09-30T10:06:00.5Z", "nmID": 19 }),
            ]
        );
        assert_eq!(
            played.body("/settings/sort/ascending"),
            [json!(true), json!(true), json!(true)]
        );
        assert_eq!((played.rows.len(), played.ended), (25, Ended::Complete));
        assert_eq!(played.rows["7"].0, "2026-09-30T10:02:00.500000Z");
        assert_eq!(play(&cards(), None, shop(20)).asks.len(), 3);
        assert_eq!(play(&cards(), None, shop(0)).asks.len(), 1);
        let shipped = play(&scoped("2026-10-01", Cards::of), None, shop(3));
        assert_eq!(shipped.body("/settings/cursor/limit"), [json!(100)]);
    }

    /// An upstream that always sends ten cards and one of these cursors after the other.
    fn circling(cursors: Vec<Value>) -> String {
        let played = play(&cards(), None, |_, time| {
            let mut cursor = cursors[time % cursors.len()].clone();
            cursor["total"] = json!(10);
            Told::Rows((0..10).map(card).collect(), json!({ "cursor": cursor }))
        });
        assert!(played.asks.len() <= cursors.len() + 1, "{}", played.asks.len());
        played.stuck().to_owned()
    }

    #[test]
    fn a_cursor_that_gets_nowhere_stops() {
        let at = |time: &str, number: u64| json!({ "updatedAt": time, "nmID": number });
        let same = circling(vec![at("2026-09-30T10:00:00Z", 9)]);
        assert!(same.contains("still ends with 9 of 2026-09-30T10:00:00Z"), "{same}");
        let back = circling(vec![at("2026-09-30T10:00:00.5Z", 9), at("2026-09-30T10:00:00Z", 3)]);
        assert!(back.contains("goes back to 3"), "{back}");
        let unreadable = circling(vec![at("2026-09-30T10:00:00Z", 9), at("later", 3)]);
        assert!(unreadable.contains("no readable time"), "{unreadable}");
        for missing in [
            json!({}),
            json!({ "updatedAt": null, "nmID": 9 }),
            json!({ "updatedAt": "2026-09-30T10:00:00Z", "nmID": "9" }),
            json!({ "updatedAt": "2026-09-30T10:00:00Z", "nmID": -9 }),
        ] {
            let reason = circling(vec![missing]);
            assert!(reason.contains("without `cursor.updatedAt`"), "{reason}");
        }
    }

    #[test]
    fn thousands_of_cards_of_one_moment_are_read_and_a_circle_of_them_ends() {
        let at = |number: u64| json!({ "cursor": { "updatedAt": "2026-09-30T10:00:00Z", "nmID": number, "total": 10 } });
        let page = |number| Page { rows: 10, envelope: at(number), ..Page::<()>::default() };
        let cards = cards();
        let (mut cursor, mut pages) = (Cursor::default(), 0_u64);
        loop {
            match cards.next(&cursor, &page(pages % 2), UnixMillis(0)) {
                Next::Ask(next) => (cursor, pages) = (next, pages + 1),
                Next::Stuck { .. } => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(pages, u64::from(STANDING_MAX) + 1);
    }

    #[test]
    fn a_page_that_does_not_count_its_cards_is_counted() {
        let played = play(&cards(), None, |_, _| {
            Told::Rows((0..4).map(card).collect(), json!({ "cursor": { "total": "many" } }))
        });
        assert_eq!((played.asks.len(), played.ended), (1, Ended::Complete));
    }
}
