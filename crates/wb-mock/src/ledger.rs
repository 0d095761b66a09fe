//! The books: buckets, daily caps and the audit log.

use std::collections::HashMap;
use std::sync::Arc;

use crate::audit::{AuditEntry, RowsSent};
use crate::door::{BucketKey, Visit};
use crate::gateway::{LimitHeaders, LimitedBody};
use crate::limiter::{Limiter, Verdict};

/// What changes with each request. One lock holds all of it, so that the log has the order in which
/// the buckets were asked.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    limiters: HashMap<BucketKey, Limiter>,
    days: HashMap<BucketKey, Day>,
    log: Vec<(AuditEntry, RowsSent)>,
}

/// How many requests were admitted on the day that counts last.
#[derive(Clone, Copy, Debug, Default)]
struct Day {
    number: u64,
    admitted: u32,
}

/// What the books say to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted,
    /// It has cost nothing.
    Refused {
        headers: Option<LimitHeaders>,
        body: LimitedBody,
    },
}

/// A request that was written down.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) sequence: u64,
    pub(crate) rows_sent: RowsSent,
}

impl Ledger {
    /// Asks the daily cap, then the bucket. Requests are judged in order of arrival; `day` is the
    /// number of the day that it is now.
    pub(crate) fn judge(
        &mut self,
        visit: &Visit,
        interval_us: u64,
        now_us: u64,
        day: u64,
    ) -> Admission {
        let today = self.days.entry(visit.bucket()).or_default();
        if today.number != day {
            *today = Day { number: day, admitted: 0 };
        }
        if visit.method.per_day.is_some_and(|most| today.admitted >= most) {
            return Admission::Refused { headers: None, body: LimitedBody::DailyCap };
        }
        let burst = visit.limit.burst;
        let limiter = self.limiters.entry(visit.bucket());
        match limiter.or_insert_with(|| Limiter::new(interval_us, burst)).judge(now_us) {
            Verdict::Admitted { .. } => {
                today.admitted += 1;
                Admission::Admitted
            }
            Verdict::Refused { retry_us, reset_us } => Admission::Refused {
                headers: Some(LimitHeaders { retry_us, reset_us, burst }),
                body: LimitedBody::of(&visit.method.service),
            },
        }
    }

    /// Spends what an answer costs beside its admitted request. Returns how many requests may come
    /// now without a pause.
    pub(crate) fn charge(&mut self, visit: &Visit, now_us: u64, cost: u64) -> u64 {
        let Some(limiter) = self.limiters.get_mut(&visit.bucket()) else { return 0 };
        limiter.charge(now_us, cost);
        limiter.remaining(now_us)
    }

    /// Writes a request down, as the next in order.
    pub(crate) fn record(&mut self, entry: AuditEntry) -> Counted {
        let sequence = self.log.len() as u64;
        let rows_sent = RowsSent::default();
        self.log.push((AuditEntry { sequence, ..entry }, Arc::clone(&rows_sent)));
        Counted { sequence, rows_sent }
    }

    /// Notes how a request was answered.
    pub(crate) fn note_status(&mut self, sequence: u64, status: u16) {
        self.log[sequence as usize].0.status = status;
    }

    pub(crate) fn entries(&self) -> Vec<AuditEntry> {
        let with_rows = |(entry, rows): &(AuditEntry, RowsSent)| AuditEntry {
            rows: rows.load(std::sync::atomic::Ordering::Relaxed),
            ..entry.clone()
        };
        self.log.iter().map(with_rows).collect()
    }
}
