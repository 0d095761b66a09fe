//! Every dataset from the strict stand-in: what has landed is what it holds, and no request was one
//! too many.

use std::collections::BTreeSet;

use waitless_job::JobState;
use waitless_upstream::Secret;
use waitless_wb::{Dataset, SellerToken};
use waitless_wb_mock::{
    CabinetSizes, Dataset as Served, Family, Faults, Mock, MockConfig, TokenOptions,
};

use crate::{
    NOON,
    fleet::{Ended, Fleet, sized},
};

fn served(dataset: Dataset) -> Served {
    Served::from_name(dataset.as_str()).expect("the stand-in has every dataset")
}

/// More than a page of what has pages. The history of so many products would take minutes.
fn cabinet(dataset: Dataset) -> CabinetSizes {
    let products = if dataset == Dataset::FunnelHistory { 130 } else { 1_050 };
    let products = products..=products;
    CabinetSizes { products, campaigns: 60..=60, ..CabinetSizes::default() }
}

async fn check(ended: &Ended, datasets: &[Dataset]) {
    for job in &ended.jobs {
        assert_eq!((job.state, &job.error), (JobState::Succeeded, &None), "{:?}", job.unique_key);
        let progress = job.progress;
        assert_eq!(progress.requests_total, Some(progress.requests_done), "{:?}", job.unique_key);
    }
    for dataset in datasets {
        ended.check_rows(0, served(*dataset)).await;
    }
    let counted = ended.mock.summary();
    assert_eq!((counted.rejected_429, ended.stats.slot_wait_ms), (0, 0));
    assert_eq!(ended.problems, "[]");
}

async fn import(dataset: Dataset) {
    let config = MockConfig { cabinet: cabinet(dataset), late_updates: true, ..sized(50, 20, 600) };
    let ended = Fleet::start(config, &[dataset]).await.run().await;
    assert_eq!(ended.jobs.len(), 1);
    check(&ended, &[dataset]).await;
    let progress = ended.jobs[0].progress;
    assert!(progress.rows > 0, "there was something to import");
    let fewest = ended.mock.import_requests(0, served(dataset));
    match dataset {
        // A task may have to be asked for twice.
        _ if dataset.is_task() => assert!(progress.requests_done >= fewest),
        // The days before the last 90 begin at midnight, which takes a window more.
        Dataset::FbsOrders => assert_eq!(progress.requests_done, fewest + 1),
        _ => assert_eq!(progress.requests_done, fewest, "not one request more than needed"),
    }
}

macro_rules! imports {
    ($($name:ident: $dataset:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                import(Dataset::$dataset).await;
            }
        )*
    };
}

imports! {
    stocks_land_as_they_are: Stocks,
    remains_land_as_they_are: Remains,
    acceptance_lands_as_it_is: Acceptance,
    storage_lands_as_it_is: Storage,
    the_funnel_lands_as_it_is: Funnel,
    the_funnels_history_lands_as_it_is: FunnelHistory,
    the_funnels_csv_lands_as_it_is: FunnelCsv,
    cards_land_as_they_are: Cards,
    finance_lands_as_it_is: Finance,
    prices_land_as_they_are: Prices,
    fbs_orders_land_as_they_are: FbsOrders,
    campaigns_land_as_they_are: Campaigns,
    campaign_stats_land_as_they_are: CampaignStats,
    feedbacks_land_as_they_are: Feedbacks,
    tariffs_land_as_they_are: Tariffs,
}

fn base(mock: &Mock, seller: usize) -> SellerToken {
    let options = TokenOptions { family: Family::Base, ..TokenOptions::default() };
    SellerToken::parse(&mock.token_of(seller, &options), NOON).expect("a good token")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_token_brings_everything_but_what_is_closed_to_it() {
    let cabinet = CabinetSizes { products: 30..=30, campaigns: 8..=8, ..CabinetSizes::default() };
    let config = MockConfig { cabinet, ..sized(50, 40, 3_600) };
    let ended = Fleet::with(config, &Dataset::ALL, base).await.run().await;
    let open: Vec<Dataset> =
        Dataset::ALL.into_iter().filter(|dataset| *dataset != Dataset::Stocks).collect();
    assert_eq!(ended.jobs.len(), open.len());
    check(&ended, &open).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_token_with_its_clients_secret_brings_everything() {
    let cabinet = CabinetSizes { products: 30..=30, campaigns: 8..=8, ..CabinetSizes::default() };
    let config = MockConfig { cabinet, ..sized(50, 40, 600) };
    let with_secret = |mock: &Mock, seller| {
        base(mock, seller).with_client_secret(Secret::new(mock.client_secret(seller)))
    };
    let ended = Fleet::with(config, &Dataset::ALL, with_secret).await.run().await;
    assert_eq!(ended.jobs.len(), Dataset::ALL.len());
    check(&ended, &Dataset::ALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_two_sellers_share_land_for_each_of_them() {
    let datasets = [Dataset::Cards, Dataset::Campaigns];
    let cabinet = CabinetSizes { products: 30..=30, ..CabinetSizes::default() };
    let config = MockConfig { sellers: 2, cabinet, ..sized(50, 40, 3_600) };
    let ended = Fleet::start(config, &datasets).await.run().await;
    check(&ended, &datasets).await;
    for dataset in datasets {
        ended.check_rows(1, served(dataset)).await;
        let keys = |seller| ended.mock.expected(seller, served(dataset)).map(|row| row.key);
        let first: BTreeSet<String> = keys(0).collect();
        assert!(keys(1).any(|key| first.contains(&key)), "{dataset}: nothing is shared");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_come_to_nothing_cost_requests_and_no_rows() {
    let tasks = [Dataset::Remains, Dataset::Acceptance, Dataset::FunnelCsv];
    for fate in ["expired", "purged", "canceled", "unknown"] {
        // Enough of them to meet a step of a task, and too few to lose five tasks in a row.
        let script = format!("[[faults]]\nplay = {{ task = \"{fate}\" }}\nrequests = [2, 7]\n");
        let faults = Faults::read(&script).expect("a script");
        let cabinet = CabinetSizes { products: 20..=20, ..CabinetSizes::default() };
        let config = MockConfig { cabinet, faults, ..sized(50, 40, 3_600) };
        let ended = Fleet::start(config, &tasks).await.run().await;
        check(&ended, &tasks).await;
        let fewest: u64 =
            tasks.iter().map(|task| ended.mock.import_requests(0, served(*task))).sum();
        assert!(ended.mock.summary().requests > fewest, "{fate} was met");
        assert!(ended.jobs.iter().all(|job| job.attempts == 1), "{fate} is no failed attempt");
    }
}
