//! The report on what remains in warehouses: a task without a window.

use serde_json::{Map, Value, json};

use super::goods::{Good, GoodSize};
use super::refusal::{Refusal, replied};
use super::row::{hundredths, keyed};
use super::stocks::{Stock, Stocks};
use super::tasks::Tasks;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

/// Each grouping and the fields that come only with it.
const GROUPINGS: [(&str, &[&str]); 6] = [
    ("groupByBrand", &["brand"]),
    ("groupBySubject", &["subjectName"]),
    ("groupBySa", &["vendorCode"]),
    ("groupByNm", &["nmId", "volume"]),
    ("groupByBarcode", &["barcode"]),
    ("groupBySize", &["techSize"]),
];

/// The remains of all goods.
#[derive(Debug)]
pub(crate) struct Remains {
    stocks: Stocks,
    /// A task is about the groupings that were chosen.
    tasks: Tasks<[bool; 6]>,
}

impl Drawer for Remains {
    fn answer(&self, call: Call, question: &Question) -> Reply {
        replied(match call {
            Call::Create => self.create(question),
            Call::Status => self.tasks.status(question),
            _ => self.download(question),
        })
    }

    /// With all groupings.
    fn expected(&self) -> ExpectedRows {
        let rows = rows(self.stocks).map(Value::Object);
        Box::new(rows.map(|row| keyed(&row, &["nmId", "barcode", "techSize"])))
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        [Call::Create, Call::Status, Call::Download].map(|call| (Dataset::Remains, call, 1)).into()
    }
}

impl Remains {
    pub(crate) fn new(stocks: Stocks) -> Self {
        Self { stocks, tasks: Tasks::new(stocks.goods.owner, 0) }
    }

    fn create(&self, question: &Question) -> Result<Reply, Refusal> {
        let groupings = GROUPINGS.map(|(name, _)| name);
        question.only(&[&groupings[..], &["locale", "filterPics", "filterVolume"]].concat())?;
        for name in ["filterPics", "filterVolume"] {
            if question.value::<i64>(name)?.unwrap_or(0) != 0 {
                return Err(Refusal::bad(format!("{name}: only 0 is served here")));
            }
        }
        let mut chosen = [false; 6];
        for (chosen, name) in chosen.iter_mut().zip(groupings) {
            *chosen = question.value(name)?.unwrap_or(false);
        }
        Ok(self.tasks.create(chosen, question))
    }

    /// Rows that would be equal without a grouping are not added up.
    fn download(&self, question: &Question) -> Result<Reply, Refusal> {
        let chosen = self.tasks.fetch(question)?;
        let left_out = GROUPINGS.into_iter().zip(chosen).filter(|(_, chosen)| !chosen);
        let left_out: Vec<&str> =
            left_out.flat_map(|((_, fields), _)| fields.iter().copied()).collect();
        let rows = rows(self.stocks).map(move |mut row| {
            row.retain(|name, _| !left_out.contains(&name.as_str()));
            row
        });
        Ok(Reply::rows("[", rows, "]"))
    }
}

fn rows(stocks: Stocks) -> impl Iterator<Item = Map<String, Value>> {
    stocks.goods.iter().flat_map(move |good| {
        let sizes = good.sizes.clone().into_iter();
        sizes.filter_map(move |size| row(&good, &size, &stocks.of_size(&size)))
    })
}

/// None if there is nothing of that size.
fn row(good: &Good, size: &GoodSize, stocks: &[Stock]) -> Option<Map<String, Value>> {
    let place = |name: &str, quantity: u64| json!({"warehouseName": name, "quantity": quantity});
    let sum = |of: fn(&Stock) -> u64| stocks.iter().map(of).sum();
    // Three of the "warehouses" are none: who adds all of them up counts things twice.
    let mut warehouses = vec![
        place("В пути до получателей", sum(|stock| stock.to_client)),
        place("В пути возвраты на склад WB", sum(|stock| stock.from_client)),
        place("Всего находится на складах", sum(|stock| stock.quantity)),
    ];
    warehouses.extend(stocks.iter().map(|stock| place(stock.warehouse.1, stock.quantity)));
    let row = json!({
        "brand": good.brand,
        "subjectName": good.subject,
        "vendorCode": good.vendor_code,
        "nmId": good.nm_id,
        "barcode": size.barcode,
        "techSize": size.tech_size,
        "volume": hundredths(good.volume),
        "warehouses": warehouses,
    });
    match row {
        Value::Object(row) if !stocks.is_empty() => Some(row),
        _ => None,
    }
}
