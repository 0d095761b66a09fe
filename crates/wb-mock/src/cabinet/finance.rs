//! Rows of the finance reports: pages behind the last `rrdId`, up to 204.

use chrono::{Datelike, Days, NaiveDate};
use serde::Deserialize;
use serde_json::{Value, json};

use super::goods::{Good, Goods};
use super::owner::{Subject, day_number, moscow_day};
use super::period::{self, Period, Reach};
use super::question;
use super::refusal::{Refusal, replied};
use super::row::{keyed, merged};
use crate::dice::Dice;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const LIMIT_MAX: u64 = 100_000;

/// Rows lie on so many days before today.
const DAYS: u64 = 89;

/// Beyond what a float holds exactly: whoever reads an `rrdId` as one loses rows. Sellers share
/// them.
const RRD_ID_FIRST: u64 = (1 << 53) + 1;
const RRD_ID_STEP: u64 = 3;

/// The finance reports of a seller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finance {
    pub(crate) goods: Goods,
    pub(crate) count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Body {
    date_from: String,
    date_to: String,
    limit: Option<u64>,
    #[serde(default)]
    rrd_id: u64,
    #[serde(default)]
    period: ReportPeriod,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ReportPeriod {
    Daily,
    #[default]
    Weekly,
}

impl Drawer for Finance {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.detailed(question))
    }

    fn expected(&self) -> ExpectedRows {
        let this = *self;
        Box::new((0..self.count).map(move |number| keyed(&this.row(number), &["rrdId"])))
    }

    fn expected_count(&self) -> u64 {
        self.count
    }

    /// Pages of 100 000, and 204.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Finance, Call::Page, self.count.div_ceil(LIMIT_MAX) + 1)]
    }
}

impl Finance {
    fn detailed(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: Body = question.json()?;
        let limit = question::limit(body.limit.unwrap_or(LIMIT_MAX), LIMIT_MAX)?;
        if body.period == ReportPeriod::Daily {
            return Err(Refusal::bad("period: only weekly is served here"));
        }
        let period = Period {
            first: period::date_of_moment("dateFrom", &body.date_from)?,
            last: period::date_of_moment("dateTo", &body.date_to)?,
        };
        let today = moscow_day(question.now);
        let first_day = NaiveDate::from_ymd_opt(2024, 1, 29).expect("a date");
        let depth_days = u64::try_from((today - first_day).num_days()).unwrap_or_default();
        let period = period.within(Reach { days_max: u64::MAX, depth_days }, today)?;

        // The first row behind the one that is named.
        let start =
            body.rrd_id.saturating_add(1).saturating_sub(RRD_ID_FIRST).div_ceil(RRD_ID_STEP);
        let this = *self;
        let mut rows = (start..self.count)
            .filter(move |number| period.contains(this.day(*number)))
            .take(limit)
            .map(move |number| this.row(number))
            .peekable();
        if rows.peek().is_none() {
            return Ok(Reply::NoContent);
        }
        Ok(Reply::rows("[", rows, "]"))
    }

    fn day(&self, number: u64) -> NaiveDate {
        self.goods.owner.days_ago(DAYS - number * DAYS / self.count)
    }

    fn row(&self, number: u64) -> Value {
        let mut dice = self.goods.owner.dice(Subject::Finance, [number, 0]);
        let good = self.goods.any(dice.roll());
        let day = self.day(number);
        merged([
            about_report(number, day),
            about_good(&good, &mut dice),
            about_sale(&good, day, &mut dice),
            about_commission(&good, &mut dice),
            about_costs(&mut dice),
            about_promotions(&mut dice),
        ])
    }
}

/// Reports are weekly and created on the Monday after.
fn about_report(number: u64, day: NaiveDate) -> Value {
    let monday = day - Days::new(u64::from(day.weekday().num_days_from_monday()));
    json!({
        "reportId": 9_100_000_000_000_000_u64 + day_number(monday),
        "dateFrom": monday.to_string(),
        "dateTo": (monday + Days::new(6)).to_string(),
        "createDate": (monday + Days::new(7)).to_string(),
        "currency": "RUB",
        "reportType": 1,
        "rrdId": RRD_ID_FIRST + number * RRD_ID_STEP,
        "rrDate": day.to_string(),
    })
}

fn about_good(good: &Good, dice: &mut Dice) -> Value {
    let size = &good.sizes[dice.below(good.sizes.len() as u64) as usize];
    json!({
        "giId": dice.within(10_000_000..=39_999_999),
        "subjectName": good.subject,
        "nmId": good.nm_id,
        "brandName": good.brand,
        "vendorCode": good.vendor_code,
        "title": good.title,
        "techSize": size.tech_size,
        "sku": size.barcode,
    })
}

fn about_sale(good: &Good, day: NaiveDate, dice: &mut Dice) -> Value {
    let (doc_type, operation) = dice.pick(&[
        ("Продажа", "Продажа"),
        ("Продажа", "Продажа"),
        ("Возврат", "Возврат"),
        ("", "Логистика"),
    ]);
    let sold = u64::from(!doc_type.is_empty());
    let moment = |days: u64| format!("{}T00:00:00Z", day - Days::new(days));
    json!({
        // `docTypeName` until September 2026.
        "documentType": doc_type,
        "sellerOperName": operation,
        "quantity": sold,
        "retailPrice": money(good.price * 100 * sold),
        "retailAmount": money(good.discounted() * 100 * sold),
        "retailPriceWithDisc": money(good.discounted() * 100 * sold),
        "salePercent": good.discount_percent,
        "productDiscountForReport": good.discount_percent,
        "orderDt": moment(dice.within(2..=9)),
        "saleDt": moment(dice.within(0..=1)),
        "shkId": dice.within(1_000_000_000..=59_999_999_999),
        "officeName": dice.pick(&super::stocks::WAREHOUSES).1,
        "giBoxTypeName": "Короба",
        "country": "Россия",
        "srvDbs": false,
        "isB2b": dice.one_in(20),
        "b2bCustomerTin": "",
        "stickerId": dice.within(1_000_000_000..=59_999_999_999).to_string(),
        "orderId": dice.within(0..=9_999_999_999),
        "orderUid": dice.hex(),
        "srid": format!("{}.r{}.{}.0", dice.within(2..=31), dice.hex(), dice.below(6)),
    })
}

fn about_commission(good: &Good, dice: &mut Dice) -> Value {
    let price = good.discounted() * 100;
    let mut share =
        |percents: std::ops::RangeInclusive<u64>| money(price * dice.within(percents) / 100);
    json!({
        "ppvzSalesCommission": share(5..=20),
        "forPay": share(60..=85),
        "ppvzReward": share(0..=3),
        "acquiringFee": share(0..=2),
        "vw": share(5..=15),
        "vwNds": share(1..=3),
        "acquiringPercent": 1.65,
        "paymentProcessing": "Комиссия за организацию платежа с НДС",
        "acquiringBank": "Банк",
        "commissionPercent": 23.5,
        "spp": 12.75,
        "kvwBase": 23.5,
        "kvw": 10.75,
        "supRatingUp": 0,
        "isKgvpV2": 0,
        "ppvzOfficeName": "Пункт выдачи",
        "ppvzOfficeId": 101_001,
        "ppvzSupplierName": "ИП Пример",
        "ppvzSupplierInn": "000000000000",
        "declarationNumber": "",
    })
}

fn about_costs(dice: &mut Dice) -> Value {
    let mut amount = |up_to: u64| money(if dice.one_in(3) { dice.within(1..=up_to) } else { 0 });
    let mut row = json!({
        "penalty": amount(90_000),
        "additionalPayment": amount(900),
        "rebillLogisticCost": amount(9_000),
        "paidStorage": amount(9_000),
        "deduction": amount(50_000),
        "paidAcceptance": amount(5_000),
        "deliveryService": amount(20_000),
        "deliveryAmount": dice.below(2),
        "returnAmount": dice.below(2),
        "dlvPrc": 1.25,
        "fixTariffDateFrom": "",
        "fixTariffDateTo": "",
        "trbxId": "",
        "deliveryMethod": "FBW",
    });
    // These are there only if they say something.
    if dice.one_in(4) {
        row["bonusTypeName"] = "К клиенту при продаже".into();
    }
    if dice.one_in(9) {
        row["rebillLogisticOrg"] = "ООО \"Перевозчик\", Казань".into();
    }
    if dice.one_in(9) {
        row["kiz"] =
            format!("01046{:011}21{}", dice.below(100_000_000_000), &dice.hex()[..13]).into();
    }
    if dice.one_in(9) {
        row["agencyVat"] = 20.into();
    }
    row
}

fn about_promotions(dice: &mut Dice) -> Value {
    json!({
        // A text until September 2026.
        "sellerPromo": 0,
        "sellerPromoId": 0,
        "sellerPromoDiscount": 0,
        "installmentCofinancingAmount": "0",
        "wibesDiscountPercent": 0,
        "cashbackAmount": money(dice.within(0..=900)),
        "cashbackDiscount": "0",
        "cashbackCommissionChange": "0",
        "paymentSchedule": "0",
        "loyaltyId": dice.below(3),
        "loyaltyDiscount": 0,
        "uuidPromocode": "",
        "salePricePromocodeDiscountPrc": 0,
        "articleSubstitution": "",
        "salePriceAffiliatedDiscountPrc": 0,
        "salePriceWholesaleDiscountPrc": 0,
    })
}

/// Money is a text: `1547.34`, and `1547` if it is whole.
fn money(hundredths: u64) -> String {
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => whole.to_string(),
        (whole, part) => format!("{whole}.{part:02}"),
    }
}
