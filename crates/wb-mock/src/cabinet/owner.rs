//! Whose cabinet it is, and the draws that all of it is made of.

use chrono::{DateTime, Days, NaiveDate, Utc};

use crate::dice::{Dice, Topic};

/// Hours that Moscow's clocks are ahead of UTC.
const MOSCOW_HOURS: i64 = 3;

/// Whose cabinet it is, since when it stands, and how fast its time runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) seed: u64,
    pub(crate) seller: u64,
    /// The mock's "now" when it started, in whole seconds: fewer digits are written than a moment
    /// may have, and what is written must find its row again. Rows lie before it.
    pub(crate) started: DateTime<Utc>,
    /// Divides how long tasks take and are kept; at least 1.
    pub(crate) speed: u32,
}

/// What a draw is about. Two subjects never share draws.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    Size,
    NmId,
    Good,
    GoodSize,
    Card,
    Price,
    Stock,
    Acceptance,
    Storage,
    Task,
    Window,
    Funnel,
    FunnelDay,
    Report,
    CsvLine,
    Finance,
    FbsOrder,
    Campaign,
    CampaignDay,
    Feedback,
    Tariff,
}

impl Owner {
    /// Draws of this seller.
    pub(crate) fn dice(&self, subject: Subject, numbers: [u64; 2]) -> Dice {
        self.dice_of(self.seller, subject, numbers)
    }

    /// Draws that are the same for every seller.
    pub(crate) fn common_dice(&self, subject: Subject, numbers: [u64; 2]) -> Dice {
        self.dice_of(u64::MAX - 1, subject, numbers)
    }

    /// The day in Moscow on which the mock started.
    pub(crate) fn today(&self) -> NaiveDate {
        moscow_day(self.started)
    }

    /// The day so many days before [`today`](Self::today).
    pub(crate) fn days_ago(&self, days: u64) -> NaiveDate {
        self.today() - Days::new(days)
    }

    fn dice_of(&self, seller: u64, subject: Subject, [first, second]: [u64; 2]) -> Dice {
        Dice::of(self.seed, Topic::Cabinet, &[seller, subject as u64, first, second])
    }
}

/// The day in Moscow.
pub(crate) fn moscow_day(moment: DateTime<Utc>) -> NaiveDate {
    (moment + chrono::Duration::hours(MOSCOW_HOURS)).date_naive()
}

/// A number for a day, to draw with.
pub(crate) fn day_number(day: NaiveDate) -> u64 {
    u64::try_from((day - NaiveDate::default()).num_days()).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// At noon of 2026-10-01.
    pub(crate) fn owner(seller: u64) -> Owner {
        let started = DateTime::from_timestamp(1_790_856_000, 0).expect("a moment");
        Owner { seed: 3, seller, started, speed: 1 }
    }

    #[test]
    fn days_begin_at_midnight_in_moscow() {
        let evening = DateTime::from_timestamp(1_790_856_000 + 9 * 3600, 0).expect("a moment");
        assert_eq!(moscow_day(evening).to_string(), "2026-10-02");
        assert_eq!(owner(0).today().to_string(), "2026-10-01");
    }
}
