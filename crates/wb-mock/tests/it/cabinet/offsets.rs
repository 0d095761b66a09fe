//! Datasets that are paged by `limit` and `offset`: prices and stocks.

use serde_json::{Value, json};
use waitless_wb_mock::Dataset;

use super::{assert_all_there, assert_refused, by_key, mock_of, rows_at};
use crate::client::Client;

const PRICES: &str = "/api/v2/list/goods/filter";
const STOCKS: &str = "/api/analytics/v1/stocks-report/wb-warehouses";

async fn prices(client: &Client, limit: usize) -> (Vec<Value>, u64) {
    let mut all = Vec::new();
    for requests in 1.. {
        let answer = client.get(&format!("{PRICES}?limit={limit}&offset={}", all.len())).await;
        let page = rows_at(&answer, "/data/listGoods");
        if page.is_empty() {
            return (all, requests);
        }
        all.extend(page);
    }
    unreachable!("the loop has no end of its own")
}

async fn stocks(client: &Client, limit: usize) -> (Vec<Value>, u64) {
    let mut all = Vec::new();
    for requests in 1.. {
        let answer = client.post(STOCKS, &json!({"limit": limit, "offset": all.len()})).await;
        let page = rows_at(&answer, "/data/items");
        let is_last = page.len() < limit;
        all.extend(page);
        if is_last {
            return (all, requests);
        }
    }
    unreachable!("the loop has no end of its own")
}

#[tokio::test]
async fn prices_come_whole_and_end_with_an_empty_page() {
    let (mock, client) = mock_of(250).await;
    for limit in [1000, 250, 60] {
        let (all, requests) = prices(&client, limit).await;
        assert_eq!(requests, 250_u64.div_ceil(limit as u64) + 1);
        assert_all_there(&mock, Dataset::Prices, &by_key(all, &["nmID"]));
    }
    assert_eq!(mock.import_requests(0, Dataset::Prices), 2);
}

#[tokio::test]
async fn prices_are_those_of_the_cards() {
    let (mock, _) = mock_of(50).await;
    let keys = |dataset| {
        mock.expected(0, dataset).map(|row| row.key).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(keys(Dataset::Prices), keys(Dataset::Cards));
}

#[tokio::test]
async fn one_thing_can_be_asked_for() {
    let (_mock, client) = mock_of(50).await;
    let (all, _) = prices(&client, 1000).await;
    let query = format!("{PRICES}?limit=10&filterNmID={}", all[7]["nmID"]);
    assert_eq!(rows_at(&client.get(&query).await, "/data/listGoods"), all[7..8]);
}

#[tokio::test]
async fn wrong_questions_for_prices_are_refused() {
    let (_mock, client) = mock_of(5).await;
    for (query, trouble) in [
        ("", "limit"),
        ("limit=1001", "limit"),
        ("limit=0", "limit"),
        ("limit=ten", "limit"),
        ("limit=10&offset=-1", "offset"),
        ("limit=10&ofset=1", "ofset"),
        ("limit=10&limit=20", "twice"),
    ] {
        let answer = client.get(&format!("{PRICES}?{query}")).await;
        assert_refused(&answer, 400, trouble);
        assert_eq!((&answer.json()["error"], &answer.json()["data"]), (&true.into(), &Value::Null));
    }
}

#[tokio::test]
async fn stocks_come_whole_and_a_full_last_page_is_followed_by_an_empty_one() {
    let (mock, client) = mock_of(200).await;
    let count = mock.expected_count(0, Dataset::Stocks) as usize;
    for (limit, pages) in [(250_000, 1), (count, 2), (count - 1, 2), (70, count / 70 + 1)] {
        let (all, requests) = stocks(&client, limit).await;
        assert_eq!(requests, pages as u64, "{count} by {limit}");
        let all = by_key(all, &["nmId", "chrtId", "warehouseId"]);
        assert_all_there(&mock, Dataset::Stocks, &all);
    }
    assert_eq!(mock.import_requests(0, Dataset::Stocks), 1);
}

#[tokio::test]
async fn stocks_of_some_things_can_be_asked_for() {
    let (_mock, client) = mock_of(50).await;
    let (all, _) = stocks(&client, 250_000).await;
    let nm_id = &all[0]["nmId"];
    let wanted: Vec<_> = all.iter().filter(|row| row["nmId"] == *nm_id).cloned().collect();
    let answer = client.post(STOCKS, &json!({"nmIds": [nm_id]})).await;
    assert_eq!(rows_at(&answer, "/data/items"), wanted);
}

#[tokio::test]
async fn wrong_questions_for_stocks_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let many: Vec<u64> = (0..1001).collect();
    for (body, trouble) in [
        (json!({"limit": 250_001}), "limit"),
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 10, "offset": -1}), "invalid value"),
        (json!({"nmIds": many}), "1000"),
        (json!({"limits": 10}), "unknown field"),
        (json!([]), "no object"),
    ] {
        let answer = client.post(STOCKS, &body).await;
        assert_refused(&answer, 400, trouble);
        assert_eq!(answer.json()["origin"], "analytics-open-api");
    }
    assert_refused(&client.post_text(STOCKS, "limit=10").await, 400, "JSON");
}
