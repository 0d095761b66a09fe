//! The methods that the mock serves: the one table to extend.
//!
//! The numbers are those that the upstream published in July 2026 (`orders` has its later burst).

use crate::service::{
    ANALYTICS, COMMON, CONTENT, FEEDBACKS, FINANCE, MARKETPLACE, PRICES, PROMOTION, STATISTICS,
    Service,
};
use crate::{Dataset, Family};

/// One method of the upstream, with the limits that the upstream publishes for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// How it is called.
    pub verb: Verb,
    /// Path below the base URL; a part in braces stands for a value: `/tasks/{task_id}/status`.
    pub path: &'static str,
    /// The service that it belongs to.
    pub service: Service,
    /// What it serves; none is the health check.
    pub serves: Option<(Dataset, Call)>,
    /// The bucket that it draws on.
    pub bucket: Bucket,
    /// How many requests a day are admitted beside the bucket; none if any number.
    pub per_day: Option<u32>,
}

/// How a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
}

impl Verb {
    /// As it is written in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Which of a dataset's methods is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Rows.
    Page,
    /// A new task, or for [`Dataset::FunnelCsv`] a new report.
    Create,
    /// A failed report once more.
    Retry,
    /// How far a task is, or for [`Dataset::FunnelCsv`] the list of reports.
    Status,
    /// What a finished task has made.
    Download,
    /// Tariffs: commission by subject.
    Commission,
    /// Tariffs: boxes by warehouse.
    Box,
    /// Tariffs: pallets by warehouse.
    Pallet,
    /// Tariffs: returns by warehouse.
    Return,
    /// Tariffs: acceptance coefficients by date and warehouse.
    Coefficients,
}

/// Two numbers describe what a bucket allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How long one spent request takes to come back, at speed 1.
    pub interval_ms: u64,
    /// How many requests a rested bucket admits at once.
    pub burst: u32,
}

impl Limit {
    pub(crate) fn interval_us(self, speed: u32) -> u64 {
        self.interval_ms * 1000 / u64::from(speed)
    }
}

/// What the methods that share it may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The name of the group of methods that share it; none if it is one method's own.
    pub group: Option<&'static str>,
    /// For personal and service tokens, and for base tokens with the client's secret.
    pub full: Limit,
    /// For base tokens; none if they are not let in.
    pub base: Option<Limit>,
}

/// What tells a bucket of a seller from its others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BucketName {
    Own(Verb, &'static str),
    Group(&'static str),
}

impl Bucket {
    /// What it allows a token of that family; none if such tokens are not let in.
    #[must_use]
    pub const fn limit(self, family: Family) -> Option<Limit> {
        match family {
            Family::Personal | Family::Service | Family::BaseWithSecret => Some(self.full),
            Family::Base => self.base,
        }
    }
}

impl Method {
    pub(crate) fn bucket_name(&self) -> BucketName {
        match self.bucket.group {
            Some(group) => BucketName::Group(group),
            None => BucketName::Own(self.verb, self.path),
        }
    }

    /// The method that serves that call of a dataset.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn of(dataset: Dataset, call: Call) -> &'static Self {
        METHODS
            .iter()
            .find(|method| method.serves == Some((dataset, call)))
            .unwrap_or_else(|| panic!("{dataset} has no {call:?}"))
    }
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// One request per so many milliseconds, and so many at once.
const fn every(interval_ms: u64, burst: u32) -> Limit {
    Limit { interval_ms, burst }
}

/// A bucket of one method.
const fn own(full: Limit, base: Limit) -> Bucket {
    Bucket { group: None, full, base: Some(base) }
}

/// A bucket of several methods.
const fn group(name: &'static str, full: Limit, base: Limit) -> Bucket {
    Bucket { group: Some(name), full, base: Some(base) }
}

const fn get(
    service: Service,
    path: &'static str,
    dataset: Dataset,
    call: Call,
    bucket: Bucket,
) -> Method {
    Method { verb: Verb::Get, path, service, serves: Some((dataset, call)), bucket, per_day: None }
}

const fn post(
    service: Service,
    path: &'static str,
    dataset: Dataset,
    call: Call,
    bucket: Bucket,
) -> Method {
    Method { verb: Verb::Post, ..get(service, path, dataset, call, bucket) }
}

const FUNNEL: Bucket = own(every(20 * SECOND, 3), every(30 * MINUTE, 1));
const NM_REPORT: Bucket = own(every(20 * SECOND, 3), every(HOUR, 1));
const TARIFFS_OF_WAREHOUSES: Bucket = own(every(SECOND, 5), every(HOUR, 1));

/// Every method that the mock serves.
pub const METHODS: &[Method] = &[
    Method {
        verb: Verb::Get,
        path: "/ping",
        service: COMMON,
        serves: None,
        bucket: own(every(10 * SECOND, 3), every(10 * SECOND, 3)),
        per_day: None,
    },
    get(
        STATISTICS,
        "/api/v1/supplier/orders",
        Dataset::Orders,
        Call::Page,
        own(every(MINUTE, 10), every(3 * HOUR, 1)),
    ),
    get(
        STATISTICS,
        "/api/v1/supplier/sales",
        Dataset::Sales,
        Call::Page,
        own(every(MINUTE, 1), every(2 * HOUR, 1)),
    ),
    post(
        ANALYTICS,
        "/api/analytics/v1/stocks-report/wb-warehouses",
        Dataset::Stocks,
        Call::Page,
        Bucket { group: None, full: every(20 * SECOND, 1), base: None },
    ),
    get(
        ANALYTICS,
        "/api/v1/warehouse_remains",
        Dataset::Remains,
        Call::Create,
        own(every(MINUTE, 5), every(15 * MINUTE, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/warehouse_remains/tasks/{task_id}/status",
        Dataset::Remains,
        Call::Status,
        own(every(5 * SECOND, 5), every(15 * MINUTE, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/warehouse_remains/tasks/{task_id}/download",
        Dataset::Remains,
        Call::Download,
        own(every(MINUTE, 1), every(15 * MINUTE, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/acceptance_report",
        Dataset::Acceptance,
        Call::Create,
        own(every(MINUTE, 1), every(3 * HOUR, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/acceptance_report/tasks/{task_id}/status",
        Dataset::Acceptance,
        Call::Status,
        own(every(5 * SECOND, 1), every(30 * MINUTE, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/acceptance_report/tasks/{task_id}/download",
        Dataset::Acceptance,
        Call::Download,
        own(every(MINUTE, 1), every(30 * MINUTE, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/paid_storage",
        Dataset::Storage,
        Call::Create,
        own(every(MINUTE, 5), every(HOUR, 1)),
    ),
    get(
        ANALYTICS,
        "/api/v1/paid_storage/tasks/{task_id}/status",
        Dataset::Storage,
        Call::Status,
        own(every(5 * SECOND, 5), every(30 * MINUTE, 2)),
    ),
    get(
        ANALYTICS,
        "/api/v1/paid_storage/tasks/{task_id}/download",
        Dataset::Storage,
        Call::Download,
        own(every(MINUTE, 1), every(30 * MINUTE, 1)),
    ),
    post(ANALYTICS, "/api/analytics/v3/sales-funnel/products", Dataset::Funnel, Call::Page, FUNNEL),
    post(
        ANALYTICS,
        "/api/analytics/v3/sales-funnel/products/history",
        Dataset::FunnelHistory,
        Call::Page,
        FUNNEL,
    ),
    Method {
        per_day: Some(20),
        ..post(
            ANALYTICS,
            "/api/v2/nm-report/downloads",
            Dataset::FunnelCsv,
            Call::Create,
            NM_REPORT,
        )
    },
    // Whether this counts against the 20 of a day is not known.
    post(
        ANALYTICS,
        "/api/v2/nm-report/downloads/retry",
        Dataset::FunnelCsv,
        Call::Retry,
        NM_REPORT,
    ),
    get(ANALYTICS, "/api/v2/nm-report/downloads", Dataset::FunnelCsv, Call::Status, NM_REPORT),
    get(
        ANALYTICS,
        "/api/v2/nm-report/downloads/file/{downloadId}",
        Dataset::FunnelCsv,
        Call::Download,
        NM_REPORT,
    ),
    post(
        CONTENT,
        "/content/v2/get/cards/list",
        Dataset::Cards,
        Call::Page,
        // Outside the group of the other content methods.
        own(every(600, 5), every(600, 5)),
    ),
    post(
        FINANCE,
        "/api/finance/v1/sales-reports/detailed",
        Dataset::Finance,
        Call::Page,
        own(every(MINUTE, 1), every(12 * HOUR, 1)),
    ),
    get(
        PRICES,
        "/api/v2/list/goods/filter",
        Dataset::Prices,
        Call::Page,
        group("prices", every(600, 5), every(15 * MINUTE, 1)),
    ),
    get(
        MARKETPLACE,
        "/api/v3/orders",
        Dataset::FbsOrders,
        Call::Page,
        group("fbs", every(200, 20), every(200, 20)),
    ),
    get(
        PROMOTION,
        "/adv/v1/promotion/count",
        Dataset::Campaigns,
        Call::Page,
        own(every(200, 5), every(15 * MINUTE, 1)),
    ),
    get(
        PROMOTION,
        "/adv/v3/fullstats",
        Dataset::CampaignStats,
        Call::Page,
        own(every(20 * SECOND, 1), every(HOUR, 1)),
    ),
    get(
        FEEDBACKS,
        "/api/v1/feedbacks",
        Dataset::Feedbacks,
        Call::Page,
        // A third of a second, as it is printed.
        group("feedbacks", every(333, 6), every(12 * MINUTE, 1)),
    ),
    get(
        COMMON,
        "/api/v1/tariffs/commission",
        Dataset::Tariffs,
        Call::Commission,
        own(every(MINUTE, 2), every(12 * MINUTE, 1)),
    ),
    get(COMMON, "/api/v1/tariffs/box", Dataset::Tariffs, Call::Box, TARIFFS_OF_WAREHOUSES),
    get(COMMON, "/api/v1/tariffs/pallet", Dataset::Tariffs, Call::Pallet, TARIFFS_OF_WAREHOUSES),
    get(COMMON, "/api/v1/tariffs/return", Dataset::Tariffs, Call::Return, TARIFFS_OF_WAREHOUSES),
    get(
        COMMON,
        "/api/tariffs/v1/acceptance/coefficients",
        Dataset::Tariffs,
        Call::Coefficients,
        own(every(10 * SECOND, 6), every(HOUR, 1)),
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn every_method_and_call_is_there_once_and_every_dataset_has_one() {
        let methods: HashSet<_> = METHODS.iter().map(|method| (method.verb, method.path)).collect();
        let calls: HashSet<_> = METHODS.iter().map(|method| method.serves).collect();
        assert_eq!((methods.len(), calls.len()), (METHODS.len(), METHODS.len()));
        let served: HashSet<_> = calls.into_iter().flatten().map(|(dataset, _)| dataset).collect();
        assert_eq!(served.len(), Dataset::ALL.len());
    }

    #[test]
    fn methods_of_a_group_have_one_bucket() {
        let mut groups = HashMap::new();
        for method in METHODS {
            let bucket = groups.entry(method.bucket_name()).or_insert(method.bucket);
            assert_eq!(*bucket, method.bucket, "{}", method.path);
        }
    }

    /// As the README writes it: `15 min, 1`.
    fn written(limit: Limit) -> String {
        let Limit { interval_ms, burst } = limit;
        let interval = match interval_ms {
            HOUR.. => format!("{} h", interval_ms / HOUR),
            MINUTE.. => format!("{} min", interval_ms / MINUTE),
            SECOND.. => format!("{} s", interval_ms / SECOND),
            _ => format!("{interval_ms} ms"),
        };
        format!("{interval}, {burst}")
    }

    /// Whether a line of the README's table is about the path, whose beginning it may leave out.
    fn is_about(line: &str, path: &str) -> bool {
        line.split('`').skip(1).step_by(2).any(|code| {
            let written = code.trim_start_matches("GET ").trim_start_matches("POST ");
            let end = written.trim_start_matches("...");
            written == path || (end.starts_with('/') && path.ends_with(end))
        })
    }

    #[test]
    fn the_readme_has_every_method_with_its_limits() {
        let readme = include_str!("../README.md");
        for Method { path, bucket, .. } in METHODS {
            let full = written(bucket.full);
            let base = match bucket.base {
                Some(base) if base == bucket.full => "the same".to_owned(),
                Some(base) => written(base),
                None => "closed".to_owned(),
            };
            let limits = |line: &str| {
                line.contains(&format!("| {full}")) && line.contains(&format!("| {base}"))
            };
            let mut lines = readme.lines().filter(|line| is_about(line, path));
            assert!(lines.any(limits), "{path}: {full} | {base}");
        }
    }
}
