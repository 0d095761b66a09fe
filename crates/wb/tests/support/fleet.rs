//! A worker, a queue and the strict stand-in, at many times the real speed.

use std::{sync::Arc, time::Duration};

use waitless_job::{Clock, JobRecord};
use waitless_store::{MemoryStore, Store, ops::JobFilter};
use waitless_upstream::{Catalogue, Client, ClientConfig};
use waitless_wb::{Connector, Dataset, Notice, SellerToken, Tokens, handlers, plan};
use waitless_wb_mock::{DatasetSize, Mock, MockConfig, SellerSizes};
use waitless_worker::{StatsSnapshot, Worker, WorkerConfig};

use super::{NOON, recorder::Recorder};

/// Guard margin in milliseconds: generous, because a test machine stalls longer than a network.
const MARGIN_MS: u32 = 250;

pub(crate) struct Fleet {
    pub(crate) mock: Arc<Mock>,
    pub(crate) sink: Arc<Recorder>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Clock,
    worker: Worker,
}

/// What a test may choose of the client's side; the rest is as it ships.
pub(crate) struct Gear {
    pub(crate) catalogue: Catalogue,
    pub(crate) client: ClientConfig,
    pub(crate) worker: WorkerConfig,
}

impl Gear {
    /// For an upstream that is so many times faster than published.
    pub(crate) fn at(speed: u32) -> Self {
        Self {
            catalogue: waitless_wb::catalogue().scaled(speed, MARGIN_MS).expect("limits"),
            client: ClientConfig::default(),
            worker: WorkerConfig::default(),
        }
    }
}

/// A personal token of a seller.
fn personal(mock: &Mock, seller: usize) -> SellerToken {
    SellerToken::parse(&mock.token(seller), NOON).expect("a good token")
}

pub(crate) fn sized(rows: u64, page_rows: u32, speed: u32) -> MockConfig {
    let rows = DatasetSize::Rows(rows..=rows);
    let sizes = SellerSizes { orders: rows.clone(), sales: rows };
    MockConfig { speed, page_rows, sizes, ..MockConfig::default() }
}

impl Fleet {
    /// With jobs for these datasets of every seller in the queue.
    pub(crate) async fn start(config: MockConfig, datasets: &[Dataset]) -> Self {
        Self::with(config, datasets, personal).await
    }

    /// The same with tokens of another kind. Datasets that they do not open are left out.
    pub(crate) async fn with(
        config: MockConfig,
        datasets: &[Dataset],
        token: impl Fn(&Mock, usize) -> SellerToken,
    ) -> Self {
        let gear = Gear::at(config.speed);
        Self::of(config, gear, datasets, token).await
    }

    /// With other gear.
    pub(crate) async fn geared(config: MockConfig, gear: Gear, datasets: &[Dataset]) -> Self {
        Self::of(config, gear, datasets, personal).await
    }

    /// Behind a gateway of the test's own: where that is follows from where the stand-in is.
    pub(crate) async fn behind<G>(
        config: MockConfig,
        gear: Gear,
        datasets: &[Dataset],
        gateway: impl AsyncFnOnce(String) -> (String, G),
    ) -> (Self, G) {
        let mock = Arc::new(Mock::start(config).await.expect("a free port"));
        let (place, gateway) = gateway(mock.base_url()).await;
        (Self::before(mock, &place, gear, datasets, personal).await, gateway)
    }

    async fn of(
        config: MockConfig,
        gear: Gear,
        datasets: &[Dataset],
        token: impl Fn(&Mock, usize) -> SellerToken,
    ) -> Self {
        let mock = Arc::new(Mock::start(config).await.expect("a free port"));
        let place = mock.base_url();
        Self::before(mock, &place, gear, datasets, token).await
    }

    /// In front of a stand-in, which is asked at this place.
    async fn before(
        mock: Arc<Mock>,
        place: &str,
        gear: Gear,
        datasets: &[Dataset],
        token: impl Fn(&Mock, usize) -> SellerToken,
    ) -> Self {
        let Gear { catalogue, client, worker } = gear;
        let (clock, store) = (Clock::starting_at(NOON), Arc::new(MemoryStore::new()));
        let (sink, tokens) = (Recorder::open().await, Tokens::new());
        for seller in mock.sellers() {
            let token = token(&mock, seller.index);
            assert_eq!(token.account().as_str(), seller.sid);
            let plan = plan(&token, &catalogue, datasets, None, NOON).expect("a plan");
            let is_skipped = |notice: &Notice| matches!(notice, Notice::Skipped { .. });
            assert!(plan.notices.iter().all(is_skipped), "{:?}", plan.notices);
            let limits = catalogue.limits_of(token.account(), token.family(), plan.endpoints());
            store.set_limits(limits.expect("a family"), NOON).await.expect("limits");
            store.enqueue(plan.jobs, NOON).await.expect("jobs");
            tokens.put(token);
        }
        let client = Client::new(Arc::new(catalogue), client).expect("a client");
        let place = place.parse().expect("a URL");
        let connector = Connector::new(client, tokens, sink.clone()).base_url(place);
        let handlers = handlers(connector).expect("names");
        let worker = Worker::new(store.clone(), clock.clone(), handlers).config(worker);
        Self { mock, sink, store, clock, worker }
    }

    /// Works until every job has ended; answers with the jobs and what the worker counted.
    pub(crate) async fn run(self) -> Ended {
        let store = Arc::clone(&self.store);
        let all_ended = async move {
            let mut changes = store.changes();
            while jobs(&store).await.iter().any(|job| !job.state.is_final()) {
                // The end of a job need not be a change that makes anything due.
                let _ = tokio::time::timeout(Duration::from_millis(50), changes.changed()).await;
            }
        };
        self.run_until(all_ended).await
    }

    /// Works until something has happened.
    pub(crate) async fn run_until(self, happened: impl Future<Output = ()> + Send) -> Ended {
        let Self { mock, sink, store, worker, .. } = self;
        let stats = worker.stats();
        let worked = tokio::time::timeout(Duration::from_secs(120), worker.run_until(happened));
        worked.await.expect("it happens").expect("a worker");
        let jobs = jobs(&store).await;
        let audit = waitless_store::Reader::audit(&*store).await.expect("the store");
        let problems = waitless_store::fsck::fsck(&audit);
        Ended { mock, sink, jobs, stats: stats.snapshot(), problems: format!("{problems:?}") }
    }
}

pub(crate) struct Ended {
    pub(crate) mock: Arc<Mock>,
    pub(crate) sink: Arc<Recorder>,
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) stats: StatsSnapshot,
    pub(crate) problems: String,
}

impl Ended {
    /// The sink holds exactly what the stand-in says it should.
    pub(crate) async fn check_rows(&self, seller: usize, dataset: waitless_wb_mock::Dataset) {
        let sid = &self.mock.sellers()[seller].sid;
        let landed = self.sink.rows(sid, dataset.name()).await;
        let mut expected: Vec<_> =
            self.mock.expected(seller, dataset).map(|row| (row.key, row.version)).collect();
        expected.sort();
        assert_eq!(landed.len(), expected.len(), "rows of seller {seller}, {dataset}");
        assert!(landed == expected, "keys and versions of seller {seller}, {dataset}");
        let counts = waitless_sink::Sink::count(&*self.sink, sid, dataset.name()).await.unwrap();
        assert_eq!(counts.quarantined, 0);
    }
}

pub(crate) async fn jobs(store: &MemoryStore) -> Vec<JobRecord> {
    let all = JobFilter { limit: 1_000, ..JobFilter::default() };
    waitless_store::Reader::jobs(store, all).await.expect("the store")
}
