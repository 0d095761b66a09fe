//! Orders that the seller ships: windows of at most 30 days, pages behind `next`.

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::goods::Goods;
use super::owner::Subject;
use super::question;
use super::refusal::{Refusal, replied};
use super::row::keyed;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const LIMIT_MAX: u64 = 1000;
const WINDOW_DAYS_MAX: i64 = 30;
const DEPTH_DAYS: i64 = 90;

/// Orders lie in so many days before the mock started.
const DAYS: i64 = 89;

/// On one day in so many an order is created on the second on which the day begins, in Moscow: where
/// windows meet.
const AT_MIDNIGHT_ONE_IN: u64 = 2;

const ID_FIRST: u64 = 3_100_000_000;
const ID_STEP: u64 = 11;

/// The orders that a seller ships.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FbsOrders {
    pub(crate) goods: Goods,
    pub(crate) count: u64,
}

impl Drawer for FbsOrders {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.list(question))
    }

    fn expected(&self) -> ExpectedRows {
        let this = *self;
        Box::new((0..self.count).map(move |number| keyed(&this.row(number), &["id"])))
    }

    fn expected_count(&self) -> u64 {
        self.count
    }

    /// If each of the fewest windows has but one page.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::FbsOrders, Call::Page, (DEPTH_DAYS / WINDOW_DAYS_MAX) as u64)]
    }
}

impl FbsOrders {
    /// Orders from `dateFrom` on and before `dateTo`: one that was created on the second where two
    /// windows meet belongs to the later one. A page that is full says where to go on, even if
    /// nothing follows; one that is not says `next: 0`.
    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["limit", "next", "dateFrom", "dateTo"])?;
        let limit = question::limit(question.required_value("limit")?, LIMIT_MAX)?;
        let next: u64 = question.required_value("next")?;
        let (from, until) = window(question)?;

        let start = if next == 0 {
            self.first_since(from)
        } else {
            next.saturating_add(1)
                .saturating_sub(ID_FIRST)
                .div_ceil(ID_STEP)
                .max(self.first_since(from))
        };
        let end = self.first_since(until);
        let page_end = end.min(start.saturating_add(limit as u64)).max(start);
        let next = if page_end - start == limit as u64 { self.id(page_end - 1) } else { 0 };
        let this = *self;
        let rows = (start..page_end).map(move |number| this.row(number));
        Ok(Reply::rows(format!(r#"{{"next":{next},"orders":["#), rows, "]}"))
    }

    /// The first order that was not created before that moment; how many there are if none.
    fn first_since(&self, moment: DateTime<Utc>) -> u64 {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.created_at(middle) < moment {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn id(&self, number: u64) -> u64 {
        ID_FIRST + number * ID_STEP
    }

    /// Never earlier than that of the order before.
    fn created_at(&self, number: u64) -> DateTime<Utc> {
        let first = self.goods.owner.started - Duration::days(DAYS);
        let slot_starts_at =
            |slot: u64| first + Duration::seconds(slot as i64 * DAYS * 86_400 / self.count as i64);
        let (start, end) = (slot_starts_at(number), slot_starts_at(number + 1));
        let mut dice = self.goods.owner.dice(Subject::FbsOrder, [number, 0]);
        // The last day that begins before the slot ends.
        let midnight = end.timestamp() - (end.timestamp() + 3 * 3600).rem_euclid(86_400);
        if dice.one_in(AT_MIDNIGHT_ONE_IN)
            && (start.timestamp()..end.timestamp()).contains(&midnight)
        {
            return DateTime::from_timestamp(midnight, 0).expect("a moment within the slot");
        }
        let seconds = (end - start).num_seconds().max(1) as u64;
        start + Duration::seconds(dice.below(seconds) as i64)
    }

    fn row(&self, number: u64) -> Value {
        let mut dice = self.goods.owner.dice(Subject::FbsOrder, [number, 1]);
        let good = self.goods.any(dice.roll());
        let size = &good.sizes[dice.below(good.sizes.len() as u64) as usize];
        let price = good.discounted() * 100;
        json!({
            // Most buyers' addresses are not told.
            "address": dice.one_in(4).then(|| json!({
                "fullAddress": "Московская область, Подольск, ул. Примерная, 1",
                "longitude": 37.5,
                "latitude": 55.4,
            })),
            "scanPrice": dice.one_in(3).then_some(price),
            "deliveryType": "fbs",
            "supplyId": if dice.one_in(6) { String::new() } else { format!("WB-GI-{}", dice.within(10_000_000..=99_999_999)) },
            "orderUid": format!("{}_{}", dice.within(10_000_000..=99_999_999), dice.hex()),
            "article": good.vendor_code,
            "colorCode": "",
            "rid": format!("{}.0.0", dice.hex()),
            "createdAt": self.created_at(number).to_rfc3339_opts(SecondsFormat::Secs, true),
            "offices": ["Москва"],
            "skus": [size.barcode],
            "id": self.id(number),
            "warehouseId": 658_434,
            "officeId": 15,
            "nmId": good.nm_id,
            "chrtId": size.chrt_id,
            "price": price,
            "convertedPrice": price,
            "currencyCode": 643,
            "convertedCurrencyCode": 643,
            "cargoType": dice.within(1..=3),
            "crossBorderType": 0,
            "comment": if dice.one_in(9) { "Упаковать, пожалуйста, в подарок" } else { "" },
            "isZeroOrder": false,
            "options": {"isB2B": dice.one_in(20)},
        })
    }
}

/// From when until when; by default the last 30 days.
fn window(question: &Question) -> Result<(DateTime<Utc>, DateTime<Utc>), Refusal> {
    let moment = |name| {
        let seconds: Option<i64> = question.value(name)?;
        let moment = |seconds| DateTime::from_timestamp(seconds, 0);
        // Milliseconds, a common mistake, are thousands of years away.
        seconds
            .map(|seconds| {
                moment(seconds)
                    .filter(|moment| *moment < question.now + Duration::days(3650))
                    .ok_or_else(|| Refusal::bad(format!("{name}: {seconds} is no Unix time")))
            })
            .transpose()
    };
    let until = moment("dateTo")?.unwrap_or(question.now);
    let from = moment("dateFrom")?.unwrap_or(until - Duration::days(WINDOW_DAYS_MAX));
    if from > until {
        return Err(Refusal::bad("dateTo is before dateFrom"));
    }
    if until - from > Duration::days(WINDOW_DAYS_MAX) {
        return Err(Refusal::bad("the window exceeds 30 days"));
    }
    // A day of leeway for those who count from midnight.
    if from < question.now - Duration::days(DEPTH_DAYS + 1) {
        return Err(Refusal::bad("dateFrom is more than 90 days ago"));
    }
    Ok((from, until))
}
