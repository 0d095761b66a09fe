//! The report on paid acceptance: windows of at most 31 days.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::goods::Goods;
use super::owner::{Owner, Subject, day_number};
use super::period::Reach;
use super::row::hundredths;
use super::windows::DailyRows;
use crate::Dataset;

/// Some sellers have delivered nothing for so long that at least one whole window is empty, however
/// the windows lie.
const QUIET_DAYS: u64 = 62;

/// What was accepted of a seller's goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acceptance {
    pub(crate) goods: Goods,
}

impl DailyRows for Acceptance {
    const DATASET: Dataset = Dataset::Acceptance;
    const REACH: Reach = Reach { days_max: 31, depth_days: 90 };
    const KEY: &'static [&'static str] = &["incomeId", "nmID", "giCreateDate", "shkCreateDate"];

    fn owner(&self) -> Owner {
        self.goods.owner
    }

    /// On most days nothing was accepted, on some one delivery.
    fn rows_on(&self, day: NaiveDate) -> Vec<Value> {
        let owner = self.goods.owner;
        let is_quiet =
            owner.dice(Subject::Acceptance, [0, 0]).one_in(3) && day > owner.days_ago(QUIET_DAYS);
        let mut dice = owner.dice(Subject::Acceptance, [day_number(day), 1]);
        if self.goods.count == 0 || is_quiet || !dice.one_in(3) {
            return Vec::new();
        }
        let income_id = 30_000_000 + day_number(day) * 10 + dice.below(10);
        let created = day - Days::new(dice.below(4));
        let first = dice.below(self.goods.count);
        let goods = dice.within(1..=6).min(self.goods.count);
        let rows = (first..first + goods).map(|number| {
            let good = self.goods.any(number);
            let count = dice.within(1..=200);
            let total = count * dice.within(0..=900);
            json!({
                "count": count,
                "giCreateDate": created.to_string(),
                "incomeId": income_id,
                "nmID": good.nm_id,
                "shkCreateDate": day.to_string(),
                "subjectName": good.subject,
                "total": hundredths(total),
            })
        });
        rows.collect()
    }
}
