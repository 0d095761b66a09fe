//! Whether every row that the marketplace holds has landed, and once.

use std::collections::HashMap;

use anyhow::Result;
use waitless_sink::Sink;

/// Rows read from the sink at a time.
const CHUNK: usize = 10_000;

/// What a comparison found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Landing {
    /// Rows that the upstream holds.
    pub(crate) expected: u64,
    /// Rows that the sink holds.
    pub(crate) landed: u64,
    /// Rows that are not in the sink in their last version.
    pub(crate) missing: u64,
    /// Rows of the sink that the upstream does not hold, or that are there more than once.
    pub(crate) duplicated: u64,
}

impl Landing {
    /// Whether every row has landed exactly once.
    pub(crate) fn is_whole(self) -> bool {
        self.missing == 0 && self.duplicated == 0 && self.landed == self.expected
    }
}

impl std::ops::AddAssign for Landing {
    fn add_assign(&mut self, other: Self) {
        self.expected += other.expected;
        self.landed += other.landed;
        self.missing += other.missing;
        self.duplicated += other.duplicated;
    }
}

/// Compares one dataset of one account, key by key and version by version.
pub(crate) async fn compare(
    sink: &dyn Sink,
    account: &str,
    dataset: &str,
    expected: impl Iterator<Item = (String, String)>,
) -> Result<Landing> {
    // How often each row was seen; the upstream's own keys are unique.
    let mut seen: HashMap<(String, String), u64> = expected.map(|row| (row, 0)).collect();
    let mut landing = Landing { expected: seen.len() as u64, ..Landing::default() };
    let mut after: Option<String> = None;
    loop {
        let rows = sink.scan(account, dataset, after.as_deref(), CHUNK).await?;
        let Some((last, _)) = rows.last() else { break };
        after = Some(last.clone());
        for row in rows {
            landing.landed += 1;
            match seen.get_mut(&row) {
                Some(times @ 0) => *times = 1,
                Some(_) | None => landing.duplicated += 1,
            }
        }
    }
    landing.missing = seen.values().filter(|times| **times == 0).count() as u64;
    Ok(landing)
}
