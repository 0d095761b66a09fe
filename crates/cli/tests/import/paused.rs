//! What only a person can mend: it pauses limits, the import says so and ends, and goes on when it is
//! mended.

use std::{
    process::{Child, Output},
    time::Duration,
};

use waitless_job::JobState;
use waitless_store::Reader;
use waitless_store_sqlite::SqliteStore;
use waitless_wb_mock::Dataset;

use crate::support::{MAIN, Shop, json, run, start, stderr};

/// Every request to the statistics is answered so.
fn statistics(status: u16) -> String {
    format!("[[faults]]\nplay = {{ status = {status} }}\nmethods = ['/api/v1/supplier/*']")
}

/// Waits until limits are paused, and says which.
async fn paused_limits(shop: &Shop, import: &mut Child) -> Vec<String> {
    loop {
        assert!(import.try_wait().expect("it was started").is_none(), "it ended too early");
        if shop.path("queue.db").exists() {
            let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
            let views = store.limits(None).await.expect("the limits are read");
            let paused = views.iter().filter(|view| view.paused.is_some());
            let paused: Vec<String> = paused.map(|view| view.bucket.group.to_string()).collect();
            if !paused.is_empty() {
                return paused;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[track_caller]
fn said(output: &Output, code: i32) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(output));
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_pauses_its_category_and_the_rest_is_imported() {
    for (status, remedy) in [
        (401, "give a new token"),
        (402, "pay what the upstream asks for"),
        (403, "give a token with the right category"),
    ] {
        let shop = Shop::with_pages(6).await;
        shop.play(&statistics(status));
        let output = run(shop.import_of("orders,sales,cards"));
        let text = said(&output, 4);
        assert!(text.contains("the same command goes on"), "{text}");
        assert!(text.contains(&status.to_string()) && text.contains(remedy), "{text}");
        shop.assert_all_landed(&[Dataset::Cards]).await;
        let summary = json(&output);
        assert_eq!(summary["datasets"][2]["state"], "succeeded", "{summary}");
        assert_eq!(summary["datasets"][0]["state"], "waiting", "{summary}");
        assert!(!summary["paused"].as_array().expect("a list").is_empty(), "{summary}");
        let asked = shop.mock.summary().rejected_other;
        assert!(asked <= 2, "one of each dataset at most was under way, not {asked}");
        for job in shop.jobs().await {
            assert_eq!(job.attempts, u32::from(job.state == JobState::Succeeded), "{job:?}");
        }

        shop.play("");
        let output = run(shop.import_of("orders,sales,cards"));
        let text = said(&output, 0);
        assert!(text.contains("note: goes on again: "), "{text}");
        shop.assert_all_landed(&MAIN).await;
        assert_eq!(shop.mock.summary().rejected_429, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_is_spoken_of_everywhere_and_resumed_by_hand() {
    let shop = Shop::with_pages(4).await;
    shop.play(&statistics(401));
    said(&run(shop.import_of("orders,sales")), 4);
    let job = shop.jobs().await[0].id.to_string();
    let resume = "waitless account resume shop";
    for (args, words) in [
        (vec!["account", "show", "shop"], vec!["orders, sales: ", "401", resume]),
        (vec!["account", "list"], vec!["2 limits: orders, sales"]),
        (vec!["run", "show", "--latest"], vec!["shop/orders", "401", resume]),
        (vec!["job", "explain", job.as_str()], vec!["limit shop/", "is paused", resume]),
        (vec!["limit", "list"], vec!["paused"]),
        (vec!["limit", "show", "shop/orders"], vec!["401", resume]),
        (vec!["doctor"], vec!["these limits are paused: orders, sales", "account resume"]),
    ] {
        let text = said(&shop.waitless(&args), 0);
        for word in words {
            assert!(text.contains(word), "{args:?}: `{word}` is not in: {text}");
        }
    }
    shop.play("");
    let text = said(&shop.waitless(&["account", "resume", "shop"]), 0);
    assert!(text.contains("shop goes on") && text.contains("2 limits: "), "{text}");
    let text = said(&run(shop.import_of("orders,sales")), 0);
    assert!(!text.contains("goes on again"), "it was resumed before: {text}");
    shop.assert_all_landed(&MAIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_import_goes_on_when_its_account_is_resumed() {
    let shop = Shop::with_pages(40).await;
    shop.play(
        "[[faults]]\nplay = { status = 403 }\nmethods = ['POST /content/v2/get/cards/list']\n\
         requests = [1, 1]",
    );
    let mut import = start(shop.import_of("orders,cards"));
    let paused = paused_limits(&shop, &mut import).await;
    assert!(paused.iter().all(|group| group.starts_with("content")), "{paused:?}");
    said(&shop.waitless(&["account", "resume", "shop"]), 0);
    said(&import.wait_with_output().expect("it ends"), 0);
    shop.assert_all_landed(&[Dataset::Orders, Dataset::Cards]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_has_paused_is_not_resumed_by_an_import() {
    let shop = Shop::with_pages(40).await;
    let import = start(shop.import_of("orders"));
    while shop.mock.audit().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    said(&shop.waitless(&["account", "pause", "shop", "--reason", "stocktaking"]), 0);
    let text = said(&import.wait_with_output().expect("it ends"), 5);
    assert!(text.contains("shop is paused: stocktaking; `waitless account resume"), "{text}");
    let asked = shop.mock.audit().len();
    said(&run(shop.import_of("orders")), 5);
    assert_eq!(shop.mock.audit().len(), asked, "nothing is asked for");

    said(&shop.waitless(&["account", "resume", "shop"]), 0);
    said(&run(shop.import_of("orders")), 0);
    shop.assert_all_landed(&[Dataset::Orders]).await;
}
