//! The sales funnel of single days, for up to 20 things at a time.

use serde::Deserialize;
use serde_json::{Value, json};

use super::funnel::funnel_pages;
use super::goods::Good;
use super::period::{Period, Reach};
use super::refusal::{Refusal, replied};
use super::row::{keyed, merged};
use super::visits::{BodyPeriod, Visits, about, percent};
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const REACH: Reach = Reach { days_max: 7, depth_days: 7 };

/// The most `nmIds` of one request.
const IDS_MAX: usize = 20;

/// The history of all goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    pub(crate) visits: Visits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct HistoryBody {
    selected_period: BodyPeriod,
    nm_ids: Vec<u64>,
    #[serde(default, rename = "skipDeletedNm")]
    _skip_deleted_nm: bool,
    #[serde(default)]
    aggregation_level: AggregationLevel,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum AggregationLevel {
    #[default]
    Day,
    Week,
}

impl Drawer for History {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.history(question))
    }

    /// The days of the last week, each with the `nmId` of its thing.
    fn expected(&self) -> ExpectedRows {
        let this = *self;
        let goods = self.visits.goods;
        let week = Period { first: goods.owner.days_ago(7), last: goods.owner.days_ago(1) };
        Box::new(goods.iter().flat_map(move |good| {
            let days = this.days(&good, week).into_iter();
            days.map(move |day| {
                keyed(&merged([json!({"nmId": good.nm_id}), day]), &["nmId", "date"])
            })
        }))
    }

    /// The list of goods is the funnel's.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        let goods = self.visits.goods;
        vec![
            (Dataset::Funnel, Call::Page, funnel_pages(goods)),
            (Dataset::FunnelHistory, Call::Page, goods.count.div_ceil(IDS_MAX as u64)),
        ]
    }
}

impl History {
    /// A bare array, in the order of the ids. Ids that are not the seller's are left out.
    fn history(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: HistoryBody = question.json()?;
        let period = body.selected_period.read(REACH, question)?;
        if body.nm_ids.is_empty() || body.nm_ids.len() > IDS_MAX {
            return Err(Refusal::bad(format!("nmIds: not from 1 to {IDS_MAX}")));
        }
        if body.aggregation_level == AggregationLevel::Week {
            return Err(Refusal::bad("aggregationLevel: only days are served here"));
        }
        let this = *self;
        let goods = self.visits.goods;
        let known = body.nm_ids.into_iter().filter_map(move |nm_id| goods.number_of(nm_id));
        let products = known.map(move |number| {
            let good = goods.good(number);
            let days = this.days(&good, period);
            json!({"product": about(&good), "history": days, "currency": "RUB"})
        });
        Ok(Reply::rows("[", products, "]"))
    }

    fn days(&self, good: &Good, period: Period) -> Vec<Value> {
        let days = period.iter().filter(|day| *day < self.visits.goods.owner.today());
        let rows = days.map(|day| {
            let counts = self.visits.counts(good, day);
            json!({
                "date": day.to_string(),
                "openCount": counts.opened,
                "cartCount": counts.carted,
                "orderCount": counts.ordered,
                "orderSum": counts.ordered_sum,
                "buyoutCount": counts.bought,
                "buyoutSum": counts.bought_sum,
                "buyoutPercent": percent(counts.bought, counts.ordered),
                "addToCartConversion": percent(counts.carted, counts.opened),
                "cartToOrderConversion": percent(counts.ordered, counts.carted),
                "addToWishlistCount": counts.wished,
            })
        });
        rows.collect()
    }
}
