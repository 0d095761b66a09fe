//! The books: buckets, daily caps, faults that are due, and the audit log.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::audit::{AuditEntry, RowsSent};
use crate::door::{BucketKey, Visit};
use crate::faults::{Fault, HIDDEN_CLIENT, HiddenClient, LOWER_LIMIT, Limited, Playing};
use crate::gateway::{LimitHeaders, LimitedBody};
use crate::limiter::{Limiter, Verdict};

/// What changes with each request. One lock holds all of it, so that the log has the order in which
/// the buckets were asked.
#[derive(Debug)]
pub(crate) struct Ledger {
    speed: u32,
    limiters: HashMap<BucketKey, Limiter>,
    days: HashMap<BucketKey, Day>,
    faults: Playing,
    hidden_clients: Vec<HiddenClient>,
    log: Vec<(AuditEntry, RowsSent)>,
}

/// How many requests were admitted on the day that counts last.
#[derive(Clone, Copy, Debug, Default)]
struct Day {
    number: u64,
    admitted: u32,
}

/// What the books say to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Admission {
    /// It has cost one, and this fault is to be played on it.
    Admitted { fault: Option<Fault> },
    /// It has cost nothing.
    Refused { headers: Option<LimitHeaders>, body: LimitedBody, limit_is_lower: bool },
    /// It has cost nothing, and would have been admitted.
    Scripted(Limited),
}

impl Admission {
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Admitted { fault } => fault.as_ref().map(Fault::name),
            Self::Refused { limit_is_lower, .. } => limit_is_lower.then_some(LOWER_LIMIT),
            Self::Scripted(limited) => Some(Fault::Limited(limited.clone()).name()),
        }
    }
}

/// A request that was written down.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) sequence: u64,
    pub(crate) rows_sent: RowsSent,
}

impl Ledger {
    pub(crate) fn new(speed: u32) -> Self {
        Self {
            speed,
            limiters: HashMap::new(),
            days: HashMap::new(),
            faults: Playing::default(),
            hidden_clients: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Plays these faults from now on, in place of those before. `visits` are all that there can be
    /// of hidden clients.
    pub(crate) fn play(&mut self, faults: Playing, visits: &[Visit]) {
        let speed = self.speed;
        self.hidden_clients = faults.hidden_clients(visits, |visit| visit.limit.interval_us(speed));
        self.faults = faults;
    }

    /// Asks the daily cap, then the bucket, then the faults. Requests are judged in order of
    /// arrival; `day` is the number of the day that it is now.
    pub(crate) fn judge(&mut self, visit: &Visit, now_us: u64, day: u64) -> Admission {
        let today = self.days.entry(visit.bucket()).or_default();
        if today.number != day {
            *today = Day { number: day, admitted: 0 };
        }
        if visit.method.per_day.is_some_and(|most| today.admitted >= most) {
            let body = LimitedBody::DailyCap;
            return Admission::Refused { headers: None, body, limit_is_lower: false };
        }

        let mut limiter = self.limiter(visit, now_us);
        if let Verdict::Refused { retry_us, reset_us } = limiter.judge(now_us) {
            let headers = LimitHeaders { retry_us, reset_us, burst: visit.limit.burst };
            let lower = self.faults.lower_limit(visit, now_us);
            return Admission::Refused {
                headers: lower.is_none_or(|lower| lower.has_headers()).then_some(headers),
                body: LimitedBody::of(&visit.method.service),
                limit_is_lower: lower.is_some(),
            };
        }
        let fault = self.faults.fault(visit, now_us);
        if let Some(Fault::Limited(limited)) = fault {
            return Admission::Scripted(limited);
        }
        self.limiters.insert(visit.bucket(), limiter);
        self.days.entry(visit.bucket()).or_default().admitted += 1;
        Admission::Admitted { fault }
    }

    /// Spends what an answer costs beside its admitted request. Returns how many requests may come
    /// now without a pause.
    pub(crate) fn charge(&mut self, visit: &Visit, now_us: u64, cost: u64) -> u64 {
        let mut limiter = self.limiter(visit, now_us);
        limiter.charge(now_us, cost);
        let remaining = limiter.remaining(now_us);
        self.limiters.insert(visit.bucket(), limiter);
        remaining
    }

    /// Lets hidden clients ask as they would have until now. Doing it when somebody looks is as
    /// good as doing it in time, as long as nothing is judged or written down without.
    pub(crate) fn catch_up(&mut self, now_us: u64) {
        while let Some(client) = self
            .hidden_clients
            .iter_mut()
            .filter(|client| client.next_us <= now_us && client.next_us < client.until_us)
            .min_by_key(|client| client.next_us)
        {
            let HiddenClient { visit, next_us, step_us, .. } = *client;
            client.next_us += step_us;
            let mut limiter = self.limiter(&visit, next_us);
            if let Verdict::Admitted { .. } = limiter.judge(next_us) {
                self.limiters.insert(visit.bucket(), limiter);
                self.record(AuditEntry {
                    arrival_us: next_us,
                    seller: Some(visit.seller),
                    verb: visit.method.verb.name().to_owned(),
                    path: visit.method.path.to_owned(),
                    status: 200,
                    fault: Some(HIDDEN_CLIENT),
                    ..AuditEntry::default()
                });
            }
        }
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
            rows: rows.load(Ordering::Relaxed),
            ..entry.clone()
        };
        self.log.iter().map(with_rows).collect()
    }

    /// The limiter of the visit's bucket as it is now, at the rate that is in force.
    fn limiter(&self, visit: &Visit, now_us: u64) -> Limiter {
        let published_us = visit.limit.interval_us(self.speed);
        let interval_us = match self.faults.lower_limit(visit, now_us) {
            Some(lower) => lower.interval_us(published_us),
            None => published_us,
        };
        match self.limiters.get(&visit.bucket()) {
            Some(limiter) => limiter.at_interval(now_us, interval_us),
            None => Limiter::new(interval_us, visit.limit.burst),
        }
    }
}
