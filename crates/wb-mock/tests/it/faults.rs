//! Faults over HTTP.

use std::time::Duration;

use waitless_wb_mock::{Faults, Mock, MockConfig};

use crate::client::{Answer, Client, FROM_THE_BEGINNING, ORDERS, SALES, start, unlimited};

fn read(script: &str) -> Faults {
    Faults::read(script).expect("a good script")
}

/// A mock at the published limits that plays one fault on everything.
async fn playing(fault: &str) -> Mock {
    let faults = read(&format!("[[faults]]\nplay = {fault}"));
    start(MockConfig { speed: 1, faults, ..unlimited(50, 100) }).await
}

fn orders() -> String {
    format!("{ORDERS}?dateFrom={FROM_THE_BEGINNING}")
}

fn sales() -> String {
    format!("{SALES}?dateFrom={FROM_THE_BEGINNING}")
}

/// The answer's status, and its body or how reading it failed.
async fn read_through(client: &Client, path: &str) -> (u16, reqwest::Result<String>) {
    let response = client.request(path).send().await.expect("an answer");
    (response.status().as_u16(), response.text().await)
}

#[tokio::test]
async fn a_scripted_429_spends_nothing_and_is_counted_apart() {
    let mock = playing("{ limited = { retry_s = 5 } }\nrequests = [1, 3]").await;
    let client = Client::of(&mock, 0);
    for _ in 0..3 {
        let refused = client.get(&sales()).await;
        assert_eq!(refused.status, 429);
        for (header, value) in [("Retry", 5), ("Reset", 5), ("Limit", 1)] {
            assert_eq!(refused.number(&format!("X-Ratelimit-{header}")), Some(value));
        }
    }
    assert_eq!(client.get(&sales()).await.status, 200);
    assert_eq!(client.get(&sales()).await.status, 429);
    let summary = mock.summary();
    assert_eq!((summary.scripted_429, summary.rejected_429, summary.faults), (3, 1, 3));
    let faults: Vec<_> = mock.audit().iter().map(|entry| entry.fault).collect();
    assert_eq!(faults, [Some("limited"), Some("limited"), Some("limited"), None, None]);
}

#[tokio::test]
async fn a_bare_429_has_no_headers_about_time() {
    let mock = playing("{ limited = {} }").await;
    let refused = Client::of(&mock, 0).get(&sales()).await;
    assert_eq!(refused.status, 429);
    for header in ["X-Ratelimit-Retry", "X-Ratelimit-Reset", "X-Ratelimit-Limit", "Retry-After"] {
        assert_eq!(refused.header(header), None, "{header}");
    }
}

#[tokio::test]
async fn retry_after_comes_in_every_form_beside_the_usual_header_or_without() {
    for (form, expected) in [
        ("{ seconds = 7 }", "7"),
        ("'past'", "Thu, 01 Oct 2026 11:"),
        ("'future'", "Thu, 01 Oct 2026 13:"),
        ("'malformed'", "soon; -1, NaN"),
        ("'huge'", "99999"),
    ] {
        for retry_s in ["", ", retry_s = 3"] {
            let mock =
                playing(&format!("{{ limited = {{ retry_after = {form}{retry_s} }} }}")).await;
            let refused = Client::of(&mock, 0).get(&sales()).await;
            let said = refused.header("Retry-After").expect("a header");
            assert!(said.starts_with(expected), "{said}");
            assert_eq!(said.len() == 10_000, form == "'huge'");
            assert_eq!(refused.header("X-Ratelimit-Retry").is_some(), !retry_s.is_empty());
        }
    }
}

#[tokio::test]
async fn a_status_spends_a_token() {
    for status in [500, 502, 503, 504, 400, 401, 402, 403, 409] {
        let mock = playing(&format!("{{ status = {status} }}")).await;
        let client = Client::of(&mock, 0);
        assert_eq!(client.get(&sales()).await.status, status);
        assert_eq!(client.get(&sales()).await.status, 429);
        assert_eq!(mock.audit()[0].fault, Some("status"));
    }
}

#[tokio::test]
async fn a_hang_gives_no_answer_until_the_mock_stops() {
    let mock = playing("'hang'\nrequests = [1, 1]").await;
    let client = Client::of(&mock, 0);
    let hanging = tokio::spawn(client.request(&orders()).send());
    while mock.audit().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.get(&orders()).await.status, 200);
    assert!(!hanging.is_finished());
    let entry = &mock.audit()[0];
    assert_eq!((entry.status, entry.fault), (0, Some("hang")));
    let summary = mock.stop().await;
    assert_eq!((summary.rejected_other, summary.accepted), (1, 1));
    assert_ne!(
        hanging.await.expect("no panic").map(|answer| answer.status().as_u16()).ok(),
        Some(200)
    );
}

#[tokio::test]
async fn a_slow_answer_comes_whole_but_byte_by_byte() {
    let mock = playing("{ slow = { pace_ms = 1 } }").await;
    let client = Client::of(&mock, 0);
    let mut response = client.request("/ping").send().await.expect("an answer");
    let mut chunks = Vec::new();
    while let Some(chunk) = response.chunk().await.expect("a chunk") {
        chunks.push(chunk);
    }
    assert!(chunks.len() > 10, "{} chunks", chunks.len());
    let body: serde_json::Value = serde_json::from_slice(&chunks.concat()).expect("JSON");
    assert_eq!(body["Status"], "OK");
}

#[tokio::test]
async fn a_cut_answer_breaks_off_after_its_first_bytes() {
    let mock = playing("{ cut = { bytes = 300 } }").await;
    let client = Client::of(&mock, 0);
    let mut response = client.request(&orders()).send().await.expect("an answer");
    assert_eq!(response.status().as_u16(), 200);
    let mut bytes = 0;
    let error = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes += chunk.len(),
            Ok(None) => panic!("it ended as if it were whole"),
            Err(error) => break error,
        }
    };
    assert!(error.is_body() || error.is_decode(), "{error:?}");
    assert_eq!(bytes, 300);
}

#[tokio::test]
async fn bad_gzip_cannot_be_read() {
    let mock = playing("'bad-gzip'").await;
    let (status, body) = read_through(&Client::of(&mock, 0), &orders()).await;
    assert!(status == 200 && body.is_err(), "{body:?}");
}

#[tokio::test]
async fn a_page_for_people_has_status_200() {
    let mock = playing("'html'").await;
    let answer = Client::of(&mock, 0).get(&orders()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("Content-Type"), Some("text/html; charset=utf-8"));
    assert!(answer.body.starts_with("<html>"));
}

#[tokio::test]
async fn a_redirect_leads_to_another_host() {
    let mock = playing("{ redirect = {} }").await;
    let answer = Client::of(&mock, 0).get(&orders()).await;
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("Location"), Some("http://169.254.169.254/latest/meta-data/"));

    mock.play(read("[[faults]]\nplay = { redirect = { location = 'stranger', status = 307 } }"));
    let answer = Client::of(&mock, 0).get(&orders()).await;
    let location = answer.header("Location").expect("a place").to_owned();
    assert_eq!((answer.status, &location), (307, &format!("{}{}", mock.stranger(), orders())));

    assert_eq!(Answer::of(reqwest::Client::new().get(&location)).await.body, "[]");
    let careless = reqwest::Client::new().get(&location).header("Authorization", mock.token(0));
    assert_eq!(Answer::of(careless).await.status, 200);
    let stranger = mock.summary().stranger;
    assert_eq!((stranger.requests, stranger.with_credentials), (2, 1));
}

#[tokio::test]
async fn a_flood_is_as_long_as_it_was_told() {
    let mock = playing("{ flood = { bytes = 3_000_000 } }").await;
    let (status, body) = read_through(&Client::of(&mock, 0), &orders()).await;
    let body = body.expect("a body");
    assert!(status == 200 && (3_000_000..3_100_000).contains(&body.len()), "{}", body.len());
    let texts: Vec<String> = serde_json::from_str(&body).expect("an array of texts");
    assert_eq!(texts.len(), 1);
}

#[tokio::test]
async fn a_fault_is_played_on_those_it_is_meant_for() {
    let script = "[[faults]]\nplay = { status = 500 }\nsellers = [1]\ndatasets = ['orders']";
    let faults = read(script);
    let mock = start(MockConfig { sellers: 2, faults, ..unlimited(5, 100) }).await;
    let (first, second) = (Client::of(&mock, 0), Client::of(&mock, 1));
    assert_eq!(first.get(&orders()).await.status, 200);
    assert_eq!(second.get(&sales()).await.status, 200);
    assert_eq!(second.get(&orders()).await.status, 500);
}

#[tokio::test]
async fn a_lower_limit_refuses_before_the_published_one_does() {
    let mock = playing("{ lower-limit = { rate = 0.5 } }").await;
    let client = Client::of(&mock, 0);
    assert_eq!(client.get(&sales()).await.status, 200);
    let refused = client.get(&sales()).await;
    assert_eq!(refused.status, 429);
    let retry = refused.number("X-Ratelimit-Retry").expect("a wait");
    assert!((100..=120).contains(&retry), "{retry}");

    mock.play(read("[[faults]]\nplay = { lower-limit = { rate = 0.5, headers = false } }"));
    let refused = client.get(&sales()).await;
    assert_eq!((refused.status, refused.header("X-Ratelimit-Retry")), (429, None));
    let summary = mock.summary();
    assert_eq!((summary.rejected_429, summary.scripted_429), (2, 0));
    assert_eq!(mock.audit()[1].fault, Some("lower-limit"));

    mock.play(Faults::default());
    let retry = client.get(&sales()).await.number("X-Ratelimit-Retry").expect("a wait");
    assert!(retry <= 60, "{retry}");
}

#[tokio::test]
async fn a_hidden_client_takes_tokens_that_are_counted_as_its_own() {
    // One request a millisecond; somebody else takes every third.
    let script = "[[faults]]\nplay = { hidden-client = { every_interval = 3 } }\n\
                  methods = ['*/sales']\nfor_ms = 30";
    let faults = read(script);
    let mock = start(MockConfig { speed: 60_000, faults, ..unlimited(5, 100) }).await;
    tokio::time::sleep(Duration::from_millis(35)).await;
    assert_eq!(Client::of(&mock, 0).get(&sales()).await.status, 200);

    let audit = mock.audit();
    assert!(audit.is_sorted_by_key(|entry| entry.arrival_us));
    let hidden: Vec<u64> = audit
        .iter()
        .filter(|entry| entry.fault == Some("hidden-client"))
        .map(|entry| entry.arrival_us)
        .collect();
    assert!(
        hidden.len() >= 9 && hidden.windows(2).all(|pair| pair[1] - pair[0] == 3000),
        "{hidden:?}"
    );
    let summary = mock.summary();
    assert_eq!((summary.requests, summary.hidden), (1, hidden.len() as u64));
}

#[tokio::test]
async fn a_token_that_a_hidden_client_took_is_gone() {
    // It asks at the very moments at which the bucket of one has its token.
    let faults = read("[[faults]]\nplay = { hidden-client = { every_interval = 1 } }");
    let mock = start(MockConfig { speed: 1000, faults, ..unlimited(5, 100) }).await;
    tokio::time::sleep(Duration::from_millis(61)).await;
    assert_eq!(Client::of(&mock, 0).get(&sales()).await.status, 429);
}
