//! Days of Moscow, and windows of them.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::moscow::{days_after, days_before};

/// Days from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Days {
    pub(crate) start: NaiveDate,
    pub(crate) end: NaiveDate,
}

impl Days {
    /// The days from `since` to the one before `today`. At least that one: days that are not over
    /// are not asked for.
    pub(crate) fn until_yesterday(since: NaiveDate, today: NaiveDate) -> Self {
        let end = days_before(today, 1);
        Self { start: since.min(end), end }
    }

    /// Those of them that can still be asked for. If all are too long ago, everything that can be:
    /// the import goes on after a long pause, and what came after its days is missing as well.
    pub(crate) fn within(self, reach: Self) -> Self {
        if self.end < reach.start {
            reach
        } else {
            Self { start: self.start.max(reach.start), ..self }
        }
    }

    /// Their first days, at most `days_max`.
    pub(crate) fn first(self, days_max: u64) -> Self {
        Self { end: days_after(self.start, days_max.saturating_sub(1)).min(self.end), ..self }
    }

    /// The days behind a window of them.
    pub(crate) fn behind(self, window: Self) -> Option<Self> {
        (window.end < self.end).then(|| Self { start: days_after(window.end, 1), ..self })
    }

    /// Windows of at most `days_max` that they make.
    pub(crate) fn windows(self, days_max: u64) -> u64 {
        let days = (self.end - self.start).num_days().saturating_add(1);
        u64::try_from(days).unwrap_or(0).div_ceil(days_max.max(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(number: u64) -> NaiveDate {
        days_after("2026-01-01".parse().unwrap(), number)
    }

    proptest! {
        #[test]
        fn windows_follow_each_other_without_a_gap_and_are_as_many_as_said(
            start in 0..1_000_u64, length in 1..400_u64, days_max in 1..40_u64,
        ) {
            let all = Days { start: day(start), end: day(start + length - 1) };
            let (mut rest, mut seen, mut next) = (Some(all), 0, all.start);
            while let Some(days) = rest {
                let window = days.first(days_max);
                prop_assert_eq!(days.windows(days_max), all.windows(days_max) - seen);
                prop_assert_eq!(window.start, next);
                prop_assert!(window.end <= all.end);
                next = days_after(window.end, 1);
                rest = days.behind(window);
                seen += 1;
            }
            prop_assert_eq!((next, seen), (days_after(all.end, 1), all.windows(days_max)));
        }
    }

    #[test]
    fn days_that_are_out_of_reach_are_left_out_or_replaced_by_all_that_can_be_reached() {
        let days = |start, end| Days { start: day(start), end: day(end) };
        assert_eq!(days(2, 9).within(days(1, 10)), days(2, 9));
        assert_eq!(days(2, 9).within(days(3, 10)), days(3, 9));
        assert_eq!(days(2, 9).within(days(9, 16)), days(9, 9));
        assert_eq!(days(2, 9).within(days(10, 17)), days(10, 17));
    }

    #[test]
    fn a_day_that_is_not_over_is_not_asked_for() {
        let days = |since| Days::until_yesterday(day(since), day(9));
        assert_eq!(days(2), Days { start: day(2), end: day(8) });
        assert_eq!(days(9), Days { start: day(8), end: day(8) });
    }
}
