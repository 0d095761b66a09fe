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
