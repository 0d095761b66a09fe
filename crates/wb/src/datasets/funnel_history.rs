//! The sales funnel of the last week, a row a product and day.

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    sameness::{self, Circle, Print},
};
use crate::{
    Dataset,
    key::Fields,
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const PRODUCTS: &str = "analytics.sales-funnel.products";
const HISTORY: &str = "analytics.sales-funnel.products.history";

/// How far it has come: a page of products, the history of each in chunks, the next page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// The days that products are listed by, which keeps them in one order.
    days: Days,
    /// Those of them whose history can still be asked for, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reach: Option<Days>,
    /// Products on the pages so far.
    offset: u64,
    /// Of the pages of products.
    #[serde(default)]
    circle: Circle,
    /// Those of the last page whose history has not landed.
    ids: Vec<u64>,
    /// Whether that page was the last.
    is_last: bool,
}

impl Cursor {
    /// The beginning.
    fn at(days: Days) -> Self {
        let circle = Circle::default();
        Self { days, reach: None, offset: 0, circle, ids: Vec::new(), is_last: false }
    }
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
        if page.rows == 0 {
            return Next::End;
        }
        let Some(circle) = cursor.circle.with(page.seen.print.value()) else {
            return Next::stuck(sameness::reason(cursor.offset));
        };
        self.go_on(Cursor {
            offset: cursor.offset.saturating_add(page.rows),
            circle,
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
        Next::Ask(Cursor::at(self.days))
    }

    /// Thousands of products take longer than from one midnight to the next.
    fn within_reach(&self, cursor: Cursor, now: UnixMillis) -> Cursor {
        let within = cursor.days.within(Dataset::FunnelHistory.reach_until_yesterday(now));
        if within.end != cursor.days.end {
            // All products anew: those whose history has landed lack the days as well.
            return Cursor::at(within);
        }
        Cursor { reach: (within != cursor.days).then_some(within), ..cursor }
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
            "selectedPeriod": cursor.reach.unwrap_or(cursor.days),
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped, small_pages};

    fn history(limit: u32) -> FunnelHistory {
        let source = small_pages(PRODUCTS, limit, "2026-09-24", FunnelHistory::of);
        FunnelHistory { chunk: 2, ..source }
    }

    /// An upstream with so many products, and two days of each.
    fn funnel(count: u64) -> impl FnMut(&Ask, usize) -> Told {
        move |ask, _| {
            let body = ask.body.as_ref().unwrap();
            let rows = match body.get("nmIds") {
                None => {
                    let [limit, offset] =
                        ["limit", "offset"].map(|name| body[name].as_u64().unwrap());
                    let row = |number| json!({ "product": { "nmId": number } });
                    (offset..count.min(offset + limit)).map(row).collect()
                }
                Some(ids) => {
                    let day = |date: &str| json!({ "date": date, "openCount": 7 });
                    let row = |id: &Value| {
                        let days = [day("2026-09-29"), day("2026-09-30")];
                        json!({ "product": { "nmId": id }, "history": days, "currency": "RUB" })
                    };
                    ids.as_array().unwrap().iter().map(row).collect()
                }
            };
            Told::Rows(rows, Value::Null)
        }
    }

    #[test]
    fn each_page_of_products_is_followed_by_the_history_of_each_in_chunks() {
        let played = play(&history(3), None, funnel(4));
        let null = Value::Null;
        assert_eq!(
            played.body("/nmIds"),
            [null.clone(), json!([0, 1]), json!([2]), null, json!([3])]
        );
        let week = json!({ "start": "2026-09-24", "end": "2026-09-30" });
        assert_eq!(played.body("/selectedPeriod"), [(); 5].map(|()| week.clone()));
        assert_eq!((played.rows.len(), &played.ended), (8, &Ended::Complete));
        let row = json!({
            "product": { "nmId": 3 }, "currency": "RUB", "date": "2026-09-30", "openCount": 7,
        });
        assert_eq!(played.rows["3/2026-09-30"], (String::new(), row));
        assert_eq!(played.totals, [None, None, None, Some(5)], "known with the last page");
        let shipped = play(&scoped("2026-09-24", FunnelHistory::of), None, funnel(21));
        assert_eq!((shipped.asks.len(), shipped.rows.len()), (3, 42));
    }

    #[test]
    fn the_end_is_a_page_of_products_that_is_not_full() {
        assert_eq!(play(&history(3), None, funnel(0)).asks.len(), 1);
        // 0 to 2 with two chunks, and an empty page.
        assert_eq!(play(&history(3), None, funnel(3)).asks.len(), 4);
    }

    #[test]
    fn the_same_page_of_products_for_ever_stops() {
        let mut products = funnel(9);
        let played = play(&history(3), None, |ask, time| {
            let mut ask = ask.clone();
            if let Some(body) = &mut ask.body
                && body.get("offset").is_some()
            {
                body["offset"] = json!(0);
            }
            products(&ask, time)
        });
        assert_eq!(played.asks.len(), 4);
        assert!(played.stuck().contains("the page from row 3 on"), "{}", played.stuck());
        let played = play(&history(3), None, |_, _| Told::Rows(vec![json!({}); 3], Value::Null));
        assert_eq!(played.asks.len(), 2);
        played.stuck();
    }

    #[test]
    fn what_cannot_be_keyed_says_why_and_leaves_the_rest_alone() {
        let played = play(&history(5), None, |_, time| match time {
            0 => {
                let ids = [json!(1), json!("2"), json!(-3), json!(null), json!([])];
                let row = |id| json!({ "product": { "nmId": id } });
                Told::Rows(ids.into_iter().map(row).collect(), Value::Null)
            }
            1 => {
                let days = json!([{ "date": "d" }, { "date": null }, "x"]);
                let rows = vec![
                    json!({ "product": { "nmId": 1 }, "history": days }),
                    json!({ "product": null, "history": [{ "date": "d" }] }),
                    json!({ "product": { "nmId": 1 }, "history": {} }),
                ];
                Told::Rows(rows, Value::Null)
            }
            _ => Told::Rows(vec![], Value::Null),
        });
        assert_eq!(played.body("/nmIds")[1], json!([1, 2]), "a number given as a text is one");
        assert_eq!(played.keys(), ["1/d"]);
        let reasons = [
            "its history cannot be asked: `product.nmId` is no number of a product",
            "its history cannot be asked: `product.nmId` is null",
            "its history cannot be asked: `product.nmId` is a list",
            "`date` is null",
            "it is no row: invalid type: string \"x\", expected a map at line 1 column 3",
            "no `product.nmId`",
            "`history` is no list",
        ];
        assert_eq!(played.rejects, reasons);
    }
}
