//! What every request was, written down as it is counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

/// One request as the mock saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// Place in the order of arrival, from 0.
    pub sequence: u64,
    /// When it arrived, in microseconds since the mock started.
    pub arrival_us: u64,
    /// Index of the seller; none if the token was no good.
    pub seller: Option<usize>,
    /// The `sid` in the token, if one could be read.
    pub sid: Option<String>,
    /// How it was called, such as `GET`.
    pub verb: String,
    /// Path of the method, with names in place of values: `/tasks/{task_id}/status`. What no method
    /// has is written as it came.
    pub path: String,
    /// The parameter `dateFrom` as it was sent.
    pub date_from: Option<String>,
    /// Status of the answer.
    pub status: u16,
    /// Rows sent. Grows while an answer is on its way, and stays short of the page if the client
    /// hangs up.
    pub rows: u64,
    /// The header `X-Job-Id`, if there was one.
    pub job_id: Option<String>,
}

/// Requests counted by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All requests.
    pub requests: u64,
    /// Those that were answered with 200 or 204.
    pub accepted: u64,
    /// Those that the limiter refused.
    pub rejected_429: u64,
    /// Those that failed otherwise: no good token, a bad query, an unknown path.
    pub rejected_other: u64,
    /// Rows sent, rows sent again included.
    pub rows: u64,
    /// The same by seller and method, in that order; requests without a seller come first.
    pub methods: Vec<MethodSummary>,
}

/// Requests of one seller to one method, counted by outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MethodSummary {
    /// Index of the seller; none for requests without a good token.
    pub seller: Option<usize>,
    /// How it was called.
    pub verb: String,
    /// Path of the method.
    pub path: String,
    /// All requests.
    pub requests: u64,
    /// Those that were answered with 200 or 204.
    pub accepted: u64,
    /// Those that the limiter refused.
    pub rejected_429: u64,
    /// Those that failed otherwise.
    pub rejected_other: u64,
    /// Rows sent.
    pub rows: u64,
}

impl Summary {
    pub(crate) fn of(entries: &[AuditEntry]) -> Self {
        let mut all = Self::default();
        let mut methods = BTreeMap::new();
        for entry in entries {
            let key = (entry.seller, entry.path.as_str(), entry.verb.as_str());
            let method = methods.entry(key).or_insert_with(|| MethodSummary {
                seller: entry.seller,
                verb: entry.verb.clone(),
                path: entry.path.clone(),
                requests: 0,
                accepted: 0,
                rejected_429: 0,
                rejected_other: 0,
                rows: 0,
            });
            let (in_all, in_method) = match entry.status {
                200 | 204 => (&mut all.accepted, &mut method.accepted),
                429 => (&mut all.rejected_429, &mut method.rejected_429),
                _ => (&mut all.rejected_other, &mut method.rejected_other),
            };
            *in_all += 1;
            *in_method += 1;
            all.requests += 1;
            method.requests += 1;
            all.rows += entry.rows;
            method.rows += entry.rows;
        }
        all.methods = methods.into_values().collect();
        all
    }
}

/// Counts the rows of one answer as they are sent.
pub(crate) type RowsSent = Arc<AtomicU64>;
