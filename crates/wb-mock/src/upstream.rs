//! All that the mock knows: sellers, datasets, buckets and the audit log.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

use crate::audit::{AuditEntry, AuditLog, RowsSent};
use crate::clock::MockClock;
use crate::dice::{Dice, Topic};
use crate::gateway::Stamp;
use crate::limiter::{Limiter, Verdict};
use crate::methods::Method;
use crate::table::Table;
use crate::{Dataset, MockConfig, Seller, token};

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) config: MockConfig,
    pub(crate) clock: MockClock,
    pub(crate) sellers: Vec<Seller>,
    tables: HashMap<(usize, Dataset), Arc<Table>>,
    counters: Mutex<Counters>,
    journeys: AtomicU64,
}

/// What changes with each request. One lock for all of it, so that the log has the order in which
/// the buckets were asked. It is held for a few comparisons, never while anything waits.
#[derive(Debug, Default)]
struct Counters {
    limiters: HashMap<(usize, &'static str), Limiter>,
    log: AuditLog,
}

/// What the audit log says about a request before it is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    pub(crate) seller: Option<usize>,
    pub(crate) sid: Option<String>,
    pub(crate) date_from: Option<String>,
    pub(crate) job_id: Option<String>,
}

/// A request that was counted and written down.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) sequence: u64,
    pub(crate) rows_sent: RowsSent,
}

impl Upstream {
    pub(crate) fn new(config: MockConfig) -> Self {
        let sellers = (0..config.sellers).map(|index| Seller::make(config.seed, index)).collect();
        let tables = (0..config.sellers)
            .flat_map(|seller| Dataset::ALL.map(|dataset| (seller, dataset)))
            .map(|key| (key, Arc::new(Table::new(&config, key.0, key.1))))
            .collect();
        Self {
            clock: MockClock::start(config.now),
            sellers,
            tables,
            counters: Mutex::default(),
            journeys: AtomicU64::new(0),
            config,
        }
    }

    pub(crate) fn table(&self, seller: usize, dataset: Dataset) -> Option<&Arc<Table>> {
        self.tables.get(&(seller, dataset))
    }

    pub(crate) fn token(&self, seller: &Seller) -> String {
        token::issue(self.config.seed, seller.index, &seller.sid, self.config.now)
    }

    /// Waits as long as a request takes to arrive.
    pub(crate) async fn arrive(&self) {
        self.travel(&self.config.jitter_ms).await;
    }

    /// Waits as long as an answer takes.
    pub(crate) async fn take_time(&self) {
        self.travel(&self.config.latency_ms).await;
    }

    async fn travel(&self, range_ms: &RangeInclusive<u64>) {
        let journey = self.journeys.fetch_add(1, Ordering::Relaxed);
        let ms = Dice::of(self.config.seed, Topic::Network, &[journey]).within(range_ms.clone());
        // A sleep of nothing would still wait for the timer's next millisecond.
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
    }

    /// Asks the bucket of a seller and method, and writes down the answer: `status_if_admitted`, or
    /// 429.
    pub(crate) fn count(
        &self,
        seller: usize,
        method: &'static Method,
        sender: Sender,
        status_if_admitted: StatusCode,
    ) -> (Verdict, Counted) {
        let mut counters = self.counters();
        // Under the lock: else a request could be judged after one that arrived later.
        let arrival_us = self.clock.elapsed_us();
        let limiter =
            counters.limiters.entry((seller, method.path)).or_insert_with(|| self.limiter(method));
        let verdict = limiter.judge(arrival_us);
        let status = match verdict {
            Verdict::Admitted { .. } => status_if_admitted,
            Verdict::Refused { .. } => StatusCode::TOO_MANY_REQUESTS,
        };
        (verdict, counters.record(arrival_us, method.path, sender, status))
    }

    /// Writes down a request that no bucket is asked about.
    pub(crate) fn count_free(&self, path: &str, sender: Sender, status: StatusCode) -> Counted {
        let mut counters = self.counters();
        let arrival_us = self.clock.elapsed_us();
        counters.record(arrival_us, path, sender, status)
    }

    pub(crate) fn audit(&self) -> Vec<AuditEntry> {
        self.counters().log.entries()
    }

    pub(crate) fn stamp(&self, sequence: u64) -> Stamp {
        Stamp {
            request_id: Dice::of(self.config.seed, Topic::RequestId, &[sequence]).hex(),
            now: self.clock.now(),
        }
    }

    fn limiter(&self, method: &Method) -> Limiter {
        Limiter::new(method.interval_ms * 1000 / u64::from(self.config.speed), method.burst)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        // A panic under the lock would have left whole values behind: nothing there can be half
        // done.
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counters {
    fn record(
        &mut self,
        arrival_us: u64,
        path: &str,
        sender: Sender,
        status: StatusCode,
    ) -> Counted {
        let sequence = self.log.next_sequence();
        let rows_sent = self.log.record(AuditEntry {
            sequence,
            arrival_us,
            seller: sender.seller,
            sid: sender.sid,
            path: path.to_owned(),
            date_from: sender.date_from,
            status: status.as_u16(),
            rows: 0,
            job_id: sender.job_id,
        });
        Counted { sequence, rows_sent }
    }
}
