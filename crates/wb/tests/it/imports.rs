use waitless_job::JobState;
use waitless_wb::Dataset;
use waitless_wb_mock::{Dataset as MockDataset, MockConfig};

use crate::fleet::{Fleet, sized};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_with_late_updates_lands_every_row_in_its_last_version_and_draws_no_429() {
    let config = MockConfig { late_updates: true, sellers: 2, ..sized(1_500, 400, 600) };
    let ended = Fleet::start(config, &[Dataset::Orders, Dataset::Sales]).await.run().await;

    let mut requests = 0;
    for seller in 0..2 {
        for dataset in [MockDataset::Orders, MockDataset::Sales] {
            ended.check_rows(seller, dataset).await;
            requests += ended.mock.import_requests(seller, dataset);
        }
    }
    let summary = ended.mock.summary();
    assert_eq!((summary.rejected_429, summary.rejected_other), (0, 0));
    assert_eq!(summary.requests, requests, "not one request more than needed");
    assert_eq!(ended.stats.requests, requests);
    assert_eq!(ended.stats.slot_wait_ms, 0);
    assert_eq!(ended.problems, "[]");

    assert_eq!(ended.jobs.len(), 4);
    for job in &ended.jobs {
        assert_eq!((job.state, &job.error), (JobState::Succeeded, &None));
        let done = job.progress.requests_done;
        assert_eq!(job.progress.requests_total, Some(done), "an end is known when it is there");
        assert!(job.progress.rows >= 1_500, "{:?}", job.progress);
    }
    let done: u64 = ended.jobs.iter().map(|job| job.progress.requests_done).sum();
    assert_eq!(done, requests);
    let of_jobs = ended.mock.audit().iter().filter(|entry| entry.job_id.is_some()).count();
    assert_eq!(of_jobs as u64, requests, "each says for which job it is");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_page_lands_in_chunks_of_a_thousand_rows() {
    let ended = Fleet::start(sized(25_000, 20_000, 600), &[Dataset::Orders]).await.run().await;
    ended.check_rows(0, MockDataset::Orders).await;
    assert_eq!(ended.mock.summary().requests, ended.mock.import_requests(0, MockDataset::Orders));
    assert_eq!(ended.sink.largest(), 1_000);
    assert!(ended.sink.batches() >= 25);
    assert_eq!(ended.jobs[0].progress.rows, 25_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seller_without_rows_takes_one_request() {
    let ended =
        Fleet::start(sized(0, 400, 600), &[Dataset::Orders, Dataset::Sales]).await.run().await;
    assert_eq!(ended.mock.summary().requests, 2);
    assert!(ended.jobs.iter().all(|job| job.state == JobState::Succeeded));
}
