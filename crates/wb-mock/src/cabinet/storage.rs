//! The report on paid storage: windows of at most 8 days.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::goods::{Good, GoodSize};
use super::owner::{Owner, Subject, day_number};
use super::period::Reach;
use super::row::hundredths;
use super::stocks::{Stock, Stocks};
use super::windows::{DailyRows, days};
use crate::Dataset;

/// Some sellers had nothing in storage for so long at first that at least one whole window is
/// empty, however the windows lie.
const EMPTY_DAYS: u64 = 16;

/// Goods that are charged for. The other goods lie in warehouses free of charge.
const CHARGED_GOODS: usize = 24;

/// What a seller's goods were charged in storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storage {
    pub(crate) stocks: Stocks,
}

impl DailyRows for Storage {
    const DATASET: Dataset = Dataset::Storage;
    const REACH: Reach = Reach { days_max: 8, depth_days: 90 };
    const KEY: &'static [&'static str] =
        &["date", "officeId", "giId", "chrtId", "barcode", "calcType", "palletPlaceCode"];

    fn owner(&self) -> Owner {
        self.stocks.goods.owner
    }

    /// One row for each size in each warehouse.
    fn rows_on(&self, day: NaiveDate) -> Vec<Value> {
        let owner = self.stocks.goods.owner;
        let was_empty = owner.dice(Subject::Storage, [0, 0]).one_in(3)
            && day < days(self).first + Days::new(EMPTY_DAYS);
        if was_empty {
            return Vec::new();
        }
        let mut rows = Vec::new();
        for good in self.stocks.goods.iter().take(CHARGED_GOODS) {
            for size in &good.sizes {
                for stock in self.stocks.of_size(size) {
                    rows.push(self.row(day, &good, size, stock));
                }
            }
        }
        rows
    }
}

impl Storage {
    fn row(&self, day: NaiveDate, good: &Good, size: &GoodSize, stock: Stock) -> Value {
        let owner = self.stocks.goods.owner;
        let (office_id, warehouse, _) = stock.warehouse;
        // What the row is about stays the same from day to day, its amounts do not.
        let mut lasting = owner.dice(Subject::Storage, [size.chrt_id, office_id]);
        let mut dice =
            owner.dice(Subject::Storage, [size.chrt_id * 1000 + office_id, day_number(day)]);
        let on_pallets = lasting.one_in(5);
        json!({
            "date": day.to_string(),
            "logWarehouseCoef": 1,
            "officeId": office_id,
            "warehouse": warehouse,
            "warehouseCoef": hundredths(lasting.within(80..=240)),
            "giId": lasting.within(10_000_000..=39_999_999),
            "chrtId": size.chrt_id,
            "size": size.tech_size,
            "barcode": size.barcode,
            "subject": good.subject,
            "brand": good.brand,
            "vendorCode": good.vendor_code,
            "nmId": good.nm_id,
            "volume": hundredths(good.volume),
            "calcType": if on_pallets { "монопаллеты: фактический объем" } else { "короба: без габаритов" },
            "warehousePrice": hundredths(dice.within(0..=9_000)),
            "barcodesCount": dice.within(1..=300),
            "palletPlaceCode": if on_pallets { lasting.within(1..=900) } else { 0 },
            "palletCount": if on_pallets { hundredths(dice.within(1..=300)) } else { 0.into() },
            "originalDate": day.to_string(),
            "loyaltyDiscount": hundredths(dice.within(0..=50)),
            "tariffFixDate": (day - Days::new(20)).to_string(),
            "tariffLowerDate": (day + Days::new(40)).to_string(),
        })
    }
}
