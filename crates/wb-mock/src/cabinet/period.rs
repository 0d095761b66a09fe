//! Days from one to another, and which of them may be asked for.

use chrono::{Days, NaiveDate};

use super::refusal::Refusal;

/// Some days in a row, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) first: NaiveDate,
    pub(crate) last: NaiveDate,
}

/// Which periods a method answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The most days of one period, both ends included.
    pub(crate) days_max: u64,
    /// How many days before today a period may begin. A day more is let pass: a client that counts
    /// 24 hours may be on another day than one that counts midnights.
    pub(crate) depth_days: u64,
}

impl Period {
    /// How many days.
    pub(crate) fn days(self) -> u64 {
        u64::try_from((self.last - self.first).num_days() + 1).unwrap_or_default()
    }

    /// The days in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = NaiveDate> + Clone {
        self.first.iter_days().take_while(move |day| *day <= self.last)
    }

    pub(crate) fn contains(self, day: NaiveDate) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// The period again, if a method with that reach answers it today.
    pub(crate) fn within(self, reach: Reach, today: NaiveDate) -> Result<Self, Refusal> {
        if self.first > self.last {
            return Err(Refusal::bad("the period ends before it begins"));
        }
        if self.days() > reach.days_max {
            return Err(Refusal::bad(format!("the period exceeds {} days", reach.days_max)));
        }
        if self.first < today - Days::new(reach.depth_days + 1) {
            return Err(Refusal::bad(format!(
                "the period begins more than {} days ago",
                reach.depth_days
            )));
        }
        if self.last > today {
            return Err(Refusal::bad("the period ends in the future"));
        }
        Ok(self)
    }
}

/// A date written `2026-10-01`.
pub(crate) fn date(field: &str, text: &str) -> Result<NaiveDate, Refusal> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    // The parser would let `2026-1-1` pass.
    date.filter(|_| text.len() == 10)
        .ok_or_else(|| Refusal::bad(format!("{field}: {text:?} is no date such as 2026-10-01")))
}

/// A date, or the date of a date and time in RFC 3339, with or without an offset.
pub(crate) fn date_of_moment(field: &str, text: &str) -> Result<NaiveDate, Refusal> {
    let Some((date_text, time)) = text.split_once('T') else {
        return date(field, text);
    };
    let naive = chrono::NaiveTime::parse_from_str(time, "%H:%M:%S%.f").is_ok();
    if naive || chrono::DateTime::parse_from_rfc3339(text).is_ok() {
        return date(field, date_text);
    }
    Err(Refusal::bad(format!("{field}: {text:?} is no date in RFC 3339")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        date("day", text).expect("a date")
    }

    fn period(first: &str, last: &str) -> Period {
        Period { first: day(first), last: day(last) }
    }

    const WEEK: Reach = Reach { days_max: 7, depth_days: 10 };

    #[test]
    fn both_ends_of_a_period_count() {
        let week = period("2026-09-25", "2026-10-01");
        assert_eq!((week.days(), week.iter().count()), (7, 7));
        assert!(week.contains(week.first) && week.contains(week.last));
    }

    #[test]
    fn periods_that_are_too_long_too_early_reversed_or_in_the_future_are_refused() {
        let today = day("2026-10-01");
        let within = |first, last| period(first, last).within(WEEK, today).is_ok();
        assert!(within("2026-09-25", "2026-10-01"));
        assert!(!within("2026-09-24", "2026-10-01"), "eight days");
        assert!(within("2026-09-20", "2026-09-21"), "a day of leeway");
        assert!(!within("2026-09-19", "2026-09-21"), "too early");
        assert!(!within("2026-09-30", "2026-09-29"), "reversed");
        assert!(!within("2026-09-30", "2026-10-02"), "the future");
    }

    #[test]
    fn only_whole_dates_are_dates() {
        for bad in ["", "2026-1-1", "2026-13-01", "01.10.2026", "2026-10-01T00:00:00"] {
            assert!(date("day", bad).is_err(), "{bad}");
        }
        for good in ["2026-10-01", "2026-10-01T00:00:00", "2026-10-01T00:00:00+03:00"] {
            assert_eq!(date_of_moment("day", good), Ok(day("2026-10-01")), "{good}");
        }
        assert!(date_of_moment("day", "2026-10-01Tnoon").is_err());
    }
}
