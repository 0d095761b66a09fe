//! Rows that cannot be keyed among good ones, over real HTTP.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use waitless_job::JobState;
use waitless_wb::Dataset;
use waitless_wb_mock::MockConfig;

use crate::{
    fleet::Fleet,
    gear::{Pages, sellers},
    ledger::Ledger,
    mangler::Mangler,
};

/// Adds up what the log says of rows in quarantine.
struct Log(Arc<AtomicU64>);

/// The fields of one event.
#[derive(Default)]
struct Told {
    is_quarantine: bool,
    rows: u64,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.is_quarantine = format!("{value:?}").contains("are in quarantine");
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "rows" {
            self.rows = value;
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        *of.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        if told.is_quarantine {
            self.0.fetch_add(told.rows, Ordering::Relaxed);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_rows_are_kept_and_counted_and_the_import_goes_on() {
    crate::count_panics();
    let logged = Arc::new(AtomicU64::new(0));
    tracing::subscriber::set_global_default(Log(Arc::clone(&logged))).expect("the only one");
    let config = MockConfig { late_updates: false, ..sellers(2, 30, 120) };
    let gear = Pages { of_products: 5, of_rows: 5 }.quick(16, 30_000);
    let gateway = async |upstream| {
        let mangler = Mangler::before(upstream).await;
        (mangler.base_url(), mangler)
    };
    let (fleet, mangler) = Fleet::behind(config, gear, &Dataset::ALL, gateway).await;
    let ended = fleet.run().await;
    let ledger = Ledger::of(&ended).await;
    let logged = logged.load(Ordering::Relaxed);
    println!(
        "odd rows: {ledger}; {} rows were spoilt, {} are in quarantine, the log says {logged}",
        mangler.spoilt(),
        ledger.quarantined,
    );
    for job in &ended.jobs {
        assert_eq!((job.state, &job.error), (JobState::Succeeded, &None), "{job:?}");
    }
    assert_eq!((ledger.duplicated, ledger.outdated, ledger.failed, crate::panics()), (0, 0, 0, 0));
    assert!(ledger.quarantined > 100, "{}", ledger.quarantined);
    assert_eq!(ledger.quarantined, mangler.spoilt() as u64, "each is kept once");
    // A page that is asked for again brings its odd rows again.
    assert!(logged >= ledger.quarantined, "{logged}");
    assert!(ledger.missing > 0 && ledger.rows > ledger.missing, "they did not land");
}
