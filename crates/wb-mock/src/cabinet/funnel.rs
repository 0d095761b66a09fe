//! The sales funnel of each thing over a period: pages by offset, up to a short one.

use serde::Deserialize;
use serde_json::{Value, json};

use super::goods::{Good, Goods};
use super::owner::{Subject, day_number};
use super::period::{Period, Reach};
use super::question;
use super::refusal::{Refusal, replied};
use super::row::{keyed, merged};
use super::visits::{BodyPeriod, Counts, Visits, about, percent};
use crate::dice::Dice;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const REACH: Reach = Reach { days_max: 365, depth_days: 365 };
const LIMIT_MAX: u64 = 1000;
const LIMIT_DEFAULT: u64 = 50;

/// How many days before today the period of an import begins that is not told otherwise.
pub(crate) const EXPECTED_DAYS: u64 = 90;

/// The funnel of all goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Funnel {
    pub(crate) visits: Visits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ProductsBody {
    selected_period: BodyPeriod,
    #[serde(default)]
    nm_ids: Vec<u64>,
    #[serde(default, rename = "skipDeletedNm")]
    _skip_deleted_nm: bool,
    #[serde(default, rename = "orderBy")]
    _order_by: Option<OrderBy>,
    limit: Option<u64>,
    #[serde(default)]
    offset: u64,
}

/// Rows come in one order, whatever is asked for; but what is asked for must make sense.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderBy {
    #[serde(rename = "field")]
    _field: String,
    #[serde(rename = "mode")]
    _mode: OrderMode,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OrderMode {
    Asc,
    Desc,
}

impl Drawer for Funnel {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.products(question))
    }

    /// For the period that an import asks for by default.
    fn expected(&self) -> ExpectedRows {
        let this = *self;
        let owner = self.visits.goods.owner;
        let period = Period { first: owner.days_ago(EXPECTED_DAYS), last: owner.days_ago(1) };
        let key =
            ["product/nmId", "statistic/selected/period/start", "statistic/selected/period/end"];
        let goods = self.visits.goods.iter();
        Box::new(goods.map(move |good| keyed(&this.product(&good, period), &key)))
    }

    /// Pages of 1000, the last of them short.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Funnel, Call::Page, funnel_pages(self.visits.goods))]
    }
}

impl Funnel {
    /// Nowhere does it say how many there are.
    fn products(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: ProductsBody = question.json()?;
        let period = body.selected_period.read(REACH, question)?;
        let limit = question::limit(body.limit.unwrap_or(LIMIT_DEFAULT), LIMIT_MAX)?;
        let this = *self;
        let page = self
            .visits
            .goods
            .iter()
            .filter(move |good| body.nm_ids.is_empty() || body.nm_ids.contains(&good.nm_id))
            .skip(question::offset(body.offset))
            .take(limit)
            .map(move |good| this.product(&good, period));
        Ok(Reply::rows(r#"{"data":{"products":["#, page, r#"],"currency":"RUB"}}"#))
    }

    fn product(&self, good: &Good, period: Period) -> Value {
        let mut dice = self.visits.goods.owner.dice(Subject::Funnel, [good.number, 0]);
        let rating = |dice: &mut Dice| dice.within(10..=50) as f64 / 10.0;
        let product = merged([
            about(good),
            json!({
                "tags": [],
                "productRating": rating(&mut dice),
                "feedbackRating": rating(&mut dice),
                "stocks": {
                    "wb": dice.within(0..=900),
                    "mp": dice.within(0..=90),
                    "balanceSum": dice.within(0..=900_000),
                },
            }),
        ]);
        json!({"product": product, "statistic": {"selected": self.statistic(good, period)}})
    }

    fn statistic(&self, good: &Good, period: Period) -> Value {
        let sum = self.visits.sum(good, period);
        let mut dice =
            self.visits.goods.owner.dice(Subject::Funnel, [good.number, day_number(period.first)]);
        let a_day = |count: u64| (count * 100 / period.days()) as f64 / 100.0;
        let average = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
        // A third of the buyers belong to the club.
        let club = Counts {
            ordered: sum.ordered / 3,
            ordered_sum: sum.ordered / 3 * good.discounted(),
            bought: sum.bought / 3,
            bought_sum: sum.bought / 3 * good.discounted(),
            cancelled: sum.cancelled / 3,
            cancelled_sum: sum.cancelled / 3 * good.discounted(),
            ..Counts::default()
        };
        json!({
            "period": {"start": period.first.to_string(), "end": period.last.to_string()},
            "openCount": sum.opened,
            "cartCount": sum.carted,
            "orderCount": sum.ordered,
            "orderSum": sum.ordered_sum,
            "buyoutCount": sum.bought,
            "buyoutSum": sum.bought_sum,
            "cancelCount": sum.cancelled,
            "cancelSum": sum.cancelled_sum,
            "avgPrice": average(sum.ordered_sum, sum.ordered),
            "avgOrdersCountPerDay": a_day(sum.ordered),
            "shareOrderPercent": dice.within(0..=900) as f64 / 100.0,
            "addToWishlist": sum.wished,
            "timeToReady": {
                "days": dice.within(0..=3),
                "hours": dice.within(0..=23),
                "mins": dice.within(0..=59),
            },
            "localizationPercent": dice.within(0..=100),
            "wbClub": {
                "orderCount": club.ordered,
                "orderSum": club.ordered_sum,
                "buyoutSum": club.bought_sum,
                "buyoutCount": club.bought,
                "cancelSum": club.cancelled_sum,
                "cancelCount": club.cancelled,
                "avgPrice": average(club.ordered_sum, club.ordered),
                "buyoutPercent": percent(club.bought, club.ordered),
                "avgOrderCountPerDay": a_day(club.ordered),
            },
            "conversions": {
                "addToCartPercent": percent(sum.carted, sum.opened),
                "cartToOrderPercent": percent(sum.ordered, sum.carted),
                "buyoutPercent": percent(sum.bought, sum.ordered),
            },
        })
    }
}

/// How many pages list all goods, the last of them short.
pub(crate) fn funnel_pages(goods: Goods) -> u64 {
    goods.count / LIMIT_MAX + 1
}
