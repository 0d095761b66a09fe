//! Limits are data: an import by a file of the user's own, which changes while it runs.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Command,
    time::Duration,
};

use waitless_bucket::Policy;
use waitless_store::Reader;
use waitless_store_sqlite::SqliteStore;
use waitless_wb_mock::Dataset;

use crate::support::{Shop, run, start, stderr};

/// The limit of orders as the built-in catalogue has it.
const PUBLISHED: &str = r#"path = "/api/v1/supplier/orders", limits = { full = "1/min burst 10""#;

/// Writes the built-in catalogue with another limit of orders.
fn write(shop: &Shop, limit: &str) -> usize {
    let text = waitless_wb::CATALOGUE_FILE.text;
    assert!(text.contains(PUBLISHED), "the catalogue is written as this test knows it");
    let text = text.replace(PUBLISHED, &PUBLISHED.replace("1/min burst 10", limit));
    fs::write(shop.path("limits.toml"), &text).expect("the file is written");
    let before = text.find(limit).map_or("", |at| &text[..at]);
    before.matches('\n').count() + 1
}

fn import(shop: &Shop) -> Command {
    let mut command = shop.import_of("orders");
    command.arg("--catalogue").arg(shop.path("limits.toml"));
    command
}

/// The limit of orders in the store.
async fn limit(shop: &Shop) -> Option<Policy> {
    let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
    let views = store.limits(None).await.expect("the limits are read");
    views.iter().find(|view| view.bucket.group.as_str() == "orders").map(|view| view.policy)
}

fn scaled(limit: &str) -> Policy {
    limit.parse().expect("it is a limit")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_that_changes_while_an_import_runs_holds_from_then_on() {
    let shop = Shop::with_pages(60).await;
    write(&shop, "1/min burst 9");
    let mut import = start(import(&shop));
    let lines = BufReader::new(import.stderr.take().expect("it is caught"));
    let (say, mut said) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            // Nobody listens any more once the test has seen enough.
            let _ = say.send(line);
        }
    });
    let mut line_with = async |words: &str| loop {
        let line = tokio::time::timeout(Duration::from_secs(30), said.recv()).await;
        let line = line.expect("it is said in time").expect("the import runs");
        if line.contains(words) {
            return line;
        }
    };
    line_with("ETA").await;
    assert_eq!(limit(&shop).await, Some(scaled("1/100ms burst 9")));

    write(&shop, "1/90s burst 8");
    line_with("its limits hold now").await;
    assert_eq!(limit(&shop).await, Some(scaled("1/150ms burst 8")));

    let line = write(&shop, "1/fortnight burst 7");
    let refused = line_with("is not used").await;
    assert!(refused.contains(&format!("limits.toml:{line}")), "{line}: {refused}");
    assert_eq!(limit(&shop).await, Some(scaled("1/150ms burst 8")), "the limits stay");

    write(&shop, "1/min burst 10");
    line_with("its limits hold now").await;
    while said.recv().await.is_some() {}
    assert_eq!(import.wait().expect("it ends").code(), Some(0));
    shop.assert_all_landed(&[Dataset::Orders]).await;
    assert_eq!(shop.mock.summary().rejected_429, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_that_cannot_be_used_is_refused_before_anything_is_done() {
    let shop = Shop::with_pages(2).await;
    let refused = |code: i32, words: &str| {
        let output = run(import(&shop));
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    };
    refused(3, "limits.toml");
    let line = write(&shop, "1/fortnight burst 7");
    refused(2, &format!("limits.toml:{line}"));
    let other = waitless_upstream::CatalogueFile::WITHOUT_CONNECTOR[1];
    fs::write(shop.path("limits.toml"), other.text).expect("the file is written");
    refused(2, "is of shopify, not of wildberries");
    assert_eq!(shop.mock.audit().len(), 0);
    assert!(!shop.path("queue.db").exists());
}
