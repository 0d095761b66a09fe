//! The paths under `/_mock`, and what is written down.

use chrono::TimeDelta;
use serde_json::{Value, json};
use waitless_wb_mock::{Category, Dataset, Family, MockConfig, TokenOptions};

use crate::client::{Answer, Client, FROM_THE_BEGINNING, ORDERS, SALES, start, unlimited};

fn lines(answer: &Answer) -> Vec<Value> {
    answer.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn every_request_is_written_down_with_its_job() {
    let mock = start(MockConfig { speed: 1, ..unlimited(7, 100) }).await;
    let client = Client::of(&mock, 0);
    let query = format!("{SALES}?dateFrom={FROM_THE_BEGINNING}");
    Answer::of(client.request(&query).header("X-Job-Id", "job-1")).await;
    client.get(&query).await;
    Client::with_authorization(&mock, None).get(ORDERS).await;

    let mut audit = lines(&client.get("/_mock/audit").await);
    let arrivals: Vec<u64> = audit
        .iter_mut()
        .filter_map(|entry| entry.as_object_mut()?.remove("arrival_us")?.as_u64())
        .collect();
    assert!(arrivals.len() == 3 && arrivals.is_sorted());
    let sid = &mock.sellers()[0].sid;
    assert_eq!(
        audit,
        [
            json!({"sequence": 0, "seller": 0, "sid": sid, "verb": "GET", "path": SALES, "status": 200, "fault": null,
                   "date_from": FROM_THE_BEGINNING, "rows": 7, "job_id": "job-1"}),
            json!({"sequence": 1, "seller": 0, "sid": sid, "verb": "GET", "path": SALES, "status": 429, "fault": null,
                   "date_from": FROM_THE_BEGINNING, "rows": 0, "job_id": null}),
            json!({"sequence": 2, "seller": null, "sid": null, "verb": "GET", "path": ORDERS, "status": 401, "fault": null,
                   "date_from": null, "rows": 0, "job_id": null}),
        ]
    );
}

#[tokio::test]
async fn the_summary_counts_by_seller_and_method() {
    let mock = start(MockConfig { speed: 1, sellers: 2, ..unlimited(7, 100) }).await;
    let query = format!("{SALES}?dateFrom={FROM_THE_BEGINNING}");
    let (first, second) = (Client::of(&mock, 0), Client::of(&mock, 1));
    first.get(&query).await;
    first.get(&query).await;
    second.get(ORDERS).await;
    let method = |seller: usize, path: &str, [accepted, rejected_429, rejected_other]: [u64; 3]| {
        json!({"seller": seller, "verb": "GET", "path": path, "rows": accepted * 7,
               "requests": accepted + rejected_429 + rejected_other, "accepted": accepted,
               "rejected_429": rejected_429, "scripted_429": 0, "rejected_other": rejected_other,
               "faults": 0, "hidden": 0})
    };
    let expected = json!({
        "requests": 3, "accepted": 1, "rejected_429": 1, "scripted_429": 0, "rejected_other": 1,
        "faults": 0, "hidden": 0, "rows": 7,
        "stranger": {"requests": 0, "with_credentials": 0},
        "methods": [method(0, SALES, [1, 1, 0]), method(1, ORDERS, [0, 0, 1])],
    });
    assert_eq!(first.get("/_mock/summary").await.json(), expected);
    assert_eq!(serde_json::to_value(mock.stop().await).expect("JSON"), expected);
}

#[tokio::test]
async fn a_client_in_any_language_finds_sellers_tokens_and_expected_rows() {
    let mock = start(unlimited(300, 100)).await;
    let anybody = Client::with_authorization(&mock, None);
    let sellers = anybody.get("/_mock/sellers").await.json();
    assert_eq!(
        sellers,
        json!([{
            "index": 0, "sid": mock.sellers()[0].sid, "name": mock.sellers()[0].name,
        }])
    );
    assert_eq!(anybody.get("/_mock/token/0").await.body, mock.token(0));

    let served = lines(&anybody.get("/_mock/expected/0/orders").await);
    let expected: Vec<Value> = mock
        .expected(0, Dataset::Orders)
        .map(|row| json!({"key": row.key, "version": row.version}))
        .collect();
    assert_eq!(served, expected);
    assert_eq!(mock.summary().requests, 0);
}

#[tokio::test]
async fn a_token_is_made_as_the_query_says() {
    let mock = start(unlimited(5, 100)).await;
    let anybody = Client::with_authorization(&mock, None);
    let made = anybody
        .get("/_mock/token/0?family=base&categories=content,finance&expires_in_s=60&read_only=true")
        .await;
    let options = TokenOptions {
        family: Family::Base,
        categories: vec![Category::Content, Category::Finance],
        expires_in: TimeDelta::seconds(60),
        read_only: true,
        ..TokenOptions::default()
    };
    assert_eq!(made.body, mock.token_of(0, &options));
    assert_eq!(anybody.get("/_mock/secret/0").await.body, mock.client_secret(0));
    for bad in ["family=free", "categories=toys", "expires_in_s=99999999999999", "colour=red"] {
        assert_eq!(anybody.get(&format!("/_mock/token/0?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn faults_are_switched_on_and_off() {
    let mock = start(unlimited(5, 100)).await;
    let client = Client::of(&mock, 0);
    let script = |text: &'static str| {
        let url = format!("{}/_mock/faults", mock.base_url());
        Answer::of(reqwest::Client::new().post(url).body(text))
    };
    assert_eq!(script("[[faults]]\nplay = { status = 503 }").await.status, 204);
    assert_eq!(client.get("/ping").await.status, 503);
    assert_eq!(script("").await.status, 204);
    assert_eq!(client.get("/ping").await.status, 200);
    let bad = script("[[faults]]\nplay = 'dance'").await;
    assert_eq!(bad.status, 400);
    assert!(bad.body.starts_with("fault script, line 2: "), "{}", bad.body);
}

#[tokio::test]
async fn what_does_not_exist_is_404_and_is_not_counted() {
    let mock = start(unlimited(5, 100)).await;
    let anybody = Client::with_authorization(&mock, None);
    for path in ["token/1", "expected/1/orders", "expected/0/incomes", "secret/1", "nothing"] {
        assert_eq!(anybody.get(&format!("/_mock/{path}")).await.status, 404, "{path}");
    }
    assert_eq!(mock.summary().requests, 0);
}
