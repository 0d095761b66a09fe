//! Limits over HTTP. The arithmetic is tested with the limiter; no test here waits for a token.

use futures::future::join_all;
use serde_json::json;
use waitless_wb_mock::MockConfig;

use crate::client::{Client, FROM_THE_BEGINNING, ORDERS, SALES, start, unlimited};

/// The published limits, with little to send.
fn strict() -> MockConfig {
    MockConfig { speed: 1, sellers: 2, ..unlimited(5, 100) }
}

fn query(path: &str) -> String {
    format!("{path}?dateFrom={FROM_THE_BEGINNING}")
}

#[tokio::test]
async fn a_burst_is_counted_down_and_then_refused() {
    let mock = start(strict()).await;
    let client = Client::of(&mock, 0);
    for remaining in (0..10).rev() {
        let answer = client.get(&query(ORDERS)).await;
        assert_eq!((answer.status, answer.number("X-Ratelimit-Remaining")), (200, Some(remaining)));
    }
    let refused = client.get(&query(ORDERS)).await;
    assert_eq!((refused.status, refused.number("X-Ratelimit-Limit")), (429, Some(10)));
    let (retry, reset) = (refused.number("X-Ratelimit-Retry"), refused.number("X-Ratelimit-Reset"));
    assert!(retry >= Some(1) && retry <= Some(60), "{retry:?}");
    assert!(reset > retry && reset <= Some(600), "{reset:?}");
}

#[tokio::test]
async fn a_refusal_has_the_headers_and_the_body_of_the_newer_gateway() {
    let mock = start(strict()).await;
    let client = Client::of(&mock, 0);
    assert_eq!(client.get(&query(SALES)).await.status, 200);
    let refused = client.get(&query(SALES)).await;

    assert_eq!(refused.header("X-Ratelimit-Remaining"), None);
    assert_eq!(refused.header("Retry-After"), None);
    assert_eq!(refused.number("X-Ratelimit-Limit"), Some(1));
    assert_eq!(refused.number("X-Ratelimit-Retry"), refused.number("X-Ratelimit-Reset"));

    let mut body = refused.json();
    let fields = body.as_object_mut().expect("an object");
    let request_id = fields.remove("requestId").expect("a request id");
    assert_eq!(request_id.as_str().map(str::len), Some(32));
    let timestamp = fields.remove("timestamp").expect("a timestamp");
    assert!(timestamp.as_str().is_some_and(|text| text.starts_with("2026-10-01T12:")));
    assert_eq!(
        body,
        json!({
            "status": 429,
            "statusText": "Too Many Requests",
            "title": "too many requests",
            "detail": "rate limit exceeded, retry after the period specified in the \
                       X-RateLimit-Retry header",
            "origin": "ag-statistics",
        })
    );
}

#[tokio::test]
async fn at_great_speed_the_named_wait_is_still_a_whole_second() {
    // One request in 60 ms: the second comes sooner unless this machine stalls, so ask until it
    // does.
    let mock = start(MockConfig { speed: 1000, ..strict() }).await;
    let client = Client::of(&mock, 0);
    let refused = loop {
        let answer = client.get(&query(SALES)).await;
        if answer.status == 429 {
            break answer;
        }
    };
    assert_eq!(refused.number("X-Ratelimit-Retry"), Some(1));
}

#[tokio::test]
async fn a_bucket_belongs_to_one_seller_and_one_method() {
    let mock = start(strict()).await;
    let (first, second) = (Client::of(&mock, 0), Client::of(&mock, 1));
    assert_eq!(first.get(&query(SALES)).await.status, 200);
    assert_eq!(first.get(&query(SALES)).await.status, 429);
    assert_eq!(first.get(&query(ORDERS)).await.status, 200);
    assert_eq!(second.get(&query(SALES)).await.status, 200);
}

#[tokio::test]
async fn an_unauthorized_request_costs_nothing_and_a_bad_one_costs_one() {
    let mock = start(strict()).await;
    let stranger = Client::with_authorization(&mock, None);
    let client = Client::of(&mock, 0);

    let unauthorized = stranger.get(&query(ORDERS)).await;
    assert_eq!(
        (unauthorized.status, unauthorized.number("X-Ratelimit-Remaining")),
        (401, Some(10))
    );
    let bad = client.get(ORDERS).await;
    assert_eq!((bad.status, bad.number("X-Ratelimit-Remaining")), (400, Some(9)));
    let good = client.get(&query(ORDERS)).await;
    assert_eq!((good.status, good.number("X-Ratelimit-Remaining")), (200, Some(8)));
}

#[tokio::test]
async fn speed_divides_the_intervals() {
    let mock = start(unlimited(5, 100)).await;
    let client = Client::of(&mock, 0);
    for _ in 0..50 {
        assert_eq!(client.get(&query(SALES)).await.status, 200);
    }
}

#[tokio::test]
async fn requests_at_once_get_the_burst_and_no_more_in_whatever_order_they_arrive() {
    let config = MockConfig { jitter_ms: 0..=5, latency_ms: 0..=5, ..strict() };
    let mock = start(config).await;
    let client = Client::of(&mock, 0);
    let query = query(ORDERS);
    let mut statuses: Vec<u16> = join_all((0..25).map(|_| client.get(&query)))
        .await
        .iter()
        .map(|answer| answer.status)
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 10].as_slice(), &[429; 15]].concat());

    let audit = mock.audit();
    assert!(audit.is_sorted_by_key(|entry| entry.arrival_us));
    assert!(audit[..10].iter().all(|entry| entry.status == 200), "the first to arrive get in");
}
