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
        version: version(&fields, "changeTime")?,
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
