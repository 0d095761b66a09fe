//! Numbers and moments for people.

use chrono::{DateTime, SecondsFormat, Utc};
use waitless_job::UnixMillis;

/// A span of time: `0.8s`, `47s`, `12m 05s`, `3h 02m`, `2d 04h`.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..10 => format!("{}.{}s", seconds, ms % 1_000 / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// A moment in RFC 3339, in UTC, to the second.
pub(crate) fn moment(at: UnixMillis) -> String {
    match DateTime::<Utc>::from_timestamp_millis(at.0) {
        Some(at) => at.to_rfc3339_opts(SecondsFormat::Secs, true),
        None => format!("{at} ms"),
    }
}

/// How long ago, or how far ahead, a moment is: `3m 10s ago`, `in 12s`.
pub(crate) fn relative(at: UnixMillis, now: UnixMillis) -> String {
    if at > now {
        format!("in {}", span(at.since(now)))
    } else {
        format!("{} ago", span(now.since(at)))
    }
}

/// A whole number with its thousands apart: `12 847`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Hundredths as a decimal: `-0.04`.
pub(crate) fn hundredths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let number = number.unsigned_abs();
    format!("{sign}{}.{:02}", number / 100, number % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [0, 800, 9_999, 47_000, 725_000, 10_920_000, 187_200_000].map(span);
        assert_eq!(
            spans,
            ["0.0s", "0.8s", "9.9s", "47s", "12m 05s", "3h 02m", "2d 04h"]
        );
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [0, 999, 1_000, 12_847, 1_234_567].map(thousands),
            ["0", "999", "1 000", "12 847", "1 234 567"]
        );
        assert_eq!(
            [4, -4, 150, -1_234].map(hundredths),
            ["0.04", "-0.04", "1.50", "-12.34"]
        );
        assert_eq!(
            moment(UnixMillis(1_767_225_600_000)),
            "2026-01-01T00:00:00Z"
        );
        assert_eq!(relative(UnixMillis(5_000), UnixMillis(0)), "in 5.0s");
    }
}
