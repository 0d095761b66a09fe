use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    program::Said,
    scene::{DAY_MS, HOUR_MS, Scene},
};

/// What the doctor has found, by check: status and text. Without what differs from machine to
/// machine.
fn findings(said: &Said) -> Value {
    let all: Vec<Value> = serde_json::from_str(&said.stdout).expect("it is JSON");
    all.iter()
        .filter(|finding| !["store", "log", "disk"].contains(&text(finding, "check")))
        .map(|finding| json!([finding["check"], finding["status"], finding["what"]]))
        .collect()
}

fn text<'a>(finding: &'a Value, field: &str) -> &'a str {
    finding[field].as_str().expect("it is a text")
}

#[tokio::test]
async fn a_sound_store_has_no_findings() {
    let scene = Scene::empty().await;
    let said = scene.waitless("doctor --json");
    assert_eq!(
        findings(&said),
        json!([
            ["integrity", "ok", "the file is sound"],
            ["rules", "ok", "the store keeps all its rules"],
            ["worker", "ok", "no worker runs, and no job is left to do"],
            ["clock", "ok", "no bucket is ahead of this machine's clock"],
            ["limits", "ok", "every waiting job can go some day"],
            ["dead letters", "ok", "none"],
            ["accounts", "ok", "nothing is paused"],
            ["tokens", "ok", "no token expires within two weeks"],
        ])
    );
    assert_eq!(said.code, 0);
    let store = &serde_json::from_str::<Value>(&said.stdout).expect("it is JSON")[0];
    assert!(text(store, "what").contains("schema version "), "{store}");
    assert!(text(store, "what").ends_with("journal mode wal"), "{store}");
}

#[tokio::test]
async fn warnings_do_not_make_a_store_unhealthy() {
    let scene = Scene::in_use().await;
    let said = scene.waitless("doctor --json");
    assert_eq!(said.code, 0);
    let warnings: Vec<Value> = findings(&said)
        .as_array()
        .expect("it is a list")
        .iter()
        .filter(|finding| finding[1] != "ok")
        .map(|finding| json!([finding[0], finding[1]]))
        .collect();
    assert_eq!(
        warnings,
        [
            json!(["worker", "warn"]),
            json!(["dead letters", "warn"]),
            json!(["accounts", "warn"]),
            json!(["tokens", "warn"]),
        ]
    );
    let all: Vec<Value> = serde_json::from_str(&said.stdout).expect("it is JSON");
    for finding in all {
        assert_eq!(finding["do"].is_string(), finding["status"] != "ok", "{finding}");
    }
}

#[tokio::test]
async fn what_is_bad_is_named_with_what_to_do_about_it() {
    let scene = Scene::empty().await;
    scene.account("acct-1", "First seller", Some(0)).await;
    scene.limits(&[("acct-1/orders", "1/d burst 3 margin 0")]).await;
    scene.enqueue(scene.job(1, "orders", "acct-1").needs(Scene::needs("orders", 3))).await;
    scene.limits(&[("acct-1/orders", "1/d burst 2 margin 0")]).await;
    scene.take("acct-1/orders", scene.now.plus(2 * HOUR_MS)).await;
    let said = scene.waitless("doctor");
    assert_eq!(said.code, 7);
    for line in [
        "bad   limits        1 job of cost 3 can never go: bucket acct-1/orders holds 2 at most",
        "                    → raise the burst of the limit to the cost, or cancel the jobs",
        "bad   clock         bucket acct-1/orders was written ",
        "bad   tokens        the token of account acct-1 expired ",
        "warn  worker        no worker runs; left to do: 1 job",
        "3 to be put right, 1 worth a look",
    ] {
        assert!(said.stdout.contains(line), "{line}\n{}", said.stdout);
    }
    assert_eq!(scene.waitless("doctor --json").code, 7);
}

#[tokio::test]
async fn a_token_that_expires_in_two_weeks_is_no_finding_yet() {
    let scene = Scene::empty().await;
    scene.account("acct-1", "First seller", Some(14 * DAY_MS + HOUR_MS)).await;
    scene.account("acct-2", "Second seller", Some(14 * DAY_MS - HOUR_MS)).await;
    let said = scene.waitless("doctor --json");
    let all = findings(&said);
    let tokens = &all.as_array().expect("it is a list")[7];
    assert_eq!(tokens[1], "warn");
    let what = tokens[2].as_str().expect("it is a text");
    assert!(what.starts_with("the token of account acct-2 expires in 13d ("), "{what}");
}

#[tokio::test]
async fn broken_rules_and_foreign_files_are_bad() {
    let scene = Scene::in_use().await;
    let connection = Connection::open(scene.path("queue.db")).expect("it can be opened");
    connection.execute("UPDATE lanes SET waiting = 9", []).expect("it can be written");
    let said = scene.waitless("doctor");
    assert_eq!(said.code, 7);
    let broken = "bad   rules         broken: a lane with jobs is indexed once: lane acct-1/orders";
    assert!(said.stdout.contains(broken), "{}", said.stdout);

    connection
        .execute("UPDATE store_schema_history SET version = 999 WHERE version = 1", [])
        .expect("it can be written");
    let newer = scene.waitless("doctor --json");
    assert_eq!(newer.code, 7);
    assert_eq!(findings_with_store(&newer), json!([["store", "bad"]]));
}

fn findings_with_store(said: &Said) -> Value {
    let all: Vec<Value> = serde_json::from_str(&said.stdout).expect("it is JSON");
    all.iter().map(|finding| json!([finding["check"], finding["status"]])).collect()
}

#[tokio::test]
async fn a_finding_cannot_speak_to_the_terminal() {
    let scene = Scene::in_use().await;
    let said = scene.waitless("doctor");
    assert!(!said.text().contains('\u{1b}'), "{:?}", said.stdout);
    assert!(said.text().contains(r"1 x the upstream answered 403: \u{1b}[31mforbidden\nfor ever"));
}
