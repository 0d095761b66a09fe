//! Quotas that are not what is published, over real HTTP. Speeds are such that the guard margin, or
//! a hold of whole seconds, is longer than a busy machine delays a request.

use std::sync::Arc;

use waitless_job::{JobState, UnixMillis};
use waitless_scheduler::{Reason, Situation, explain, run_progress};
use waitless_store::Reader;
use waitless_wb::Dataset;
use waitless_wb_mock::{AuditEntry, CabinetSizes, Dataset as Served, Faults, MockConfig};

use crate::{
    fleet::{Fleet, Gear, jobs, sized},
    ledger::{Ledger, dataset_of},
};

/// From then on a bucket has seen enough to know its pace.
const LEARNT: usize = 64;

fn faults(script: &str) -> Faults {
    Faults::read(script).expect("a good script")
}

fn is_hidden(entry: &&AuditEntry) -> bool {
    entry.fault == Some("hidden-client")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_client_costs_a_429_for_each_token_at_most_and_none_after_it_has_stopped() {
    crate::count_panics();
    // One request in 150 ms is what the upstream gives. We ask for a little less: a client that
    // takes each token the moment it is there leaves nothing to steal.
    const SPEED: u32 = 400;
    const OUR_SPEED: u32 = 340;
    const STOPS_MS: u64 = 10_000;
    let script = format!(
        "[[faults]]\nplay = {{ hidden-client = {{ every_interval = 3 }} }}\ndatasets = ['orders']\n\
         for_ms = {STOPS_MS}"
    );
    let config = MockConfig { faults: faults(&script), ..sized(2_600, 20, SPEED) };
    let fleet = Fleet::geared(config, Gear::at(OUR_SPEED), &[Dataset::Orders]).await;
    let ended = fleet.run().await;
    let ledger = Ledger::of(&ended).await;
    let audit = ended.mock.audit();
    let stops_us = audit.iter().filter(is_hidden).map(|entry| entry.arrival_us).max().expect("it");
    let later: Vec<&AuditEntry> =
        audit.iter().filter(|entry| entry.arrival_us > stops_us).collect();
    let refused_later = later.iter().filter(|entry| entry.status == 429).count();
    println!(
        "hidden client: {ledger}; after it stopped {} requests, {refused_later} refused",
        later.len()
    );
    ledger.check("hidden client");
    assert!(ledger.hidden >= 8, "{}", ledger.hidden);
    assert!(ledger.refused <= ledger.hidden);
    assert!(later.len() > 30, "{}", later.len());
    assert_eq!(refused_later, 0);
    assert_eq!((ledger.failed, ended.jobs[0].attempts), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_that_gives_a_quarter_less_refuses_few_with_headers_and_without() {
    crate::count_panics();
    // Published is one request in 60 ms, true is one in 80.
    let rule = |seller: usize, headers: bool| {
        format!(
            "[[faults]]\nplay = {{ lower-limit = {{ rate = 0.75, headers = {headers} }} }}\n\
             datasets = ['orders']\nsellers = [{seller}]\n"
        )
    };
    let script = rule(0, true) + &rule(1, false);
    let config = MockConfig { sellers: 2, faults: faults(&script), ..sized(9_600, 20, 1_000) };
    let ended = Fleet::start(config, &[Dataset::Orders]).await.run().await;
    let ledger = Ledger::of(&ended).await;
    println!("a quarter less: {ledger}");
    ledger.check("a quarter less");
    assert_eq!(ledger.failed, 0);
    let audit = ended.mock.audit();
    for (seller, share_max) in [(0, 0.02), (1, 0.05)] {
        let of_seller = audit.iter().filter(|entry| entry.seller == Some(seller));
        let statuses: Vec<u16> = of_seller.map(|entry| entry.status).collect();
        let refused = |statuses: &[u16]| statuses.iter().filter(|status| **status == 429).count();
        let later = &statuses[LEARNT..];
        let executed = later.len() - refused(later);
        let share = refused(later) as f64 / executed as f64;
        println!(
            "seller {seller}: of the first {LEARNT} {} refused, then {} refused and {executed} \
             executed: {share:.4}",
            refused(&statuses[..LEARNT]),
            refused(later),
        );
        assert!(executed >= 200, "{executed}");
        assert!(share <= share_max, "seller {seller}: {share}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_of_half_a_day_holds_its_bucket_and_nothing_else_and_is_told() {
    crate::count_panics();
    const HALF_A_DAY_S: u64 = 12 * 3_600;
    let script = format!(
        "[[faults]]\nplay = {{ limited = {{ retry_s = {HALF_A_DAY_S} }} }}\ndatasets = ['sales']"
    );
    let cabinet = CabinetSizes { products: 30..=30, campaigns: 8..=8, ..CabinetSizes::default() };
    let config = MockConfig { cabinet, faults: faults(&script), ..sized(50, 40, 3_600) };
    let fleet = Fleet::geared(config, Gear::at(3_600), &Dataset::ALL).await;
    let (store, clock) = (Arc::clone(&fleet.store), fleet.clock.clone());
    let watched = Arc::clone(&store);
    let ended = fleet
        .run_until(async move {
            while jobs(&watched).await.iter().filter(|job| !job.state.is_final()).count() > 1 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        })
        .await;
    let ledger = Ledger::of(&ended).await;
    println!("half a day: {ledger}");
    ledger.check("half a day");
    assert_eq!((ledger.scripted, ledger.refused, ledger.failed, ledger.dead), (1, 0, 0, 0));

    let now = clock.now();
    let (held, others): (Vec<_>, Vec<_>) =
        ended.jobs.iter().partition(|job| dataset_of(job) == Dataset::Sales);
    assert!(others.iter().all(|job| job.state == JobState::Succeeded && job.attempts == 1));
    for dataset in Dataset::ALL.into_iter().filter(|dataset| *dataset != Dataset::Sales) {
        let served = Served::from_name(dataset.as_str()).expect("the stand-in has it");
        ended.check_rows(0, served).await;
    }
    assert_eq!((held[0].state, held[0].attempts), (JobState::Waiting, 0));

    let limits = store.limits(Some(held[0].account.clone())).await.expect("the store");
    let situation = Situation { job: held[0], ahead: 0, limits: &limits, paused: None };
    let explained = explain(&situation, now);
    let until = explained.ready_at.expect("it can start then");
    let hours = |at: UnixMillis| at.since(now) as f64 / 3_600_000.0;
    let [Reason::Bucket { bucket, quota, wait_ms, limiting: true, .. }, ..] =
        &explained.reasons[..]
    else {
        panic!("{explained:?}")
    };
    println!("explain: {bucket} until {:.3} h from now, {quota:?}", hours(until));
    assert_eq!(bucket.group.as_str(), "sales");
    assert!((11.9..=12.0).contains(&hours(until)), "{}", hours(until));
    assert!(*wait_ms > 11 * 3_600_000);

    let progress = run_progress(&ended.jobs, &limits, 8, 100, now);
    let eta = progress.eta.expect("something is left to do");
    println!("run_progress: {eta:?}");
    assert!(hours(eta.at) >= 11.9, "{eta:?}");
    assert!(format!("{eta:?}").contains("\"sales\""), "{eta:?}");
}
