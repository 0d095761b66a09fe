use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

use crate::PolicyError;

/// Default guard margin in milliseconds.
///
/// Requests reach the upstream up to this much closer together than they were granted (network
/// jitter). Measured against strict upstreams with 5-60 ms of jitter: without a margin 23 % of the
/// requests drew a 429, with 60 ms none, at 1.007-1.010 times the theoretical makespan.
pub const DEFAULT_MARGIN_MS: u32 = 60;

/// Largest number of units a bucket may hold: a quarter of 2^53, so that sums of a level, a refill
/// and a cost stay exact in the doubles of Lua, too.
const UNITS_MAX: i128 = 1 << 51;

/// What one bucket allows: `tokens` per `interval_ms`, up to `burst` at once.
///
/// Read from and written as text: `1/min burst 10 margin 60ms`; `burst` defaults to `tokens`,
/// `margin` to [`DEFAULT_MARGIN_MS`]. Units of the interval: `ms`, `s`, `min`, `h`, `d`, each with
/// an optional factor (`1/20s`, `4/15min`).
///
/// ```
/// use waitless_bucket::Policy;
///
/// let funnel: Policy = "3/min burst 3".parse()?;
/// assert_eq!((funnel.tokens(), funnel.interval_ms(), funnel.burst()), (3, 60_000, 3));
/// assert_eq!(funnel.margin_ms(), 60);
/// assert_eq!(funnel.to_string(), "3/min burst 3 margin 60ms");
/// # Ok::<(), waitless_bucket::PolicyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    tokens: u32,
    interval_ms: u64,
    burst: u32,
    margin_ms: u32,
    scale: Scale,
}

/// The numbers that the arithmetic works with, derived once per policy.
///
/// One token is `unit` units and one millisecond is worth `tokens` units, so refill, cost and wait
/// are whole numbers without rounding.
///
/// The guard margin J lives here. In the terms of the generic cell rate algorithm the burst
/// tolerance shrinks by J: after a grant the level is at most `settled_max`, J worth of refill below
/// the full bucket, and whatever exceeds the tolerance (all of J with burst 1) stretches the
/// spacing instead. So requests of a burst-1 bucket are spaced interval + J, and with burst >= 2 the
/// sustained rate is untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scale {
    /// Units gained per millisecond.
    pub(crate) tokens: i64,
    /// Units of one token.
    pub(crate) unit: i64,
    /// Level of a full bucket.
    pub(crate) full: i64,
    /// Highest level from which a cost is taken; `full - settled_max` is the margin.
    pub(crate) settled_max: i64,
}

impl Policy {
    /// A policy of `tokens` per `interval_ms` with burst = `tokens` and the default margin.
    ///
    /// # Errors
    /// [`PolicyError::Zero`] if either number is 0, [`PolicyError::TooLarge`] past 2^51 units.
    pub fn new(tokens: u32, interval_ms: u64) -> Result<Self, PolicyError> {
        Self::from_parts(tokens, interval_ms, tokens, DEFAULT_MARGIN_MS)
    }

    /// The same with another capacity.
    ///
    /// # Errors
    /// As [`Policy::new`].
    pub fn with_burst(self, burst: u32) -> Result<Self, PolicyError> {
        Self::from_parts(self.tokens, self.interval_ms, burst, self.margin_ms)
    }

    /// The same with another guard margin in milliseconds; 0 for an upstream that is reached
    /// without jitter.
    ///
    /// # Errors
    /// [`PolicyError::TooLarge`] past 2^51 units.
    pub fn with_margin_ms(self, margin_ms: u32) -> Result<Self, PolicyError> {
        Self::from_parts(self.tokens, self.interval_ms, self.burst, margin_ms)
    }

    /// All four numbers at once.
    ///
    /// # Errors
    /// As [`Policy::new`].
    pub fn from_parts(
        tokens: u32,
        interval_ms: u64,
        burst: u32,
        margin_ms: u32,
    ) -> Result<Self, PolicyError> {
        for (field, number) in
            [("tokens", u64::from(tokens)), ("interval", interval_ms), ("burst", u64::from(burst))]
        {
            if number == 0 {
                return Err(PolicyError::Zero { field });
            }
        }
        let scale = Scale::new(tokens, interval_ms, burst, margin_ms)
            .ok_or(PolicyError::TooLarge { burst, interval_ms })?;
        Ok(Self { tokens, interval_ms, burst, margin_ms, scale })
    }

    /// Tokens gained per interval.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// The interval in milliseconds.
    #[must_use]
    pub fn interval_ms(&self) -> u64 {
        self.interval_ms
    }

    /// Capacity: the most requests that may go at once.
    #[must_use]
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Guard margin in milliseconds.
    #[must_use]
    pub fn margin_ms(&self) -> u32 {
        self.margin_ms
    }

    /// Longest time in milliseconds after which a granted permit may still be sent: the guard
    /// margin, which covers a late send just as it covers the network. Never 0, because a grant
    /// cannot be sent in no time; without a margin one millisecond is what the caller risks.
    #[must_use]
    pub fn grant_ttl_ms(&self) -> u64 {
        u64::from(self.margin_ms.max(1))
    }

    /// Time in milliseconds, rounded up, in which an empty bucket fills.
    #[must_use]
    pub fn time_to_full_ms(&self) -> u64 {
        ms_for(self.scale.full, self.scale.tokens)
    }

    /// Time in milliseconds, rounded up, in which one token comes back under sustained use.
    #[must_use]
    pub fn token_ms(&self) -> u64 {
        ms_for(self.scale.unit, self.scale.tokens)
    }

    /// Time in milliseconds, rounded up, that `requests` requests need from a full bucket by
    /// arithmetic alone: the bound that no scheduler can beat. The guard margin is no part of it.
    ///
    /// ```
    /// # use waitless_bucket::Policy;
    /// let sales: Policy = "1/min burst 1".parse()?;
    /// assert_eq!(sales.bound_ms(60), 59 * 60_000);
    /// # Ok::<(), waitless_bucket::PolicyError>(())
    /// ```
    #[must_use]
    pub fn bound_ms(&self, requests: u64) -> u64 {
        let missing = i128::from(requests.saturating_sub(u64::from(self.burst)));
        let units = missing * i128::from(self.interval_ms);
        u64::try_from(div_ceil(units, i128::from(self.tokens))).unwrap_or(u64::MAX)
    }

    /// The ceiling of the waiting acquire in milliseconds: two intervals where `tokens` is 1 (the
    /// worst pause is one token's refill), one interval otherwise.
    #[must_use]
    pub fn wait_ceiling_ms(&self) -> u64 {
        let intervals = if self.tokens == 1 { 2 } else { 1 };
        self.interval_ms.saturating_mul(intervals)
    }

    pub(crate) fn scale(&self) -> &Scale {
        &self.scale
    }
}

impl Scale {
    fn new(tokens: u32, interval_ms: u64, burst: u32, margin_ms: u32) -> Option<Self> {
        let (tokens, burst) = (i128::from(tokens), i128::from(burst));
        let interval = i128::from(interval_ms);
        let margin = i128::from(margin_ms) * tokens;
        let tolerance = (burst - 1) * interval;
        let shrink = margin.min(tolerance);
        let stretch = margin - shrink;
        let unit = interval + stretch;
        let full = burst * unit;
        if full > UNITS_MAX || margin > UNITS_MAX {
            return None;
        }
        // With a stretched unit the whole tolerance is gone: grants are taken one by one.
        let settled_max = if stretch > 0 { unit } else { full - shrink };
        let narrow = |units: i128| i64::try_from(units).ok();
        Some(Self {
            tokens: narrow(tokens)?,
            unit: narrow(unit)?,
            full: narrow(full)?,
            settled_max: narrow(settled_max)?,
        })
    }
}

/// Milliseconds, rounded up, in which `units` are gained; 0 for none or fewer.
pub(crate) fn ms_for(units: i64, tokens: i64) -> u64 {
    // Plain 64-bit division: a level and a full bucket are each below 2^52.
    units.max(0).cast_unsigned().div_ceil(tokens.cast_unsigned())
}

fn div_ceil(a: i128, b: i128) -> i128 {
    a.div_euclid(b) + i128::from(a.rem_euclid(b) != 0)
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = Interval(self.interval_ms);
        write!(f, "{}/{interval} burst {} margin {}ms", self.tokens, self.burst, self.margin_ms)
    }
}

struct Interval(u64);

const INTERVAL_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, size) = INTERVAL_UNITS
            .into_iter()
            .find(|(_, size)| self.0.is_multiple_of(*size))
            .expect("every whole number of milliseconds divides by one");
        match self.0 / size {
            1 => f.write_str(name),
            factor => write!(f, "{factor}{name}"),
        }
    }
}

fn parse_interval(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let factor = if digits == 0 { 1 } else { text[..digits].parse::<u64>().ok()? };
    let (_, size) = INTERVAL_UNITS.into_iter().find(|(name, _)| *name == &text[digits..])?;
    factor.checked_mul(size)
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let syntax =
            |expected| PolicyError::Syntax { text: text.chars().take(80).collect(), expected };
        let mut words = text.split_whitespace();
        let rate = words.next().ok_or_else(|| syntax("it is empty"))?;
        let (tokens, interval) =
            rate.split_once('/').ok_or_else(|| syntax("expected TOKENS/INTERVAL"))?;
        let tokens: u32 =
            tokens.parse().map_err(|_| syntax("tokens must be a whole number below 2^32"))?;
        let interval_ms = parse_interval(interval)
            .ok_or_else(|| syntax("the interval must be a number of ms, s, min, h or d"))?;
        let (mut burst, mut margin_ms) = (tokens, DEFAULT_MARGIN_MS);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| syntax("a value is missing at the end"))?;
            match word {
                "burst" => {
                    burst = value
                        .parse()
                        .map_err(|_| syntax("burst must be a whole number below 2^32"))?;
                }
                "margin" => {
                    margin_ms = parse_interval(value)
                        .or_else(|| (value == "0").then_some(0))
                        .and_then(|ms| u32::try_from(ms).ok())
                        .ok_or_else(|| syntax("the margin must be a duration such as 60ms"))?;
                }
                _ => {
                    return Err(syntax("after the rate only `burst N` and `margin T` may follow"));
                }
            }
        }
        Self::from_parts(tokens, interval_ms, burst, margin_ms)
    }
}

impl Serialize for Policy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
