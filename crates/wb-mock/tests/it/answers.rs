//! Shapes of answers, compression, and starting and stopping.

use serde_json::json;
use waitless_wb_mock::{DatasetSize, Mock, MockConfig, MockError, SellerSizes};

use crate::client::{Answer, Client, FROM_THE_BEGINNING, ORDERS, start, unlimited};

#[tokio::test]
async fn a_missing_date_is_told_in_an_array_and_a_bad_one_in_a_string() {
    let mock = start(unlimited(5, 100)).await;
    let client = Client::of(&mock, 0);
    for (query, body) in [
        ("", json!({"errors": ["dateFrom: field required"]})),
        ("?dateFrom=soon", json!({"errors": "dateFrom: Value not validated"})),
        ("?dateFrom=", json!({"errors": "dateFrom: Value not validated"})),
        ("?dateFrom=2026-09-01&flag=7", json!({"errors": "flag: Value not validated"})),
    ] {
        let answer = client.get(&format!("{ORDERS}{query}")).await;
        assert_eq!((answer.status, answer.json()), (400, body));
    }
}

#[tokio::test]
async fn ping_tells_moscow_time_with_an_offset() {
    let mock = start(unlimited(5, 100)).await;
    let answer = Client::of(&mock, 0).get("/ping").await;
    let body = answer.json();
    assert_eq!((answer.status, &body["Status"]), (200, &json!("OK")));
    let time = body["TS"].as_str().expect("a text");
    assert!(time.starts_with("2026-10-01T15:") && time.ends_with("+03:00"), "{time}");
}

#[tokio::test]
async fn an_unknown_path_is_404_and_another_verb_405_and_both_are_written_down() {
    let mock = start(unlimited(5, 100)).await;
    let unknown = Client::of(&mock, 0).get("/api/v1/supplier/stocks").await;
    let posted = Answer::of(reqwest::Client::new().post(mock.base_url() + ORDERS)).await;
    assert_eq!((unknown.status, posted.status), (404, 405));
    let statuses: Vec<u16> = mock.audit().iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [404, 405]);
}

#[tokio::test]
async fn a_page_is_compressed_for_clients_that_accept_it_and_is_the_same_page() {
    let mock = start(unlimited(500, 1000)).await;
    let client = Client::of(&mock, 0);
    let query = format!("{ORDERS}?dateFrom={FROM_THE_BEGINNING}");
    let plain = Answer::of(client.request(&query).header("Accept-Encoding", "identity")).await;
    assert_eq!(plain.header("Content-Encoding"), None);

    let by_hand = reqwest::Client::builder().no_gzip().build().expect("a client");
    let asked = by_hand
        .get(mock.base_url() + &query)
        .header("Authorization", mock.token(0))
        .header("Accept-Encoding", "gzip");
    let travelled = asked.send().await.expect("an answer");
    assert_eq!(travelled.headers()["Content-Encoding"], "gzip");
    let travelled = travelled.bytes().await.expect("a body");
    assert_eq!(travelled[..2], [0x1f, 0x8b]);
    assert!(travelled.len() * 2 < plain.body.len());

    // The other client asks by itself and reads through the compression.
    assert_eq!(client.get(&query).await.body, plain.body);
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let first = start(unlimited(5, 100)).await;
    let port = first.port();
    let second = Mock::start(MockConfig { port, ..MockConfig::default() }).await;
    let error = second.expect_err("the port is taken");
    assert!(matches!(error, MockError::PortInUse { port: named } if named == port), "{error:?}");
    assert!(error.to_string().contains(&port.to_string()));
}

#[tokio::test]
async fn a_stopped_mock_gives_its_port_back() {
    let first = start(unlimited(5, 100)).await;
    let port = first.port();
    assert_eq!(Client::of(&first, 0).get("/ping").await.status, 200);
    let summary = first.stop().await;
    assert_eq!((summary.requests, summary.accepted), (1, 1));
    let second = Mock::start(MockConfig { port, ..MockConfig::default() }).await;
    assert_eq!(second.expect("the port is free again").port(), port);
}

#[tokio::test]
async fn a_configuration_that_makes_no_sense_is_refused_by_field() {
    let too_large =
        SellerSizes { orders: DatasetSize::Rows(0..=20_000_001), ..SellerSizes::default() };
    #[expect(clippy::reversed_empty_ranges)]
    let empty = 2..=1;
    for (config, expected) in [
        (MockConfig { speed: 0, ..MockConfig::default() }, "speed"),
        (MockConfig { sellers: 0, ..MockConfig::default() }, "sellers"),
        (MockConfig { page_rows: 0, ..MockConfig::default() }, "page_rows"),
        (MockConfig { jitter_ms: empty.clone(), ..MockConfig::default() }, "jitter_ms"),
        (MockConfig { latency_ms: empty, ..MockConfig::default() }, "latency_ms"),
        (MockConfig { sizes: too_large, ..MockConfig::default() }, "sizes"),
    ] {
        match Mock::start(config).await {
            Err(MockError::Config { field, .. }) => assert_eq!(field, expected),
            other => panic!("{expected} was taken: {other:?}"),
        }
    }
}
