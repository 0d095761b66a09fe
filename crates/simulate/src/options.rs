use std::{fmt, ops::RangeInclusive, str::FromStr};

use waitless_job::{LimitGroup, NewJob};

/// How jobs wait for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Waitless: jobs wait in lanes.
    #[default]
    Lanes,
    /// Each job looks, finds no token, and reschedules itself by the wait it was told.
    Naive,
    /// Each job waits for its token in its slot.
    Blocking,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 3] = [Self::Lanes, Self::Naive, Self::Blocking];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Naive => "naive",
            Self::Blocking => "blocking",
        }
    }

    /// What a job of this strategy tells the queue it needs. Only lanes tell it anything: the
    /// others find out when they run.
    pub(crate) fn needs(self, job: NewJob, group: &LimitGroup) -> NewJob {
        match self {
            Self::Lanes => job.needs_one(group.clone()),
            Self::Naive | Self::Blocking => job,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a strategy: use lanes, naive or blocking"))
    }
}

/// How a scenario is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How jobs wait. Default lanes.
    pub strategy: Strategy,
    /// Slots, instead of the scenario's.
    pub slots: Option<usize>,
    /// Network delay before the upstream counts a request, in milliseconds. Default none.
    pub jitter_ms: RangeInclusive<u64>,
    /// Guard margin of every limit in milliseconds, instead of its own.
    pub margin_ms: Option<u32>,
    /// Everything random follows from it. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            slots: None,
            jitter_ms: 0..=0,
            margin_ms: None,
            seed: 1,
        }
    }
}
