//! What every request was, written down as it is counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use crate::StrangerVisits;
use crate::faults::{HIDDEN_CLIENT, LIMITED};

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
    /// Status of the answer; 0 if there is none on purpose.
    pub status: u16,
    /// The fault that was played, as scripts call it. `lower-limit` is on refusals of a bucket that
    /// is slower than published, `hidden-client` on the requests of such a client.
    pub fault: Option<&'static str>,
    /// Rows sent. Grows while an answer is on its way, and stays short of the page if the client
    /// hangs up.
    pub rows: u64,
    /// The header `X-Job-Id`, if there was one.
    pub job_id: Option<String>,
}

/// Requests counted by outcome. Those of hidden clients are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All requests.
    pub requests: u64,
    /// Those that were answered with 200 or 204, whatever a fault did to the answer.
    pub accepted: u64,
    /// Those that a bucket or a daily cap refused.
    pub rejected_429: u64,
    /// Those that were answered with 429 by a fault script, whatever the bucket held.
    pub scripted_429: u64,
    /// Those that ended otherwise: no good token, a bad query, an unknown path, most faults.
    pub rejected_other: u64,
    /// Those of all these on which a fault was played.
    pub faults: u64,
    /// Tokens that hidden clients took.
    pub hidden: u64,
    /// Rows sent, rows sent again included.
    pub rows: u64,
    /// Who came to the mock's stranger.
    pub stranger: StrangerVisits,
    /// The same by seller and method, in that order; requests without a seller come first.
    pub methods: Vec<MethodSummary>,
}

/// Requests of one seller to one method, counted by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Those that a bucket or a daily cap refused.
    pub rejected_429: u64,
    /// Those that were answered with 429 by a fault script.
    pub scripted_429: u64,
    /// Those that ended otherwise.
    pub rejected_other: u64,
    /// Those of all these on which a fault was played.
    pub faults: u64,
    /// Tokens that hidden clients took.
    pub hidden: u64,
    /// Rows sent.
    pub rows: u64,
}

impl Summary {
    pub(crate) fn of(entries: &[AuditEntry], stranger: StrangerVisits) -> Self {
        let mut methods = BTreeMap::new();
        for entry in entries {
            let key = (entry.seller, entry.path.as_str(), entry.verb.as_str());
            let method = methods.entry(key).or_insert_with(|| MethodSummary {
                seller: entry.seller,
                verb: entry.verb.clone(),
                path: entry.path.clone(),
                ..MethodSummary::default()
            });
            method.add(entry);
        }
        let mut all = Self { stranger, ..Self::default() };
        for method in methods.into_values() {
            all.requests += method.requests;
            all.accepted += method.accepted;
            all.rejected_429 += method.rejected_429;
            all.scripted_429 += method.scripted_429;
            all.rejected_other += method.rejected_other;
            all.faults += method.faults;
            all.hidden += method.hidden;
            all.rows += method.rows;
            all.methods.push(method);
        }
        all
    }
}

impl MethodSummary {
    fn add(&mut self, entry: &AuditEntry) {
        if entry.fault == Some(HIDDEN_CLIENT) {
            self.hidden += 1;
            return;
        }
        self.requests += 1;
        self.rows += entry.rows;
        self.faults += u64::from(entry.fault.is_some());
        let outcome = match (entry.status, entry.fault) {
            (200 | 204, _) => &mut self.accepted,
            (429, Some(LIMITED)) => &mut self.scripted_429,
            (429, _) => &mut self.rejected_429,
            _ => &mut self.rejected_other,
        };
        *outcome += 1;
    }
}

/// Counts the rows of one answer as they are sent.
pub(crate) type RowsSent = Arc<AtomicU64>;
