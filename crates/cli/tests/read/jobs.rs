use serde_json::{Value, json};

use crate::{
    program::words,
    scene::{Scene, id},
};

#[tokio::test]
async fn jobs_are_listed_with_what_they_wait_for() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        words(scene.waitless("job list").text()),
        r"
ID  KIND  ACCOUNT  GROUP  STATE  ATTEMPTS  REQUESTS  RUN  NOTE
01900001-0000  orders  First seller  orders  succeeded  1/8  12/12  01900001  <span> ago
01900002-0000  orders  First seller  orders  dead  1/8  0  01900001  <span> ago: the upstream answered 403: \u{1b}[31mfo…
01900003-0000  orders  First seller  orders  waiting  0/8  0/?  01900001  token in <span>
01900004-0000  orders  First seller  orders  waiting  0/8  0/?  01900001  token in <span>
01900005-0000  sales  First seller  sales  waiting  0/8  0/?  01900001  for a slot
01900006-0000  orders  Evil \u{1b}[2Jseller  orders  waiting  0/8  0/?  01900002  closed, in <span>
01900007-0000  orders  Third seller  orders  waiting  0/8  0/?  -  paused: its token was refused
01900008-0000  sales  First seller  sales  scheduled  0/8  0/?  -  in <span>
01900009-0000  orders  First seller  orders  retryable  1/8  0/?  01900001  in <span>: timed out
"
    );
}

#[tokio::test]
async fn a_wide_list_has_more_columns() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        words(scene.waitless("job list --state succeeded -o wide").text()),
        r"
ID  KIND  ACCOUNT  GROUP  STATE  ATTEMPTS  REQUESTS  RUN  NOTE  CLASS  ROWS  SNOOZES  CREATED  STARTED  FINISHED
01900001-0000-7000-8000-000000000001  orders  acct-1  orders  succeeded  1/8  12/12  01900001-0000-7000-8000-000000000001  <span> ago  bulk  4000  0  <time>  <time>  <time>
"
    );
}

#[tokio::test]
async fn every_field_of_a_job_is_in_the_json() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    let expected = json!([{
        "id": id(6),
        "kind": "orders",
        "account": "acct-2",
        "run": id(2),
        "class": "normal",
        "seq": 6,
        "state": "waiting",
        "blocked_by": {"type": "hold", "bucket": "acct-2/orders", "until": "<ms>"},
        "worker": true,
        "ready_at": "<ms>",
        "needs": [{"group": "orders", "cost": 1}],
        "attempts": 0,
        "attempts_max": 8,
        "snoozes": 0,
        "progress": {"requests_done": 0, "requests_total": null, "rows": 0},
        "error": null,
        "unique_key": null,
        "lease": null,
        "run_at": "<ms>",
        "created_at": "<ms>",
        "started_at": null,
        "finished_at": null,
    }]);
    let said = scene.waitless("job list --account acct-2 --json");
    assert_eq!(said.json(), expected);
    let line = scene.waitless("job list --account acct-2 -o jsonl");
    assert_eq!(line.text().lines().count(), 1);
    assert_eq!(line.json(), expected[0]);
}

#[tokio::test]
async fn filters_let_through_what_matches_all_of_them() {
    let scene = Scene::in_use().await;
    let ids = |filter: &str| {
        let said = scene.waitless(&format!("job list -o id {filter}"));
        said.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids("--state waiting --account acct-1"), [id(3), id(4), id(5)]);
    assert_eq!(ids("--kind sales"), [id(5), id(8)]);
    assert_eq!(ids(&format!("--run {}", id(2))), [id(6)]);
    assert_eq!(ids("--run 01900002"), [id(6)]);
    assert_eq!(ids("--run 01900002 --state dead"), [""; 0]);
    let by_name = scene.waitless_with(&["job", "list", "-o", "id", "--account", "Third seller"]);
    assert_eq!(by_name.text(), format!("{}\n", id(7)));
}

#[tokio::test]
async fn a_list_that_was_cut_says_how_to_go_on() {
    let scene = Scene::in_use().await;
    let first = scene.waitless("job list -o id --limit 2");
    assert_eq!((first.code, first.stdout), (0, format!("{}\n{}\n", id(1), id(2))));
    assert_eq!(first.stderr, format!("there are more: --after {} lists them\n", id(2)));
    let rest = scene.waitless(&format!("job list -o id --after {}", id(7)));
    assert_eq!(rest.text(), format!("{}\n{}\n", id(8), id(9)));
}

#[tokio::test]
async fn a_job_is_shown_without_the_values_of_its_arguments() {
    let scene = Scene::in_use().await;
    assert_eq!(
        words(scene.waitless("job show 01900001").text()),
        r#"
job  01900001-0000-7000-8000-000000000001
kind  orders
account  acct-1  First seller
run  01900001-0000-7000-8000-000000000001
state  succeeded  <time> (<span> ago)
class  bulk
needs  1 of orders
attempts  1 of 8
snoozes  0
requests  12/12
rows  4 000
created  <time> (<span> ago)
started  <time> (<span> ago)
finished  <time> (<span> ago)
checkpoint  {"page":12,"cursor":"\u001b[2J"}
args  49 bytes: secret, since
"#
    );
    assert!(!scene.waitless("job show 01900001 --json").text().contains("12345678901234567"));
}

#[tokio::test]
async fn arguments_are_printed_byte_for_byte_when_asked_for() {
    let scene = Scene::in_use().await;
    let args = r#"{"secret":12345678901234567,"since":"2026-01-01"}"#;
    let text = scene.waitless("job show 01900001 --args");
    assert_eq!(text.text().lines().last().map(str::trim), Some(args));
    let said = scene.waitless("job show 01900001 --args --json");
    assert!(said.text().contains(args), "{}", said.stdout);
    let shown = said.json();
    assert_eq!(shown["args_keys"], json!(["secret", "since"]));
    assert_eq!(shown["args_bytes"], 49);
    assert_eq!(shown["checkpoint"], json!({"page": 12, "cursor": "\u{1b}[2J"}));
}

#[tokio::test]
async fn what_is_shown_of_a_job_is_what_is_listed_and_more() {
    let scene = Scene::in_use().await;
    let listed = scene.waitless("job list --state dead --json").json();
    let mut shown = scene.waitless("job show 01900002 --json").json();
    let fields = shown.as_object_mut().expect("it is an object");
    for more in ["args_bytes", "args_keys", "checkpoint"] {
        assert!(fields.remove(more).is_some(), "{more}");
    }
    assert_eq!(Value::Array(vec![shown]), listed);
}

#[tokio::test]
async fn a_job_explains_why_it_waits() {
    let scene = Scene::in_use().await;
    let explained = |number| words(scene.waitless(&format!("job explain {}", id(number))).text());
    assert_eq!(
        explained(3),
        r"
waiting  2nd in line for bucket First seller/orders
  First seller/orders  level 0.00 of 3, 1/d burst 3 margin 0ms → token for this job in <span> (<time>)
  1 job is ahead of it in its lane
  attempts 0 of 8  snoozes 0 (to be put back costs no attempt)
  no worker runs on this store: nothing starts before one does
"
    );
    assert_eq!(
        explained(5),
        r"
waiting  1st in line for a slot; its tokens are there
  First seller/sales  level 1.00 of 1, 1/d burst 1 margin 0ms → not limiting
  attempts 0 of 8  snoozes 0 (to be put back costs no attempt)
  no worker runs on this store: nothing starts before one does
"
    );
    assert_eq!(
        explained(6),
        r"
waiting  1st in line for bucket Evil \u{1b}[2Jseller/orders, which its upstream has closed until <time> (in <span>)
  Evil \u{1b}[2Jseller/orders  level 0.77 of 2, 1/d burst 2 margin 0ms → token for this job in <span> (<time>)
  attempts 0 of 8  snoozes 0 (to be put back costs no attempt)
  no worker runs on this store: nothing starts before one does
"
    );
    assert_eq!(
        explained(7),
        r"
waiting  account Third seller is paused: its token was refused; when that is mended: waitless account resume acct-3
  Third seller/orders  level 1.00 of 1, 1/d burst 1 margin 0ms → not limiting
  attempts 0 of 8  snoozes 0 (to be put back costs no attempt)
  no worker runs on this store: nothing starts before one does
"
    );
}

#[tokio::test]
async fn a_job_that_does_not_wait_explains_itself_in_a_line() {
    let scene = Scene::in_use().await;
    let first_line = |number| {
        let said = scene.waitless(&format!("job explain {}", id(number)));
        words(said.text().lines().next().expect("there is a line")).trim().to_owned()
    };
    assert_eq!(
        [1, 2, 8, 9].map(first_line),
        [
            "succeeded  <time> (<span> ago)",
            r"dead  <time> (<span> ago): the upstream answered 403: \u{1b}[31mforbidden\nfor ever",
            "scheduled  not before <time> (in <span>)",
            "retryable  attempt 1 of 8 failed, the next is made at <time> (in <span>): timed out",
        ]
    );
}

#[tokio::test]
async fn an_explanation_has_its_numbers_in_the_json() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    assert_eq!(
        scene.waitless("job explain 01900003 --json").json(),
        json!({
            "id": id(3),
            "attempts": 0,
            "attempts_max": 8,
            "worker": true,
            "state": "waiting",
            "blocked_by": {"type": "bucket", "bucket": "acct-1/orders"},
            "ready_at": "<ms>",
            "reasons": [
                {
                    "type": "bucket",
                    "bucket": "acct-1/orders",
                    "limit": "1/d burst 3 margin 0ms",
                    "quota": {
                        "capacity": 3,
                        "used": 3,
                        "remaining": 0,
                        "resets_in_ms": "<ms>",
                        "next_token_in_ms": "<ms>",
                        "held_until": null,
                    },
                    "level_hundredths": 0,
                    "wait_ms": "<ms>",
                    "limiting": true,
                },
                {"type": "ahead", "jobs": 1},
            ],
        })
    );
}

#[tokio::test]
async fn a_job_that_costs_more_than_its_bucket_holds_is_told_so() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 3 margin 0")]).await;
    scene.enqueue(scene.job(1, "orders", "acct-1").needs(Scene::needs("orders", 3))).await;
    scene.limits(&[("acct-1/orders", "1/d burst 2 margin 0")]).await;
    let said = scene.waitless("job explain 01900001");
    let never = "a request takes 3: it can never go; lower its cost or raise the burst";
    assert!(said.text().contains(never), "{}", said.stdout);
}

#[tokio::test]
async fn without_a_worker_no_job_says_when_it_starts() {
    let scene = Scene::in_use().await;
    let text = scene.waitless("job list --state waiting");
    let notes: Vec<&str> =
        text.text().lines().skip(1).map(|line| line.rsplit("  ").next().unwrap_or(line)).collect();
    let paused = "paused: its token was refused";
    assert_eq!(notes, ["no worker", "no worker", "no worker", "no worker", paused]);
    for command in ["job list --state waiting --json --limit 500", "job explain 01900003 --json"] {
        let said = scene.waitless(command).json();
        let job = said.get(0).unwrap_or(&said);
        assert_eq!((&job["worker"], &job["ready_at"]), (&json!(false), &Value::Null), "{command}");
    }
}

#[tokio::test]
async fn ids_in_a_list_are_long_enough_to_tell_jobs_apart() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 9 margin 0")]).await;
    let job = scene.job(1, "orders", "acct-1");
    for id in ["01900001-0000-7000-8000-0000000000a1", "01900001-0000-7000-8100-0000000000a1"] {
        let id = waitless_job::JobId(crate::scene::read(id));
        scene.enqueue(waitless_job::NewJob { id, ..job.clone() }).await;
    }
    let said = scene.waitless("job list");
    let ids: Vec<&str> =
        said.text().lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(ids, ["01900001-0000-7000-80", "01900001-0000-7000-81"]);
}

#[tokio::test]
async fn a_job_that_was_given_up_can_be_retried_beside_a_worker() {
    let scene = Scene::in_use().await;
    scene.start_worker().await;
    let said = scene.waitless("job retry 01900002");
    let first: Vec<&str> = said.text().lines().take(1).collect();
    assert_eq!(first, [format!("job         {}", id(2))]);
    let shown = scene.waitless("job show 01900002 --json").json();
    assert_eq!((&shown["state"], &shown["attempts"]), (&json!("waiting"), &json!(0)));

    let again = scene.waitless("job retry 01900002");
    assert_eq!(again.code, 5, "{}", again.stderr);
    let says = "is waiting: only dead and cancelled jobs can be retried";
    assert!(again.stderr.contains(says), "{}", again.stderr);
    assert_eq!(scene.waitless("job retry ffff").code, 3);
}

#[tokio::test]
async fn a_job_that_was_replaced_is_not_retried() {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 9 margin 0")]).await;
    scene.enqueue(scene.job(1, "orders", "acct-1").unique_key("orders:acct-1")).await;
    let reason = "the seller has left".into();
    scene.end(1, "acct-1/orders", waitless_store::ops::Outcome::Cancel { reason }, None).await;
    scene.enqueue(scene.job(2, "orders", "acct-1").unique_key("orders:acct-1")).await;
    let said = scene.waitless("job retry 01900001");
    assert_eq!((said.code, said.stdout.as_str()), (5, ""));
    let says = "another job that has not ended has its unique key `orders:acct-1`";
    assert!(said.stderr.contains(says), "{}", said.stderr);
}

#[tokio::test]
async fn tables_fit_a_hundred_columns() {
    let scene = Scene::in_use().await;
    for worker in [false, true] {
        if worker {
            scene.start_worker().await;
        }
        for command in ["job list --state waiting --account acct-1", "limit list", "run list"] {
            let said = scene.waitless(command);
            let widest = said.text().lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(100), "{command}: {widest:?}\n{}", said.stdout);
        }
    }
}

#[tokio::test]
async fn states_are_coloured_when_asked_for_and_else_not_in_a_pipe() {
    let scene = Scene::in_use().await;
    let plain = scene.waitless("job list --state dead");
    assert!(!plain.text().contains('\u{1b}'), "{}", plain.stdout);
    let colored = scene.waitless("job list --state dead --color always");
    assert!(colored.text().contains("\u{1b}[38;5;9mdead"), "{:?}", colored.stdout);
    assert!(!scene.waitless("job list --json --color always").text().contains("\u{1b}"));
}
