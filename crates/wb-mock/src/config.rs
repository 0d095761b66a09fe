//! What a mock is told when it starts.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use crate::dice::{Dice, Topic};
use crate::{Dataset, MockError};

/// The most rows one dataset may hold. Beyond it the 90 days would have to hold more groups of rows
/// than seconds, and groups would run into each other.
pub(crate) const ROWS_MAX: u64 = 20_000_000;

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
    /// How many rows the datasets hold.
    pub sizes: SellerSizes,
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
        for dataset in Dataset::ALL {
            let size = self.sizes.of(dataset);
            if size.is_empty() {
                return problem("sizes", "has an empty range");
            }
            if size.rows_max(self.page_rows) > ROWS_MAX {
                return problem("sizes", "must not exceed 20 000 000 rows per dataset");
            }
        }
        Ok(())
    }
}

/// How many rows the datasets of a seller hold. Each seller's sizes are drawn from these ranges, so
/// that sellers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerSizes {
    /// Size of [`Dataset::Orders`]. Default 1 to 6 pages.
    pub orders: DatasetSize,
    /// Size of [`Dataset::Sales`]. Default 1 to 4 pages.
    pub sales: DatasetSize,
}

impl Default for SellerSizes {
    fn default() -> Self {
        Self { orders: DatasetSize::Pages(1..=6), sales: DatasetSize::Pages(1..=4) }
    }
}

impl SellerSizes {
    /// The range for one dataset.
    #[must_use]
    pub fn of(&self, dataset: Dataset) -> &DatasetSize {
        match dataset {
            Dataset::Orders => &self.orders,
            Dataset::Sales => &self.sales,
        }
    }
}

/// A range from which the size of one dataset is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetSize {
    /// About so many pages: the last one is partly filled, and because a page is a soft cap, long
    /// datasets may take a page more or less.
    Pages(RangeInclusive<u32>),
    /// Exactly so many rows.
    Rows(RangeInclusive<u64>),
}

impl DatasetSize {
    fn is_empty(&self) -> bool {
        match self {
            Self::Pages(pages) => pages.is_empty(),
            Self::Rows(rows) => rows.is_empty(),
        }
    }

    fn rows_max(&self, page_rows: u32) -> u64 {
        match self {
            Self::Pages(pages) => u64::from(*pages.end()) * u64::from(page_rows),
            Self::Rows(rows) => *rows.end(),
        }
    }

    pub(crate) fn draw(&self, config: &MockConfig, seller: usize, dataset: Dataset) -> u64 {
        let mut dice = Dice::of(config.seed, Topic::Size, &[seller as u64, dataset as u64]);
        match self {
            Self::Pages(pages) => {
                let pages = dice.within(u64::from(*pages.start())..=u64::from(*pages.end()));
                let page_rows = u64::from(config.page_rows);
                let filled = dice.within(20..=80);
                pages.saturating_sub(1) * page_rows
                    + if pages == 0 { 0 } else { (page_rows * filled / 100).max(1) }
            }
            Self::Rows(rows) => dice.within(rows.clone()),
        }
    }
}
