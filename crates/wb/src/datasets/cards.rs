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
            Ok(Keyed { key, version: version(&fields, "updatedAt")?, body: None })
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
