//! Product cards, in the order of their last change.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use waitless_job::UnixMillis;

use super::sameness::{Circle, Print};
use crate::{
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
    version::version,
};

const ENDPOINT: &str = "content.cards.list";
const KEY: Key = Key::of(&[part("nmID")]);

/// How far the upstream's clock may be ahead of ours: a day, in milliseconds.
const CLOCKS_APART_MS: u64 = 86_400_000;

/// The last card that has landed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Its change, as the upstream has written it; `None` before the first page.
    updated_at: Option<String>,
    nm_id: Option<u64>,
    /// Of the last cards of pages. A mass edit may have touched thousands of cards at one moment,
    /// and in which order they come is not said.
    #[serde(default)]
    circle: Circle,
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
    fn following(cursor: &Cursor, envelope: &Value, now: UnixMillis) -> Result<Cursor, String> {
        let updated_at = envelope.pointer("/cursor/updatedAt").and_then(Value::as_str);
        let nm_id = envelope.pointer("/cursor/nmID").and_then(Value::as_u64);
        let (Some(updated_at), Some(nm_id)) = (updated_at, nm_id) else {
            return Err("a full page came without `cursor.updatedAt` and `cursor.nmID`, so there \
                        is no way to ask for the next one: retry the job later"
                .to_owned());
        };
        let in_circles = |how: &str| {
            Err(format!(
                "behind a page of cards the upstream goes on with {nm_id} of {updated_at}, which \
                 {how}: asking on would go round in circles, retry the job later"
            ))
        };
        let time = |text: &str| text.parse::<DateTime<Utc>>().ok();
        let Some(after) = time(updated_at) else { return in_circles("is no time") };
        if after.timestamp_millis() > now.plus(CLOCKS_APART_MS).0 {
            return Err(format!(
                "behind a page of cards the upstream goes on with {nm_id} of {updated_at}, which \
                 has not come yet: asking on would leave out all cards before, retry the job later"
            ));
        }
        if cursor.updated_at.as_deref().and_then(time).is_some_and(|before| after < before) {
            return in_circles("is before the cards of this page");
        }
        let mut print = Print::default();
        print.note(updated_at);
        print.note(&nm_id.to_string());
        let Some(circle) = cursor.circle.with(print.value()) else {
            return in_circles("has come before");
        };
        Ok(Cursor { updated_at: Some(updated_at.to_owned()), nm_id: Some(nm_id), circle })
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

    fn next(&self, cursor: &Cursor, page: &Page<()>, now: UnixMillis) -> Next<Cursor> {
        // `total` is the number of cards on this page, whatever its name says.
        let total = page.envelope.pointer("/cursor/total").and_then(Value::as_u64);
        if page.rows == 0 || total.unwrap_or(page.rows) < self.limit {
            return Next::End;
        }
        match Self::following(cursor, &page.envelope, now) {
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
        assert!(same.contains("9 of 2026-09-30T10:00:00Z, which has come before"), "{same}");
        let back = circling(vec![at("2026-09-30T10:00:00.5Z", 9), at("2026-09-30T10:00:00Z", 3)]);
        assert!(back.contains("which is before the cards of this page"), "{back}");
        let unreadable = circling(vec![at("2026-09-30T10:00:00Z", 9), at("later", 3)]);
        assert!(unreadable.contains("which is no time"), "{unreadable}");
        let future = circling(vec![at("9999-12-31T23:59:59Z", 9)]);
        assert!(future.contains("which has not come yet"), "{future}");
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
    fn thousands_of_cards_of_one_moment_are_read_in_whatever_order_they_come() {
        let played = play(&cards(), None, |_, time| {
            let total = if time < 1_000 { 10 } else { 3 };
            let (number, moment) = (time * 7_919 % 1_009, "2026-09-30T10:00:00Z");
            let cursor = json!({ "updatedAt": moment, "nmID": number, "total": total });
            Told::Rows((0..total).map(card).collect(), json!({ "cursor": cursor }))
        });
        assert_eq!((played.asks.len(), played.ended), (1_001, Ended::Complete));
    }

    #[test]
    fn a_page_that_does_not_count_its_cards_is_counted() {
        let played = play(&cards(), None, |_, _| {
            Told::Rows((0..4).map(card).collect(), json!({ "cursor": { "total": "many" } }))
        });
        assert_eq!((played.asks.len(), played.ended), (1, Ended::Complete));
    }
}
