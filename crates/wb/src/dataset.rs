use std::{fmt, str::FromStr};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use waitless_job::UnixMillis;

use crate::{MoscowTime, PlanError, datasets::days::Days, moscow::days_before};

/// A kind of rows that sellers have. `docs/wildberries.md` has a section about each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// Orders: one row per `srid`.
    Orders,
    /// Sales and returns: one row per `saleID`.
    Sales,
    /// Stock in the upstream's warehouses: one row per size and warehouse.
    Stocks,
    /// Stock as a report, with what is under way: one row per product, barcode and size.
    Remains,
    /// Paid acceptance: one row per product of a supply.
    Acceptance,
    /// Paid storage: one row per size, warehouse, supply and day.
    Storage,
    /// The sales funnel of the whole time: one row per product.
    Funnel,
    /// The sales funnel of the last week: one row per product and day.
    FunnelHistory,
    /// The sales funnel of up to a year: one row per product and day.
    FunnelCsv,
    /// Product cards.
    Cards,
    /// The realization report: one row per line.
    Finance,
    /// Prices and discounts: one row per product.
    Prices,
    /// Orders that the seller ships.
    FbsOrders,
    /// Advertising campaigns.
    Campaigns,
    /// Advertising statistics: one row per campaign and day.
    CampaignStats,
    /// What buyers have written.
    Feedbacks,
    /// The upstream's tariffs: one row per subject, or per warehouse.
    Tariffs,
}

/// How far back a dataset can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// It has what is there now, and no past.
    Now,
    /// So many days.
    Days(u64),
    /// From this day on.
    From(NaiveDate),
}

/// Days that an import goes back if nothing else is wished for, and as far as the dataset does.
const USUAL_DAYS: u64 = 90;

/// What is known of a dataset as data.
struct About {
    name: &'static str,
    title: &'static str,
    /// Of the catalogue, in the order in which they are asked.
    endpoints: &'static [&'static str],
    depth: Depth,
    /// Whether the upstream makes it in its own time.
    is_task: bool,
    /// Days before the end of an import that the next one asks for again, because what is said
    /// about them changes later.
    overlap_days: u64,
}

/// The first day of the realization report.
const FINANCE_FIRST: NaiveDate = NaiveDate::from_ymd_opt(2024, 1, 29).expect("it is a day");

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

    fn about(self) -> &'static About {
        match self {
            Self::Orders => &About {
                name: "orders",
                title: "Orders",
                endpoints: &["orders"],
                depth: Depth::Days(90),
                is_task: false,
                overlap_days: 0,
            },
            Self::Sales => &About {
                name: "sales",
                title: "Sales and returns",
                endpoints: &["sales"],
                depth: Depth::Days(90),
                is_task: false,
                overlap_days: 0,
            },
            Self::Stocks => &About {
                name: "stocks",
                title: "Stock by warehouse",
                endpoints: &["analytics.stocks-report.wb-warehouses"],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
            Self::Remains => &About {
                name: "remains",
                title: "Stock by barcode",
                endpoints: &[
                    "analytics.warehouse-remains.create",
                    "analytics.warehouse-remains.status",
                    "analytics.warehouse-remains.download",
                ],
                depth: Depth::Now,
                is_task: true,
                overlap_days: 0,
            },
            Self::Acceptance => &About {
                name: "acceptance",
                title: "Paid acceptance",
                endpoints: &[
                    "analytics.acceptance-report.create",
                    "analytics.acceptance-report.status",
                    "analytics.acceptance-report.download",
                ],
                depth: Depth::Days(90),
                is_task: true,
                overlap_days: 7,
            },
            Self::Storage => &About {
                name: "storage",
                title: "Paid storage",
                endpoints: &[
                    "analytics.paid-storage.create",
                    "analytics.paid-storage.status",
                    "analytics.paid-storage.download",
                ],
                depth: Depth::Days(90),
                is_task: true,
                overlap_days: 7,
            },
            Self::Funnel => &About {
                name: "funnel",
                title: "Sales funnel by product",
                endpoints: &["analytics.sales-funnel.products"],
                depth: Depth::Days(365),
                is_task: false,
                overlap_days: 0,
            },
            Self::FunnelHistory => &About {
                name: "funnel-history",
                title: "Sales funnel by day, the last week",
                endpoints: &[
                    "analytics.sales-funnel.products",
                    "analytics.sales-funnel.products.history",
                ],
                depth: Depth::Days(7),
                is_task: false,
                overlap_days: 0,
            },
            Self::FunnelCsv => &About {
                name: "funnel-csv",
                title: "Sales funnel by day, up to a year",
                endpoints: &[
                    "analytics.nm-report.create",
                    "analytics.nm-report.list",
                    "analytics.nm-report.download",
                ],
                depth: Depth::Days(365),
                is_task: true,
                overlap_days: 0,
            },
            Self::Cards => &About {
                name: "cards",
                title: "Product cards",
                endpoints: &["content.cards.list"],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
            Self::Finance => &About {
                name: "finance",
                title: "Realization report",
                endpoints: &["finance.sales-reports.detailed"],
                depth: Depth::From(FINANCE_FIRST),
                is_task: false,
                overlap_days: 14,
            },
            Self::Prices => &About {
                name: "prices",
                title: "Prices and discounts",
                endpoints: &["prices.goods.list"],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
            Self::FbsOrders => &About {
                name: "fbs-orders",
                title: "Orders that the seller ships",
                endpoints: &["marketplace.fbs.orders.list"],
                depth: Depth::Days(90),
                is_task: false,
                overlap_days: 1,
            },
            Self::Campaigns => &About {
                name: "campaigns",
                title: "Advertising campaigns",
                endpoints: &["promotion.count"],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
            Self::CampaignStats => &About {
                name: "campaign-stats",
                title: "Advertising statistics by day",
                endpoints: &["promotion.count", "promotion.fullstats"],
                depth: Depth::Days(90),
                is_task: false,
                overlap_days: 7,
            },
            Self::Feedbacks => &About {
                name: "feedbacks",
                title: "Feedbacks",
                endpoints: &["feedbacks.list"],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
            Self::Tariffs => &About {
                name: "tariffs",
                title: "Tariffs",
                endpoints: &[
                    "general.tariffs.commission",
                    "general.tariffs.box",
                    "general.tariffs.pallet",
                    "general.tariffs.return",
                    "general.tariffs.acceptance.coefficients",
                ],
                depth: Depth::Now,
                is_task: false,
                overlap_days: 0,
            },
        }
    }

    /// Its name: in arguments and in the sink.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.about().name
    }

    /// What it is, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.about().title
    }

    /// The catalogue's endpoints that it asks, the first one first. All are of one category.
    #[must_use]
    pub fn endpoints(self) -> &'static [&'static str] {
        self.about().endpoints
    }

    /// How far back it can be asked for.
    #[must_use]
    pub fn depth(self) -> Depth {
        self.about().depth
    }

    /// Whether the upstream makes it in its own time, so that it is polled for.
    #[must_use]
    pub fn is_task(self) -> bool {
        self.about().is_task
    }

    /// The first day that can be asked for at `now`; today for what has no past.
    ///
    /// ```
    /// use waitless_wb::Dataset;
    /// # use waitless_job::UnixMillis;
    /// let noon = UnixMillis(1_790_856_000_000); // 2026-10-01
    /// assert_eq!(Dataset::Orders.deepest_day(noon).to_string(), "2026-07-03");
    /// assert_eq!(Dataset::Finance.deepest_day(noon).to_string(), "2024-01-29");
    /// assert_eq!(Dataset::Stocks.deepest_day(noon).to_string(), "2026-10-01");
    /// ```
    #[must_use]
    pub fn deepest_day(self, now: UnixMillis) -> NaiveDate {
        let today = MoscowTime::at(now).day();
        match self.depth() {
            Depth::Now => today,
            Depth::Days(days) => days_before(today, days),
            Depth::From(first) => first.min(today),
        }
    }

    /// The days that can be asked for at `now`, today included.
    pub(crate) fn reach(self, now: UnixMillis) -> Days {
        Days { start: self.deepest_day(now), end: MoscowTime::at(now).day() }
    }

    /// The same up to yesterday.
    pub(crate) fn reach_until_yesterday(self, now: UnixMillis) -> Days {
        Days::until_yesterday(self.deepest_day(now), MoscowTime::at(now).day())
    }

    /// The first day of an import if nothing else is wished for: 90 days ago, or the
    /// [deepest](Dataset::deepest_day).
    #[must_use]
    pub fn usual_day(self, now: UnixMillis) -> NaiveDate {
        days_before(MoscowTime::at(now).day(), USUAL_DAYS).max(self.deepest_day(now))
    }

    /// The day from which the next import has to go on after one that has ended with this
    /// checkpoint: the end of that one, and some days before it where what is said about them
    /// changes later. `None` if the next one fetches everything again, or the checkpoint cannot be
    /// read.
    ///
    /// ```
    /// use waitless_wb::Dataset;
    ///
    /// let day = Dataset::Orders.next_day(r#"{"date_from":"2026-09-30T18:20:07"}"#);
    /// assert_eq!(day.unwrap().to_string(), "2026-09-30");
    /// assert_eq!(Dataset::Cards.next_day("{}"), None);
    /// ```
    #[must_use]
    pub fn next_day(self, checkpoint: &str) -> Option<NaiveDate> {
        use crate::datasets::{campaign_stats, changes, fbs_orders, finance, tasks};
        let end = match self {
            Self::Orders | Self::Sales => read::<changes::Cursor>(checkpoint)?.date_from.day(),
            Self::Acceptance | Self::Storage => read::<tasks::Cursor>(checkpoint)?.days.end,
            Self::Finance => read::<finance::Cursor>(checkpoint)?.days.end,
            Self::CampaignStats => read::<campaign_stats::Cursor>(checkpoint)?.days.end,
            Self::FbsOrders => {
                let until = read::<fbs_orders::Cursor>(checkpoint)?.until;
                MoscowTime::at(UnixMillis(until.saturating_mul(1_000))).day()
            }
            Self::Stocks
            | Self::Remains
            | Self::Funnel
            | Self::FunnelHistory
            | Self::FunnelCsv
            | Self::Cards
            | Self::Prices
            | Self::Campaigns
            | Self::Feedbacks
            | Self::Tariffs => return None,
        };
        Some(days_before(end, self.about().overlap_days))
    }

    /// The datasets of these names, each once and in the order of [`Dataset::ALL`]; `all` is the
    /// name of all of them.
    ///
    /// # Errors
    /// [`PlanError::UnknownDataset`], which lists the known ones.
    ///
    /// ```
    /// use waitless_wb::Dataset;
    ///
    /// let datasets = Dataset::named(["sales", " orders", "sales"])?;
    /// assert_eq!(datasets, [Dataset::Orders, Dataset::Sales]);
    /// assert_eq!(Dataset::named(["all"])?, Dataset::ALL);
    /// # Ok::<(), waitless_wb::PlanError>(())
    /// ```
    pub fn named(names: impl IntoIterator<Item: AsRef<str>>) -> Result<Vec<Self>, PlanError> {
        let mut asked = Vec::new();
        for name in names {
            match name.as_ref().trim() {
                "all" => asked.extend(Self::ALL),
                name => asked.push(name.parse()?),
            }
        }
        Ok(Self::ALL.into_iter().filter(|dataset| asked.contains(dataset)).collect())
    }
}

fn read<C: serde::de::DeserializeOwned>(checkpoint: &str) -> Option<C> {
    serde_json::from_str(checkpoint).ok()
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Dataset {
    type Err = PlanError;

    /// # Errors
    /// [`PlanError::UnknownDataset`], which lists the known ones.
    fn from_str(text: &str) -> Result<Self, PlanError> {
        let known = Self::ALL.into_iter().find(|dataset| dataset.as_str() == text);
        known.ok_or_else(|| PlanError::UnknownDataset {
            name: text.chars().take(64).collect(),
            known: Self::ALL.map(Self::as_str).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_is_in_the_catalogue_and_those_of_a_dataset_are_of_one_category() {
        let catalogue = crate::catalogue();
        for dataset in Dataset::ALL {
            let endpoints = dataset.endpoints().iter().map(|name| {
                let endpoint = catalogue.endpoint(name);
                endpoint.unwrap_or_else(|| panic!("{dataset}: no endpoint {name}"))
            });
            let mut categories: Vec<_> = endpoints.map(|endpoint| endpoint.category()).collect();
            categories.dedup();
            assert_eq!(categories.len(), 1, "{dataset}: {categories:?}");
            assert_eq!(dataset.is_task(), dataset.endpoints()[0].ends_with(".create"));
        }
    }

    #[test]
    fn a_dataset_has_one_name_everywhere() {
        for dataset in Dataset::ALL {
            assert_eq!(dataset.as_str().parse::<Dataset>().unwrap(), dataset);
            let json = serde_json::to_string(&dataset).unwrap();
            assert_eq!(json, format!("\"{dataset}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = Dataset::named(["orders", "stock"]).unwrap_err().to_string();
        let known = "there is no dataset `stock`; there are orders, sales, stocks, remains,";
        assert!(error.starts_with(known), "{error}");
        assert!(error.ends_with(" tariffs, and `all`"), "{error}");
    }

    #[test]
    fn without_a_wish_an_import_goes_90_days_back_or_as_far_as_can_be_asked() {
        let noon = UnixMillis(1_790_856_000_000); // 2026-10-01
        let days = [
            (Dataset::Sales, "2026-07-03"),
            (Dataset::Finance, "2026-07-03"),
            (Dataset::Funnel, "2026-07-03"),
            (Dataset::FunnelHistory, "2026-09-24"),
            (Dataset::Prices, "2026-10-01"),
        ];
        for (dataset, day) in days {
            assert_eq!(dataset.usual_day(noon).to_string(), day, "{dataset}");
        }
    }

    #[test]
    fn the_next_import_goes_on_some_days_before_the_end_of_the_last() {
        let next = |dataset: Dataset, checkpoint: &str| {
            dataset.next_day(checkpoint).map(|day| day.to_string())
        };
        let days = r#"{"start":"2026-09-01","end":"2026-10-01"}"#;
        let task = format!(r#"{{"days":{days},"step":"create"}}"#);
        assert_eq!(next(Dataset::Storage, &task).as_deref(), Some("2026-09-24"));
        let lines = format!(r#"{{"rrd_id":7,"days":{days}}}"#);
        assert_eq!(next(Dataset::Finance, &lines).as_deref(), Some("2026-09-17"));
        let stats = format!(r#"{{"days":{days},"left":{days},"ids":[]}}"#);
        assert_eq!(next(Dataset::CampaignStats, &stats).as_deref(), Some("2026-09-24"));
        let orders = r#"{"from":0,"until":1790856000,"next":0}"#;
        assert_eq!(next(Dataset::FbsOrders, orders).as_deref(), Some("2026-09-30"));
        assert_eq!(next(Dataset::FbsOrders, "{}"), None);
    }
}
