//! What a mock is told when it starts.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use crate::{CabinetSizes, Faults, MockError, SellerSizes};

/// What a mock is told when it starts.
///
/// Equal configurations give equal sellers, tokens, rows and pages.
///
/// ```
/// let config = waitless_wb_mock::MockConfig::default();
/// assert_eq!((config.port, config.speed, config.sellers), (0, 1, 1));
/// assert_eq!((config.page_rows, config.late_updates), (80_000, false));
/// ```
#[derive(Clone, Debug)]
pub struct MockConfig {
    /// Port on 127.0.0.1; 0 takes a free one. Default 0.
    pub port: u16,
    /// Divides every interval of every limit; at least 1. Default 1.
    pub speed: u32,
    /// How many sellers there are; at least 1. Default 1.
    pub sellers: usize,
    /// Decides everything that is drawn. Default 1.
    pub seed: u64,
    /// Soft cap of a page: a page holds this many rows, give or take 5 %. Default 80 000.
    pub page_rows: u32,
    /// How many rows orders and sales hold.
    pub sizes: SellerSizes,
    /// How much there is for the other datasets to tell.
    pub cabinet: CabinetSizes,
    /// What goes wrong on purpose. Default nothing.
    pub faults: Faults,
    /// How long a request takes to arrive, drawn for each. It is counted when it has arrived.
    /// Default 0.
    pub jitter_ms: RangeInclusive<u64>,
    /// How long an answer takes after its request was counted, drawn for each. Default 0.
    pub latency_ms: RangeInclusive<u64>,
    /// The moment that the mock takes for "now" when it starts: rows lie in the 90 days before it,
    /// tokens expire 180 days after it. Default 2026-10-01T12:00:00Z.
    pub now: DateTime<Utc>,
    /// Whether rows change after they were served: once an answer has reached the middle of a
    /// dataset, some rows of its first half move to the end with new content, and so come again
    /// before any client that started at the beginning can have finished. Default off.
    pub late_updates: bool,
}

impl Default for MockConfig {
    fn default() -> Self {
        Self {
            port: 0,
            speed: 1,
            sellers: 1,
            seed: 1,
            page_rows: 80_000,
            sizes: SellerSizes::default(),
            cabinet: CabinetSizes::default(),
            faults: Faults::default(),
            jitter_ms: 0..=0,
            latency_ms: 0..=0,
            now: DateTime::from_timestamp(1_790_856_000, 0).expect("a moment in 2026"),
            late_updates: false,
        }
    }
}

impl MockConfig {
    pub(crate) fn validate(&self) -> Result<(), MockError> {
        let problem = |field, problem| Err(MockError::Config { field, problem });
        if self.speed == 0 {
            return problem("speed", "must be at least 1");
        }
        if self.sellers == 0 {
            return problem("sellers", "must be at least 1");
        }
        if self.page_rows == 0 {
            return problem("page_rows", "must be at least 1");
        }
        if self.jitter_ms.is_empty() {
            return problem("jitter_ms", "is an empty range");
        }
        if self.latency_ms.is_empty() {
            return problem("latency_ms", "is an empty range");
        }
        if let Some(text) = self.sizes.problem(self.page_rows) {
            return problem("sizes", text);
        }
        if self.cabinet.has_empty_range() {
            return problem("cabinet", "has an empty range");
        }
        Ok(())
    }
}
