//! Orders that sellers ship: windows of Unix times.

use chrono::DateTime;
use serde_json::Value;
use waitless_wb_mock::Dataset;

use super::{assert_all_there, assert_refused, by_key, mock_of, rows_at};
use crate::client::Client;

const ORDERS: &str = "/api/v3/orders";
const DAY: i64 = 86_400;
/// Noon of 2026-10-01.
const NOW: i64 = 1_790_856_000;

async fn window(client: &Client, from: i64, until: i64, limit: u64) -> (Vec<Value>, u64) {
    let mut all = Vec::new();
    let mut next = Value::from(0);
    for requests in 1.. {
        let query = format!("limit={limit}&next={next}&dateFrom={from}&dateTo={until}");
        let answer = client.get(&format!("{ORDERS}?{query}")).await;
        all.extend(rows_at(&answer, "/orders"));
        next = answer.json()["next"].clone();
        if next == 0 {
            return (all, requests);
        }
    }
    unreachable!("the loop has no end of its own")
}

/// Windows of so many days from that moment on, each beginning where the one before ends.
async fn import(client: &Client, mut from: i64, days: i64, limit: u64) -> Vec<Value> {
    let mut all = Vec::new();
    while from < NOW {
        let until = (from + days * DAY).min(NOW);
        all.extend(window(client, from, until, limit).await.0);
        from = until;
    }
    all
}

#[tokio::test]
async fn orders_come_whole_in_windows_of_any_length() {
    let (mock, client) = mock_of(400).await;
    let midnight = NOW - 15 * 3600 - 89 * DAY;
    for (from, days) in [(NOW - 90 * DAY, 30), (midnight, 30), (midnight, 1)] {
        for limit in [1000, 9] {
            let all = import(&client, from, days, limit).await;
            assert_all_there(&mock, Dataset::FbsOrders, &by_key(all, &["id"]));
        }
    }
    assert_eq!(mock.import_requests(0, Dataset::FbsOrders), 3);
}

#[tokio::test]
async fn an_order_on_the_second_where_windows_meet_belongs_to_the_later_one() {
    let (_mock, client) = mock_of(400).await;
    let all = import(&client, NOW - 90 * DAY, 30, 1000).await;
    let created = |order: &Value| {
        let text = order["createdAt"].as_str().expect("a text");
        DateTime::parse_from_rfc3339(text).expect("a moment").timestamp()
    };
    let at_midnight: Vec<&Value> =
        all.iter().filter(|order| (created(order) + 3 * 3600) % DAY == 0).collect();
    assert!(at_midnight.len() > 10, "{} at midnight", at_midnight.len());
    for order in at_midnight {
        let edge = created(order);
        assert!(!window(&client, edge - DAY, edge, 1000).await.0.contains(order));
        assert!(window(&client, edge, edge + DAY, 1000).await.0.contains(order));
    }
}

#[tokio::test]
async fn a_full_page_says_where_to_go_on_even_if_nothing_follows() {
    let (_mock, client) = mock_of(60).await;
    let (from, until) = (NOW - 30 * DAY, NOW);
    let (all, requests) = window(&client, from, until, 1000).await;
    assert_eq!(requests, 1);
    let (again, requests) = window(&client, from, until, all.len() as u64).await;
    assert_eq!((again, requests), (all, 2));
    assert_eq!(window(&client, NOW - 10, NOW, 10).await, (Vec::new(), 1));
}

#[tokio::test]
async fn without_a_window_the_last_30_days_come() {
    let (_mock, client) = mock_of(100).await;
    let answer = client.get(&format!("{ORDERS}?limit=1000&next=0")).await;
    let (recent, _) = window(&client, NOW - 30 * DAY + 60, NOW, 1000).await;
    assert_eq!(rows_at(&answer, "/orders").last(), recent.last());
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let far = NOW - 92 * DAY;
    for query in [
        "next=0".to_owned(),
        "limit=10".to_owned(),
        "limit=1001&next=0".to_owned(),
        "limit=0&next=0".to_owned(),
        "limit=10&next=-1".to_owned(),
        format!("limit=10&next=0&dateFrom={}&dateTo={NOW}", NOW - 30 * DAY - 1),
        format!("limit=10&next=0&dateFrom={NOW}&dateTo={}", NOW - 1),
        format!("limit=10&next=0&dateFrom={far}&dateTo={}", far + DAY),
        format!("limit=10&next=0&dateFrom={NOW}000&dateTo={NOW}000"),
        "limit=10&next=0&dateFrom=2026-09-01".to_owned(),
    ] {
        let answer = client.get(&format!("{ORDERS}?{query}")).await;
        assert_refused(&answer, 400, "IncorrectParameter");
    }
}
