//! The sales funnel of the last week, a row a product and day.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    sameness::{self, Print},
};
use crate::{
    key::Fields,
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const PRODUCTS: &str = "analytics.sales-funnel.products";
const HISTORY: &str = "analytics.sales-funnel.products.history";

/// How far it has come: a page of products, the history of each in chunks, the next page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    days: Days,
    /// Products on the pages so far.
    offset: u64,
    /// What the last page of products was.
    #[serde(default)]
    page: Option<u64>,
    /// Those of the last page whose history has not landed.
    ids: Vec<u64>,
    /// Whether that page was the last.
    is_last: bool,
}

/// What a page of products has in it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    print: Print,
    ids: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct FunnelHistory {
    days: Days,
    limit: u64,
    /// Most products of one request for history.
    chunk: usize,
}

impl FunnelHistory {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        Self {
            days: Days::until_yesterday(scope.since, scope.today),
            limit: scope.page_rows(PRODUCTS, 1_000),
            chunk: usize::try_from(scope.page_rows(HISTORY, 20)).unwrap_or(20),
        }
    }

    fn after_products(&self, cursor: &Cursor, page: &Page<Seen>) -> Next<Cursor> {
        let print = Some(page.seen.print.value());
        if page.rows > 0 && cursor.page == print {
            return Next::stuck(sameness::reason(cursor.offset));
        }
        self.go_on(Cursor {
            offset: cursor.offset.saturating_add(page.rows),
            page: print,
            ids: page.seen.ids.clone(),
            is_last: page.rows < self.limit,
            ..cursor.clone()
        })
    }

    fn go_on(&self, cursor: Cursor) -> Next<Cursor> {
        if cursor.ids.is_empty() && cursor.is_last { Next::End } else { Next::Ask(cursor) }
    }
}

/// The days of a product.
fn days_of(row: &RawValue) -> Result<Vec<Read>, String> {
    let fields = Fields::of(row)?;
    let id = fields.filled("product.nmId")?;
    let day = |day: &RawValue| -> Read {
        let date = Fields::of(day)?.filled("date")?;
        let body = Some(fields.with(&["product", "currency"], day)?);
        Ok(Keyed { key: format!("{id}/{date}"), version: String::new(), body })
    };
    Ok(fields.list("history")?.into_iter().map(day).collect())
}

fn id_of(row: &RawValue) -> Result<u64, String> {
    let text = Fields::of(row)?.filled("product.nmId")?;
    text.parse().map_err(|_| "`product.nmId` is no number of a product".to_owned())
}

impl Source for FunnelHistory {
    type Cursor = Cursor;
    type Seen = Seen;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        let days = self.days;
        Next::Ask(Cursor { days, offset: 0, page: None, ids: Vec::new(), is_last: false })
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        if cursor.ids.is_empty() {
            return Ask::new(PRODUCTS, Expect::Rows(&["data", "products"])).body(json!({
                "selectedPeriod": cursor.days,
                "limit": self.limit,
                "offset": cursor.offset,
            }));
        }
        let ids = &cursor.ids[..self.chunk.min(cursor.ids.len())];
        Ask::new(HISTORY, Expect::Rows(&[])).body(json!({
            "selectedPeriod": cursor.days,
            "nmIds": ids,
            "aggregationLevel": "day",
        }))
    }

    fn read(&self, cursor: &Cursor, row: &RawValue, seen: &mut Seen) -> Vec<Read> {
        if !cursor.ids.is_empty() {
            return days_of(row).unwrap_or_else(|reason| vec![Err(reason)]);
        }
        match id_of(row) {
            Ok(id) => {
                seen.print.note(&id.to_string());
                seen.ids.push(id);
                Vec::new()
            }
            Err(reason) => {
                seen.print.note(row.get());
                vec![Err(format!("its history cannot be asked: {reason}"))]
            }
        }
    }

    fn next(&self, cursor: &Cursor, page: &Page<Seen>, _now: UnixMillis) -> Next<Cursor> {
        if cursor.ids.is_empty() {
            return self.after_products(cursor, page);
        }
        let ids = cursor.ids.iter().skip(self.chunk).copied().collect();
        self.go_on(Cursor { ids, ..cursor.clone() })
    }

    /// Known once the last page of products is.
    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        cursor.is_last.then(|| done + cursor.ids.len().div_ceil(self.chunk) as u64)
    }
}
