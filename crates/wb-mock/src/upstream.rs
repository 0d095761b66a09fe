//! All that the mock knows: sellers, datasets, buckets and the audit log.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio_util::sync::CancellationToken;

use crate::audit::AuditEntry;
use crate::clock::MockClock;
use crate::dice::{Dice, Topic};
use crate::door::Visit;
use crate::drawer::Drawer;
use crate::faults::Playing;
use crate::gateway::Stamp;
use crate::ledger::{Admission, Counted, Ledger};
use crate::statistics::Statistics;
use crate::stranger::Stranger;
use crate::table::Feed;
use crate::{Dataset, Faults, METHODS, MockConfig, Seller, Summary, TokenOptions, cabinet, token};

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) config: MockConfig,
    pub(crate) clock: MockClock,
    pub(crate) sellers: Vec<Seller>,
    drawers: HashMap<(usize, Dataset), Arc<dyn Drawer>>,
    /// Held for a few comparisons, never while anything waits.
    ledger: Mutex<Ledger>,
    journeys: AtomicU64,
    pub(crate) stranger: Stranger,
    stopped: CancellationToken,
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
    pub(crate) fn new(config: MockConfig, stranger: Stranger, stopped: CancellationToken) -> Self {
        let sellers = (0..config.sellers).map(|index| Seller::make(config.seed, index)).collect();
        let drawers = (0..config.sellers)
            .flat_map(|seller| Dataset::ALL.map(|dataset| (seller, dataset)))
            .map(|key| (key, drawer(&config, key.0, key.1)))
            .collect();
        let faults = config.faults.clone();
        let upstream = Self {
            clock: MockClock::start(config.now),
            sellers,
            drawers,
            ledger: Mutex::new(Ledger::new(config.speed)),
            journeys: AtomicU64::new(0),
            config,
            stranger,
            stopped,
        };
        upstream.play(faults);
        upstream
    }

    /// Plays these faults from now on, in place of those before.
    pub(crate) fn play(&self, faults: Faults) {
        let visits: Vec<_> = (0..self.sellers.len())
            .flat_map(|seller| {
                METHODS.iter().map(move |method| Visit::of_full_limits(seller, method))
            })
            .collect();
        let mut ledger = self.ledger();
        let now_us = self.clock.elapsed_us();
        ledger.catch_up(now_us);
        ledger.play(Playing::new(faults, now_us, self.config.seed), &visits);
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
        ledger.catch_up(now_us);
        let admission = ledger.judge(visit, now_us, self.clock.day(now_us, self.config.speed));
        let status = match admission {
            Admission::Admitted { .. } => StatusCode::OK,
            Admission::Refused { .. } | Admission::Scripted(_) => StatusCode::TOO_MANY_REQUESTS,
        };
        let fault = admission.fault();
        let counted = ledger.record(AuditEntry { fault, ..sender.entry(now_us, status) });
        (admission, counted)
    }

    /// Notes that an admitted request is never answered.
    pub(crate) fn settle_without_answer(&self, counted: &Counted) {
        self.ledger().note_status(counted.sequence, 0);
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
        let now_us = self.clock.elapsed_us();
        ledger.catch_up(now_us);
        ledger.record(sender.entry(now_us, status))
    }

    pub(crate) fn audit(&self) -> Vec<AuditEntry> {
        let mut ledger = self.ledger();
        ledger.catch_up(self.clock.elapsed_us());
        ledger.entries()
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary::of(&self.audit(), self.stranger.visits())
    }

    /// Waits until the mock stops.
    pub(crate) async fn stopped(&self) {
        self.stopped.cancelled().await;
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
