//! Finance reports behind the last `rrdId`.

use serde_json::{Value, json};
use waitless_wb_mock::Dataset;

use super::{TODAY, assert_all_there, assert_refused, by_key, mock_of, rows_at};
use crate::client::Client;

const FINANCE: &str = "/api/finance/v1/sales-reports/detailed";

fn body(limit: u64, rrd_id: &Value) -> Value {
    json!({"dateFrom": "2026-07-03", "dateTo": TODAY, "limit": limit, "rrdId": rrd_id})
}

async fn import(client: &Client, limit: u64) -> (Vec<Value>, u64) {
    let mut all = Vec::new();
    let mut rrd_id = json!(0);
    for requests in 1.. {
        let answer = client.post(FINANCE, &body(limit, &rrd_id)).await;
        if answer.status == 204 {
            assert_eq!(answer.body, "");
            return (all, requests);
        }
        let page = rows_at(&answer, "");
        assert!(!page.is_empty() && page.len() as u64 <= limit);
        rrd_id = page[page.len() - 1]["rrdId"].clone();
        all.extend(page);
    }
    unreachable!("the loop has no end of its own")
}

#[tokio::test]
async fn rows_come_whole_and_end_with_204() {
    for size in [0, 1, 300] {
        let (mock, client) = mock_of(size).await;
        for limit in [100_000, 100, 7] {
            let (all, requests) = import(&client, limit).await;
            assert_eq!(requests, size.div_ceil(limit) + 1);
            assert_all_there(&mock, Dataset::Finance, &by_key(all, &["rrdId"]));
        }
        assert_eq!(mock.import_requests(0, Dataset::Finance), size.div_ceil(100_000) + 1);
    }
}

#[tokio::test]
async fn ids_are_too_large_for_a_float_and_money_is_a_text() {
    let (_mock, client) = mock_of(100).await;
    let (all, _) = import(&client, 100_000).await;
    let ids: Vec<u64> = all.iter().map(|row| row["rrdId"].as_u64().expect("a number")).collect();
    assert!(ids.is_sorted() && ids.iter().any(|id| *id as f64 as u64 != *id));
    for row in &all {
        for money in ["retailPrice", "forPay", "penalty", "deliveryService", "vwNds"] {
            let text = row[money].as_str().expect("a text");
            assert!(text.parse::<f64>().is_ok(), "{text}");
        }
        assert!(row["salePercent"].is_number() && row["commissionPercent"].is_number());
    }
    let some_have = |field: &str| {
        let count = all.iter().filter(|row| row.get(field).is_some()).count();
        0 < count && count < all.len()
    };
    assert!(["kiz", "bonusTypeName", "rebillLogisticOrg", "agencyVat"].into_iter().all(some_have));
}

#[tokio::test]
async fn only_rows_of_the_period_come() {
    let (_mock, client) = mock_of(300).await;
    let body = json!({"dateFrom": "2026-08-01", "dateTo": "2026-08-07T23:59:59+03:00"});
    let rows = rows_at(&client.post(FINANCE, &body).await, "");
    assert!(rows.len() > 10);
    let in_period =
        |row: &Value| (Some("2026-08-01")..=Some("2026-08-07")).contains(&row["rrDate"].as_str());
    assert!(rows.iter().all(in_period));
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    for (body, trouble) in [
        (json!({}), "dateFrom"),
        (json!({"dateFrom": "2026-09-01"}), "dateTo"),
        (json!({"dateFrom": "2024-01-27", "dateTo": "2024-02-01"}), "begins more than"),
        (json!({"dateFrom": "2026-09-02", "dateTo": "2026-09-01"}), "before it begins"),
        (json!({"dateFrom": "September", "dateTo": TODAY}), "dateFrom"),
        (json!({"dateFrom": "2026-09-01", "dateTo": TODAY, "limit": 100_001}), "limit"),
        (json!({"dateFrom": "2026-09-01", "dateTo": TODAY, "limit": 0}), "limit"),
        (json!({"dateFrom": "2026-09-01", "dateTo": TODAY, "rrdId": "7"}), "invalid type"),
        (json!({"dateFrom": "2026-09-01", "dateTo": TODAY, "rrdid": 7}), "unknown field"),
    ] {
        let answer = client.post(FINANCE, &body).await;
        assert_refused(&answer, 400, trouble);
        assert_eq!(answer.json()["origin"], "ag-finance");
    }
    let first_day = json!({"dateFrom": "2024-01-29", "dateTo": TODAY});
    assert_eq!(client.post(FINANCE, &first_day).await.status, 200);
}
