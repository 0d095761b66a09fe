//! The mock's time: what "now" is, and Moscow time without an offset.

use chrono::{DateTime, FixedOffset, NaiveDateTime, Utc};
use serde::{Serialize, Serializer};
use tokio::time::Instant;

const MOSCOW_OFFSET_SECONDS: i32 = 3 * 3600;

const DAY_US: u64 = 86_400_000_000;

/// Counts from the moment that the configuration calls "now".
#[derive(Debug)]
pub(crate) struct MockClock {
    started: Instant,
    now_at_start: DateTime<Utc>,
}

impl MockClock {
    pub(crate) fn start(now: DateTime<Utc>) -> Self {
        Self { started: Instant::now(), now_at_start: now }
    }

    /// Whole microseconds since the start.
    pub(crate) fn elapsed_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// The number of the day that it is after so many microseconds. At speed 1 days change at
    /// midnight in Moscow; at greater speed they are as many times shorter, and the first begins
    /// with the mock.
    pub(crate) fn day(&self, elapsed_us: u64, speed: u32) -> u64 {
        let passed_us = if speed == 1 {
            let start = MoscowTime::from_utc(self.now_at_start);
            start.seconds_since(start.midnight_before()) as u64 * 1_000_000
        } else {
            0
        };
        (passed_us + elapsed_us) / (DAY_US / u64::from(speed)).max(1)
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.now_at_start + self.started.elapsed()
    }

    pub(crate) fn moscow(&self) -> DateTime<FixedOffset> {
        let offset = FixedOffset::east_opt(MOSCOW_OFFSET_SECONDS).expect("three hours are valid");
        self.now().with_timezone(&offset)
    }
}

/// A whole second on Moscow's clocks, which is how the statistics service tells time: written
/// `2026-09-30T18:20:07`, with no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MoscowTime(i64);

impl MoscowTime {
    /// What the upstream writes for "never".
    pub(crate) fn never() -> Self {
        Self::from_naive(NaiveDateTime::new(
            chrono::NaiveDate::from_ymd_opt(1, 1, 1).expect("the first day of the calendar"),
            chrono::NaiveTime::MIN,
        ))
    }

    pub(crate) fn from_utc(moment: DateTime<Utc>) -> Self {
        Self(moment.timestamp() + i64::from(MOSCOW_OFFSET_SECONDS))
    }

    /// Drops a fraction of a second.
    pub(crate) fn from_naive(local: NaiveDateTime) -> Self {
        Self(local.and_utc().timestamp())
    }

    pub(crate) fn naive(self) -> NaiveDateTime {
        DateTime::from_timestamp(self.0, 0).expect("a second within the calendar").naive_utc()
    }

    pub(crate) fn plus(self, seconds: i64) -> Self {
        Self(self.0 + seconds)
    }

    pub(crate) fn seconds_since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    pub(crate) fn midnight_before(self) -> Self {
        Self(self.0 - self.0.rem_euclid(86_400))
    }
}

impl Serialize for MoscowTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.naive().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_is_written_as_the_upstream_writes_it() {
        let text = serde_json::to_string(&MoscowTime::never()).expect("a text");
        assert_eq!(text, r#""0001-01-01T00:00:00""#);
    }

    #[test]
    fn days_change_at_midnight_in_moscow_and_with_speed_are_shorter() {
        let noon = DateTime::from_timestamp(1_790_856_000, 0).expect("a moment");
        let clock = MockClock::start(noon);
        let nine_hours = 9 * 3_600_000_000;
        assert_eq!([nine_hours - 1, nine_hours].map(|us| clock.day(us, 1)), [0, 1]);
        assert_eq!([nine_hours - 1, nine_hours].map(|us| clock.day(us, 24)), [8, 9]);
        assert_eq!(clock.day(DAY_US - 1, 1), 1);
    }

    #[test]
    fn moscow_is_three_hours_ahead() {
        let noon = DateTime::from_timestamp(1_790_856_000, 0).expect("a moment");
        let text = serde_json::to_string(&MoscowTime::from_utc(noon)).expect("a text");
        assert_eq!(text, r#""2026-10-01T15:00:00""#);
    }
}
