use waitless_job::JobState;
use waitless_wb::Dataset;
use waitless_wb_mock::Dataset as MockDataset;

use crate::fleet::{Fleet, sized};

/// Another client of the same seller has emptied the bucket behind our back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_on_the_account_causes_one_429_and_a_hold_and_costs_no_attempt() {
    // Slow enough that the bucket stays empty until our first request comes.
    let fleet = Fleet::start(sized(100, 400, 20), &[Dataset::Orders]).await;
    let url = format!("{}/api/v1/supplier/orders?dateFrom=2026-09-30", fleet.mock.base_url());
    let stranger = reqwest::Client::new();
    loop {
        let asked = stranger.get(&url).header("Authorization", fleet.mock.token(0)).send();
        if asked.await.expect("an answer").status() == 429 {
            break;
        }
    }
    let ended = fleet.run().await;

    ended.check_rows(0, MockDataset::Orders).await;
    let audit = ended.mock.audit();
    let statuses: Vec<u16> =
        audit.iter().filter(|entry| entry.job_id.is_some()).map(|entry| entry.status).collect();
    assert_eq!(statuses, [429, 200, 200], "one refusal, then a page and the end");
    let job = &ended.jobs[0];
    assert_eq!((job.state, &job.error), (JobState::Succeeded, &None));
    assert_eq!(job.attempts, 1, "the one that succeeded");
    assert!(job.snoozes >= 1, "it was parked by the hold");
    assert_eq!((ended.stats.failed, ended.stats.slot_wait_ms), (0, 0));
}
