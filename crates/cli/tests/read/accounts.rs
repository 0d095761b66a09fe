use std::fs;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;
use waitless_store::{Reader, Store};

use crate::{
    program::{Said, waitless, words},
    scene::{DAY_MS, Scene, read},
};

/// A token that opens statistics and finance.
const MASK: u64 = 1 << 5 | 1 << 13;

/// A token that nobody has signed.
fn token(sid: &str, mask: u64, expires_at_s: i64) -> String {
    let claims = json!({ "sid": sid, "acc": 3, "exp": expires_at_s, "s": mask }).to_string();
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", part(r#"{"alg":"ES256"}"#), part(&claims), part("signature"))
}

impl Scene {
    /// `account add NAME` with a token.
    fn add(&self, name: &str, token: &str) -> Said {
        let path = self.path("token");
        fs::write(&path, token).expect("the file is written");
        let path = path.to_str().expect("the path is text");
        self.waitless_with(&["account", "add", name, "--token-file", path])
    }

    fn in_days(&self, days: i64) -> i64 {
        self.now.0 / 1_000 + days * 86_400
    }
}

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

#[tokio::test]
async fn an_account_is_entered_with_what_its_token_says_and_the_token_is_not_kept() {
    let scene = Scene::empty().await;
    let token = token("seller-1", MASK, scene.in_days(100));
    let said = scene.add("shop", &token);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("note: cards is left out: the token has no category Content"));
    let shown = words(&said.stdout);
    assert!(
        shown.starts_with(
            r"
account  seller-1
name  shop
upstream  wildberries
token  personal, expires <time> (in <span>)
opens  Finance, General, Statistics
jobs  none

BUCKET  LIMIT  LEFT  NEXT TOKEN  WAITING  ETA  HOLD
"
        ),
        "{shown}"
    );
    assert!(
        shown.contains("\norders  1/min burst 10 margin 60ms  10/10  now  0  -  -\n"),
        "{shown}"
    );
    assert!(!shown.contains("content."), "a limit of what it does not open: {shown}");
    assert_eq!(scene.waitless("account show shop").text(), said.stdout);

    let account = scene.waitless("account show shop --json").json();
    assert_eq!(account["id"], "seller-1");
    assert_eq!(account["categories"], json!(["Finance", "General", "Statistics"]));
    assert_eq!(account["limits"][0]["account"], "seller-1");
    assert_eq!(scene.waitless("account list -o id").text(), "seller-1\n");

    for file in ["queue.db", "queue.db-wal"] {
        let bytes = fs::read(scene.path(file)).unwrap_or_default();
        let is_in = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!token.split('.').any(is_in), "{file} holds a part of the token");
    }
}

#[tokio::test]
async fn a_new_token_is_read_and_lets_paused_limits_go_on() {
    let scene = Scene::empty().await;
    assert_eq!(scene.add("shop", &token("seller-1", MASK, scene.in_days(9))).code, 0);
    let groups = Some(vec![read("orders"), read("sales")]);
    let refused = "the upstream answered 401".into();
    let paused = scene.store.pause_limits(read("seller-1"), groups, Some(refused), scene.now).await;
    assert_eq!(paused.expect("limits can be paused"), 2);
    let shown = words(scene.waitless("account show shop").text());
    assert!(
        shown.contains(
            "\npaused  orders, sales: the upstream answered 401\n  \
             when that is mended: waitless account resume shop\n"
        ),
        "{shown}"
    );
    let listed = words(scene.waitless("account list").text());
    assert!(listed.contains("2 limits: orders, sales"), "{listed}");

    let said = scene.add("shop", &token("seller-1", MASK, scene.in_days(100)));
    let note = "note: goes on again with the new token: 2 limits: the upstream answered 401";
    assert!(said.stderr.contains(note), "{}", said.stderr);
    let views = scene.store.limits(None).await.expect("the limits are read");
    assert!(views.iter().all(|view| view.paused.is_none()));
    assert!(!scene.waitless("account list").text().contains("expires in"));
}

#[tokio::test]
async fn an_account_is_paused_and_resumed_by_hand() {
    let scene = Scene::in_use().await;
    let said = |args: &[&str], text: &str| {
        let said = scene.waitless_with(&[&["account"], args].concat());
        assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, "", text));
    };
    said(&["pause", "acct-1"], "First seller is paused: paused by hand\n");
    said(&["pause", "First seller", "--reason", "a\nb"], "First seller is paused: a\\nb\n");
    assert!(scene.waitless("account show acct-1").text().contains("\npaused      a\\nb\n"));
    said(
        &["resume", "First seller"],
        "First seller goes on; what was paused:\n  the account: a\\nb\n",
    );
    said(&["resume", "acct-1"], "First seller was not paused\n");
    let gone = scene.waitless("account resume nobody");
    assert_eq!(gone.code, 3, "{}", gone.stderr);
}

#[tokio::test]
async fn a_token_or_a_name_that_is_no_good_enters_nothing() {
    let scene = Scene::in_use().await;
    let good = token("seller-1", MASK, scene.in_days(100));
    for (name, token, code, words) in [
        ("shop", token("seller-1", MASK, 1_600_000_000), 4, "expired"),
        ("shop", "a.b".to_owned(), 4, "should have 3"),
        ("First seller", good.clone(), 5, "belongs to account acct-1 here"),
        (" ", good.clone(), 2, "give it one"),
    ] {
        let said = scene.add(name, &token);
        assert_eq!((said.code, said.stdout.as_str()), (code, ""), "{}", said.stderr);
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    assert_eq!(scene.waitless("account list -o id").text(), "acct-1\nacct-2\nacct-3\n");
    let memory = waitless(&["account", "add", "x", "--token-env", "T", "--store", "memory"]);
    assert_eq!(memory.code, 4, "{}", memory.stderr);
}
