//! Goods in the upstream's warehouses: pages by offset, up to a short one.

use serde::Deserialize;
use serde_json::{Value, json};

use super::goods::{Good, GoodSize, Goods};
use super::owner::Subject;
use super::question;
use super::refusal::{Refusal, replied};
use super::row::keyed;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const LIMIT_MAX: u64 = 250_000;

/// The most `nmIds` or `chrtIds` of one request.
const FILTER_MAX: usize = 1000;

/// Id, name and region.
pub(crate) const WAREHOUSES: [(u64, &str, &str); 6] = [
    (507, "Коледино", "Центральный"),
    (120_762, "Электросталь", "Центральный"),
    (117_986, "Казань", "Приволжский"),
    (130_744, "Краснодар", "Южный"),
    (206_236, "Белые Столбы", "Центральный"),
    (300_571, "Склад WB РФ", "Уральский"),
];

/// The stocks of all goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stocks {
    pub(crate) goods: Goods,
}

/// One size of a thing in one warehouse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stock {
    pub(crate) warehouse: (u64, &'static str, &'static str),
    pub(crate) quantity: u64,
    pub(crate) to_client: u64,
    pub(crate) from_client: u64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Body {
    nm_ids: Vec<u64>,
    chrt_ids: Vec<u64>,
    limit: Option<u64>,
    offset: u64,
}

impl Drawer for Stocks {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.list(question))
    }

    fn expected(&self) -> ExpectedRows {
        Box::new(self.rows().map(|(good, size, stock)| {
            keyed(&row(&good, &size, stock), &["nmId", "chrtId", "warehouseId"])
        }))
    }

    /// Pages of 250 000, the last of them short.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Stocks, Call::Page, self.rows().count() as u64 / LIMIT_MAX + 1)]
    }
}

impl Stocks {
    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: Body = question.json()?;
        let limit = question::limit(body.limit.unwrap_or(LIMIT_MAX), LIMIT_MAX)?;
        if body.nm_ids.len() > FILTER_MAX || body.chrt_ids.len() > FILTER_MAX {
            return Err(Refusal::bad(format!("more than {FILTER_MAX} ids")));
        }
        let wanted = |ids: &[u64], id: u64| ids.is_empty() || ids.contains(&id);
        let page = self
            .rows()
            .filter(move |(good, size, _)| {
                wanted(&body.nm_ids, good.nm_id) && wanted(&body.chrt_ids, size.chrt_id)
            })
            .skip(question::offset(body.offset))
            .take(limit)
            .map(|(good, size, stock)| row(&good, &size, stock));
        Ok(Reply::rows(r#"{"data":{"items":["#, page, "]}}"))
    }

    /// What there is of one size, by warehouse. Of some sizes there is nothing anywhere.
    pub(crate) fn of_size(&self, size: &GoodSize) -> Vec<Stock> {
        let mut dice = self.goods.owner.dice(Subject::Stock, [size.chrt_id, 0]);
        if dice.one_in(3) {
            return Vec::new();
        }
        let mut stocks = Vec::new();
        for warehouse in WAREHOUSES {
            if dice.one_in(4) {
                stocks.push(Stock {
                    warehouse,
                    quantity: dice.within(0..=300),
                    to_client: dice.below(20),
                    from_client: dice.below(5),
                });
            }
        }
        stocks
    }

    fn rows(self) -> impl Iterator<Item = (Good, GoodSize, Stock)> {
        self.goods.iter().flat_map(move |good| {
            let sizes = good.sizes.clone().into_iter();
            sizes.flat_map(move |size| {
                let good = good.clone();
                let stocks = self.of_size(&size).into_iter();
                stocks.map(move |stock| (good.clone(), size.clone(), stock))
            })
        })
    }
}

fn row(good: &Good, size: &GoodSize, stock: Stock) -> Value {
    let (id, name, region) = stock.warehouse;
    json!({
        "nmId": good.nm_id,
        "chrtId": size.chrt_id,
        "warehouseId": id,
        "warehouseName": name,
        "regionName": region,
        "quantity": stock.quantity,
        "inWayToClient": stock.to_client,
        "inWayFromClient": stock.from_client,
    })
}
