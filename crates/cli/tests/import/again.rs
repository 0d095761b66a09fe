//! The second import: after an interruption, a dead letter, another sink, or the end.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use waitless_job::{JobState, LeaseToken};
use waitless_store::{
    Store,
    ops::{Claim, LeaseRef, Outcome, Pick, Saved, Settle},
};
use waitless_store_sqlite::SqliteStore;

use crate::support::{MAIN, Shop, json, now, run, start, stderr, waitless};

/// Imports until a few pages are there, then stops.
async fn begin(shop: &Shop) {
    let import = start(shop.import());
    while shop.mock.audit().len() < 6 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    kill_process(Pid::from_child(&import), Signal::INT).expect("the program is running");
    let output = import.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
}

/// Makes dead letters of the import's jobs.
async fn give_up(shop: &Shop) {
    let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
    store.start_worker("judge".parse().expect("a name"), now()).await.expect("nobody works");
    for job in shop.jobs().await {
        // When its tokens are there.
        let (claimed, lease) = loop {
            let lease = LeaseToken::new(now());
            let picks = vec![Pick { lane: job.lane(), lease }];
            let worker = "judge".parse().expect("a name");
            let claim = Claim { worker, expires_at: now().plus(60_000), picks };
            match store.claim(claim, now()).await.expect("it is answered").pop() {
                Some(claimed) => break (claimed, lease),
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        let lease = LeaseRef { job: claimed.job.id, token: lease };
        let outcome = Outcome::Dead { reason: "the seller has revoked the token".into() };
        let settle = Settle { lease, outcome, saved: Saved::default() };
        store.settle(vec![settle], now()).await.expect("it is taken down");
    }
    drop(store);
    assert!(shop.jobs().await.iter().all(|job| job.state == JobState::Dead));
}

fn needed(shop: &Shop) -> u64 {
    MAIN.into_iter().map(|dataset| shop.mock.import_requests(0, dataset)).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_refused_changes_nothing() {
    let shop = Shop::with_pages(2).await;
    let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
    store.start_worker("first".parse().expect("a name"), now()).await.expect("it is the first");
    let before = waitless_store::Reader::audit(&store).await.expect("the store is read");
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let after = waitless_store::Reader::audit(&store).await.expect("the store is read");
    assert_eq!(before, after);
    assert_eq!(shop.mock.audit().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_that_was_given_up_goes_on_at_its_checkpoint() {
    let shop = Shop::with_pages(30).await;
    begin(&shop).await;
    give_up(&shop).await;

    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("revoked the token"), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
    assert_eq!(shop.jobs().await.len(), 2, "the same jobs");
    assert_eq!(shop.mock.summary().accepted, needed(&shop), "no page was fetched twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_into_another_sink_is_refused_in_the_middle_and_begins_anew_at_the_end() {
    let shop = Shop::with_pages(12).await;
    begin(&shop).await;
    std::fs::rename(shop.path("rows.db"), shop.path("moved.db")).expect("the sink is moved");
    for rest in ["rows.db-wal", "rows.db-shm"] {
        let _ = std::fs::remove_file(shop.path(rest));
    }
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("name the sink that it began with"), "{}", stderr(&output));

    let _ = std::fs::remove_file(shop.path("rows.db"));
    std::fs::rename(shop.path("moved.db"), shop.path("rows.db")).expect("the sink is back");
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;

    // All done: the next one asks for what is new only.
    let before = shop.mock.summary().accepted;
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(shop.mock.summary().accepted - before <= 8, "{}", stderr(&output));
    assert_eq!(json(&output)["datasets"].as_array().map(Vec::len), Some(2));

    // An empty sink is not what the last import filled.
    std::fs::remove_file(shop.path("rows.db")).expect("it was there");
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_never_answers_is_given_up_after_some_tries() {
    let shop = Shop::with_pages(2).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = closed.local_addr().expect("it is bound");
    drop(closed);
    let mut command = waitless();
    command.args(["import", "--account", "a", "--datasets", "orders", "--token-file"]);
    command.arg(shop.path("token")).args(["--base-url", &format!("http://{address}")]);
    command.args(["--store", &shop.url("q.db"), "--sink", &shop.url("r.db"), "--speed", "600"]);
    let output = run(command);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).contains(&address.to_string()), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_refuses_a_store_with_unfinished_work() {
    let shop = Shop::with_pages(30).await;
    begin(&shop).await;
    let before = shop.jobs().await;
    let mut command = waitless();
    command.args(["demo", "--sellers", "1", "--store", &shop.url("queue.db")]);
    let output = run(command);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("another store"), "{}", stderr(&output));
    assert_eq!(shop.jobs().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_that_was_given_up_begins_anew_where_since_says() {
    let shop = Shop::with_pages(30).await;
    begin(&shop).await;
    give_up(&shop).await;
    let mut import = shop.import();
    import.args(["--since", "2020-01-01"]);
    let output = run(import);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
    let states: Vec<JobState> = shop.jobs().await.iter().map(|job| job.state).collect();
    let [dead, done] = [JobState::Dead, JobState::Succeeded];
    assert_eq!(states, [dead, dead, done, done], "left behind, with what they died of");
}
