use serde_json::json;
use waitless_job::Feedback;
use waitless_store::Store;

use crate::{
    program::words,
    scene::{HOUR_MS, Scene, id, read},
};

#[tokio::test]
async fn limits_are_listed_with_their_levels() {
    let scene = Scene::in_use().await;
    assert_eq!(
        words(scene.waitless("limit list").text()),
        r"
BUCKET  LIMIT  LEFT  NEXT TOKEN  WAITING  ETA  HOLD
First seller/orders  1/d burst 3 margin 0ms  0/3  in <span>  2  in <span>  -
First seller/sales  1/d burst 1 margin 0ms  1/1  now  1  now  -
Evil \u{1b}[2Jseller/orders  1/d burst 2 margin 0ms  0/2  in <span>  1  in <span>  <span>
Third seller/orders  1/d burst 1 margin 0ms  1/1  now  1  paused  -
"
    );
    assert_eq!(
        words(scene.waitless("limit list --account acct-3 -o wide").text()),
        r"
BUCKET  LIMIT  LEFT  NEXT TOKEN  WAITING  ETA  HOLD  RUNNING  LEVEL  FULL  ACCOUNT  PAUSED
acct-3/orders  1/d burst 1 margin 0ms  1/1  now  1  paused  -  0  1.00  now  Third seller  its token was refused
"
    );
    assert_eq!(scene.waitless("limit list -o id --account acct-2").text(), "acct-2/orders\n");
}

#[tokio::test]
async fn a_limit_has_its_numbers_in_the_json() {
    let scene = Scene::in_use().await;
    assert_eq!(
        scene.waitless("limit list --account acct-2 --json").json(),
        json!([{
            "bucket": "acct-2/orders",
            "account": "acct-2",
            "group": "orders",
            "policy": "1/d burst 2 margin 0ms",
            "slower": null,
            "level_hundredths": 77,
            "quota": {
                "capacity": 2,
                "used": 2,
                "remaining": 0,
                "resets_in_ms": "<ms>",
                "next_token_in_ms": "<ms>",
                "held_until": "<ms>",
            },
            "waiting": 1,
            "running": 0,
            "eta_at": "<ms>",
            "paused": null,
        }])
    );
}

#[tokio::test]
async fn a_limit_shows_who_waits_for_it_in_order() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        words(scene.waitless("limit show acct-1/orders").text()),
        r"
bucket  acct-1/orders
account  First seller
limit  1/d burst 3 margin 0ms
level  0.00 of 3, 0/3 left
next token  in <span>
full  in <span>
running  0
waiting  2
eta  <time> (in <span>), one request each

JOB  KIND  CLASS  ATTEMPTS  REQUESTS  NOTE
01900004-0000  orders  interactive  0/8  0/?  token in <span>
01900003-0000  orders  bulk  0/8  0/?  token in <span>
"
    );
    let shown = scene.waitless("limit show acct-1/orders --json").json();
    let listed = scene.waitless("limit list --account acct-1 --json").json();
    let ids: Vec<_> = shown["waiting_jobs"]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|job| job["id"].as_str().expect("an id is a text").to_owned())
        .collect();
    assert_eq!(ids, [id(4), id(3)]);
    for (name, value) in listed[0].as_object().expect("it is an object") {
        assert_eq!(shown[name], *value, "{name}");
    }
}

#[tokio::test]
async fn a_hold_of_hours_is_shown_in_full() {
    let scene = Scene::in_use().await;
    let said = scene.waitless_with(&["limit", "show", "Evil \u{1b}[2Jseller/orders"]);
    let hold = said.text().lines().find(|line| line.starts_with("hold")).expect("it is held");
    assert_eq!(words(hold), "\nhold  <span>, until <time>: its upstream has closed it\n",);
    assert!(hold.contains(" 5h 2"), "{hold}");
}

#[tokio::test]
async fn only_the_first_of_many_waiting_jobs_are_shown() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 1 margin 0")]).await;
    for _ in 0..23 {
        let job = scene.job(1, "orders", "acct-1");
        let id = waitless_job::JobId::new(scene.now);
        scene.enqueue(waitless_job::NewJob { id, ..job }).await;
    }
    let said = scene.waitless("limit show acct-1/orders");
    let last = said.text().lines().last().expect("there is a line");
    assert_eq!(last, "and 3 more: waitless job list --state waiting --account acct-1");
    let shown = scene.waitless("limit show acct-1/orders --json").json();
    assert_eq!(shown["waiting_jobs"].as_array().map(Vec::len), Some(20));
}

#[tokio::test]
async fn a_limit_is_shown_by_the_beginning_of_its_account() {
    let scene = Scene::in_use().await;
    let shown = |bucket| scene.waitless_with(&["limit", "show", bucket, "-o", "id"]);
    for bucket in ["First seller/sales", "acct-1/sales", "First/sales"] {
        assert_eq!(shown(bucket).text(), "acct-1/sales\n", "{bucket}");
    }
    let many = shown("acct/sales");
    assert_eq!(many.code, 2);
    let says =
        "the id or the name of an account begins `acct`; name one of\n  acct-1  First seller\n";
    assert!(many.stderr.contains(says), "{}", many.stderr);
    assert_eq!([shown("/sales").code, shown("x/sales").code], [3, 3]);
}

#[tokio::test]
async fn a_limit_that_refusals_have_made_slower_says_so() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/min burst 2 margin 0")]).await;
    scene.account("acct-1", "shop", None).await;
    scene.enqueue(scene.job(1, "orders", "acct-1")).await;
    // One refusal is weather. So far apart, none of these was under way with another.
    for hours in [1, 3, 5] {
        let (refused_at, taken_at) =
            (scene.now.plus(hours * HOUR_MS), scene.now.plus((hours + 1) * HOUR_MS));
        let refused =
            Feedback::Rejected { until: Some(refused_at), refund: None, sent_at: refused_at };
        let taken = Feedback::Accepted { remaining: None, in_flight: 0, sent_at: taken_at };
        for (feedback, at) in [(refused, refused_at), (taken, taken_at)] {
            let heard = scene.store.feedback(read("acct-1/orders"), feedback, at).await;
            heard.expect("it is taken down");
        }
    }
    let limit = scene.waitless("limit list --json").json()[0].clone();
    assert_eq!(limit["policy"], "1/min burst 2 margin 0ms");
    let slower = limit["slower"].as_str().expect("it is slower").to_owned();
    let (rate, _) = slower.split_once(' ').expect("a policy has words");
    assert_ne!(rate, "1/min");
    let listed = scene.waitless("limit list");
    assert!(listed.text().contains(&format!("{rate}, published 1/min ")), "{}", listed.stdout);
    let shown = scene.waitless("limit show shop/orders");
    let line = format!("slower      {slower}: refusals have taught it so");
    assert!(shown.text().contains(&line), "{}", shown.stdout);
    let explained = scene.waitless("job explain 01900001");
    let line = format!("{slower}, slower than the published 1/min burst 2");
    assert!(explained.text().contains(&line), "{}", explained.stdout);
}
