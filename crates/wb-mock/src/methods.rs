//! The methods that the mock serves: the one table to extend.

use crate::Dataset;

/// One method of the upstream, with the limit that the upstream publishes for it.
///
/// Two numbers describe a bucket: how many requests may come at once without a pause, and how long
/// one of them takes to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Path below the base URL. All methods so far are `GET`.
    pub path: &'static str,
    /// How long one spent request takes to come back, at speed 1.
    pub interval_ms: u64,
    /// How many requests a rested bucket admits at once.
    pub burst: u32,
    /// What an admitted request gets.
    pub answer: Answer,
    /// The service that signs the answers of the gateway (`origin` in a 429).
    pub origin: &'static str,
}

/// What an admitted request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The health check's time and `OK`.
    Ping,
    /// A page of a dataset, from `dateFrom` on.
    Page(Dataset),
}

/// Every method that the mock serves, with the limits for personal tokens.
pub const METHODS: &[Method] = &[
    Method {
        path: "/api/v1/supplier/orders",
        interval_ms: 60_000,
        burst: 10,
        answer: Answer::Page(Dataset::Orders),
        origin: "ag-statistics",
    },
    Method {
        path: "/api/v1/supplier/sales",
        interval_ms: 60_000,
        burst: 1,
        answer: Answer::Page(Dataset::Sales),
        origin: "ag-statistics",
    },
    Method {
        path: "/ping",
        interval_ms: 10_000,
        burst: 3,
        answer: Answer::Ping,
        origin: "ag-statistics",
    },
];
