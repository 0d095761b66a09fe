//! Tariffs: five lists.

use serde_json::Value;
use waitless_wb_mock::{Dataset, MockConfig};

use super::{TODAY, assert_all_there, assert_refused, key, mock_of, of_size, rows_at};
use crate::client::{Client, Imported, start};

const COMMISSION: &str = "/api/v1/tariffs/commission";
const COEFFICIENTS: &str = "/api/tariffs/v1/acceptance/coefficients";

async fn import(client: &Client) -> Imported {
    let mut all = Imported::new();
    let mut take = |list: &str, rows: Vec<Value>, fields: &[&str]| {
        all.extend(rows.into_iter().map(|row| (format!("{list}/{}", key(&row, fields)), row)));
    };
    take("commission", rows_at(&client.get(COMMISSION).await, "/report"), &["subjectID"]);
    for list in ["box", "pallet", "return"] {
        let answer = client.get(&format!("/api/v1/tariffs/{list}?date={TODAY}")).await;
        take(list, rows_at(&answer, "/response/data/warehouseList"), &["warehouseName"]);
    }
    let rows = rows_at(&client.get(COEFFICIENTS).await, "");
    take("acceptance", rows, &["date", "warehouseID", "boxTypeID"]);
    all
}

#[tokio::test]
async fn the_five_lists_come_whole() {
    let (mock, client) = mock_of(1).await;
    let all = import(&client).await;
    assert_all_there(&mock, Dataset::Tariffs, &all);
    assert_eq!(mock.import_requests(0, Dataset::Tariffs), 5);
}

#[tokio::test]
async fn tariffs_are_the_same_for_every_seller() {
    let mock = start(MockConfig { sellers: 2, ..of_size(1..=1) }).await;
    assert_eq!(import(&Client::of(&mock, 0)).await, import(&Client::of(&mock, 1)).await);
}

#[tokio::test]
async fn coefficients_of_some_warehouses_can_be_asked_for() {
    let (_mock, client) = mock_of(1).await;
    let rows = rows_at(&client.get(&format!("{COEFFICIENTS}?warehouseIDs=507,1")).await, "");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["warehouseID"] == 507));
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(1).await;
    for (path, trouble) in [
        ("/api/v1/tariffs/box", "date"),
        ("/api/v1/tariffs/pallet?date=today", "date"),
        ("/api/v1/tariffs/return?date=2026-10-02", "future"),
        ("/api/v1/tariffs/box?date=2024-10-02", "365 days"),
        ("/api/tariffs/v1/acceptance/coefficients?warehouseIDs=a", "warehouseIDs"),
        ("/api/v1/tariffs/commission?date=2026-10-01", "date"),
    ] {
        assert_refused(&client.get(path).await, 400, trouble);
    }
}
