//! What campaigns have brought, day by day, for up to 50 of them at a time.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::campaigns::Campaigns;
use super::goods::Goods;
use super::owner::{Subject, day_number};
use super::period::{Period, Reach};
use super::refusal::{Refusal, replied};
use super::row::{keyed, merged};
use crate::dice::Dice;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const REACH: Reach = Reach { days_max: 31, depth_days: 90 };

/// The most ids of one request.
const IDS_MAX: usize = 50;

/// The apps that a day's numbers are split by: site, Android, iOS.
const APPS: [u64; 3] = [1, 32, 64];

/// The statistics of all campaigns of a seller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CampaignStats {
    pub(crate) campaigns: Campaigns,
    pub(crate) goods: Goods,
}

/// What was spent, in hundredths, and what that brought.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    views: u64,
    clicks: u64,
    carted: u64,
    ordered: u64,
    cancelled: u64,
    spent: u64,
    ordered_sum: u64,
}

impl Drawer for CampaignStats {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.fullstats(question))
    }

    /// Every day with anything on it, with the `advertId` of its campaign.
    fn expected(&self) -> ExpectedRows {
        let this = *self;
        let owner = self.campaigns.owner;
        let period = Period { first: owner.days_ago(REACH.depth_days), last: owner.days_ago(1) };
        Box::new((0..self.campaigns.count).flat_map(move |number| {
            let id = json!({"advertId": this.campaigns.id(number)});
            let days = this.days(number, period).into_iter();
            days.map(move |(_, day)| keyed(&merged([id.clone(), day]), &["advertId", "date"]))
        }))
    }

    /// The list of campaigns is another dataset's; then as many chunks of 50 as there are windows.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        let chunks = self.campaigns.count.div_ceil(IDS_MAX as u64);
        let windows = REACH.depth_days.div_ceil(REACH.days_max);
        vec![
            (Dataset::Campaigns, Call::Page, 1),
            (Dataset::CampaignStats, Call::Page, chunks * windows),
        ]
    }
}

impl CampaignStats {
    /// Campaigns with nothing in the period are left out, and so are such days.
    fn fullstats(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["ids", "beginDate", "endDate"])?;
        let ids = ids(question.required("ids")?)?;
        let period = question.period(["beginDate", "endDate"], REACH)?;
        let this = *self;
        let campaigns = self.campaigns;
        let known = ids.into_iter().filter_map(move |id| campaigns.number_of(id));
        let rows = known.filter_map(move |number| this.campaign(number, period));
        Ok(Reply::rows("[", rows, "]"))
    }

    fn campaign(&self, number: u64, period: Period) -> Option<Value> {
        let days = self.days(number, period);
        let sum = days.iter().fold(Counts::default(), |sum, (counts, _)| sum.plus(*counts));
        let days: Vec<Value> = days.into_iter().map(|(_, day)| day).collect();
        (!days.is_empty()).then(|| {
            let about = json!({
                "advertId": self.campaigns.id(number),
                "boosterStats": [],
                "days": days,
                "currency": "RUB",
            });
            merged([about, sum.fields()])
        })
    }

    fn days(&self, number: u64, period: Period) -> Vec<(Counts, Value)> {
        let Some(active) = self.active(number) else { return Vec::new() };
        let days = period.iter().filter(|day| active.contains(*day));
        days.filter_map(|day| self.day(number, day)).collect()
    }

    /// When a campaign was running; one in three never was in these months.
    fn active(&self, number: u64) -> Option<Period> {
        let owner = self.campaigns.owner;
        let mut dice = owner.dice(Subject::Campaign, [number, 2]);
        let first = owner.days_ago(dice.within(1..=REACH.depth_days));
        let last = (first + Days::new(dice.below(45))).min(owner.days_ago(1));
        (!dice.one_in(3)).then_some(Period { first, last })
    }

    /// None on some days of the running ones too.
    fn day(&self, number: u64, day: NaiveDate) -> Option<(Counts, Value)> {
        let mut dice = self.campaigns.owner.dice(Subject::CampaignDay, [number, day_number(day)]);
        if dice.one_in(9) {
            return None;
        }
        let parts = APPS.map(|app| self.app(number, app, &mut dice));
        let sum = parts.iter().fold(Counts::default(), |sum, (counts, _)| sum.plus(*counts));
        let apps: Vec<Value> = parts.into_iter().map(|(_, app)| app).collect();
        let about = json!({"date": format!("{day}T00:00:00Z"), "apps": apps});
        Some((sum, merged([about, sum.fields()])))
    }

    /// One app's share of a day. Each campaign is for one thing.
    fn app(&self, number: u64, app: u64, dice: &mut Dice) -> (Counts, Value) {
        let good = self.goods.any(number * 7);
        let views = dice.within(1..=9_000);
        let clicks = dice.within(0..=views / 20);
        let ordered = dice.within(0..=clicks / 10);
        let counts = Counts {
            views,
            clicks,
            carted: dice.within(0..=clicks / 3),
            ordered,
            cancelled: dice.within(0..=ordered / 4),
            spent: clicks * dice.within(300..=2_500),
            ordered_sum: ordered * good.discounted(),
        };
        let nm = merged([json!({"nmId": good.nm_id, "name": good.title}), counts.fields()]);
        (counts, merged([json!({"appType": app, "nms": [nm]}), counts.fields()]))
    }
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            views: self.views + other.views,
            clicks: self.clicks + other.clicks,
            carted: self.carted + other.carted,
            ordered: self.ordered + other.ordered,
            cancelled: self.cancelled + other.cancelled,
            spent: self.spent + other.spent,
            ordered_sum: self.ordered_sum + other.ordered_sum,
        }
    }

    fn fields(self) -> Value {
        // Two digits behind the point.
        let ratio =
            |part: u64, whole: u64| (part * 100).checked_div(whole).unwrap_or(0) as f64 / 100.0;
        json!({
            "views": self.views,
            "clicks": self.clicks,
            "ctr": ratio(self.clicks * 100, self.views),
            "cpc": ratio(self.spent, self.clicks * 100),
            "sum": self.spent as f64 / 100.0,
            "atbs": self.carted,
            "orders": self.ordered,
            "cr": ratio(self.ordered * 100, self.clicks),
            "shks": self.ordered,
            "sum_price": self.ordered_sum,
            "canceled": self.cancelled,
        })
    }
}

/// From 1 to 50 ids, separated by commas.
fn ids(text: &str) -> Result<Vec<u64>, Refusal> {
    let ids: Result<Vec<u64>, _> = text.split(',').map(str::parse).collect();
    let ids = ids.map_err(|_| Refusal::bad(format!("ids: {text:?} is no list of numbers")))?;
    if ids.len() > IDS_MAX {
        return Err(Refusal::bad(format!("ids: more than {IDS_MAX}")));
    }
    Ok(ids)
}
