use serde_json::json;

use crate::{
    program::words,
    scene::{Scene, id, progress, read},
};
use waitless_job::RunId;
use waitless_store::ops::Outcome;

#[tokio::test]
async fn runs_are_listed_with_their_progress_and_eta() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        words(scene.waitless("run list").text()),
        r"
ID  NAME  STARTED  STATE  JOBS  FAILED  REQUESTS  ROWS  ETA
01900001-0000  digitization  <span> ago  running  1/6  1  12/16  4 000  in <span>
01900002-0000  prices  <span> ago  running  0/1  0  0/1  0  in <span>
"
    );
    assert_eq!(
        words(scene.waitless("run list -o wide").text()),
        r"
ID  NAME  STARTED  STATE  JOBS  FAILED  REQUESTS  ROWS  ETA  BINDING  FINISHED
01900001-0000-7000-8000-000000000001  digitization  <time>  running  1/6  1  12/16  4 000  in <span>  First seller/orders  -
01900002-0000-7000-8000-000000000002  prices  <time>  running  0/1  0  0/1  0  in <span>  Evil \u{1b}[2Jseller/orders  -
"
    );
    assert_eq!(scene.waitless("run list -o id").text(), format!("{}\n{}\n", id(1), id(2)));
}

#[tokio::test]
async fn a_run_shows_which_limit_decides_its_end() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        words(scene.waitless("run show 01900001").text()),
        r"
run  01900001-0000-7000-8000-000000000001  digitization
state  running
started  <time> (<span> ago)
done  1 of 6 jobs, 1 failed, 12 of 16 requests, 4 000 rows
ETA  <time> (in <span>)

BUCKET  LIMIT  CALLS LEFT  LEVEL  ALONE NEEDS
First seller/orders  1/d burst 3 margin 0ms  3  0.00  <span>  ◀ binding
First seller/sales  1/d burst 1 margin 0ms  1  1.00  <span>
slots  8 x <span>  4  <span>

failed 1
JOB  KIND  ACCOUNT  STATE  WHY
01900002-0000  orders  First seller  dead  the upstream answered 403: \u{1b}[31mforbidden\nfor ever
"
    );
}

#[tokio::test]
async fn a_run_has_everything_in_its_json() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    let bucket = |group: &str, burst: u32, left: u32, level: u32, binding: bool| {
        json!({
            "bucket": format!("acct-1/{group}"),
            "policy": format!("1/d burst {burst} margin 0ms"),
            "slower": null,
            "requests_left": left,
            "level_hundredths": level,
            "held_until": null,
            "needs_ms": "<ms>",
            "binding": binding,
        })
    };
    let expected = json!({
        "id": id(1),
        "name": "digitization",
        "state": "running",
        "worker": true,
        "started_at": "<ms>",
        "finished_at": null,
        "jobs": {
            "total": 6,
            "done": 2,
            "succeeded": 1,
            "failed": 1,
            "by_state": {"waiting": 3, "retryable": 1, "succeeded": 1, "dead": 1},
        },
        "progress": {"requests_done": 12, "requests_left": 4, "rows": 4_000},
        "eta": {"at": "<ms>", "binding": {"type": "bucket", "bucket": "acct-1/orders"}},
        "buckets": [bucket("orders", 3, 3, 0, true), bucket("sales", 1, 1, 100, false)],
        "slots": {
            "slots": 2,
            "request_ms": "<ms>",
            "requests_left": 4,
            "needs_ms": "<ms>",
            "binding": false,
        },
        "paused": [],
        "failures": [{
            "id": id(2),
            "kind": "orders",
            "account": "acct-1",
            "state": "dead",
            "finished_at": "<ms>",
            "error": "the upstream answered 403: \u{1b}[31mforbidden\nfor ever",
        }],
    });
    assert_eq!(scene.waitless("run show 01900001 --slots 2 --json").json(), expected);
}

#[tokio::test]
async fn the_latest_run_is_the_one_that_was_started_last() {
    let scene = Scene::in_use().await;
    assert_eq!(scene.waitless("run show --latest -o id").text(), format!("{}\n", id(2)));
}

#[tokio::test]
async fn a_paused_account_is_named_beside_the_eta() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    scene.pause("acct-2", "no token").await;
    assert_eq!(
        words(scene.waitless("run show --latest").text()),
        r"
run  01900002-0000-7000-8000-000000000002  prices
state  running
started  <time> (<span> ago)
done  0 of 1 job, 0 of 1 request, 0 rows
ETA  <time> (in <span>), counted as if no account were paused
paused  account Evil \u{1b}[2Jseller: no token
  when that is mended: waitless account resume acct-2

BUCKET  LIMIT  CALLS LEFT  LEVEL  ALONE NEEDS
Evil \u{1b}[2Jseller/orders  1/d burst 2 margin 0ms  1  0.77  <span>, closed for <span>  ◀ binding
slots  8 x <span>  1  <span>
"
    );
}

#[tokio::test]
async fn a_run_that_ended_is_finished_or_failed() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 9 margin 0")]).await;
    for (run, name) in [(1, "good"), (2, "bad"), (3, "new")] {
        scene.run(run, name).await;
    }
    scene.enqueue(scene.job(1, "orders", "acct-1").run(RunId(read(&id(1))))).await;
    scene.end(1, "acct-1/orders", Outcome::Done, Some(progress(3, 3, 30))).await;
    scene.enqueue(scene.job(2, "orders", "acct-1").run(RunId(read(&id(2))))).await;
    let reason = "the seller has left".into();
    scene.end(2, "acct-1/orders", Outcome::Cancel { reason }, None).await;
    assert_eq!(
        words(scene.waitless("run list").text()),
        r"
ID  NAME  STARTED  STATE  JOBS  FAILED  REQUESTS  ROWS  ETA
01900001-0000  good  <span> ago  finished  1/1  0  3/3  30  -
01900002-0000  bad  <span> ago  failed  0/1  1  0/0  0  -
01900003-0000  new  <span> ago  empty  0/0  0  0/0  0  -
"
    );
    assert_eq!(
        words(scene.waitless("run show 01900002").text()),
        r"
run  01900002-0000-7000-8000-000000000002  bad
state  failed
started  <time> (<span> ago)
done  0 of 1 job, 1 failed, 0 of 0 requests, 0 rows
ETA  ended <time>

failed 1
JOB  KIND  ACCOUNT  STATE  WHY
01900002-0000  orders  acct-1  cancelled  the seller has left
"
    );
}

#[tokio::test]
async fn a_run_without_a_worker_is_stopped_and_has_no_eta() {
    let scene = Scene::in_use().await;
    let list = scene.waitless("run list");
    assert_eq!(
        words(list.text()),
        r"
ID  NAME  STARTED  STATE  JOBS  FAILED  REQUESTS  ROWS  ETA
01900001-0000  digitization  <span> ago  stopped  1/6  1  12/16  4 000  -
01900002-0000  prices  <span> ago  stopped  0/1  0  0/1  0  -
"
    );
    let shown = words(scene.waitless("run show --latest").text());
    for line in ["state  stopped", "ETA  -", "no worker runs on this store: nothing starts before"]
    {
        assert!(shown.contains(&format!("\n{line}")), "{line}: {shown}");
    }
    let run = scene.waitless("run show --latest --json").json();
    assert_eq!((&run["worker"], &run["eta"]), (&json!(false), &json!(null)));
    assert_eq!(run["state"], "running");
}
