//! Advertising campaigns: one list.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use waitless_job::UnixMillis;

use crate::{
    key::{Fields, Key, part},
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
    version::version,
};

const KEY: Key = Key::of(&[part("advertId")]);

/// The list of all campaigns, by type and status.
pub(super) fn ask() -> Ask {
    Ask::new("promotion.count", Expect::Rows(&["adverts"]))
}

/// The campaigns of one type and status.
pub(super) const LIST: &str = "advert_list";

/// Nothing: there is one page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {}

#[derive(Debug)]
pub(crate) struct Campaigns;

/// A campaign with the type and status of the list that it stands in.
fn campaign(group: &Fields<'_>, campaign: &RawValue) -> Read {
    let fields = Fields::of(campaign)?;
    Ok(Keyed {
        key: KEY.read(&fields)?,
        // In Moscow time.
        version: version(&fields, "changeTime", 3)?,
        body: Some(group.with(&["type", "status"], campaign)?),
    })
}

impl Source for Campaigns {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor {})
    }

    fn ask(&self, _cursor: &Cursor) -> Ask {
        ask()
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let group = match Fields::of(row) {
            Ok(group) => group,
            Err(reason) => return vec![Err(reason)],
        };
        match group.list(LIST) {
            Ok(list) => list.into_iter().map(|one| campaign(&group, one)).collect(),
            Err(reason) => vec![Err(reason)],
        }
    }

    fn next(&self, _cursor: &Cursor, _page: &Page<()>, _now: UnixMillis) -> Next<Cursor> {
        Next::End
    }

    fn requests_total(&self, _cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        Some(done + 1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::datasets::play::{Ended, Told, play};

    #[test]
    fn each_campaign_of_each_list_is_a_row_with_the_type_and_status_of_its_list() {
        let changed = "2025-05-30T08:50:14.716932+03:00";
        let played = play(&Campaigns, None, |_, _| {
            let one = |id| json!({ "advertId": id, "changeTime": changed });
            let lists = vec![
                json!({ "type": 9, "status": 7, "count": 2, "advert_list": [one(1), one(2)] }),
                json!({ "type": 8, "status": 11, "count": 1, "advert_list": [one(3)] }),
                json!({ "type": 8, "status": 9, "count": 0, "advert_list": [] }),
            ];
            Told::Rows(lists, json!({ "adverts": [], "all": 3 }))
        });
        assert_eq!((played.asks.len(), &played.ended), (1, &Ended::Complete));
        assert_eq!(played.keys(), ["1", "2", "3"]);
        let row = json!({ "advertId": 3, "changeTime": changed, "type": 8, "status": 11 });
        assert_eq!(played.rows["3"], (changed.to_owned(), row));
    }

    #[test]
    fn lists_and_campaigns_that_cannot_be_read_say_why_and_leave_the_others_alone() {
        let good = json!({ "advertId": 1, "changeTime": "2025-05-30T08:50:14Z" });
        let played = play(&Campaigns, None, |_, _| {
            let lists = vec![
                json!({ "advert_list": null }),
                json!({ "type": 9 }),
                json!(7),
                json!({ "advert_list": [good, 8, { "advertId": null }, { "advertId": 5 }] }),
            ];
            Told::Rows(lists, Value::Null)
        });
        assert_eq!(played.keys(), ["1"]);
        let [null, missing, number, odd, no_id, no_time] = &played.rejects[..] else {
            panic!("{:?}", played.rejects)
        };
        assert_eq!((&**null, &**missing), ("`advert_list` is no list", "no `advert_list`"));
        assert!(number.starts_with("it is no row") && odd.starts_with("it is no row"));
        assert_eq!((&**no_id, &**no_time), ("`advertId` is null", "no `changeTime`"));
    }
}
