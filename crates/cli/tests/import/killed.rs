use std::{collections::HashMap, time::Duration};

use crate::support::{MAIN, Shop, json, run, start, stderr};

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

/// The moment up to which each dataset is finished.
async fn checkpoints(shop: &Shop) -> HashMap<String, String> {
    let mut checkpoints = HashMap::new();
    for job in shop.jobs().await {
        let Some(checkpoint) = &job.checkpoint else { continue };
        let cursor: serde_json::Value = serde_json::from_str(checkpoint).expect("it is JSON");
        let from = cursor["date_from"].as_str().expect("a cursor is a moment").to_owned();
        let dataset = job.needs.as_slice()[0].group.to_string();
        checkpoints.insert(dataset, from);
    }
    checkpoints
}
