use std::{ops::RangeInclusive, path::Path};

use serde::Deserialize;
use waitless_bucket::Policy;
use waitless_job::{AccountId, LimitGroup, NameError};

use crate::truth::Truth;

/// What there is to do. Read from TOML:
///
/// ```
/// let scenario = waitless_simulate::Scenario::parse(r#"
/// slots = 50
/// latency_ms = [300, 2000]
///
/// [[accounts]]
/// name = "seller"
/// count = 200
///
/// [[accounts.backlog]]
/// group = "orders"
/// limit = "1/min burst 10"
/// requests = 60
/// "#, "mine.toml")?;
/// assert_eq!(scenario.requests(), 12_000);
/// assert_eq!(scenario.bound_ms(), 50 * 60_000);
/// # Ok::<(), waitless_simulate::ScenarioError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Slots of the worker.
    pub slots: usize,
    /// Shortest and longest time that a request takes, in milliseconds.
    pub latency_ms: (u64, u64),
    /// The accounts, enqueued one after the other.
    pub accounts: Vec<Accounts>,
}

/// Accounts with the same work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounts {
    /// Their name; with a `count` above 1 each gets a number behind it.
    pub name: String,
    /// How many there are. Default 1.
    #[serde(default = "one")]
    pub count: usize,
    /// What each has to do.
    pub backlog: Vec<Backlog>,
}

/// Requests of one account on one limit group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backlog {
    /// The limit group.
    pub group: LimitGroup,
    /// Its limit.
    pub limit: Policy,
    /// How many requests.
    pub requests: u64,
    /// What the upstream does, where that is not what it publishes: `truth = { rate_percent = 75 }`.
    #[serde(default)]
    pub truth: Truth,
}

fn one() -> usize {
    1
}

/// Most requests of a scenario: each is a job in memory.
const REQUESTS_MAX: u64 = 5_000_000;

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read scenario {path}: {source}")]
    Read {
        /// Which file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text is not a scenario; the message shows line and field.
    #[error("{path} is not a scenario: {source}")]
    Parse {
        /// Which file.
        path: String,
        /// What is wrong, and where.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// It is one, but makes no sense.
    #[error("{path} cannot be simulated: {what}")]
    Nonsense {
        /// Which file.
        path: String,
        /// What to change.
        what: String,
    },
}

impl Scenario {
    /// The built-in scenarios, by name.
    pub const BUILT_IN: [(&str, &str); 2] = [
        ("sellers-200", include_str!("scenarios/sellers-200.toml")),
        ("import-1000", include_str!("scenarios/import-1000.toml")),
    ];

    /// A built-in scenario by its name, or one from a file.
    ///
    /// # Errors
    /// [`ScenarioError`].
    pub fn load(name_or_path: &str) -> Result<Self, ScenarioError> {
        if let Some((name, text)) =
            Self::BUILT_IN.into_iter().find(|(name, _)| *name == name_or_path)
        {
            return Self::parse(text, name);
        }
        let text = std::fs::read_to_string(Path::new(name_or_path))
            .map_err(|source| ScenarioError::Read { path: name_or_path.to_owned(), source })?;
        Self::parse(&text, name_or_path)
    }

    /// Reads a scenario from TOML; `path` is for the error message.
    ///
    /// # Errors
    /// [`ScenarioError::Parse`] or [`ScenarioError::Nonsense`].
    pub fn parse(text: &str, path: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|source| ScenarioError::Parse {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        match scenario.nonsense() {
            None => Ok(scenario),
            Some(what) => Err(ScenarioError::Nonsense { path: path.to_owned(), what }),
        }
    }

    fn nonsense(&self) -> Option<String> {
        if self.slots == 0 {
            return Some("slots must be at least 1".into());
        }
        let (shortest, longest) = self.latency_ms;
        if shortest > longest {
            return Some(format!("latency_ms goes from {shortest} down to {longest}: swap them"));
        }
        // Before the names: a count that no memory holds would take hours to name.
        match self.requests() {
            0 => return Some("there is nothing to do: give an account a backlog".into()),
            requests if requests > REQUESTS_MAX => {
                return Some(format!("it has {requests} requests, the most is {REQUESTS_MAX}"));
            }
            _ => {}
        }
        for (index, accounts) in self.accounts.iter().enumerate() {
            if self.accounts[..index].iter().any(|before| before.name == accounts.name) {
                return Some(format!(
                    "accounts `{}` come twice: they would share their buckets",
                    accounts.name
                ));
            }
            if accounts.requests() == 0 {
                return Some(format!(
                    "accounts `{}` have nothing to do: give them a count and a backlog",
                    accounts.name
                ));
            }
            if let Err(error) = accounts.ids().try_for_each(|id| id.map(drop)) {
                return Some(error.to_string());
            }
            if let Some(backlog) = accounts.backlog.iter().find(|one| one.truth.rate_percent == 0) {
                return Some(format!(
                    "accounts `{}` would wait for group `{}` for ever: rate_percent must be at least 1",
                    accounts.name, backlog.group
                ));
            }
            let mut groups: Vec<_> = accounts.backlog.iter().map(|one| &one.group).collect();
            groups.sort_unstable();
            if let Some(twice) = groups.windows(2).find(|pair| pair[0] == pair[1]) {
                return Some(format!(
                    "accounts `{}` have two backlogs for group `{}`: add them up",
                    accounts.name, twice[0]
                ));
            }
        }
        None
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.accounts.iter().map(Accounts::requests).fold(0, u64::saturating_add)
    }

    /// The time in milliseconds that the slowest bucket needs by arithmetic alone, full at the
    /// start: no scheduler can be faster.
    #[must_use]
    pub fn bound_ms(&self) -> u64 {
        let backlogs = self.accounts.iter().flat_map(|accounts| &accounts.backlog);
        backlogs.map(|backlog| backlog.limit.bound_ms(backlog.requests)).max().unwrap_or(0)
    }

    pub(crate) fn latency_ms(&self) -> RangeInclusive<u64> {
        self.latency_ms.0..=self.latency_ms.1
    }
}

impl Accounts {
    fn requests(&self) -> u64 {
        let requests = self.backlog.iter().map(|backlog| backlog.requests);
        (self.count as u64).saturating_mul(requests.fold(0, u64::saturating_add))
    }

    /// Their ids, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Result<AccountId, NameError>> + '_ {
        (1..=self.count).map(|number| match self.count {
            1 => AccountId::new(&self.name),
            _ => AccountId::new(format!("{}-{number:05}", self.name)),
        })
    }
}
