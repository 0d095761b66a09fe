//! Numbers, moments and foreign texts for people.

use std::fmt::Write;

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

/// A wait, which may be one without end: `12m 05s`, `never`.
pub(crate) fn wait(ms: u64) -> String {
    // Waits that saturate on their way through sums are as endless as the largest one.
    const ENDLESS_MS: u64 = u64::MAX / 4;
    if ms >= ENDLESS_MS { "never".into() } else { span(ms) }
}

/// A moment in RFC 3339, in UTC, to the second.
pub(crate) fn moment(at: UnixMillis) -> String {
    match DateTime::<Utc>::from_timestamp_millis(at.0) {
        Some(at) => at.to_rfc3339_opts(SecondsFormat::Secs, true),
        None => format!("{at} ms"),
    }
}

/// Milliseconds as the seconds of a summary.
#[expect(clippy::cast_precision_loss, reason = "for people; 2^53 ms are 285,000 years")]
pub(crate) fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// The seconds of a summary as the milliseconds they were made from.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a summary's times are whole milliseconds from 0 on"
)]
pub(crate) fn millis(seconds: f64) -> u64 {
    (seconds * 1_000.0).round() as u64
}

/// How long ago, or how far ahead, a moment is: `3m 10s ago`, `in 12s`.
pub(crate) fn relative(at: UnixMillis, now: UnixMillis) -> String {
    if at > now {
        format!("in {}", span(at.since(now)))
    } else {
        format!("{} ago", span(now.since(at)))
    }
}

/// A moment and how far it is: `2026-01-01T00:00:00Z (in 12s)`.
pub(crate) fn moment_and_relative(at: UnixMillis, now: UnixMillis) -> String {
    format!("{} ({})", moment(at), relative(at, now))
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

/// Things with their number: `1 job`, `12 847 jobs`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{} {}", thousands(number), plural(number, thing))
}

/// The word for so many things: `job`, `jobs`.
pub(crate) fn plural(number: u64, thing: &str) -> String {
    if number == 1 { thing.to_owned() } else { format!("{thing}s") }
}

/// Characters that tell ids apart, at least `chars_min` of them.
pub(crate) fn id_chars(ids: impl IntoIterator<Item = String>, chars_min: usize) -> usize {
    let mut ids: Vec<String> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[String]| {
        pair[0].bytes().zip(pair[1].bytes()).take_while(|(one, other)| one == other).count()
    };
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(chars_min)
}

/// The beginning of an id.
pub(crate) fn short_id(id: &impl ToString, chars: usize) -> String {
    let mut id = id.to_string();
    if let Some((end, _)) = id.char_indices().nth(chars) {
        id.truncate(end);
    }
    id
}

/// Characters of an id of a job at least: the moment at which it was made.
pub(crate) const JOB_ID_CHARS_MIN: usize = 13;

/// Characters of an id of a run at least: the minute at which it was made.
pub(crate) const RUN_ID_CHARS_MIN: usize = 8;

/// A number of bytes: `512 bytes`, `1.5 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, size)| number >= *size) {
        Some((unit, size)) => {
            // Tenths in whole numbers; u128, so that none of them overflows.
            let tenths = u128::from(number) * 10 / u128::from(size);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{number} bytes"),
    }
}

/// Hundredths as a decimal: `-0.04`.
pub(crate) fn hundredths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let number = number.unsigned_abs();
    format!("{sign}{}.{:02}", number / 100, number % 100)
}

/// The place in a queue: `1st`, `22nd`, `113th`.
pub(crate) fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, 0..=10 | 12..) => "st",
        (2, 0..=11 | 13..) => "nd",
        (3, 0..=12 | 14..) => "rd",
        _ => "th",
    };
    format!("{}{ending}", thousands(number))
}

/// A text that others wrote, safe to print on a terminal and on one line: control characters are
/// written out (`\\u{1b}`, `\\n`), and so are those that reorder or hide what stands beside them.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => {
                write!(safe, "{}", c.escape_unicode()).expect("writing to a text does not fail");
            }
            c if c.is_control() => {
                write!(safe, "{}", c.escape_unicode()).expect("writing to a text does not fail");
            }
            c => safe.push(c),
        }
    }
    safe
}

/// The same, cut to a number of characters.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    shorten(&printable(text), chars)
}

/// A text as it is, cut to a number of characters.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [0, 800, 9_999, 47_000, 725_000, 10_920_000, 187_200_000].map(span);
        assert_eq!(spans, ["0.0s", "0.8s", "9.9s", "47s", "12m 05s", "3h 02m", "2d 04h"]);
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [0, 999, 1_000, 12_847, 1_234_567].map(thousands),
            ["0", "999", "1 000", "12 847", "1 234 567"]
        );
        assert_eq!([4, -4, 150, -1_234].map(hundredths), ["0.04", "-0.04", "1.50", "-12.34"]);
        assert_eq!(moment(UnixMillis(1_767_225_600_000)), "2026-01-01T00:00:00Z");
        assert_eq!(relative(UnixMillis(5_000), UnixMillis(0)), "in 5.0s");
    }

    #[test]
    fn a_foreign_text_cannot_speak_to_the_terminal() {
        assert_eq!(
            printable("\u{1b}[2Jred\r\n\u{9b}31m\u{202e}fdp"),
            "\\u{1b}[2Jred\\u{d}\\n\\u{9b}31m\\u{202e}fdp"
        );
        assert_eq!(printable("Ёлки-палки 100 %"), "Ёлки-палки 100 %");
        assert_eq!([cut("abcdef", 6), cut("abcdefg", 6)], ["abcdef", "abcde…"]);
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!([0, 1, 2_000].map(|jobs| count(jobs, "job")), ["0 jobs", "1 job", "2 000 jobs"]);
    }

    #[test]
    fn ids_are_as_short_as_they_can_be_told_apart() {
        let ids = ["0190abcd-1", "0190abcd-2", "0190abcd-2", "0191"].map(str::to_owned);
        assert_eq!(id_chars(ids.clone(), 4), 10);
        assert_eq!(id_chars(ids[2..].to_vec(), 4), 4);
        assert_eq!(id_chars([], 13), 13);
        assert_eq!([short_id(&ids[0], 4), short_id(&ids[0], 40)], ["0190", "0190abcd-1"]);
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        assert_eq!(
            [0, 1_023, 1_024, 1_572_864, 5 << 30].map(bytes),
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 MiB", "5.0 GiB"]
        );
    }

    #[test]
    fn places_in_a_queue_are_ordinals() {
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 111, 1_102].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th", "1 102nd"]
        );
    }

    #[test]
    fn a_wait_without_end_is_not_a_number() {
        assert_eq!([wait(1_500), wait(u64::MAX)], ["1.5s", "never"]);
    }
}
