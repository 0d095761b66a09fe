//! Every command that is asked for what there is not ends with the code that says why, and says
//! on standard error what was looked for and how to list what there is.

use std::fs;

use rusqlite::Connection;

use crate::{
    program::{program, waitless},
    scene::{Scene, id},
};

/// Each command that wants a store to be there once, on a store that its `--store` names.
const ALL: [&str; 10] = [
    "run list",
    "run show --latest",
    "run watch --latest",
    "job list",
    "job show 01900001",
    "job explain 01900001",
    "job retry 01900001",
    "limit list",
    "limit show acct-1/orders",
    "account list",
];

/// Fails with this code and says all of this, and prints no data.
#[track_caller]
fn fails(scene: &Scene, args: &[&str], code: i32, says: &[&str]) {
    let said = scene.waitless_with(args);
    assert_eq!((said.code, said.stdout.as_str()), (code, ""), "{args:?}: {}", said.stderr);
    for says in says {
        assert!(said.stderr.contains(says), "{args:?} does not say {says:?}: {}", said.stderr);
    }
    assert!(!said.stderr.contains('\u{1b}'), "{args:?}: {:?}", said.stderr);
}

/// Every reading command on this store fails so, and `doctor` as it does.
#[track_caller]
fn all_fail(store: &str, code: i32, doctor_code: i32, says: &str) {
    for command in ALL.into_iter().chain(["doctor"]) {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.extend(["--store", store]);
        let said = waitless(&args);
        let expected = if command == "doctor" { doctor_code } else { code };
        assert_eq!(said.code, expected, "{command}: {}", said.stderr);
        assert!((said.stderr + &said.stdout).contains(says), "{command}: {}", said.stdout);
    }
}

#[tokio::test]
async fn a_store_that_is_not_there_is_not_found_and_not_made() {
    let scene = Scene::empty().await;
    let path = scene.path("other.db");
    let url = format!("sqlite:{}", path.display());
    all_fail(&url, 3, 3, &format!("there is no store {url}: `waitless import` makes one"));
    assert!(!path.exists());
}

#[tokio::test]
async fn what_is_no_store_is_left_alone() {
    let scene = Scene::empty().await;
    let text = scene.path("text.db");
    fs::write(&text, "not a database, but as long as the header of one: ".repeat(20))
        .expect("there is room");
    all_fail(&format!("sqlite:{}", text.display()), 1, 7, "it is not an SQLite database");

    let foreign = scene.path("foreign.db");
    let connection = Connection::open(&foreign).expect("it can be made");
    connection.execute("CREATE TABLE theirs (id INTEGER)", []).expect("it can be written");
    drop(connection);
    let url = format!("sqlite:{}", foreign.display());
    all_fail(&url, 1, 7, "it is the database of another program");

    let empty = scene.path("empty.db");
    fs::write(&empty, "").expect("there is room");
    all_fail(&format!("sqlite:{}", empty.display()), 1, 7, "it is empty, and no store");
    let rows = scene.path("rows.db");
    let connection = Connection::open(&rows).expect("it can be made");
    connection
        .execute("CREATE TABLE sink_schema_history (version INTEGER)", [])
        .expect("it can be written");
    drop(connection);
    let before = fs::read(&rows).expect("it is there");
    all_fail(&format!("sqlite:{}", rows.display()), 1, 7, "it holds landed rows and no jobs");
    assert_eq!(fs::read(&rows).expect("it is there"), before);
    assert_eq!(fs::read(&empty).expect("it is there"), b"");

    let directory = scene.path("");
    all_fail(&format!("sqlite:{}", directory.display()), 1, 7, "it is a directory");
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_left_alone() {
    let scene = Scene::empty().await;
    let connection = Connection::open(scene.path("queue.db")).expect("it can be opened");
    connection
        .execute("UPDATE store_schema_history SET version = 999 WHERE version = 1", [])
        .expect("it can be written");
    all_fail(scene.url(), 1, 7, "has schema version 999, this program knows versions up to");
}

#[test]
fn what_is_no_address_of_a_store_is_a_wrong_usage() {
    all_fail("memory", 2, 2, "a store in memory ends with its process");
    all_fail("queue.db", 2, 2, "`queue.db` is not a store: use `sqlite:PATH`");
    all_fail("sqlite:", 2, 2, "is not a store: use `sqlite:PATH`");
    all_fail("redis://localhost", 2, 2, "stores on Redis are not built into this version");
}

#[tokio::test]
async fn what_is_not_in_the_store_is_not_found() {
    let scene = Scene::in_use().await;
    let list_jobs = "`waitless job list` lists them";
    for verb in ["show", "explain"] {
        let says = ["there is no job `ffff` in this store", list_jobs];
        fails(&scene, &["job", verb, "ffff"], 3, &says);
    }
    let list_runs = "there is no run `ffff` in this store: `waitless run list` lists them";
    for verb in ["show", "watch"] {
        fails(&scene, &["run", verb, "ffff"], 3, &[list_runs]);
    }
    fails(&scene, &["job", "list", "--run", "ffff"], 3, &[list_runs]);
    let list_accounts = "there is no account `nobody` in this store: `waitless account list`";
    fails(&scene, &["job", "list", "--account", "nobody"], 3, &[list_accounts]);
    fails(&scene, &["limit", "list", "--account", "nobody"], 3, &[list_accounts]);
    fails(&scene, &["limit", "show", "nobody/orders"], 3, &[list_accounts]);
    fails(
        &scene,
        &["limit", "show", "acct-1/prices"],
        3,
        &["there is no limit for bucket acct-1/prices", "are orders, sales; `waitless limit list`"],
    );
    let evil = ["job", "list", "--account", "no\u{1b}[2Jbody"];
    fails(&scene, &evil, 3, &[r"there is no account `no\u{1b}[2Jbody`"]);
}

#[tokio::test]
async fn in_an_empty_store_there_is_no_latest_run() {
    let scene = Scene::empty().await;
    for verb in ["show", "watch"] {
        let says = "there is no run in this store: `waitless import` starts one";
        fails(&scene, &["run", verb, "--latest"], 3, &[says]);
    }
}

#[tokio::test]
async fn the_beginning_of_several_ids_lists_them() {
    let scene = Scene::in_use().await;
    let says = [
        "more than one fits: the id of a job begins `0190`; name one of\n",
        &format!("  {}  orders  acct-1  succeeded\n", id(1)),
        &format!("  {}  orders  acct-1  retryable\n", id(9)),
    ];
    for verb in ["show", "explain"] {
        fails(&scene, &["job", verb, "0190"], 2, &says);
    }
    let says = [
        "more than one fits: the id of a run begins `0190`; name one of\n",
        &format!("  {}  digitization\n  {}  prices\n", id(1), id(2)),
    ];
    for verb in ["show", "watch"] {
        fails(&scene, &["run", verb, "0190"], 2, &says);
    }
    scene.account("acct-4", "First seller", None).await;
    let says = ["the name of an account is `First seller`; name one of\n  acct-1\n  acct-4\n"];
    fails(&scene, &["job", "list", "--account", "First seller"], 2, &says);
}

#[tokio::test]
async fn what_can_name_nothing_is_a_wrong_usage() {
    let scene = Scene::in_use().await;
    let no_id = "is not the id of a job or its beginning";
    for text in ["", "xyz", "01900001-0000-7000-8000-0000000000010", "\u{1b}[2J"] {
        fails(&scene, &["job", "show", text], 2, &[no_id, "`waitless job list` lists them"]);
    }
    fails(&scene, &["run", "show", "xyz"], 2, &["is not the id of a run or its beginning"]);
    let no_bucket = "`orders` is not a bucket: write ACCOUNT/GROUP; `waitless limit list`";
    fails(&scene, &["limit", "show", "orders"], 2, &[no_bucket]);
    fails(&scene, &["limit", "show", "acct-1/"], 2, &["limit group `` is not a name"]);
    fails(&scene, &["limit", "show", "acct-1/a b"], 2, &["limit group `a b` is not a name"]);
}

#[tokio::test]
async fn filters_that_mean_nothing_are_a_wrong_usage() {
    let scene = Scene::in_use().await;
    for (args, says) in [
        (["--state", "asleep"], "`asleep` is not a job state: use one of scheduled, waiting"),
        (["--kind", "a b"], "kind `a b` is not a name"),
        (["--limit", "0"], "it is not a whole number from 1 to 500"),
        (["--limit", "many"], "it is not a whole number from 1 to 500"),
        (["--after", "0190"], "--after"),
        (["--output", "yaml"], "table, wide, json, jsonl, id"),
    ] {
        fails(&scene, &["job", "list", args[0], args[1]], 2, &[says]);
    }
    fails(&scene, &["run", "show"], 2, &["required"]);
    fails(&scene, &["run", "show", "0190", "--latest"], 2, &["cannot be used with"]);
    fails(&scene, &["run", "show", "--latest", "--slots", "0"], 2, &["slots are a number"]);
}

#[test]
fn a_day_is_asked_for_as_it_is_written() {
    let said = waitless(&["import", "--account", "shop", "--since", "31.01.2026"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("write YYYY-MM-DD"), "{}", said.stderr);
}

#[tokio::test]
async fn json_and_another_output_contradict_each_other() {
    let scene = Scene::in_use().await;
    let both = ["job", "list", "--json", "-o", "wide"];
    fails(&scene, &both, 2, &["--json is short for --output json"]);
    scene.waitless("job list --json -o json").json();
    let args = ["job", "list", "--json", "--store", scene.url()];
    let output = program(&args).env("WAITLESS_OUTPUT", "wide").output().expect("it can be started");
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn a_variable_that_is_empty_is_not_set() {
    let scene = Scene::in_use().await;
    let mut command = program(&["job", "list", "--store", scene.url()]);
    for name in ["OUTPUT", "COLOR", "LOG", "STORE", "ACCOUNT", "STATE"] {
        command.env(format!("WAITLESS_{name}"), "");
    }
    let output = command.output().expect("it can be started");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_completion_script_that_cannot_be_written_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").expect("there is one");
    let mut command = program(&["completions", "bash"]);
    let output = command.stdout(full).stderr(std::process::Stdio::piped()).spawn();
    let output = output.and_then(std::process::Child::wait_with_output).expect("it can be started");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: cannot write to standard output"), "{stderr}");
}

#[tokio::test]
async fn the_scenario_in_the_help_can_be_simulated() {
    let scene = Scene::empty().await;
    let help = waitless(&["simulate", "--help"]);
    let (_, example) = help.text().split_once("requests each:\n\n").expect("there is an example");
    let path = scene.path("mine.toml");
    fs::write(&path, example).expect("there is room");
    let path = path.display().to_string();
    let report = waitless(&["simulate", "--scenario", &path, "--json"]).json();
    assert_eq!(report["scenario"], path.as_str());
}
