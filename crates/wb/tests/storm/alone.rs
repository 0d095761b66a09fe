//! Each fault alone, on a share of the requests of all seventeen datasets.

use tokio::task::JoinSet;
use waitless_job::JobState;
use waitless_wb::Dataset;
use waitless_wb_mock::Faults;

use crate::{
    fleet::{Ended, Fleet},
    gear::{Pages, sellers},
    ledger::Ledger,
};

/// One request in so many is spoilt.
const EVERY: u32 = 6;

/// What is played, and what else its rule says: how often, if not [`EVERY`].
type Case = (&'static str, &'static str);

async fn play(play: &str, more: &str) -> (Ended, Ledger) {
    let often = match more {
        "" => format!("every = {EVERY}\n"),
        _ => String::new(),
    };
    let script = format!("[[faults]]\nplay = {play}\n{often}{more}");
    let faults = Faults::read(&script).expect("a good script");
    let config = waitless_wb_mock::MockConfig { faults, ..sellers(1, 30, 60) };
    // Only where it costs time: a busy machine keeps a test waiting, too, and that is no fault.
    let patience_ms = if play.contains("hang") || play.contains("slow") { 400 } else { 30_000 };
    let gear = Pages { of_products: 5, of_rows: 5 }.quick(16, patience_ms);
    let ended = Fleet::geared(config, gear, &Dataset::ALL).await.run().await;
    let ledger = Ledger::of(&ended).await;
    println!("{play} {more}: {ledger}");
    assert!(ledger.faults.values().sum::<u64>() > 0, "{play}: it was played");
    assert_eq!(ledger.refused, 0, "{play}: no bucket refused anything");
    assert_eq!(ended.problems, "[]");
    ledger.check(play);
    (ended, ledger)
}

/// Plays them at the same time, each on a stand-in of its own; every job succeeds.
async fn all_succeed(cases: &'static [Case]) -> Vec<(Ended, Ledger)> {
    crate::count_panics();
    let mut played = JoinSet::new();
    for (fault, more) in cases {
        played.spawn(play(fault, more));
    }
    let played = played.join_all().await;
    for (ended, _) in &played {
        assert_eq!(ended.jobs.len(), Dataset::ALL.len());
        for job in &ended.jobs {
            assert_eq!((job.state, &job.error), (JobState::Succeeded, &None), "{:?}", job);
        }
    }
    played
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_429_in_whatever_form_loses_nothing_and_costs_no_attempt() {
    let played = all_succeed(&[
        ("{ limited = { body = 'old' } }", ""),
        ("{ limited = { body = 'new' } }", ""),
        ("{ limited = { body = 'global', retry_s = 1 } }", "every = 12\n"),
        ("{ limited = { body = 'daily-cap' } }", ""),
        ("{ limited = { retry_s = 1 } }", "every = 12\n"),
        ("{ limited = { retry_s = 0 } }", "every = 12\n"),
        ("{ limited = { retry_after = { seconds = 1 } } }", ""),
        ("{ limited = { retry_after = 'past' } }", ""),
        ("{ limited = { retry_after = 'future' } }", ""),
        ("{ limited = { retry_after = 'malformed' } }", ""),
        ("{ limited = { retry_after = 'huge' } }", ""),
        ("{ limited = { retry_after = 'huge', retry_s = 1 } }", "every = 12\n"),
    ])
    .await;
    for (ended, ledger) in played {
        assert_eq!(ledger.failed, 0, "a 429 is no failure");
        assert!(ended.jobs.iter().all(|job| job.attempts == 1), "the one that succeeded");
        assert!(ledger.scripted > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_that_fails_is_asked_again_and_nothing_is_lost() {
    let played = all_succeed(&[
        ("{ status = 500 }", ""),
        ("{ status = 502 }", ""),
        ("{ status = 503 }", ""),
        ("{ status = 504 }", ""),
        ("{ status = 408 }", ""),
        ("'hang'", "every = 12\n"),
    ])
    .await;
    assert!(played.iter().all(|(_, ledger)| ledger.failed >= ledger.faults.values().sum()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_cannot_be_read_is_asked_for_again_and_nothing_is_lost() {
    all_succeed(&[
        ("{ slow = {} }", "every = 12\n"),
        ("{ slow = { pace_ms = 1 } }", "every = 12\n"),
        ("{ cut = { bytes = 0 } }", ""),
        ("{ cut = {} }", ""),
        ("{ cut = { bytes = 2000 } }", ""),
        ("'bad-gzip'", ""),
        ("'html'", ""),
        ("{ flood = { bytes = 2_000_000 } }", "every = 24\n"),
        ("{ flood = {} }", "requests = [20, 20]\n"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_redirect_is_followed_wherever_it_leads() {
    all_succeed(&[
        ("{ redirect = {} }", ""),
        ("{ redirect = { location = 'stranger' } }", ""),
        ("{ redirect = { location = 'stranger', status = 307 } }", ""),
        ("{ redirect = { location = 'stranger', status = 308 } }", ""),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_is_lost_is_created_again() {
    all_succeed(&[
        ("{ task = 'expired' }", TASKS),
        ("{ task = 'purged' }", TASKS),
        ("{ task = 'canceled' }", TASKS),
        ("{ task = 'unknown' }", TASKS),
    ])
    .await;
}

const TASKS: &str = "every = 7\ndatasets = ['remains', 'acceptance', 'storage', 'funnel-csv']\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_wrong_is_a_dead_letter_with_the_upstreams_words_and_harms_no_other() {
    crate::count_panics();
    for status in [400, 404, 409, 422] {
        let fault = format!("{{ status = {status} }}");
        let (ended, ledger) = play(&fault, "every = 20\n").await;
        let dead: Vec<_> = ended.jobs.iter().filter(|job| job.state == JobState::Dead).collect();
        assert_eq!(dead.len() as u64, ledger.dead);
        assert!(!dead.is_empty() && dead.len() < ended.jobs.len(), "{} dead", dead.len());
        let reasons: Vec<&str> = dead.iter().filter_map(|job| job.error.as_deref()).collect();
        assert_eq!(reasons.len(), dead.len());
        for reason in reasons {
            let words = [format!("({status})"), "played by a fault script".to_owned()];
            assert!(words.iter().all(|words| reason.contains(words)), "{reason}");
        }
        let alive = ended.jobs.iter().filter(|job| job.state == JobState::Succeeded).count();
        assert_eq!(alive + dead.len(), ended.jobs.len());
    }
}
