//! Prices of goods: pages by offset, up to an empty one.

use serde_json::{Value, json};

use super::goods::{Good, Goods};
use super::owner::Subject;
use super::question;
use super::refusal::{Refusal, replied};
use super::row::{hundredths, keyed};
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const LIMIT_MAX: u64 = 1000;

/// The prices of all goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    pub(crate) goods: Goods,
}

impl Drawer for Prices {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.list(question))
    }

    fn expected(&self) -> ExpectedRows {
        let this = *self;
        Box::new(self.goods.iter().map(move |good| keyed(&this.row(&good), &["nmID"])))
    }

    /// Pages of 1000, and the empty one.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Prices, Call::Page, self.goods.count.div_ceil(LIMIT_MAX) + 1)]
    }
}

impl Prices {
    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["limit", "offset", "filterNmID"])?;
        let limit = question::limit(question.required_value("limit")?, LIMIT_MAX)?;
        let offset = question::offset(question.value("offset")?.unwrap_or(0));
        let nm_id: Option<u64> = question.value("filterNmID")?;
        let this = *self;
        let page = self
            .goods
            .iter()
            .filter(move |good| nm_id.is_none_or(|nm_id| good.nm_id == nm_id))
            .skip(offset)
            .take(limit)
            .map(move |good| this.row(&good));
        Ok(Reply::rows(r#"{"data":{"listGoods":["#, page, r#"]},"error":false,"errorText":""}"#))
    }

    fn row(&self, good: &Good) -> Value {
        let mut dice = self.goods.owner.dice(Subject::Price, [good.number, 0]);
        let club_discount = if dice.one_in(3) { dice.within(1..=10) } else { 0 };
        let discounted = good.price * (100 - good.discount_percent);
        let sizes: Vec<Value> = good
            .sizes
            .iter()
            .map(|size| {
                json!({
                    "sizeID": size.chrt_id,
                    "price": good.price,
                    "discountedPrice": hundredths(discounted),
                    "clubDiscountedPrice": hundredths(discounted * (100 - club_discount) / 100),
                    "techSizeName": size.tech_size,
                })
            })
            .collect();
        let wholesale = dice.one_in(6).then(|| {
            json!([{"minQuantity": dice.within(2..=10), "wholesaleDiscount": dice.within(1..=15), "level": 1}])
        });
        json!({
            "nmID": good.nm_id,
            "vendorCode": good.vendor_code,
            "sizes": sizes,
            "currencyIsoCode4217": "RUB",
            "discount": good.discount_percent,
            "clubDiscount": club_discount,
            "editableSizePrice": good.sizes.len() > 1,
            "wholesaleDiscountThreshold": wholesale.unwrap_or_else(|| json!([])),
            "isBadTurnover": dice.one_in(9),
        })
    }
}
