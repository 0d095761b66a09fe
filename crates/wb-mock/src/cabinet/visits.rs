//! What visitors did with each thing on each day: what the funnel, its history and its report tell.

use chrono::NaiveDate;
use serde::Deserialize;
use serde_json::{Value, json};

use super::goods::{Good, Goods};
use super::owner::{Subject, day_number, moscow_day};
use super::period::{self, Period, Reach};
use super::refusal::Refusal;
use crate::drawer::Question;

/// Things that are visited every day. The others have a visit on one day in [`RARE_ONE_IN`].
const STEADY_GOODS: u64 = 36;
const RARE_ONE_IN: u64 = 50;

/// The visits to all goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visits {
    pub(crate) goods: Goods,
}

/// What visitors did. Sums are in whole rubles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) carted: u64,
    pub(crate) ordered: u64,
    pub(crate) ordered_sum: u64,
    pub(crate) bought: u64,
    pub(crate) bought_sum: u64,
    pub(crate) cancelled: u64,
    pub(crate) cancelled_sum: u64,
    pub(crate) wished: u64,
}

/// A period as bodies have it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyPeriod {
    start: String,
    end: String,
}

impl BodyPeriod {
    pub(crate) fn read(&self, reach: Reach, question: &Question) -> Result<Period, Refusal> {
        let first = period::date("start", &self.start)?;
        let last = period::date("end", &self.end)?;
        Period { first, last }.within(reach, moscow_day(question.now))
    }
}

impl Visits {
    /// What happened on that day, which is over.
    pub(crate) fn counts(&self, good: &Good, day: NaiveDate) -> Counts {
        let owner = self.goods.owner;
        if day >= owner.today() {
            return Counts::default();
        }
        let mut dice = owner.dice(Subject::FunnelDay, [good.number, day_number(day)]);
        if good.number >= STEADY_GOODS && !dice.one_in(RARE_ONE_IN) {
            return Counts::default();
        }
        let opened = dice.within(1..=900);
        let carted = dice.within(0..=opened / 5);
        let ordered = dice.within(0..=carted);
        let cancelled = dice.within(0..=ordered / 4);
        let bought = ordered - cancelled;
        let price = good.discounted();
        Counts {
            opened,
            carted,
            ordered,
            ordered_sum: ordered * price,
            bought,
            bought_sum: bought * price,
            cancelled,
            cancelled_sum: cancelled * price,
            wished: dice.within(0..=opened / 10),
        }
    }

    /// What happened on all days of a period.
    pub(crate) fn sum(&self, good: &Good, period: Period) -> Counts {
        let days = period.iter().map(|day| self.counts(good, day));
        days.fold(Counts::default(), Counts::plus)
    }
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            opened: self.opened + other.opened,
            carted: self.carted + other.carted,
            ordered: self.ordered + other.ordered,
            ordered_sum: self.ordered_sum + other.ordered_sum,
            bought: self.bought + other.bought,
            bought_sum: self.bought_sum + other.bought_sum,
            cancelled: self.cancelled + other.cancelled,
            cancelled_sum: self.cancelled_sum + other.cancelled_sum,
            wished: self.wished + other.wished,
        }
    }
}

/// Whole percent; of nothing, 0.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

/// What funnel and history say about a thing.
pub(crate) fn about(good: &Good) -> Value {
    json!({
        "nmId": good.nm_id,
        "title": good.title,
        "vendorCode": good.vendor_code,
        "brandName": good.brand,
        "subjectId": good.subject_id,
        "subjectName": good.subject,
    })
}
