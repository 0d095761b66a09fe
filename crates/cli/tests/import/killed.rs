use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use waitless_job::JobState;
use waitless_wb_mock::{AuditEntry, Dataset, DatasetSize, METHODS, SellerSizes};

use crate::support::{MAIN, SPEED, Shop, json, run, start, stderr};

/// Kills in all.
const KILLS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn an_import_killed_at_random_moments_misses_nothing_and_repeats_no_finished_page() {
    let shop = Shop::with_pages(200).await;
    let mut random = fastrand::Rng::with_seed(41);
    for kill in 1..=KILLS {
        let mut import = start(shop.import());
        tokio::time::sleep(Duration::from_millis(random.u64(10..400))).await;
        import.kill().expect("it is there to be killed");
        let output = import.wait_with_output().expect("it has ended");
        assert_eq!(output.status.code(), None, "kill {kill} came too late: {}", stderr(&output));

        // Pages before a checkpoint are finished: nothing before it is asked for from here on.
        let seen = shop.mock.audit().len();
        let checkpoints = checkpoints(&shop).await;
        let mut next = start(shop.import());
        tokio::time::sleep(Duration::from_millis(150)).await;
        next.kill().expect("it is there to be killed");
        next.wait().expect("it has ended");
        for request in &shop.mock.audit()[seen..] {
            let dataset = request.path.rsplit('/').next().expect("a path has an end");
            let from = request.date_from.as_deref().expect("an import says from where");
            if let Some(checkpoint) = checkpoints.get(dataset) {
                assert!(
                    from >= checkpoint.as_str(),
                    "{dataset} again from {from}, not {checkpoint}"
                );
            }
        }
    }

    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
    let summary = json(&output);
    assert_eq!(summary["datasets"][0]["state"], "succeeded", "{summary}");
    let counted = shop.mock.summary();
    assert_eq!(counted.rejected_429, 0, "the limits were kept across all those lives");
    // Each life may have had one request of each dataset under way when it ended.
    let alone = shop.mock.import_requests(0, waitless_wb_mock::Dataset::Orders)
        + shop.mock.import_requests(0, waitless_wb_mock::Dataset::Sales);
    let repeated = counted.accepted.saturating_sub(alone);
    println!("{} kills: {alone} requests needed, {repeated} repeated", 2 * KILLS);
    assert!(repeated <= 4 * KILLS as u64, "{repeated} requests were repeated");
}

/// Kills of an import of everything.
const KILLS_OF_ALL: usize = 25;

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_everything_killed_at_random_moments_misses_nothing_and_asks_for_nothing_twice()
 {
    let mut shop = Shop::with_sizes(SellerSizes {
        orders: DatasetSize::Pages(60..=60),
        sales: DatasetSize::Pages(10..=10),
    })
    .await;
    // Eight requests and the mock share a busy machine: a request that arrives late is no fault of the
    // buckets. What a life forgot would still be seen, as a burst.
    shop.speed = SPEED / 2;
    let mut random = fastrand::Rng::with_seed(43);
    for kill in 1..=KILLS_OF_ALL {
        let seen = shop.mock.audit().len();
        let (finished, checkpoints) = (finished(&shop).await, checkpoints(&shop).await);
        let mut import = start(shop.import_of("all"));
        tokio::time::sleep(Duration::from_millis(random.u64(50..400))).await;
        import.kill().expect("it is there to be killed");
        let output = import.wait_with_output().expect("it has ended");
        assert_eq!(output.status.code(), None, "kill {kill} came too late: {}", stderr(&output));
        for request in &shop.mock.audit()[seen..] {
            assert!(!finished.contains(&*request.path), "{} is finished", request.path);
            let Some(dataset) = request.path.strip_prefix("/api/v1/supplier/") else { continue };
            if let (Some(from), Some(checkpoint)) = (&request.date_from, checkpoints.get(dataset)) {
                assert!(from >= checkpoint, "{dataset} again from {from}, not {checkpoint}");
            }
        }
    }
    println!("finished before the last life: {:?}", finished(&shop).await);

    let output = run(shop.import_of("all"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&Dataset::ALL).await;
    let counted = shop.mock.summary();
    assert_eq!(counted.rejected_429, 0, "the limits were kept: {}", refused(&shop));
    assert_eq!(counted.rejected_other, 0, "{counted:?}");
    let alone: u64 =
        Dataset::ALL.into_iter().map(|dataset| shop.mock.import_requests(0, dataset)).sum();
    let slots = 8;
    let repeated = counted.accepted.saturating_sub(alone);
    println!("{KILLS_OF_ALL} kills: {alone} requests needed, {repeated} more made");
    // Each life may have had a request in every slot when it ended; a task may be looked at more
    // than once as well.
    assert!(repeated <= slots * KILLS_OF_ALL as u64, "{repeated} requests were repeated");
}

/// When the requests arrived that led to each 429, in ms.
fn refused(shop: &Shop) -> String {
    let audit = shop.mock.audit();
    let refused = audit.iter().enumerate().filter(|(_, request)| request.status == 429);
    let text = refused.map(|(at, request)| {
        let is_alike =
            |other: &&AuditEntry| (&other.path, &other.verb) == (&request.path, &request.verb);
        let before = audit[..=at].iter().filter(is_alike).rev().take(5);
        let arrivals: Vec<u64> = before.map(|other| other.arrival_us / 1_000).collect();
        format!("{} {arrivals:?}", request.path)
    });
    text.collect::<Vec<_>>().join("; ")
}

/// The paths that no dataset asks any more which is not finished.
async fn finished(shop: &Shop) -> BTreeSet<&'static str> {
    let jobs = shop.jobs().await;
    let is_finished = |dataset: Dataset| {
        jobs.iter().any(|job| {
            let is_of = |key: &str| key.rsplit('/').next() == Some(dataset.name());
            job.state == JobState::Succeeded && job.unique_key.as_deref().is_some_and(is_of)
        })
    };
    let of_methods = METHODS.iter().filter_map(|method| Some((method.path, method.serves?.0)));
    let done = of_methods.filter(|(_, dataset)| match dataset {
        // What is asked for them begins with the ids of these.
        Dataset::Funnel => is_finished(Dataset::Funnel) && is_finished(Dataset::FunnelHistory),
        Dataset::Campaigns => {
            is_finished(Dataset::Campaigns) && is_finished(Dataset::CampaignStats)
        }
        dataset => is_finished(*dataset),
    });
    done.map(|(path, _)| path).collect()
}

/// The moment up to which each dataset is finished.
async fn checkpoints(shop: &Shop) -> HashMap<String, String> {
    let mut checkpoints = HashMap::new();
    for job in shop.jobs().await {
        let Some(checkpoint) = &job.checkpoint else { continue };
        let cursor: serde_json::Value = serde_json::from_str(checkpoint).expect("it is JSON");
        // Only that of orders and sales is a moment.
        let Some(from) = cursor["date_from"].as_str() else { continue };
        checkpoints.insert(job.needs.as_slice()[0].group.to_string(), from.to_owned());
    }
    checkpoints
}
