//! What an order and its sale have in common.

use serde::{Serialize, Serializer};

use super::product::{Product, REGIONS, SELLERS_WAREHOUSE, WAREHOUSES};
use crate::dice::{Dice, Topic};

/// An amount in hundredths of the currency, written as a JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Money {
    hundredths: i64,
}

impl Money {
    pub(crate) const ZERO: Self = Self { hundredths: 0 };

    pub(crate) fn rubles(rubles: i64) -> Self {
        Self { hundredths: rubles * 100 }
    }

    pub(crate) fn percent(self, percent: u64) -> Self {
        Self { hundredths: self.hundredths * percent as i64 / 100 }
    }

    /// Without what is less than one.
    pub(crate) fn whole(self) -> Self {
        Self::rubles(self.hundredths / 100)
    }
}

impl Serialize for Money {
    /// Whole amounts have no point, as in the upstream's answers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.hundredths % 100 == 0 {
            serializer.serialize_i64(self.hundredths / 100)
        } else {
            serializer.serialize_f64(self.hundredths as f64 / 100.0)
        }
    }
}

/// The fields that are the same in an order and in its sale.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Purchase {
    warehouse_name: &'static str,
    warehouse_type: &'static str,
    country_name: &'static str,
    oblast_okrug_name: &'static str,
    region_name: &'static str,
    supplier_article: String,
    nm_id: u64,
    barcode: String,
    category: &'static str,
    subject: &'static str,
    brand: &'static str,
    tech_size: &'static str,
    #[serde(rename = "incomeID")]
    income_id: u64,
    is_supply: bool,
    is_realization: bool,
    total_price: Money,
    discount_percent: u64,
    spp: u64,
}

/// A purchase and the fields that rows write behind those of their own.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    pub(super) purchase: Purchase,
    pub(super) finished_price: Money,
    pub(super) price_with_disc: Money,
    pub(super) sticker: String,
    pub(super) g_number: String,
    pub(super) srid: String,
}

impl Deal {
    /// The `number`-th deal of a seller.
    pub(super) fn make(seed: u64, seller: u64, number: u64) -> Self {
        let mut dice = Dice::of(seed, Topic::Purchase, &[seller, number]);
        let srid = srid(&mut dice);
        let product = Product::draw(&mut dice, seed, seller);
        let (warehouse_name, warehouse_type) = dice.pick(&WAREHOUSES);
        let (country_name, oblast_okrug_name, region_name) = dice.pick(&REGIONS);
        let from_seller = warehouse_type == SELLERS_WAREHOUSE;
        let income_id = dice.within(10_000_000..=39_999_999);
        let (discount_percent, spp) = (dice.within(0..=60), dice.within(0..=30));
        let total_price = Money::rubles(product.price_rubles);
        let price_with_disc = total_price.percent(100 - discount_percent);
        let sticker = if dice.one_in(3) {
            dice.within(1_000_000_000..=59_999_999_999).to_string()
        } else {
            String::new()
        };
        Self {
            purchase: Purchase {
                warehouse_name,
                warehouse_type,
                country_name,
                oblast_okrug_name,
                region_name,
                supplier_article: product.supplier_article,
                nm_id: product.nm_id,
                barcode: product.barcode,
                category: product.category,
                subject: product.subject,
                brand: product.brand,
                tech_size: product.tech_size,
                income_id: if from_seller { 0 } else { income_id },
                is_supply: false,
                is_realization: true,
                total_price,
                discount_percent,
                spp,
            },
            finished_price: price_with_disc.percent(100 - spp).whole(),
            price_with_disc,
            sticker,
            g_number: format!("{:020}", dice.roll()),
            srid,
        }
    }
}

/// One of the two formats that are known. Nobody should look inside.
fn srid(dice: &mut Dice) -> String {
    let unique = dice.hex();
    if dice.one_in(4) {
        format!("{unique}{:08x}", dice.below(1 << 32))
    } else {
        format!("{}.r{unique}.{}.0", dice.within(2..=31), dice.below(6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_amounts_are_written_without_a_point() {
        let price = Money::rubles(1887).percent(82);
        let written = serde_json::to_string(&[price, price.whole(), Money::ZERO]);
        assert_eq!(written.expect("numbers"), "[1547.34,1547,0]");
    }
}
