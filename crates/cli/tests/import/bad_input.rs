//! What a user may get wrong: the message says what, where and what to do, and the exit code tells
//! a script.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    process::{Command, Output},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use waitless_job::{Clock, JobState};
use waitless_store::Store;
use waitless_store_sqlite::SqliteStore;

use crate::support::{MAIN, Shop, now, run, start, stderr, waitless};

#[track_caller]
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}

fn import(shop: &Shop, change: impl FnOnce(&mut Command)) -> Output {
    let mut command = shop.import();
    change(&mut command);
    run(command)
}

fn jwt(claims: &str) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", part(r#"{"alg":"ES256"}"#), part(claims), part("signature"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_missing_malformed_or_expired_is_said_and_nothing_is_asked() {
    let shop = Shop::with_pages(2).await;
    let expired = jwt(r#"{"sid":"6ee09b3c-2ad8-4b9b-a0b4-5b5a4d3d0c01","exp":1600000000,"acc":3}"#);
    for (token, words) in [
        ("", vec!["token"]),
        ("not a token", vec!["token", "should have 3"]),
        ("a.b", vec!["token"]),
        (expired.as_str(), vec!["expired"]),
    ] {
        fs::write(shop.path("token"), token).expect("the token is written");
        let output = import(&shop, |_| {});
        assert_refused(&output, 4, &words);
        assert!(!stderr(&output).contains("b3JkZXJz"), "no part of a token is shown");
    }
    fs::remove_file(shop.path("token")).expect("it was there");
    assert_refused(&import(&shop, |_| {}), 4, &["cannot read the token file"]);

    let mut command = waitless();
    command.args(["import", "--account", "a", "--token-env", "NO_SUCH_TOKEN"]);
    command.args(["--store", &shop.url("q.db"), "--sink", &shop.url("r.db")]);
    assert_refused(&run(command), 4, &["NO_SUCH_TOKEN"]);
    let mut command = waitless();
    command.args(["import", "--account", "a"]);
    assert_refused(&run(command), 2, &["--token-file"]);
    assert_eq!(shop.mock.audit().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_datasets_days_and_addresses_are_usage_errors() {
    let shop = Shop::with_pages(2).await;
    let output = import(&shop, |command| {
        command.args(["--datasets", "orders,invoices"]);
    });
    assert_refused(&output, 2, &["invoices", "orders, sales"]);
    let output = import(&shop, |command| {
        command.args(["--since", "2199-01-01"]);
    });
    assert_refused(&output, 2, &["2199-01-01", "today is"]);
    let output = import(&shop, |command| {
        command.args(["--since", "yesterday"]);
    });
    assert_refused(&output, 2, &["yesterday"]);
    for (flag, value, word) in [
        ("--store", "mysql:x", "sqlite:PATH"),
        ("--store", "redis://127.0.0.1", "sqlite:PATH"),
        ("--sink", "postgres://x", "sqlite:PATH"),
        ("--slots", "0", "1 to 10000"),
    ] {
        let mut command = waitless();
        command.args(["import", "--account", "a", "--token-file"]).arg(shop.path("token"));
        command.args([flag, value]);
        assert_refused(&run(command), 2, &[word]);
    }
    for bad in ["ftp://127.0.0.1", "localhost:80", "http://"] {
        let mut command = waitless();
        command.args(["import", "--account", "a", "--token-file"]).arg(shop.path("token"));
        command.args(["--base-url", bad]);
        assert_refused(&run(command), 2, &["http"]);
    }
    assert_eq!(shop.mock.audit().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_beyond_the_upstreams_depth_is_moved_up_and_that_is_said() {
    let shop = Shop::with_pages(2).await;
    let output = import(&shop, |command| {
        command.args(["--since", "2020-01-01"]);
    });
    assert_refused(&output, 0, &["90 days", "2020-01-01"]);
    shop.assert_all_landed(&MAIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_answers_html_fails_attempts_and_says_so_in_the_job() {
    let shop = Shop::with_pages(2).await;
    let html = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = html.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in html.incoming().take(64) {
            let mut stream = stream.expect("somebody asks");
            let _ = stream.read(&mut [0; 4_096]);
            let body = "<html><body>Please log in</body></html>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let mut command = waitless();
    command.args(["import", "--account", "a", "--datasets", "orders", "--token-file"]);
    command.arg(shop.path("token")).args(["--base-url", &format!("http://{address}")]);
    command.args(["--store", &shop.url("q.db"), "--sink", &shop.url("r.db"), "--speed", "600"]);
    let import = start(command);
    let error = loop {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        if !shop.path("q.db").exists() {
            continue;
        }
        let store = SqliteStore::open(shop.path("q.db")).await.expect("the store opens");
        let filter = waitless_store::ops::JobFilter {
            state: Some(JobState::Retryable),
            limit: 1,
            ..waitless_store::ops::JobFilter::default()
        };
        let jobs = waitless_store::Reader::jobs(&store, filter).await.expect("the jobs are read");
        if let Some(error) = jobs.first().and_then(|job| job.error.clone()) {
            break error;
        }
    };
    let mut import = import;
    import.kill().expect("it is there to be killed");
    import.wait().expect("it has ended");
    assert!(error.contains("Please log in"), "{error}");
    assert!(error.contains(&address.to_string()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_worker_on_the_same_store_is_refused_and_names_the_first() {
    let shop = Shop::with_pages(2).await;
    let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
    store.start_worker("first".parse().expect("a name"), now()).await.expect("it is the first");
    let output = import(&shop, |_| {});
    assert_refused(&output, 5, &["already has a worker", "first"]);
    drop(store);
    assert_refused(&import(&shop, |_| {}), 0, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_other_accounts_in_the_same_store_are_left_alone() {
    let shop = Shop::with_pages(2).await;
    let store = SqliteStore::open(shop.path("queue.db")).await.expect("the store opens");
    let now = Clock::system().now();
    let other = waitless_store::model::Account {
        id: "other".parse().expect("a name"),
        name: "other".into(),
        upstream: "wildberries".into(),
        added_at: now,
        token_expires_at: None,
        token_family: None,
        categories: None,
        paused: None,
    };
    store.put_account(other).await.expect("the account is added");
    let job = waitless_job::NewJob::new("wb.import", "other", &(), now).expect("a job");
    let id = store.enqueue(vec![job], now).await.expect("it is enqueued")[0].id;
    assert_refused(&import(&shop, |_| {}), 0, &[]);
    let (job, _) = waitless_store::Reader::job(&store, id).await.expect("read").expect("there");
    assert_eq!(job.state, JobState::Waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_no_stores_and_folders_that_are_not_there_are_said() {
    let shop = Shop::with_pages(2).await;
    fs::write(shop.path("text.db"), "this is a letter to my landlord, and not a database")
        .expect("it is written");
    for flag in ["--store", "--sink"] {
        for (name, word) in [("text.db", "text.db"), ("nowhere/x.db", "nowhere")] {
            let mut command = waitless();
            command.args(["import", "--account", "a", "--token-file"]).arg(shop.path("token"));
            let (store, sink) = (shop.url("q.db"), shop.url("r.db"));
            let url = shop.url(name);
            let (store, sink) = if flag == "--store" { (&url, &sink) } else { (&store, &url) };
            command.args(["--store", store, "--sink", sink]);
            command.args(["--base-url", &shop.mock.base_url()]);
            assert_refused(&run(command), 1, &[word]);
        }
    }
    assert_eq!(shop.mock.audit().len(), 0);
}

#[test]
fn a_port_in_use_is_a_conflict_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let mut command = waitless();
    command.args(["mock", "--port", &port]);
    assert_refused(&run(command), 5, &[&port, "--port"]);
}

#[test]
fn a_scenario_that_is_wrong_is_refused_with_its_line_and_field() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("mine.toml");
    let simulate = |text: &str| {
        fs::write(&path, text).expect("it is written");
        let mut command = waitless();
        command.arg("simulate").arg("--scenario").arg(&path);
        run(command)
    };
    let head = "slots = 2\nlatency_ms = [1, 2]\n[[accounts]]\nname = \"a\"\n";
    let backlog = |limit: &str| {
        format!("{head}[[accounts.backlog]]\ngroup = \"g\"\nlimit = \"{limit}\"\nrequests = 3\n")
    };
    assert_refused(&simulate(&backlog("often")), 2, &["mine.toml", "line 7", "often", "1/min"]);
    assert_refused(&simulate(&backlog("0/min")), 2, &["tokens must be at least 1"]);
    let unknown = format!("colour = 1\n{}", backlog("1/min"));
    assert_refused(&simulate(&unknown), 2, &["colour"]);
    assert_refused(&simulate(head), 2, &["backlog"]);
    let mut command = waitless();
    command.args(["simulate", "--scenario", "nowhere.toml"]);
    assert_refused(&run(command), 3, &["nowhere.toml", "sellers-200"]);
    assert_refused(&simulate(&backlog("1/s")), 0, &[]);
}
