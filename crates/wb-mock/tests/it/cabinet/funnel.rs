//! The sales funnel of periods and of single days.

use serde_json::{Value, json};
use waitless_wb_mock::Dataset;

use super::{YESTERDAY, assert_all_there, assert_refused, by_key, mock_of, rows_at};
use crate::client::Client;

const PRODUCTS: &str = "/api/analytics/v3/sales-funnel/products";
const HISTORY: &str = "/api/analytics/v3/sales-funnel/products/history";
const SINCE: &str = "2026-07-03";

fn period(start: &str, end: &str) -> Value {
    json!({"start": start, "end": end})
}

async fn products(client: &Client, limit: usize) -> (Vec<Value>, u64) {
    let mut all = Vec::new();
    for requests in 1.. {
        let body = json!({
            "selectedPeriod": period(SINCE, YESTERDAY),
            "limit": limit,
            "offset": all.len(),
        });
        let answer = client.post(PRODUCTS, &body).await;
        let page = rows_at(&answer, "/data/products");
        assert_eq!(
            answer.json()["data"].as_object().map(serde_json::Map::len),
            Some(2),
            "no total"
        );
        let is_last = page.len() < limit;
        all.extend(page);
        if is_last {
            return (all, requests);
        }
    }
    unreachable!("the loop has no end of its own")
}

async fn history(client: &Client, nm_ids: &[Value], (start, end): (&str, &str)) -> Vec<Value> {
    let body = json!({"selectedPeriod": period(start, end), "nmIds": nm_ids});
    rows_at(&client.post(HISTORY, &body).await, "")
}

fn nm_ids(products: &[Value]) -> Vec<Value> {
    products.iter().map(|product| product["product"]["nmId"].clone()).collect()
}

#[tokio::test]
async fn products_come_whole_and_a_full_last_page_is_followed_by_an_empty_one() {
    let (mock, client) = mock_of(120).await;
    for (limit, pages) in [(1000, 1), (120, 2), (50, 3)] {
        let (all, requests) = products(&client, limit).await;
        assert_eq!(requests, pages);
        let key =
            ["product/nmId", "statistic/selected/period/start", "statistic/selected/period/end"];
        assert_all_there(&mock, Dataset::Funnel, &by_key(all, &key));
    }
    assert_eq!(mock.import_requests(0, Dataset::Funnel), 1);
}

#[tokio::test]
async fn the_last_week_comes_whole_by_chunks_of_20() {
    let (mock, client) = mock_of(50).await;
    let ids = nm_ids(&products(&client, 1000).await.0);
    let mut days = Vec::new();
    let mut requests = 1;
    for chunk in ids.chunks(20) {
        requests += 1;
        for product in history(&client, chunk, ("2026-09-24", YESTERDAY)).await {
            for day in product["history"].as_array().expect("a list") {
                let mut day = day.clone();
                day["nmId"] = product["product"]["nmId"].clone();
                days.push(day);
            }
        }
    }
    assert_all_there(&mock, Dataset::FunnelHistory, &by_key(days, &["nmId", "date"]));
    assert_eq!(requests, mock.import_requests(0, Dataset::FunnelHistory));
}

#[tokio::test]
async fn history_answers_for_known_ids_alone_and_products_add_its_days_up() {
    let (_mock, client) = mock_of(30).await;
    let ids = nm_ids(&products(&client, 1000).await.0);
    let body = json!({"selectedPeriod": period("2026-09-24", YESTERDAY), "nmIds": [ids[3]]});
    let sums = rows_at(&client.post(PRODUCTS, &body).await, "/data/products");
    let asked = [json!(17), ids[3].clone()];
    let days = history(&client, &asked, ("2026-09-24", YESTERDAY)).await;
    assert_eq!((sums.len(), days.len()), (1, 1));

    for (of_sum, of_day) in [("openCount", "openCount"), ("orderSum", "orderSum")] {
        let of_days = days[0]["history"].as_array().expect("a list").iter();
        let total: u64 = of_days.filter_map(|day| day[of_day].as_u64()).sum();
        assert!(total > 0);
        assert_eq!(sums[0]["statistic"]["selected"][of_sum], total);
    }
}

#[tokio::test]
async fn wrong_questions_for_products_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let good = period(SINCE, YESTERDAY);
    for (body, trouble) in [
        (json!({}), "selectedPeriod"),
        (json!({"selectedPeriod": {"start": SINCE}}), "end"),
        (json!({"selectedPeriod": period("yesterday", YESTERDAY)}), "start"),
        (json!({"selectedPeriod": period("2025-09-30", YESTERDAY)}), "365 days"),
        (json!({"selectedPeriod": period("2025-09-01", "2025-09-30")}), "365 days"),
        (json!({"selectedPeriod": period(YESTERDAY, "2026-10-02")}), "future"),
        (json!({"selectedPeriod": good, "limit": 1001}), "limit"),
        (json!({"selectedPeriod": good, "limit": 0}), "limit"),
        (json!({"selectedPeriod": good, "offset": -1}), "invalid value"),
        (json!({"selectedPeriod": good, "brandNames": ["Тест"]}), "unknown field"),
        (json!({"selectedPeriod": good, "orderBy": {"field": "x", "mode": "up"}}), "mode"),
    ] {
        let trouble = if trouble == "mode" { "unknown variant" } else { trouble };
        assert_refused(&client.post(PRODUCTS, &body).await, 400, trouble);
    }
    let year = json!({"selectedPeriod": period("2025-10-01", YESTERDAY), "limit": 1});
    assert_eq!(client.post(PRODUCTS, &year).await.status, 200);
}

#[tokio::test]
async fn wrong_questions_for_history_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let week = period("2026-09-24", YESTERDAY);
    let many: Vec<u64> = (1..=21).collect();
    for (body, trouble) in [
        (json!({"selectedPeriod": week}), "nmIds"),
        (json!({"selectedPeriod": week, "nmIds": []}), "20"),
        (json!({"selectedPeriod": week, "nmIds": many}), "20"),
        (json!({"selectedPeriod": week, "nmIds": ["1"]}), "invalid type"),
        (json!({"selectedPeriod": period("2026-09-23", YESTERDAY), "nmIds": [1]}), "7 days"),
        (json!({"selectedPeriod": period("2026-09-20", "2026-09-24"), "nmIds": [1]}), "7 days"),
        (json!({"selectedPeriod": week, "nmIds": [1], "aggregationLevel": "year"}), "variant"),
        (json!({"nmIds": [1]}), "selectedPeriod"),
    ] {
        assert_refused(&client.post(HISTORY, &body).await, 400, trouble);
    }
    assert_refused(&client.post_text(HISTORY, "nmIds=1").await, 400, "JSON");
}
