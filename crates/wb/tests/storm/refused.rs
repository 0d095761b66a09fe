//! Refusals that are dear, and those that only a person can mend.

use std::{collections::HashMap, sync::Arc, time::Duration};

use waitless_job::{JobRecord, JobState};
use waitless_store::{MemoryStore, Reader, Store};
use waitless_wb::Dataset;
use waitless_wb_mock::{
    CabinetSizes, Category, Dataset as Served, Faults, METHODS, Mock, MockConfig,
};
use waitless_worker::WorkerConfig;

use crate::{
    fleet::{Fleet, Gear, jobs, sized},
    gear::Pages,
    ledger::{Ledger, dataset_of},
};

async fn short_while() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_answers_that_cost_ten_requests_draws_no_429() {
    crate::count_panics();
    // One request in 50 ms, 20 at once, so that such an answer is half a second.
    const SPEED: u32 = 4;
    let script = "[[faults]]\nplay = { status = 409 }\nevery = 5\ndatasets = ['fbs-orders']\n\
                  [[faults]]\nplay = { status = 400 }\nevery = 7\ndatasets = ['fbs-orders']\n";
    let faults = Faults::read(script).expect("a good script");
    let cabinet = CabinetSizes { fbs_orders: 200..=200, ..CabinetSizes::default() };
    let config = MockConfig { sellers: 2, cabinet, faults, ..sized(1, 1, SPEED) };
    let catalogue = Pages { of_products: 5, of_rows: 5 }.catalogue().scaled(SPEED, 250);
    let gear = Gear { catalogue: catalogue.expect("limits"), ..Gear::at(SPEED) };
    let fleet = Fleet::geared(config, gear, &[Dataset::FbsOrders]).await;
    let (store, clock) = (Arc::clone(&fleet.store), fleet.clock.clone());
    let ended = fleet
        .run_until(async move {
            // Somebody looks at each dead letter and puts it back at once.
            loop {
                let jobs = jobs(&store).await;
                if jobs.iter().all(|job| job.state == JobState::Succeeded) {
                    return;
                }
                for job in jobs.iter().filter(|job| job.state == JobState::Dead) {
                    store.requeue(job.id, clock.now()).await.expect("the store");
                }
                short_while().await;
            }
        })
        .await;
    let ledger = Ledger::of(&ended).await;
    println!("4XX storm: {ledger}");
    ledger.check("4XX storm");
    let dear = ledger.by_status[&400] + ledger.by_status[&409];
    assert!(dear >= 20, "{dear}");
    assert_eq!((ledger.dead, ledger.refused), (dear, 0), "dead letters; 429s");
}

/// The requests that were refused on purpose, by category.
fn refused_by_category(mock: &Mock) -> HashMap<Category, u64> {
    let mut refused = HashMap::new();
    for entry in mock.audit().iter().filter(|entry| entry.fault == Some("status")) {
        let mut methods = METHODS.iter();
        let method =
            methods.find(|method| method.path == entry.path && method.verb.name() == entry.verb);
        let category = method.expect("one of the stand-in's").service.category;
        *refused.entry(category.expect("it has one")).or_default() += 1;
    }
    refused
}

/// How many jobs are not over, once each of them waits for a paused limit.
async fn kept(store: &MemoryStore) -> Vec<JobRecord> {
    loop {
        let left: Vec<JobRecord> =
            jobs(store).await.into_iter().filter(|job| !job.state.is_final()).collect();
        let limits = store.limits(None).await.expect("the store");
        let is_paused = |job: &JobRecord| {
            let buckets = job.lane().buckets().collect::<Vec<_>>();
            job.state == JobState::Waiting
                && limits.iter().any(|view| view.paused.is_some() && buckets.contains(&view.bucket))
        };
        if left.iter().all(is_paused) {
            return left;
        }
        short_while().await;
    }
}

/// The categories that are closed, and of how many datasets each is.
const CLOSED: [(Category, u64); 3] =
    [(Category::Analytics, 7), (Category::Statistics, 2), (Category::Promotion, 2)];

/// Everything is imported while these categories are closed, resumed in vain, opened and resumed.
/// `under_way` says how many requests of a category of so many datasets may be under way together.
async fn closed_and_opened(slots: usize, under_way: impl Fn(u64) -> u64 + Send) {
    crate::count_panics();
    let script = "[[faults]]\nplay = { status = 403 }\ndatasets = ['stocks', 'remains', \
                  'acceptance', 'storage', 'funnel', 'funnel-history', 'funnel-csv']\n\
                  [[faults]]\nplay = { status = 401 }\ndatasets = ['orders', 'sales']\n\
                  [[faults]]\nplay = { status = 402 }\ndatasets = ['campaigns', 'campaign-stats']\n";
    let faults = Faults::read(script).expect("a good script");
    let cabinet = CabinetSizes { products: 30..=30, campaigns: 8..=8, ..CabinetSizes::default() };
    let config = MockConfig { cabinet, faults, ..sized(50, 40, 3_600) };
    let worker = WorkerConfig { slots, ..WorkerConfig::default() };
    let gear = Gear { worker, ..Gear::at(3_600) };
    let fleet = Fleet::geared(config, gear, &Dataset::ALL).await;
    let (mock, store, clock) =
        (Arc::clone(&fleet.mock), Arc::clone(&fleet.store), fleet.clock.clone());
    let ended = fleet
        .run_until(async move {
            let mut before = HashMap::new();
            for incident in 1..=2 {
                let left = kept(&store).await;
                assert_eq!(left.len(), 11, "{left:?}");
                assert!(left.iter().all(|job| job.attempts == 0), "{left:?}");
                check_reasons(&store).await;
                let refused = refused_by_category(&mock);
                println!("incident {incident}: {refused:?} refused, {} jobs wait", left.len());
                for (category, datasets) in CLOSED {
                    let of_this = refused[&category] - before.get(&category).unwrap_or(&0);
                    assert!(
                        (1..=under_way(datasets)).contains(&of_this),
                        "{category:?}: {of_this}"
                    );
                }
                before = refused;
                if incident == 2 {
                    mock.play(Faults::default());
                }
                let account = mock.sellers()[0].sid.parse().expect("a name");
                store.pause_limits(account, None, None, clock.now()).await.expect("the store");
            }
            while jobs(&store).await.iter().any(|job| !job.state.is_final()) {
                short_while().await;
            }
        })
        .await;
    let ledger = Ledger::of(&ended).await;
    println!("not let in, {slots} slots: {ledger}");
    ledger.check("not let in");
    let refused: u64 = refused_by_category(&ended.mock).values().sum();
    assert_eq!((ledger.pauses, ledger.failed, ledger.dead), (refused, 0, 0));
    for job in &ended.jobs {
        assert_eq!((job.state, job.attempts), (JobState::Succeeded, 1), "{job:?}");
        let served = Served::from_name(dataset_of(job).as_str()).expect("the stand-in has it");
        ended.check_rows(0, served).await;
    }
}

/// Each closed category says why, and how to go on.
async fn check_reasons(store: &MemoryStore) {
    let limits = store.limits(None).await.expect("the store");
    let reasons: Vec<_> = limits.iter().filter_map(|view| view.paused.as_deref()).collect();
    for status in [401, 402, 403] {
        let words = format!("({status}): ");
        let is_told =
            |reason: &&str| reason.contains(&words) && reason.contains("then resume the account");
        assert!(reasons.iter().any(is_told), "{reasons:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_let_in_pauses_its_category_after_one_request_and_goes_on_when_resumed() {
    // One at a time, so that no second request of a category is under way with the first.
    closed_and_opened(1, |_| 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_is_not_let_in_only_requests_that_are_under_way_together_are_refused_together() {
    closed_and_opened(8, |datasets| datasets).await;
}
