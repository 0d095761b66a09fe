//! How much the sellers of a mock have.

use std::ops::RangeInclusive;

use crate::MockConfig;
use crate::dice::{Dice, Topic};
use crate::table::Feed;

/// The most rows one dataset may hold. Beyond it the 90 days would have to hold more groups of rows
/// than seconds, and groups would run into each other.
pub(crate) const ROWS_MAX: u64 = 20_000_000;

/// How many rows the orders and sales of a seller hold. Each seller's sizes are drawn from these ranges, so
/// that sellers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerSizes {
    /// Size of [`Dataset::Orders`](crate::Dataset::Orders). Default 1 to 6 pages.
    pub orders: DatasetSize,
    /// Size of [`Dataset::Sales`](crate::Dataset::Sales). Default 1 to 4 pages.
    pub sales: DatasetSize,
}

impl Default for SellerSizes {
    fn default() -> Self {
        Self { orders: DatasetSize::Pages(1..=6), sales: DatasetSize::Pages(1..=4) }
    }
}

impl SellerSizes {
    pub(crate) fn of(&self, feed: Feed) -> &DatasetSize {
        match feed {
            Feed::Orders => &self.orders,
            Feed::Sales => &self.sales,
        }
    }

    pub(crate) fn problem(&self, page_rows: u32) -> Option<&'static str> {
        let sizes = [&self.orders, &self.sales];
        if sizes.iter().any(|size| size.is_empty()) {
            Some("has an empty range")
        } else if sizes.iter().any(|size| size.rows_max(page_rows) > ROWS_MAX) {
            Some("must not exceed 20 000 000 rows per dataset")
        } else {
            None
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

    pub(crate) fn draw(&self, config: &MockConfig, seller: usize, feed: Feed) -> u64 {
        let mut dice = Dice::of(config.seed, Topic::Size, &[seller as u64, feed as u64]);
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

/// How much there is for the datasets to tell that are neither orders nor sales. Each seller's
/// sizes are drawn from these ranges.
///
/// ```
/// let sizes = waitless_wb_mock::CabinetSizes::default();
/// assert_eq!((sizes.products, sizes.campaigns), (150..=600, 20..=120));
/// assert_eq!((sizes.feedbacks, sizes.fbs_orders), (200..=900, 200..=900));
/// assert_eq!(sizes.finance_rows, 300..=900);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CabinetSizes {
    /// Products: cards, prices, stocks, remains, storage and the funnel follow from them. Default
    /// 150 to 600.
    pub products: RangeInclusive<u64>,
    /// Advertising campaigns. Default 20 to 120.
    pub campaigns: RangeInclusive<u64>,
    /// Feedbacks, answered or not. Default 200 to 900.
    pub feedbacks: RangeInclusive<u64>,
    /// Orders that the seller ships, in 90 days. Default 200 to 900.
    pub fbs_orders: RangeInclusive<u64>,
    /// Rows of finance reports in 90 days. Default 300 to 900.
    pub finance_rows: RangeInclusive<u64>,
}

impl Default for CabinetSizes {
    fn default() -> Self {
        Self {
            products: 150..=600,
            campaigns: 20..=120,
            feedbacks: 200..=900,
            fbs_orders: 200..=900,
            finance_rows: 300..=900,
        }
    }
}

impl CabinetSizes {
    pub(crate) fn has_empty_range(&self) -> bool {
        let Self { products, campaigns, feedbacks, fbs_orders, finance_rows } = self;
        [products, campaigns, feedbacks, fbs_orders, finance_rows]
            .iter()
            .any(|range| range.is_empty())
    }
}
