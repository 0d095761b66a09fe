//! All that the mock knows: sellers, datasets, buckets and the audit log.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

use crate::audit::AuditEntry;
use crate::clock::MockClock;
use crate::dice::{Dice, Topic};
use crate::door::Visit;
use crate::drawer::Drawer;
use crate::gateway::Stamp;
use crate::ledger::{Admission, Counted, Ledger};
use crate::statistics::Statistics;
use crate::table::Feed;
use crate::{Dataset, Limit, MockConfig, Seller, TokenOptions, cabinet, token};

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) config: MockConfig,
    pub(crate) clock: MockClock,
    pub(crate) sellers: Vec<Seller>,
    drawers: HashMap<(usize, Dataset), Arc<dyn Drawer>>,
    /// Held for a few comparisons, never while anything waits.
    ledger: Mutex<Ledger>,
    journeys: AtomicU64,
}

/// What the audit log says about a request before it is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) seller: Option<usize>,
    pub(crate) sid: Option<String>,
    pub(crate) date_from: Option<String>,
    pub(crate) job_id: Option<String>,
}

impl Upstream {
    pub(crate) fn new(config: MockConfig) -> Self {
        let sellers = (0..config.sellers).map(|index| Seller::make(config.seed, index)).collect();
        let drawers = (0..config.sellers)
            .flat_map(|seller| Dataset::ALL.map(|dataset| (seller, dataset)))
            .map(|key| (key, drawer(&config, key.0, key.1)))
            .collect();
        Self {
            clock: MockClock::start(config.now),
            sellers,
            drawers,
            ledger: Mutex::default(),
            journeys: AtomicU64::new(0),
            config,
        }
    }

    pub(crate) fn drawer(&self, seller: usize, dataset: Dataset) -> Option<&Arc<dyn Drawer>> {
        self.drawers.get(&(seller, dataset))
    }

    pub(crate) fn token(&self, seller: &Seller, options: &TokenOptions) -> String {
        token::issue(self.config.seed, seller, self.config.now, options)
    }

    pub(crate) fn client_secret(&self, seller: &Seller) -> String {
        token::client_secret(self.config.seed, seller)
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

    /// Asks daily cap and bucket, and writes the request down: with 429, or with 200 until it is
    /// [settled](Self::settle).
    pub(crate) fn admit(&self, visit: &Visit, sender: Sender) -> (Admission, Counted) {
        let mut ledger = self.ledger();
        // Under the lock: else a request could be judged after one that arrived later.
        let now_us = self.clock.elapsed_us();
        let day = self.clock.day(now_us, self.config.speed);
        let admission = ledger.judge(visit, self.interval_us(visit.limit), now_us, day);
        let status = match admission {
            Admission::Admitted => StatusCode::OK,
            Admission::Refused { .. } => StatusCode::TOO_MANY_REQUESTS,
        };
        (admission, ledger.record(sender.entry(now_us, status)))
    }

    /// Notes how an admitted request is answered, and spends what that costs beside it. Returns how
    /// many requests may come now without a pause.
    pub(crate) fn settle(&self, visit: &Visit, counted: &Counted, status: StatusCode) -> u64 {
        let cost = if status.is_client_error() { visit.method.service.cost_of_4xx } else { 1 };
        let mut ledger = self.ledger();
        ledger.note_status(counted.sequence, status.as_u16());
        ledger.charge(visit, self.clock.elapsed_us(), cost - 1)
    }

    /// Writes down a request that no bucket is asked about.
    pub(crate) fn count_free(&self, sender: Sender, status: StatusCode) -> Counted {
        let mut ledger = self.ledger();
        ledger.record(sender.entry(self.clock.elapsed_us(), status))
    }

    pub(crate) fn audit(&self) -> Vec<AuditEntry> {
        self.ledger().entries()
    }

    /// How long one request takes to come back at the mock's speed.
    pub(crate) fn interval_us(&self, limit: Limit) -> u64 {
        limit.interval_ms * 1000 / u64::from(self.config.speed)
    }

    pub(crate) fn stamp(&self, sequence: u64) -> Stamp {
        Stamp {
            request_id: Dice::of(self.config.seed, Topic::RequestId, &[sequence]).hex(),
            now: self.clock.now(),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A panic under the lock would have left whole values behind: nothing there can be half
        // done.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn drawer(config: &MockConfig, seller: usize, dataset: Dataset) -> Arc<dyn Drawer> {
    match dataset {
        Dataset::Orders => Arc::new(Statistics::new(config, seller, Feed::Orders)),
        Dataset::Sales => Arc::new(Statistics::new(config, seller, Feed::Sales)),
        _ => cabinet::drawer(config, seller, dataset),
    }
}

impl Sender {
    fn entry(self, arrival_us: u64, status: StatusCode) -> AuditEntry {
        AuditEntry {
            arrival_us,
            seller: self.seller,
            sid: self.sid,
            verb: self.verb,
            path: self.path,
            date_from: self.date_from,
            status: status.as_u16(),
            job_id: self.job_id,
            ..AuditEntry::default()
        }
    }
}
