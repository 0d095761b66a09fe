//! The upstream's tariffs: five short lists.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use waitless_job::UnixMillis;

use crate::{
    key::{Fields, Key, Part, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const SUBJECT: &[Part] = &[part("subjectID")];
const WAREHOUSE: &[Part] = &[part("warehouseName")];
const COEFFICIENT: &[Part] = &[part("date"), part("warehouseID"), part("boxTypeID")];

/// One of the lists, in the order in which they are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum List {
    Commission,
    Box,
    Pallet,
    Return,
    Acceptance,
}

impl List {
    const ALL: [Self; 5] =
        [Self::Commission, Self::Box, Self::Pallet, Self::Return, Self::Acceptance];

    fn endpoint(self) -> &'static str {
        match self {
            Self::Commission => "general.tariffs.commission",
            Self::Box => "general.tariffs.box",
            Self::Pallet => "general.tariffs.pallet",
            Self::Return => "general.tariffs.return",
            Self::Acceptance => "general.tariffs.acceptance.coefficients",
        }
    }

    fn rows_at(self) -> &'static [&'static str] {
        match self {
            Self::Commission => &["report"],
            Self::Box | Self::Pallet | Self::Return => &["response", "data", "warehouseList"],
            Self::Acceptance => &[],
        }
    }

    fn key(self) -> Key {
        match self {
            Self::Commission => Key { prefix: "commission", parts: SUBJECT },
            Self::Box => Key { prefix: "box", parts: WAREHOUSE },
            Self::Pallet => Key { prefix: "pallet", parts: WAREHOUSE },
            Self::Return => Key { prefix: "return", parts: WAREHOUSE },
            Self::Acceptance => Key { prefix: "acceptance", parts: COEFFICIENT },
        }
    }

    fn place(self) -> usize {
        Self::ALL.into_iter().position(|list| list == self).expect("all are there")
    }
}

/// The list to fetch next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    list: List,
}

#[derive(Debug)]
pub(crate) struct Tariffs {
    today: NaiveDate,
}

impl Tariffs {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        Self { today: scope.today }
    }
}

impl Source for Tariffs {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { list: List::ALL[0] })
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        let list = cursor.list;
        let ask = Ask::new(list.endpoint(), Expect::Rows(list.rows_at()));
        match list {
            List::Box | List::Pallet | List::Return => ask.query("date", self.today),
            List::Commission | List::Acceptance => ask,
        }
    }

    fn read(&self, cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| cursor.list.key().read(&fields));
        vec![key.map(Keyed::plain)]
    }

    fn next(&self, cursor: &Cursor, _page: &Page<()>, _now: UnixMillis) -> Next<Cursor> {
        match List::ALL.get(cursor.list.place() + 1) {
            Some(list) => Next::Ask(Cursor { list: *list }),
            None => Next::End,
        }
    }

    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        let left = List::ALL.len() - cursor.list.place();
        Some(done + left as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped};

    #[test]
    fn five_lists_land_under_keys_of_their_own() {
        let played = play(&scoped("2026-10-01", Tariffs::of), None, |_, list| {
            let rows = match list {
                0 => vec![json!({ "subjectID": 6461 })],
                4 => vec![
                    json!({ "date": "2026-12-01T00:00:00Z", "warehouseID": 217081, "boxTypeID": 6 }),
                ],
                _ => vec![json!({ "warehouseName": "Коледино" }), json!({ "warehouseName": null })],
            };
            Told::Rows(rows, Value::Null)
        });
        assert_eq!(
            played.keys(),
            [
                "acceptance/2026-12-01T00:00:00Z/217081/6",
                "box/Коледино",
                "commission/6461",
                "pallet/Коледино",
                "return/Коледино",
            ]
        );
        assert_eq!(played.rejects, ["`warehouseName` is null"; 3]);
        assert_eq!(played.query("date"), ["", "2026-10-01", "2026-10-01", "2026-10-01", ""]);
        assert_eq!((played.totals, played.ended), (vec![Some(5); 4], Ended::Complete));
    }

    #[test]
    fn an_import_goes_on_with_the_list_that_has_not_landed() {
        let tariffs = scoped("2026-10-01", Tariffs::of);
        let played =
            play(&tariffs, Some(r#"{"list":"return"}"#), |_, _| Told::Rows(vec![], Value::Null));
        assert_eq!(played.asks.len(), 2);
    }
}
