//! Reading the query of a page: `dateFrom` and `flag`.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use crate::clock::MoscowTime;
use crate::query::Query;

/// A moment in Moscow time as a client sent it, with its fraction of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateFrom(NaiveDateTime);

impl DateFrom {
    /// Takes a date, or a date and a time with or without a fraction of a second. An offset is
    /// refused: times of this service have none, and a client that sends one has misread that.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            return Some(Self(date.and_time(NaiveTime::MIN)));
        }
        NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok().map(Self)
    }

    /// The first whole second that is not before this moment.
    pub(crate) fn ceiling(self) -> MoscowTime {
        MoscowTime::from_naive(self.0).plus(i64::from(self.0.nanosecond() > 0))
    }

    /// The first whole second that is after this moment.
    pub(crate) fn next_second(self) -> MoscowTime {
        MoscowTime::from_naive(self.0).plus(1)
    }

    /// The midnight that begins this day.
    pub(crate) fn midnight(self) -> MoscowTime {
        MoscowTime::from_naive(self.0).midnight_before()
    }
}

impl From<MoscowTime> for DateFrom {
    fn from(time: MoscowTime) -> Self {
        Self(time.naive())
    }
}

/// What a client asks of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageQuery {
    /// `flag=0`: rows changed at that moment or later, up to the cap.
    ChangedSince(DateFrom),
    /// `flag=1`: all rows of that day.
    OfDay(DateFrom),
}

/// Why a query is refused. The two texts differ in shape on purpose, as the upstream's do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadQuery {
    /// `errors` is an array.
    Missing(&'static str),
    /// `errors` is a string.
    NotValid(&'static str),
}

impl BadQuery {
    pub(crate) fn body(self) -> serde_json::Value {
        match self {
            Self::Missing(field) => {
                serde_json::json!({"errors": [format!("{field}: field required")]})
            }
            Self::NotValid(field) => {
                serde_json::json!({"errors": format!("{field}: Value not validated")})
            }
        }
    }
}

pub(crate) fn page_query(query: &Query) -> Result<PageQuery, BadQuery> {
    let text = query.get("dateFrom").ok_or(BadQuery::Missing("dateFrom"))?;
    let from = DateFrom::parse(text).ok_or(BadQuery::NotValid("dateFrom"))?;
    match query.get("flag").unwrap_or("0") {
        "0" => Ok(PageQuery::ChangedSince(from)),
        "1" => Ok(PageQuery::OfDay(from)),
        _ => Err(BadQuery::NotValid("flag")),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;

    use super::*;

    fn query(text: &'static str) -> Result<PageQuery, BadQuery> {
        page_query(&Query::of(&Uri::from_static(text)))
    }

    #[test]
    fn dates_seconds_and_fractions_are_read_and_offsets_are_not() {
        for good in ["2026-09-01", "2026-09-01T10:00:00", "2026-09-01T10:00:00.123"] {
            assert!(DateFrom::parse(good).is_some(), "{good}");
        }
        for bad in ["", "yesterday", "2026-13-01", "2026-09-01T10:00:00Z", "2026-09-01 10:00:00"] {
            assert!(DateFrom::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_fraction_begins_at_the_next_second() {
        let whole = DateFrom::parse("2026-09-01T10:00:00").expect("seconds");
        let fraction = DateFrom::parse("2026-09-01T10:00:00.001").expect("a fraction");
        assert_eq!(fraction.ceiling(), whole.next_second());
        assert_eq!(fraction.next_second(), whole.next_second());
    }

    #[test]
    fn colons_may_be_escaped() {
        assert_eq!(
            query("/?dateFrom=2026-09-01T10%3A00%3A00"),
            query("/?dateFrom=2026-09-01T10:00:00")
        );
    }

    #[test]
    fn a_missing_date_a_bad_date_and_a_bad_flag_are_told_apart() {
        assert_eq!(query("/"), Err(BadQuery::Missing("dateFrom")));
        assert_eq!(query("/?dateFrom=soon"), Err(BadQuery::NotValid("dateFrom")));
        assert_eq!(query("/?dateFrom=2026-09-01&flag=2"), Err(BadQuery::NotValid("flag")));
    }
}
