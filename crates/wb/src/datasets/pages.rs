//! Datasets in pages by offset: stocks, the sales funnel, prices.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    sameness::{self, Print},
};
use crate::{
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const STOCK: Key = Key::of(&[part("nmId"), part("chrtId"), part("warehouseId")]);

/// Of another period the same product is another row.
const FUNNEL: Key = Key::of(&[
    part("product.nmId"),
    part("statistic.selected.period.start"),
    part("statistic.selected.period.end"),
]);

const PRICE: Key = Key::of(&[part("nmID")]);

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Stocks,
    Funnel,
    Prices,
}

impl Listing {
    fn endpoint(self) -> &'static str {
        match self {
            Self::Stocks => "analytics.stocks-report.wb-warehouses",
            Self::Funnel => "analytics.sales-funnel.products",
            Self::Prices => "prices.goods.list",
        }
    }

    /// Rows on a full page, should the catalogue not say.
    fn page_rows(self) -> u32 {
        match self {
            Self::Stocks => 250_000,
            Self::Funnel | Self::Prices => 1_000,
        }
    }

    fn rows_at(self) -> &'static [&'static str] {
        match self {
            Self::Stocks => &["data", "items"],
            Self::Funnel => &["data", "products"],
            Self::Prices => &["data", "listGoods"],
        }
    }

    fn key(self) -> &'static Key {
        match self {
            Self::Stocks => &STOCK,
            Self::Funnel => &FUNNEL,
            Self::Prices => &PRICE,
        }
    }

    /// Whether a page that is not full is the last. Prices end with an empty one.
    fn short_page_ends(self) -> bool {
        match self {
            Self::Stocks | Self::Funnel => true,
            Self::Prices => false,
        }
    }
}

/// How many rows have landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    offset: u64,
    /// What the last page was.
    #[serde(default)]
    page: Option<u64>,
    /// The days that the rows are about, of a dataset that is asked for days. They stay as they are
    /// past midnight: half of the rows would be about other days than the rest.
    #[serde(default)]
    days: Option<Days>,
}

/// Pages of one of these datasets.
#[derive(Debug)]
pub(crate) struct Pages {
    listing: Listing,
    limit: u64,
    days: Option<Days>,
}

impl Pages {
    pub(crate) fn stocks(scope: &Scope<'_>) -> Self {
        Self::of(Listing::Stocks, scope)
    }

    pub(crate) fn funnel(scope: &Scope<'_>) -> Self {
        let days = Some(Days::until_yesterday(scope.since, scope.today));
        Self { days, ..Self::of(Listing::Funnel, scope) }
    }

    pub(crate) fn prices(scope: &Scope<'_>) -> Self {
        Self::of(Listing::Prices, scope)
    }

    fn of(listing: Listing, scope: &Scope<'_>) -> Self {
        let limit = scope.page_rows(listing.endpoint(), listing.page_rows());
        Self { listing, limit, days: None }
    }
}

impl Source for Pages {
    type Cursor = Cursor;
    type Seen = Print;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { offset: 0, page: None, days: self.days })
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        let (limit, offset) = (self.limit, cursor.offset);
        let ask = Ask::new(self.listing.endpoint(), Expect::Rows(self.listing.rows_at()));
        match self.listing {
            Listing::Stocks => ask.body(json!({ "limit": limit, "offset": offset })),
            Listing::Funnel => {
                let days = cursor.days.or(self.days);
                ask.body(json!({ "selectedPeriod": days, "limit": limit, "offset": offset }))
            }
            Listing::Prices => ask.query("limit", limit).query("offset", offset),
        }
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, seen: &mut Print) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| self.listing.key().read(&fields));
        let read = key.map(Keyed::plain);
        seen.note_row(row, &read);
        vec![read]
    }

    fn next(&self, cursor: &Cursor, page: &Page<Print>, _now: UnixMillis) -> Next<Cursor> {
        let is_short = page.rows < self.limit;
        if page.rows == 0 || (is_short && self.listing.short_page_ends()) {
            return Next::End;
        }
        let print = Some(page.seen.value());
        if cursor.page == print {
            return Next::stuck(sameness::reason(cursor.offset));
        }
        // By the rows that came and not by the limit: should a page in the middle be short, the
        // next one begins with what it left out.
        let offset = cursor.offset.saturating_add(page.rows);
        Next::Ask(Cursor { offset, page: print, days: cursor.days })
    }
}
