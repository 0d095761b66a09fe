use serde_json::json;

use crate::{
    program::words,
    scene::{DAY_MS, Scene},
};

#[tokio::test]
async fn accounts_are_listed_with_their_tokens_and_jobs() {
    let scene = Scene::in_use().await;
    let said = scene.waitless("account list");
    assert_eq!(
        words(said.text()),
        r"
ID  NAME  UPSTREAM  WAITING  RUNNING  TOKEN  PAUSED
acct-1  First seller  wb  3  0  expires in <span>  -
acct-2  Evil \u{1b}[2Jseller  wb  1  0  <time>  -
acct-3  Third seller  wb  1  0  -  its token was refused
"
    );
    assert!(said.text().contains("expires in 9d "), "{}", said.stdout);
    assert_eq!(scene.waitless("account list -o id").text(), "acct-1\nacct-2\nacct-3\n");
    let wide = scene.waitless("account list -o wide");
    assert!(wide.text().lines().next().is_some_and(|line| line.ends_with("  ADDED")));
}

#[tokio::test]
async fn an_account_has_its_numbers_in_the_json() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 9 margin 0")]).await;
    scene.account("acct-1", "Evil \u{1b}[2Jseller", Some(DAY_MS)).await;
    scene.enqueue(scene.job(1, "orders", "acct-1")).await;
    scene.enqueue(scene.job(2, "orders", "acct-1")).await;
    scene.claim("acct-1/orders").await;
    scene.pause("acct-1", "no token").await;
    let expected = json!([{
        "id": "acct-1",
        "name": "Evil \u{1b}[2Jseller",
        "upstream": "wb",
        "added_at": "<ms>",
        "token_expires_at": "<ms>",
        "token_family": null,
        "categories": null,
        "paused": "no token",
        "paused_limits": [],
        "waiting": 1,
        "running": 1,
    }]);
    assert_eq!(scene.waitless("account list --json").json(), expected);
}
