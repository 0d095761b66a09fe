use waitless_job::{Cost, Feedback, Leave, UnixMillis};
use waitless_upstream::{CallError, ClientConfig, UpstreamError};

use crate::{
    CANARY, client,
    ops::{NOW, Notebook},
    request,
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
    assert_eq!(notebook.reports(), [accepted]);
    let asked = notebook.asked.lock().unwrap().clone();
    assert_eq!(asked[0].as_slice()[0].cost, Cost::new(2).unwrap(), "the endpoint's cost");
}

#[tokio::test]
async fn a_429_closes_the_bucket_until_the_wait_is_over_rounded_up_and_parks_the_job() {
    for (header, wait_ms) in [
        (("X-Wait", "2"), 2_000),
        (("X-Wait", "2.1"), 3_000),
        (("X-Wait", "0"), 1_000),
        (("X-Wait", "999999999999"), 7 * 86_400_000),
        // Without a wait that can be read the bucket knows better how long it has to be.
        (("X-Wait", "-5"), 0),
        (("Retry-After", "5"), 0),
    ] {
        let server = Server::start(move |_, _| answer("429 Slow down", &[header], "{}")).await;
        let (notebook, ctx) = Notebook::with_permits([0]);
        let client = client(ClientConfig::default());
        let answer = client.call(&ctx, &request(&server)).await;
        assert_eq!(leave_of(answer), Leave::Parked, "{header:?}");
        assert_eq!(
            notebook.reports(),
            [Feedback::Rejected {
                until: (wait_ms > 0).then(|| UnixMillis(NOW.0 + wait_ms)),
                refund: Some(Cost::new(2).unwrap()),
                sent_at: NOW,
            }],
            "{header:?}"
        );
        assert_eq!((server.requests().len(), client.refused()), (1, 1), "one refused request");
    }
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
        ("401 Unauthorized", dead, "give this worker a valid one"),
        ("402 Payment Required", dead, "settle that"),
        ("403 Forbidden", dead, "right category and type"),
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
        let credential = waitless_upstream::Credential {
            secret: waitless_upstream::Secret::new(secret),
            family: family.to_owned(),
        };
        waitless_upstream::Request::new(endpoint, credential, waitless_job::JobId::new(NOW))
    };
    let client = client(ClientConfig::default());
    for (request, words) in [
        (
            with("full", "colours", "x"),
            "no endpoint `colours` in the catalogue of shop; it has rows",
        ),
        (with("gold", "rows", "x"), "no family of credentials `gold`; it has full, trial"),
        (with("trial", "rows", "x"), "lets no `trial` credential call `rows`"),
        (with("full", "rows", "two\nlines"), "give it again, whole"),
    ] {
        let Leave::Dead { reason } = leave_of(client.call(&ctx, &request).await) else {
            panic!("trying again cannot help")
        };
        assert!(reason.contains(words), "{reason}");
    }
    assert!(notebook.asked.lock().unwrap().is_empty());
    assert!(server.requests().is_empty());
}
