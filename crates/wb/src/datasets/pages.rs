//! Datasets in pages by offset: stocks, the sales funnel, prices.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    sameness::{self, Circle, Print},
};
use crate::{
    Dataset,
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
    #[serde(default)]
    circle: Circle,
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
        Next::Ask(Cursor { offset: 0, circle: Circle::default(), days: self.days })
    }

    /// The funnel of other days has other rows in another order, so it begins anew.
    fn within_reach(&self, cursor: Cursor, now: UnixMillis) -> Cursor {
        let Some(days) = cursor.days else { return cursor };
        let within = days.within(Dataset::Funnel.reach_until_yesterday(now));
        if within == days {
            return cursor;
        }
        Cursor { offset: 0, circle: Circle::default(), days: Some(within) }
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
        let Some(circle) = cursor.circle.with(page.seen.value()) else {
            return Next::stuck(sameness::reason(cursor.offset));
        };
        // By the rows that came and not by the limit: should a page in the middle be short, the
        // next one begins with what it left out.
        let offset = cursor.offset.saturating_add(page.rows);
        Next::Ask(Cursor { offset, circle, days: cursor.days })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::datasets::play::{Ended, NOON, Told, play, scoped, small_pages};

    fn stock(number: u64) -> Value {
        json!({ "nmId": number, "chrtId": 1, "warehouseId": 507, "quantity": 3 })
    }

    fn product(number: u64) -> Value {
        let period = json!({ "start": "2025-10-01", "end": "2026-09-30" });
        json!({ "product": { "nmId": number }, "statistic": { "selected": { "period": period } } })
    }

    fn price(number: u64) -> Value {
        json!({ "nmID": number, "sizes": [] })
    }

    /// An upstream with so many rows, which takes notice of limit and offset.
    fn listing(count: u64, row: fn(u64) -> Value) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let asked = |name: &str| {
                let query = ask.query.iter().find(|(known, _)| *known == name);
                let body = ask.body.as_ref().map(|body| body[name].as_u64().unwrap());
                body.unwrap_or_else(|| query.unwrap().1.parse().unwrap())
            };
            let (limit, offset) = (asked("limit"), asked("offset"));
            Told::Rows((offset..count.min(offset + limit)).map(row).collect(), Value::Null)
        }
    }

    #[test]
    fn stocks_end_with_a_page_that_is_not_full() {
        let endpoint = Listing::Stocks.endpoint();
        let stocks = small_pages(endpoint, 10, "2026-10-01", Pages::stocks);
        let played = play(&stocks, None, listing(25, stock));
        assert_eq!(
            played.body(""),
            [0, 10, 20].map(|offset| json!({ "limit": 10, "offset": offset }))
        );
        assert_eq!((played.rows.len(), played.ended), (25, Ended::Complete));
        // One that is full may be the last all the same.
        assert_eq!(play(&stocks, None, listing(20, stock)).asks.len(), 3);
        assert_eq!(play(&stocks, None, listing(0, stock)).asks.len(), 1);
        let shipped = scoped("2026-10-01", Pages::stocks);
        assert_eq!(play(&shipped, None, listing(3, stock)).body("/limit"), [json!(250_000)]);
    }

    #[test]
    fn the_funnel_is_that_of_the_days_until_yesterday_even_past_midnight() {
        let endpoint = Listing::Funnel.endpoint();
        let funnel = small_pages(endpoint, 10, "2025-10-01", Pages::funnel);
        let played = play(&funnel, None, listing(15, product));
        let period = json!({ "start": "2025-10-01", "end": "2026-09-30" });
        assert_eq!(played.body("/selectedPeriod"), [period.clone(), period.clone()]);
        assert_eq!(played.keys()[0], "0/2025-10-01/2026-09-30");
        assert_eq!(played.rows.len(), 15);
        // Another day has begun since the checkpoint was saved.
        let tomorrow = small_pages(endpoint, 10, "2025-10-02", Pages::funnel);
        let played = play(&tomorrow, Some(&played.checkpoint), listing(15, product));
        assert_eq!(played.body("/selectedPeriod"), [period]);
    }

    #[test]
    fn prices_end_with_an_empty_page() {
        let prices = small_pages(Listing::Prices.endpoint(), 10, "2026-10-01", Pages::prices);
        let played = play(&prices, None, listing(15, price));
        assert_eq!(played.query("offset"), ["0", "10", "15"]);
        assert_eq!(played.query("limit"), ["10", "10", "10"]);
        assert_eq!((played.rows.len(), played.ended), (15, Ended::Complete));
    }

    #[test]
    fn the_same_page_for_ever_stops_however_its_counts_change() {
        for (source, row) in [
            (
                small_pages(Listing::Stocks.endpoint(), 10, "2026-10-01", Pages::stocks),
                stock as fn(u64) -> Value,
            ),
            (small_pages(Listing::Prices.endpoint(), 10, "2026-10-01", Pages::prices), price),
            (small_pages(Listing::Funnel.endpoint(), 10, "2025-10-01", Pages::funnel), product),
        ] {
            let played = play(&source, None, |_, time| {
                let mut rows: Vec<Value> = (0..10).map(row).collect();
                rows[3]["quantity"] = json!(time);
                Told::Rows(rows, Value::Null)
            });
            assert_eq!((played.asks.len(), played.rows.len()), (2, 10));
            assert!(played.stuck().contains("the page from row 10 on"), "{}", played.stuck());
        }
        // Also if no row of it can be keyed.
        let prices = small_pages(Listing::Prices.endpoint(), 10, "2026-10-01", Pages::prices);
        let played = play(&prices, None, |_, _| Told::Rows(vec![json!({}); 10], Value::Null));
        assert_eq!((played.asks.len(), played.rejects.len()), (2, 20));
        played.stuck();
    }

    #[test]
    fn pages_that_begin_again_behind_the_last_stop() {
        let prices = small_pages(Listing::Prices.endpoint(), 10, "2026-10-01", Pages::prices);
        let played = play(&prices, None, |_, time| {
            let from = time as u64 % 5 * 10;
            Told::Rows((from..from + 10).map(price).collect(), Value::Null)
        });
        assert_eq!(played.rows.len(), 50);
        assert!(played.asks.len() < 20, "{}", played.asks.len());
        played.stuck();
    }

    #[test]
    fn pages_that_have_all_landed_before_are_no_reason_to_stop() {
        // A second import changes nothing in the sink.
        let prices = small_pages(Listing::Prices.endpoint(), 2, "2026-10-01", Pages::prices);
        let mut seen = Print::default();
        let raw = RawValue::from_string(price(1).to_string()).unwrap();
        let cursor = Cursor { offset: 0, circle: Circle::default(), days: None };
        prices.read(&cursor, &raw, &mut seen);
        let page = Page { rows: 2, changed: 0, seen, ..Page::default() };
        assert!(matches!(prices.next(&cursor, &page, NOON), Next::Ask(Cursor { offset: 2, .. })));
    }

    #[test]
    fn a_page_with_more_rows_than_asked_for_is_taken_as_it_is() {
        let prices = small_pages(Listing::Prices.endpoint(), 2, "2026-10-01", Pages::prices);
        let played = play(&prices, None, |_, time| {
            let rows = if time == 0 { (0..7).map(price).collect() } else { vec![] };
            Told::Rows(rows, Value::Null)
        });
        assert_eq!(played.query("offset"), ["0", "7"]);
    }
}
