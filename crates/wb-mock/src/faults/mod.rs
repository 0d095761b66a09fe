//! Faults that are played on purpose.

mod answer;
mod pattern;
mod playing;
mod script;

pub(crate) use self::answer::{Part, Raw, Scene, limited};
pub use self::script::FaultsError;

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use serde::Deserialize;

use self::pattern::Pattern;
pub(crate) use self::playing::{HiddenClient, Playing};
use crate::Dataset;
use crate::door::Visit;
use crate::drawer::TaskFate;
use crate::gateway::LimitedBody;

/// Faults that are played on purpose: none by default.
///
/// They are read from a script in TOML. Each rule says what to play, on whose requests, how often,
/// and for how long; the crate's README lists all keys. Of the rules that would play on a request,
/// the first does.
///
/// ```
/// use waitless_wb_mock::Faults;
///
/// let script = r#"
///     [[faults]]
///     play = { status = 503 }
///     methods = ["/api/v1/supplier/*"]
///     every = 5
///
///     [[faults]]
///     play = "hang"
///     requests = [3, 4]
/// "#;
/// assert_eq!(Faults::read(script)?.len(), 2);
/// assert!(Faults::default().is_empty());
///
/// let error = Faults::read("[[faults]]\nplay = 'dance'").expect_err("no such fault");
/// assert_eq!(error.line, 2);
/// # Ok::<_, waitless_wb_mock::FaultsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// [`FaultsError`] with the line: it is not TOML, a key or value is unknown, or keys contradict
    /// each other.
    pub fn read(text: &str) -> Result<Self, FaultsError> {
        script::read(text).map(|rules| Self { rules })
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// One fault, on whose requests, and when.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    fault: Fault,
    whom: Whom,
    often: Often,
    /// Since the script was taken up.
    after_us: u64,
    until_us: u64,
}

/// On whose requests. What is empty stands for all.
#[derive(Clone, Debug, Default, PartialEq)]
struct Whom {
    methods: Vec<Pattern>,
    sellers: Vec<usize>,
    datasets: Vec<Dataset>,
}

impl Whom {
    fn is(&self, visit: &Visit) -> bool {
        let method = visit.method;
        let dataset = method.serves.map(|(dataset, _)| dataset);
        (self.methods.is_empty() || self.methods.iter().any(|pattern| pattern.is(method)))
            && (self.sellers.is_empty() || self.sellers.contains(&visit.seller))
            && (self.datasets.is_empty()
                || dataset.is_some_and(|dataset| self.datasets.contains(&dataset)))
    }
}

/// On how many of those requests that the bucket would admit, counted by the rule from 1.
#[derive(Clone, Debug, PartialEq)]
enum Often {
    Always,
    Every(NonZeroU64),
    /// In millionths.
    Chance(u64),
    Numbers(RangeInclusive<u64>),
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Fault {
    /// 429 in place of admission.
    Limited(Limited),
    /// An error status in place of the answer.
    Status(u16),
    /// No answer at all.
    Hang,
    /// The answer, one byte at a time.
    Slow {
        #[serde(default = "a_second")]
        pace_ms: u64,
    },
    /// The beginning of the answer; then the connection is closed.
    Cut {
        #[serde(default = "a_hundred")]
        bytes: u64,
    },
    /// Garbage that claims to be gzip.
    BadGzip,
    /// 200 with a page for people.
    Html,
    /// To another host.
    Redirect {
        #[serde(default = "metadata_service")]
        location: String,
        #[serde(default = "found")]
        status: u16,
    },
    /// 200 with a JSON text of this many bytes and more.
    Flood {
        #[serde(default = "a_hundred_million")]
        bytes: u64,
    },
    /// The answer, after something happened to the task.
    Task(TaskFate),
    /// A bucket is slower than published. Not a fault of single requests.
    LowerLimit(LowerLimit),
    /// Somebody else spends the quota. Not a fault of single requests.
    HiddenClient {
        /// It asks once in so many intervals of the bucket.
        every_interval: NonZeroU64,
    },
}

/// A 429 that no bucket has given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
pub(crate) struct Limited {
    /// `X-Ratelimit-Retry` and `-Reset`; without it, there are no such headers.
    retry_s: Option<u64>,
    /// `Retry-After`.
    retry_after: Option<RetryAfter>,
    /// Default is that of the method's gateway.
    body: Option<LimitedBody>,
}

/// A `Retry-After` that the upstream never sends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RetryAfter {
    Seconds(u64),
    /// A date of an hour ago.
    Past,
    /// A date in an hour.
    Future,
    Malformed,
    /// Ten thousand digits.
    Huge,
}

/// A limit lower than published.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LowerLimit {
    /// Of the published rate: 0.75 is a quarter lower.
    rate: f64,
    /// Whether its 429s have headers.
    #[serde(default = "yes")]
    headers: bool,
}

impl Fault {
    /// As scripts and the audit call it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Limited(_) => LIMITED,
            Self::Status(_) => "status",
            Self::Hang => "hang",
            Self::Slow { .. } => "slow",
            Self::Cut { .. } => "cut",
            Self::BadGzip => "bad-gzip",
            Self::Html => "html",
            Self::Redirect { .. } => "redirect",
            Self::Flood { .. } => "flood",
            Self::Task(_) => "task",
            Self::LowerLimit(_) => LOWER_LIMIT,
            Self::HiddenClient { .. } => HIDDEN_CLIENT,
        }
    }

    /// What becomes of the request's task.
    pub(crate) fn fate(&self) -> Option<TaskFate> {
        match self {
            Self::Task(fate) => Some(*fate),
            _ => None,
        }
    }

    fn is_of_single_requests(&self) -> bool {
        !matches!(self, Self::LowerLimit(_) | Self::HiddenClient { .. })
    }
}

pub(crate) const LIMITED: &str = "limited";
pub(crate) const LOWER_LIMIT: &str = "lower-limit";
pub(crate) const HIDDEN_CLIENT: &str = "hidden-client";

fn a_second() -> u64 {
    1000
}

fn a_hundred() -> u64 {
    100
}

fn a_hundred_million() -> u64 {
    100_000_000
}

fn found() -> u16 {
    302
}

fn yes() -> bool {
    true
}

/// Where clouds keep the credentials of a machine.
fn metadata_service() -> String {
    "http://169.254.169.254/latest/meta-data/".to_owned()
}
