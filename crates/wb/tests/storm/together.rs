//! All faults at random, together, while somebody mends what only a person can.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use waitless_job::{Clock, JobState};
use waitless_store::{MemoryStore, Store};
use waitless_wb::Dataset;
use waitless_wb_mock::{Faults, Mock, MockConfig};

use crate::{
    fleet::{Fleet, jobs},
    gear::{Pages, sellers},
    ledger::Ledger,
};

const SELLERS: usize = 16;
const SEED: u64 = 20_261_001;
const REQUESTS_MIN: u64 = 10_000;

/// Every fault that is played on single requests, with its chance; then those of whole buckets.
fn script() -> String {
    let faults = [
        ("{ limited = { body = 'old' } }", 0.004),
        ("{ limited = { body = 'new', retry_s = 1 } }", 0.003),
        ("{ limited = { body = 'global', retry_s = 1 } }", 0.003),
        ("{ limited = { body = 'daily-cap' } }", 0.003),
        ("{ limited = { retry_after = { seconds = 7 } } }", 0.003),
        ("{ limited = { retry_after = 'past' } }", 0.003),
        ("{ limited = { retry_after = 'future', retry_s = 1 } }", 0.003),
        ("{ limited = { retry_after = 'malformed' } }", 0.003),
        ("{ limited = { retry_after = 'huge' } }", 0.003),
        ("{ status = 500 }", 0.008),
        ("{ status = 502 }", 0.008),
        ("{ status = 503 }", 0.008),
        ("{ status = 504 }", 0.008),
        ("{ status = 400 }", 0.002),
        ("{ status = 409 }", 0.002),
        ("{ status = 401 }", 0.001),
        ("{ status = 402 }", 0.001),
        ("{ status = 403 }", 0.001),
        ("'hang'", 0.003),
        ("{ slow = {} }", 0.003),
        ("{ slow = { pace_ms = 1 } }", 0.003),
        ("{ cut = { bytes = 0 } }", 0.005),
        ("{ cut = {} }", 0.008),
        ("{ cut = { bytes = 2000 } }", 0.008),
        ("'bad-gzip'", 0.008),
        ("'html'", 0.008),
        ("{ redirect = {} }", 0.005),
        ("{ redirect = { location = 'stranger', status = 307 } }", 0.005),
        ("{ flood = { bytes = 2_000_000 } }", 0.002),
    ];
    let tasks = ["expired", "purged", "canceled", "unknown"];
    let rule = |play: &str, more: &str| format!("[[faults]]\nplay = {play}\n{more}\n");
    let single = faults.iter().map(|(play, chance)| rule(play, &format!("chance = {chance}")));
    let of_tasks = tasks.iter().map(|fate| {
        let datasets = "['remains', 'acceptance', 'storage', 'funnel-csv']";
        rule(&format!("{{ task = '{fate}' }}"), &format!("chance = 0.02\ndatasets = {datasets}"))
    });
    let of_buckets = [
        rule("{ lower-limit = { rate = 0.001 } }", "sellers = [0]\ndatasets = ['sales']"),
        rule(
            "{ lower-limit = { rate = 0.001, headers = false } }",
            "sellers = [1]\ndatasets = ['sales']",
        ),
        rule(
            "{ hidden-client = { every_interval = 1 } }",
            "sellers = [2]\ndatasets = ['finance']\nfor_ms = 3000",
        ),
    ];
    single.chain(of_tasks).chain(of_buckets).collect()
}

/// What somebody had to see to.
#[derive(Debug, Default)]
struct Mended {
    dead: Vec<String>,
    resumed: usize,
}

/// Puts dead letters back and resumes paused limits, until every job has succeeded.
async fn mend(mock: &Mock, store: &MemoryStore, clock: &Clock) -> Mended {
    let mut mended = Mended::default();
    loop {
        let (jobs, now) = (jobs(store).await, clock.now());
        if jobs.iter().all(|job| job.state == JobState::Succeeded) {
            return mended;
        }
        for job in jobs.into_iter().filter(|job| job.state == JobState::Dead) {
            mended.dead.push(job.error.as_deref().expect("a reason").to_owned());
            assert!(store.requeue(job.id, now).await.expect("the store"));
        }
        for seller in mock.sellers() {
            let account = seller.sid.parse().expect("a name");
            mended.resumed +=
                store.pause_limits(account, None, None, now).await.expect("the store");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_in_all_weathers_lose_nothing() {
    crate::count_panics();
    let faults = Faults::read(&script()).expect("a good script");
    let config = MockConfig { seed: SEED, faults, ..sellers(SELLERS, 60, 400) };
    let gear = Pages { of_products: 1, of_rows: 5 }.quick(48, 500);
    let begun = tokio::time::Instant::now();
    let fleet = Fleet::geared(config, gear, &Dataset::ALL).await;
    let (mock, store, clock) =
        (Arc::clone(&fleet.mock), Arc::clone(&fleet.store), fleet.clock.clone());
    let mended = Arc::new(Mutex::new(Mended::default()));
    let seen = Arc::clone(&mended);
    let ended = fleet
        .run_until(async move {
            let all = mend(&mock, &store, &clock).await;
            *seen.lock().expect("no panic under it") = all;
        })
        .await;

    let ledger = Ledger::of(&ended).await;
    let mended = mended.lock().expect("no panic under it");
    let kinds: BTreeMap<String, usize> =
        mended.dead.iter().fold(BTreeMap::new(), |mut kinds, why| {
            let kind =
                ["(400)", "(409)", "came to nothing"].into_iter().find(|kind| why.contains(kind));
            *kinds.entry(kind.unwrap_or(why).to_owned()).or_default() += 1;
            kinds
        });
    println!("seed {SEED}, {:.1} s: {ledger}", begun.elapsed().as_secs_f64());
    println!("mended: dead letters {kinds:?}, limits resumed {}", mended.resumed);

    ledger.check("all together");
    assert_eq!(ended.jobs.len(), SELLERS * Dataset::ALL.len());
    assert!(ended.jobs.iter().all(|job| job.state == JobState::Succeeded && job.error.is_none()));
    assert_eq!(ended.problems, "[]");
    assert!(ledger.requests >= REQUESTS_MIN, "{}", ledger.requests);
    let played: BTreeSet<&str> = ledger.faults.keys().copied().collect();
    let all = [
        "bad-gzip",
        "cut",
        "flood",
        "hang",
        "hidden-client",
        "html",
        "limited",
        "lower-limit",
        "redirect",
        "slow",
        "status",
        "task",
    ];
    assert_eq!(played, all.into());
    let is_known = |kind: &String| ["(400)", "(409)", "came to nothing"].contains(&kind.as_str());
    assert!(kinds.keys().all(is_known), "{kinds:?}");
    assert_eq!(mended.dead.len() as u64, ledger.dead);
}
