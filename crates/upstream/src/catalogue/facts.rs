//! Small facts about endpoints.

use std::{fmt, str::FromStr};

use waitless_bucket::PolicyError;
use waitless_job::{Cost, LimitGroup, Policy, UnixMillis};

/// What a credential must hold to be let in to the endpoints of a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) token_bit: Option<u32>,
}

impl Category {
    /// Its name in the catalogue.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the upstream calls it.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Which bit of a credential's mask opens it, counted from 1; `None` if every credential may.
    #[must_use]
    pub fn token_bit(&self) -> Option<u32> {
        self.token_bit
    }

    /// Whether a credential with this mask is let in.
    #[must_use]
    pub fn is_open_to(&self, mask: u64) -> bool {
        self.token_bit.is_none_or(|bit| mask >> (bit - 1) & 1 == 1)
    }
}

/// What an answer makes of the cost of its request: `4xx` counts as 10 requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerCost {
    pub(super) status: Statuses,
    pub(super) requests: Cost,
}

impl AnswerCost {
    /// Which answers.
    #[must_use]
    pub fn status(&self) -> Statuses {
        self.status
    }

    /// As how many requests such an answer counts in all, the one that was sent included.
    #[must_use]
    pub fn requests(&self) -> Cost {
        self.requests
    }

    /// The tokens that such an answer takes beyond those that its request took; 0 for others.
    #[must_use]
    pub fn extra_tokens(&self, status: u16, taken: Cost) -> u32 {
        if self.status.contains(status) {
            self.requests.tokens().saturating_sub(taken.tokens())
        } else {
            0
        }
    }
}

impl fmt::Display for AnswerCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.status, self.requests.tokens())
    }
}

/// One status, or all that begin with the same digit. As text `409` or `4xx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statuses {
    /// This one.
    One(u16),
    /// The hundred that begins with this digit.
    Class(u16),
}

impl Statuses {
    /// Whether a status is among them.
    #[must_use]
    pub fn contains(self, status: u16) -> bool {
        match self {
            Self::One(one) => one == status,
            Self::Class(class) => status / 100 == class,
        }
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(status) => write!(f, "{status}"),
            Self::Class(class) => write!(f, "{class}xx"),
        }
    }
}

impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u16>().ok();
        let statuses = match text.strip_suffix("xx") {
            Some(class) => number(class).filter(|class| (1..=5).contains(class)).map(Self::Class),
            None => number(text).filter(|status| (100..=599).contains(status)).map(Self::One),
        };
        statuses.ok_or_else(|| format!("`{text}` is neither a status such as 409 nor 4xx"))
    }
}

/// The most requests of a calendar day, beside what the endpoint's own bucket allows. A second bucket
/// keeps it, of which every request takes one token.
///
/// An upstream counts from midnight to midnight and a bucket knows no midnight, so the bucket may
/// allow no more than the cap in any 24 hours. In any time W it allows at most its burst + its rate x
/// W. With one half of the cap as its burst and the other half as the tokens that come back in a day,
/// that is the cap for W = 24 hours: of 20 a day, 10 go at once, and another every 2.4 hours. The
/// alternative, all 20 at once and then one each 1.2 hours, would let 40 into a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyCap {
    pub(super) group: LimitGroup,
    pub(super) requests: u32,
    pub(super) day_ms: u64,
    pub(super) offset_ms: i64,
}

impl DailyCap {
    /// How many requests.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// How long a day is in milliseconds: 86,400,000, or less in a scaled catalogue.
    #[must_use]
    pub fn day_ms(&self) -> u64 {
        self.day_ms
    }

    /// The group of the bucket that keeps it: the endpoint's name with `.day` behind it.
    #[must_use]
    pub fn group(&self) -> &LimitGroup {
        &self.group
    }

    /// The policy of that bucket.
    ///
    /// # Errors
    /// [`PolicyError`] for 0 requests, or more than any bucket can hold.
    pub(super) fn policy(&self) -> Result<Policy, PolicyError> {
        // Of 1 a day there are no halves. 1 at once and 1 per day are right, too: the second may go
        // when the day of the first is over, and not before.
        let burst = (self.requests / 2).max(self.requests.min(1));
        let tokens = (self.requests - burst).max(burst.min(1));
        Policy::new(tokens, self.day_ms)?.with_burst(burst)
    }

    /// When the day of `now` is over and the count begins anew.
    #[must_use]
    pub fn resets_at(&self, now: UnixMillis) -> UnixMillis {
        let day_ms = i64::try_from(self.day_ms).expect("a day fits");
        let days = now.0.saturating_add(self.offset_ms).div_euclid(day_ms);
        UnixMillis((days + 1).saturating_mul(day_ms).saturating_sub(self.offset_ms))
    }

    /// For an upstream whose days are as much shorter, rounded up.
    pub(super) fn scale(&mut self, speed: u32) {
        self.day_ms = self.day_ms.div_ceil(u64::from(speed));
        self.offset_ms /= i64::from(speed);
    }
}

/// How far a place is ahead of UTC, in milliseconds: `+03:00`.
pub(super) fn utc_offset_ms(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, max: i64| {
        let two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        two.then(|| text.parse().ok())?.filter(|number: &i64| *number <= max)
    };
    Some(sign * (number(hours, 14)? * 60 + number(minutes, 59)?) * 60_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use waitless_bucket::{Decision, evaluate};

    use super::*;

    fn cap(requests: u32) -> DailyCap {
        DailyCap {
            group: "report.day".parse().unwrap(),
            requests,
            day_ms: 86_400_000,
            offset_ms: utc_offset_ms("+03:00").unwrap(),
        }
    }

    #[test]
    fn a_day_ends_at_midnight_of_its_place() {
        let cap = cap(20);
        let noon = UnixMillis(1_790_856_000_000); // 2026-10-01 in UTC
        assert_eq!(cap.resets_at(noon), UnixMillis(noon.0 + 9 * 3_600_000));
        let midnight = UnixMillis(noon.0 + 9 * 3_600_000);
        assert_eq!(cap.resets_at(midnight), UnixMillis(midnight.0 + 86_400_000));
    }

    #[test]
    fn a_scaled_day_is_shorter_and_its_requests_are_as_many() {
        let mut scaled = cap(20);
        scaled.scale(3_600);
        assert_eq!((scaled.requests, scaled.day_ms, scaled.offset_ms), (20, 24_000, 3_000));
        assert_eq!(scaled.resets_at(UnixMillis(0)), UnixMillis(21_000));
    }

    #[test]
    fn a_cap_is_half_at_once_and_half_in_a_day() {
        let policy = |requests| cap(requests).policy().map(|policy| policy.to_string());
        assert_eq!(policy(20).unwrap(), "10/d burst 10 margin 60ms");
        assert_eq!(policy(21).unwrap(), "11/d burst 10 margin 60ms");
        assert_eq!(policy(2).unwrap(), "1/d burst 1 margin 60ms");
        assert_eq!(policy(1).unwrap(), "1/d burst 1 margin 60ms");
        assert!(policy(0).is_err() && policy(u32::MAX).is_err());
    }

    proptest! {
        /// Whoever takes however much, whenever.
        #[test]
        fn no_day_from_midnight_to_midnight_has_more_requests_than_its_cap(
            requests in 1_u32..40,
            takes in prop::collection::vec((1_u64..100_000_000, 1..40), 1..60),
        ) {
            let cap = cap(requests);
            let policy = cap.policy().unwrap();
            let (mut state, mut now) = (None, UnixMillis(0));
            let mut days = std::collections::BTreeMap::<UnixMillis, u32>::new();
            for (pause_ms, most) in takes {
                now = now.plus(pause_ms);
                for _ in 0..most {
                    let decision = evaluate(state.as_ref(), &policy, Cost::ONE, now);
                    let Decision::Allowed { state: after, .. } = decision else { break };
                    state = Some(after);
                    *days.entry(cap.resets_at(now)).or_default() += 1;
                }
            }
            prop_assert!(days.values().all(|count| *count <= requests), "{days:?}");
        }
    }

    #[test]
    fn an_offset_has_a_sign_and_two_digits_each() {
        assert_eq!(utc_offset_ms("-05:30"), Some(-19_800_000));
        for bad in ["", "03:00", "+3:00", "+15:00", "+03:60", "+0300", "+-3:00"] {
            assert_eq!(utc_offset_ms(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_answer_takes_what_is_missing_to_what_it_counts_as() {
        let cost = AnswerCost { status: "4xx".parse().unwrap(), requests: Cost::new(10).unwrap() };
        assert_eq!(
            [200, 404, 429, 500].map(|code| cost.extra_tokens(code, Cost::ONE)),
            [0, 9, 9, 0]
        );
        assert_eq!("409".parse(), Ok(Statuses::One(409)));
        for bad in ["", "xx", "0xx", "6xx", "99", "600", "44xx", "4XX"] {
            assert!(bad.parse::<Statuses>().is_err(), "{bad:?}");
        }
    }
}
