use waitless_job::{Cost, Feedback, JobId, Leave};
use waitless_upstream::{CallError, ClientConfig, Credential, Request, Secret, UpstreamError};

use crate::{
    CANARY, client,
    ops::{NOW, Notebook},
    request, request_of,
    server::{Server, Step, answer},
};

fn leave_of<T: std::fmt::Debug>(answer: Result<T, CallError>) -> Leave {
    answer.expect_err("no answer to work with").into()
}

#[tokio::test]
async fn a_request_carries_credential_job_query_and_agent_and_its_answer_lowers_the_level() {
    let server = Server::start(|_, _| answer("200 OK", &[("X-Left", "4")], "[1,2]")).await;
    let (notebook, ctx) = Notebook::with_permits([0]);
    let answer = client(ClientConfig::default()).call(&ctx, &request(&server)).await;
    let chunk = answer.expect("an answer").rows().next_chunk().await.expect("rows");
    assert_eq!(chunk.map(|rows| rows.len()), Some(2));

    let head = server.requests()[0].to_lowercase();
    assert!(head.starts_with("get /v1/rows?from=2026-10-01t00%3a00%3a00&key=query-secret http"));
    for line in
        [&format!("authorization: {CANARY}"), "x-job-id: 00000000-", "accept-encoding: gzip"]
    {
        assert!(head.contains(line), "{line} in {head}");
    }
    assert!(head.contains("user-agent: waitless/"), "{head}");
    let accepted = Feedback::Accepted { remaining: Some(4), in_flight: 0, sent_at: NOW };
    assert_eq!(notebook.reports(), [("rows".to_owned(), accepted)]);
    let asked = notebook.asked.lock().unwrap().clone();
    assert_eq!(asked[0].as_slice()[0].cost, Cost::new(2).unwrap(), "the endpoint's cost");
}

#[tokio::test]
async fn a_stale_permit_is_replaced_and_nothing_is_sent_with_it() {
    let server = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let (notebook, ctx) = Notebook::with_permits([61, 200, 60]);
    client(ClientConfig::default()).call(&ctx, &request(&server)).await.expect("an answer");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(notebook.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn permits_that_always_go_stale_put_the_job_off_and_cost_no_attempt() {
    let server = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let (_, ctx) = Notebook::with_permits([61; 100]);
    let answer = client(ClientConfig::default()).call(&ctx, &request(&server)).await;
    assert_eq!(leave_of(answer), Leave::Snooze { wait_ms: 5_000 });
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn each_status_ends_the_attempt_in_its_own_way() {
    let dead = true;
    for (status, is_dead, words) in [
        ("400 Bad Request", dead, "refuses the request (400): no such day"),
        ("404 Not Found", dead, "(404)"),
        ("408 Request Timeout", !dead, "(408)"),
        ("500 Oops", !dead, "failed (500): no such day"),
        ("503 Busy", !dead, "(503)"),
        ("302 Found", !dead, "redirects (302)"),
    ] {
        let body = r#"{"title":"bad","detail":"no such day"}"#;
        let server = Server::start(move |_, _| answer(status, &[], body)).await;
        let (_, ctx) = Notebook::with_permits([0]);
        let answer = client(ClientConfig::default()).call(&ctx, &request(&server)).await;
        match leave_of(answer) {
            Leave::Dead { reason } => assert!(is_dead && reason.contains(words), "{reason}"),
            Leave::Retry { error } => assert!(!is_dead && error.contains(words), "{error}"),
            other => panic!("{status} became {other:?}"),
        }
    }
}

/// A load balancer that knows no such path; a page that tells programs from people.
#[tokio::test]
async fn a_page_for_people_is_tried_again_whatever_its_status_unless_it_lets_nobody_in() {
    let leave = async |status: &'static str| {
        let server = Server::start(move |_, _| {
            answer(status, &[("Content-Type", "text/html")], "<h1>Are you human?</h1>")
        })
        .await;
        let (_, ctx) = Notebook::with_permits([0]);
        leave_of(client(ClientConfig::default()).call(&ctx, &request(&server)).await)
    };
    for status in ["400 No", "404 Not Found", "408 Late", "498 Blocked", "503 Busy"] {
        let Leave::Retry { error } = leave(status).await else { panic!("{status}") };
        assert!(error.contains(&format!("failed ({}): ", &status[..3])), "{error}");
        assert!(error.contains("Are you human?"), "{error}");
    }
    for status in ["401 Unauthorized", "402 Payment Required", "403 Forbidden"] {
        assert!(matches!(leave(status).await, Leave::Pause { .. }), "{status}");
    }
}

#[tokio::test]
async fn a_credential_that_is_not_let_in_pauses_what_its_category_draws_on() {
    for (endpoint, groups) in
        [("rows", &["report", "report.day", "rows", "task"][..]), ("dear", &["dear"][..])]
    {
        for (status, remedy) in [
            ("401 Unauthorized", "give a new token"),
            ("402 Payment Required", "pay what the upstream asks for"),
            ("403 Forbidden", "give a token with the right category and type"),
        ] {
            let body = r#"{"title":"no","detail":"token is withdrawn"}"#;
            let server = Server::start(move |_, _| answer(status, &[], body)).await;
            let (_, ctx) = Notebook::with_permits([0]);
            let client = client(ClientConfig::default());
            let answer = client.call(&ctx, &request_of(endpoint, &server)).await;
            let Leave::Pause { groups: paused, reason } = leave_of(answer) else {
                panic!("nothing can go on after {status}")
            };
            let paused: Vec<_> = paused.iter().map(ToString::to_string).collect();
            assert_eq!(paused, groups, "{status}");
            let code = &status[..3];
            let words = format!(
                "/v1/{endpoint} does not let the credential in ({code}): token is withdrawn; \
                 {remedy}, then resume the account"
            );
            assert!(reason.ends_with(&words), "{reason}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_no_credential_leaves_for_another_host() {
    let elsewhere = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let target = format!("{}/steal?key=query-secret", elsewhere.base_url());
    let server =
        Server::start(move |_, _| answer("307 Moved", &[("Location", target.as_str())], "")).await;
    let (_, ctx) = Notebook::with_permits([0]);
    let answer = client(ClientConfig::default()).call(&ctx, &request(&server)).await;
    let Leave::Retry { error } = leave_of(answer) else { panic!("a redirect is tried again") };
    assert!(error.contains(&format!("to {}/steal,", elsewhere.base_url())), "{error}");
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn an_upstream_that_does_not_answer_or_is_not_there_is_tried_again() {
    let config = ClientConfig { answer_timeout_ms: 100, ..ClientConfig::default() };
    let silent = Server::start(|_, _| vec![Step::Hang]).await;
    let (_, ctx) = Notebook::with_permits([0]);
    let answer = client(config.clone()).call(&ctx, &request(&silent)).await;
    assert!(matches!(
        answer,
        Err(CallError::Upstream(UpstreamError::TimedOut { timeout_ms: 100, .. }))
    ));

    for nothing in [vec![], vec![Step::Send(b"not HTTP at all\r\n\r\n".to_vec())]] {
        let server = Server::start(move |_, _| nothing.clone()).await;
        let (_, ctx) = Notebook::with_permits([0]);
        let answer = client(ClientConfig::default()).call(&ctx, &request(&server)).await;
        let Leave::Retry { error } = leave_of(answer) else { panic!("it is tried again") };
        assert!(error.contains("cannot be reached"), "{error}");
        assert_eq!(server.requests().len(), 1, "no retry without a permit");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_costs_no_permit() {
    let server = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let (notebook, ctx) = Notebook::with_permits([0]);
    let with = |family: &str, endpoint: &str, secret: &str| {
        let credential = Credential::new(Secret::new(secret), family);
        waitless_upstream::Request::new(endpoint, credential, waitless_job::JobId::new(NOW))
    };
    let client = client(ClientConfig::default());
    for (request, words) in [
        (
            with("full", "colours", "x"),
            "no endpoint `colours` in the catalogue of shop; it has dear, report, rows, task",
        ),
        (with("gold", "rows", "x"), "no family of credentials `gold`; it has full, partner, trial"),
        (with("trial", "rows", "x"), "lets no `trial` credential call `rows`"),
        (with("full", "rows", "two\nlines"), "give it again, whole"),
        (
            with("partner", "task", "x").place("id", "1"),
            "client secret in the header x-client-secret",
        ),
        (with("full", "task", "x"), "the path `/v1/tasks/{id}/rows` cannot be filled in: `id` has"),
        (with("full", "rows", "x").place("id", "1"), "it has no place `id`"),
    ] {
        let Leave::Dead { reason } = leave_of(client.call(&ctx, &request).await) else {
            panic!("trying again cannot help")
        };
        assert!(reason.contains(words), "{reason}");
    }
    assert!(notebook.asked.lock().unwrap().is_empty());
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_request_fills_its_path_and_carries_a_body_and_the_secret_of_its_program() {
    let server = Server::start(|_, _| answer("201 Created", &[], "{}")).await;
    let secret = Secret::new("client-secret");
    let credential = Credential {
        client_secret: Some(secret),
        ..Credential::new(Secret::new(CANARY), "partner")
    };
    let request = Request::new("task", credential.clone(), JobId::new(NOW))
        .place("id", "7/x")
        .body(serde_json::json!({ "limit": 1_000, "name": "ё" }))
        .base_url(Some(server.base_url().parse().expect("a URL")));
    let (_, ctx) = Notebook::with_permits([0, 0]);
    let client = client(ClientConfig::default());
    assert_eq!(client.call(&ctx, &request).await.expect("an answer").status(), 201);

    let sent = server.requests().remove(0);
    assert!(sent.starts_with("POST /v1/tasks/7%2Fx/rows HTTP"), "{sent}");
    assert!(sent.ends_with(r#"{"limit":1000,"name":"ё"}"#), "{sent}");
    let sent = sent.to_lowercase();
    assert!(sent.contains("content-type: application/json"), "{sent}");
    assert!(sent.contains("x-client-secret: client-secret"), "{sent}");
    assert_eq!(credential.redact("client-secret of canary-7f3a9c"), "[redacted] of [redacted]");

    // A family that has no use for it is not asked to give it away.
    let alone = Request::new(
        "task",
        Credential { family: "full".to_owned(), ..credential },
        JobId::new(NOW),
    )
    .place("id", "7")
    .base_url(Some(server.base_url().parse().expect("a URL")));
    client.call(&ctx, &alone).await.expect("an answer");
    assert!(!server.requests()[1].contains("client-secret"));
}
