use reqwest::header::{HeaderMap, HeaderName};

/// How an upstream's answers speak of its limits: which headers say what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hints {
    /// Says how many requests may go now without a pause, as a whole number.
    pub remaining: Option<HeaderName>,
    /// Say how long to wait after a 429. Of several the longest counts.
    pub retry: Vec<RetryHint>,
    /// Whether a refused request costs as much as one that was taken.
    pub refused_is_charged: bool,
    /// Where the body of an error has its message: fields at the top of a JSON object, best first.
    pub message_fields: Vec<String>,
}

/// A header that says how long to wait after a 429.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryHint {
    /// Its name.
    pub header: HeaderName,
    /// What its number counts.
    pub unit: RetryUnit,
}

/// What the number in a [`RetryHint`] counts, from the moment of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub enum RetryUnit {
    /// Seconds; a fraction is allowed.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds; a fraction is allowed.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl RetryUnit {
    fn ms(self) -> u64 {
        match self {
            Self::Seconds => 1_000,
            Self::Milliseconds => 1,
        }
    }
}

impl Hints {
    /// Whole requests left, if the answer says so.
    #[must_use]
    pub fn remaining(&self, headers: &HeaderMap) -> Option<u32> {
        let text = headers.get(self.remaining.as_ref()?)?.to_str().ok()?.trim();
        // `parse` alone would take `+3`.
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
    }

    /// Milliseconds to wait, rounded up: the longest that the answer names. `None` if it names
    /// none that can be read.
    #[must_use]
    pub fn retry_ms(&self, headers: &HeaderMap) -> Option<u64> {
        let hints = self.retry.iter().flat_map(|hint| {
            let values = headers.get_all(&hint.header).into_iter();
            values.filter_map(|value| decimal_ms(value.to_str().ok()?.trim(), hint.unit.ms()))
        });
        hints.max()
    }
}

/// A decimal number of units as milliseconds, rounded up; an absurdly large one saturates.
///
/// Whole numbers throughout: a double would turn 1.001 s into 1,000.9999 ms, or into 1,001.0001.
fn decimal_ms(text: &str, unit_ms: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole_ms = whole.parse().unwrap_or(u64::MAX).saturating_mul(unit_ms);
    // Nine digits say more than a millisecond; what is behind them can only round up.
    let (known, rest) = fraction.split_at(fraction.len().min(9));
    let scale = 10_u64.pow(u32::try_from(known.len()).expect("at most nine"));
    let part = known.parse::<u64>().expect("nine digits fit") * unit_ms;
    let inexact = rest.bytes().any(|b| b != b'0') && part.is_multiple_of(scale);
    Some(whole_ms.saturating_add(part.div_ceil(scale)).saturating_add(u64::from(inexact)))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn hints() -> Hints {
        let hint = |header, unit| RetryHint { header: HeaderName::from_static(header), unit };
        Hints {
            remaining: Some(HeaderName::from_static("x-left")),
            retry: vec![
                hint("x-retry", RetryUnit::Seconds),
                hint("x-retry-ms", RetryUnit::Milliseconds),
            ],
            refused_is_charged: false,
            message_fields: vec![],
        }
    }

    fn headers<const N: usize>(headers: [(&'static str, &str); N]) -> HeaderMap {
        let pair =
            |(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        headers.into_iter().map(pair).collect()
    }

    #[test]
    fn waits_are_read_exactly_and_rounded_up() {
        let second = |text| decimal_ms(text, 1_000);
        assert_eq!(second("2"), Some(2_000));
        assert_eq!(second("1.001"), Some(1_001));
        assert_eq!(second("1.0001"), Some(1_001));
        assert_eq!(second("1.0000000000001"), Some(1_001));
        assert_eq!(second("0"), Some(0));
        assert_eq!(second(&"9".repeat(10_000)), Some(u64::MAX));
        assert_eq!(decimal_ms("1500.5", 1), Some(1_501));
    }

    #[test]
    fn a_wait_that_is_no_number_is_no_hint() {
        let date = "Fri, 31 Dec 1999 23:59:59 GMT";
        for bad in ["", "-1", "+1", "1e9", "1.", ".5", "soon", "0x10", "١", date] {
            assert_eq!(decimal_ms(bad, 1_000), None, "{bad:?}");
        }
    }

    #[test]
    fn of_several_hints_the_longest_that_can_be_read_counts() {
        let hints = hints();
        let wait = |pairs: [_; 2]| hints.retry_ms(&headers(pairs));
        assert_eq!(wait([("x-retry", "2"), ("x-retry-ms", "2500")]), Some(2_500));
        assert_eq!(wait([("x-retry", "3"), ("x-retry-ms", "soon")]), Some(3_000));
        assert_eq!(wait([("x-retry", "-3"), ("x-other", "9")]), None);
    }

    #[test]
    fn what_is_left_is_a_whole_number_or_unknown() {
        let left = |text: &str| hints().remaining(&headers([("x-left", text)]));
        assert_eq!(left("9"), Some(9));
        for bad in ["", "-1", "+1", "1.5", "32/40", "99999999999"] {
            assert_eq!(left(bad), None, "{bad:?}");
        }
        assert_eq!(hints().remaining(&HeaderMap::new()), None);
    }
}
