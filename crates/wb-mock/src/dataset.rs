//! The datasets a seller has.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A kind of rows that every seller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dataset {
    /// Orders, one row per `srid`.
    Orders,
    /// Sales and returns, one row per `saleID`.
    Sales,
    /// Stocks in the upstream's warehouses, by `nmId`, `chrtId` and `warehouseId`.
    Stocks,
    /// What remains of each product in all warehouses: a report that is made as a task.
    Remains,
    /// Accepted supplies: a task for each window of 31 days.
    Acceptance,
    /// Paid storage: a task for each window of 8 days.
    Storage,
    /// The sales funnel of each product over a period.
    Funnel,
    /// The sales funnel of each product by day, for the last week.
    FunnelHistory,
    /// The sales funnel of each product by day, as a CSV file in a ZIP archive.
    FunnelCsv,
    /// Product cards.
    Cards,
    /// Rows of the finance reports.
    Finance,
    /// Prices and discounts.
    Prices,
    /// Orders that sellers ship themselves.
    FbsOrders,
    /// Advertising campaigns.
    Campaigns,
    /// Statistics of each campaign by day.
    CampaignStats,
    /// Buyers' feedbacks.
    Feedbacks,
    /// Five kinds of tariffs, the same for every seller.
    Tariffs,
}

impl Dataset {
    /// Every dataset.
    pub const ALL: [Self; 17] = [
        Self::Orders,
        Self::Sales,
        Self::Stocks,
        Self::Remains,
        Self::Acceptance,
        Self::Storage,
        Self::Funnel,
        Self::FunnelHistory,
        Self::FunnelCsv,
        Self::Cards,
        Self::Finance,
        Self::Prices,
        Self::FbsOrders,
        Self::Campaigns,
        Self::CampaignStats,
        Self::Feedbacks,
        Self::Tariffs,
    ];

    /// The name in paths under `/_mock/expected` and in fault scripts.
    ///
    /// ```
    /// # use waitless_wb_mock::Dataset;
    /// assert_eq!(Dataset::FunnelHistory.name(), "funnel-history");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Sales => "sales",
            Self::Stocks => "stocks",
            Self::Remains => "remains",
            Self::Acceptance => "acceptance",
            Self::Storage => "storage",
            Self::Funnel => "funnel",
            Self::FunnelHistory => "funnel-history",
            Self::FunnelCsv => "funnel-csv",
            Self::Cards => "cards",
            Self::Finance => "finance",
            Self::Prices => "prices",
            Self::FbsOrders => "fbs-orders",
            Self::Campaigns => "campaigns",
            Self::CampaignStats => "campaign-stats",
            Self::Feedbacks => "feedbacks",
            Self::Tariffs => "tariffs",
        }
    }

    /// The dataset of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dataset| dataset.name() == name)
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Dataset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dataset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| D::Error::custom(format!("unknown dataset `{name}`")))
    }
}
