use std::{fmt, str::FromStr};

use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize, Serialize, de};
use waitless_job::UnixMillis;

/// Moscow is three hours ahead of UTC, without summer time since 2014-10-26.
const OFFSET_MS: u64 = 3 * 3_600_000;

/// Time on Moscow's clocks, which is how the statistics service tells time: written
/// `2026-09-30T18:20:07`, with no offset.
///
/// Its text sorts as the time does: a fraction of a second stands only where there is one.
///
/// ```
/// use waitless_wb::MoscowTime;
///
/// let time: MoscowTime = "2026-09-30T18:20:07".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-09-30T18:20:07");
/// let utc = "2026-09-30T18:20:07Z".parse::<MoscowTime>();
/// assert!(utc.is_err(), "a time with an offset is not of this service");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoscowTime(NaiveDateTime);

impl MoscowTime {
    /// What Moscow's clocks show at a moment.
    ///
    /// # Panics
    /// Beyond the year 262,000.
    #[must_use]
    pub fn at(moment: UnixMillis) -> Self {
        let shown = DateTime::from_timestamp_millis(moment.plus(OFFSET_MS).0);
        Self(shown.expect("a moment within the calendar").naive_utc())
    }

    /// The midnight that begins a day.
    #[must_use]
    pub fn midnight(day: NaiveDate) -> Self {
        Self(day.and_time(NaiveTime::MIN))
    }

    /// The day.
    #[must_use]
    pub fn day(self) -> NaiveDate {
        self.0.date()
    }

    /// The moment at which Moscow's clocks show it.
    #[must_use]
    pub fn moment(self) -> UnixMillis {
        UnixMillis(self.0.and_utc().timestamp_millis().saturating_sub(OFFSET_MS.cast_signed()))
    }

    /// Milliseconds since an earlier time; 0 if it is later.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from((self.0 - earlier.0).num_milliseconds()).unwrap_or(0)
    }
}

/// The day so many days after; the end of the calendar saturates.
pub(crate) fn days_after(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_add_days(Days::new(days)).unwrap_or(NaiveDate::MAX)
}

/// The day so many days before; the beginning of the calendar saturates.
pub(crate) fn days_before(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(NaiveDate::MIN)
}

impl fmt::Display for MoscowTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `%.f` writes 3, 6 or 9 digits, and nothing for a whole second.
        self.0.format("%Y-%m-%dT%H:%M:%S%.f").fmt(f)
    }
}

impl FromStr for MoscowTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").map(Self).map_err(|_| {
            let shown: String = text.chars().take(40).collect();
            format!("`{}` is no Moscow time like 2026-09-30T18:20:07", shown.escape_debug())
        })
    }
}

impl Serialize for MoscowTime {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MoscowTime {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moscow_is_three_hours_ahead() {
        let noon = UnixMillis(1_790_856_000_000);
        assert_eq!(MoscowTime::at(noon).to_string(), "2026-10-01T15:00:00");
        assert_eq!(MoscowTime::at(noon).moment(), noon);
        let late = UnixMillis(1_790_856_000_000 + 9 * 3_600_000);
        assert_eq!(MoscowTime::at(late).day().to_string(), "2026-10-02");
    }

    #[test]
    fn texts_sort_as_times_do() {
        let times = ["10:00:00", "10:00:00.5", "10:00:00.500001", "10:00:00.6", "10:00:01"];
        let texts = times
            .map(|time| format!("2026-10-01T{time}").parse::<MoscowTime>().unwrap().to_string());
        assert!(texts.is_sorted(), "{texts:?}");
    }

    #[test]
    fn times_with_an_offset_and_dates_alone_are_refused() {
        for bad in ["2026-10-01T10:00:00Z", "2026-10-01T10:00:00+03:00", "2026-10-01", "", "soon"] {
            assert!(bad.parse::<MoscowTime>().is_err(), "{bad}");
        }
    }
}
