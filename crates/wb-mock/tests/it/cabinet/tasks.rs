//! Reports that are tasks: remains, acceptance and storage.

use std::collections::BTreeSet;

use chrono::{Days, NaiveDate};
use serde_json::Value;
use waitless_wb_mock::{Dataset, Mock, MockConfig};

use super::{TODAY, assert_all_there, assert_refused, by_key, mock_of, of_size, rows_at};
use crate::client::{Answer, Client, start};

const REMAINS: &str = "/api/v1/warehouse_remains";
const ACCEPTANCE: &str = "/api/v1/acceptance_report";
const STORAGE: &str = "/api/v1/paid_storage";

const ALL_GROUPINGS: &str = "groupByBrand=true&groupBySubject=true&groupBySa=true&groupByNm=true\
                             &groupByBarcode=true&groupBySize=true";

async fn create(client: &Client, path: &str, query: &str) -> String {
    let answer = client.get(&format!("{path}?{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["data"]["taskId"].as_str().expect("an id").to_owned()
}

/// Waits for the task, and fetches what it made.
async fn fetch(client: &Client, path: &str, task: &str) -> Answer {
    loop {
        let answer = client.get(&format!("{path}/tasks/{task}/status")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let data = &answer.json()["data"];
        assert_eq!(data["id"], task);
        match data["status"].as_str() {
            Some("done") => break,
            Some("new" | "processing") => tokio::task::yield_now().await,
            other => panic!("{other:?}"),
        }
    }
    client.get(&format!("{path}/tasks/{task}/download")).await
}

fn rows(answer: &Answer) -> Vec<Value> {
    if answer.status == 204 {
        assert_eq!(answer.body, "");
        return Vec::new();
    }
    rows_at(answer, "")
}

/// A task for each window of so many days of the last 90 and today.
async fn by_windows(client: &Client, path: &str, days: u64) -> (Vec<Value>, Vec<Answer>) {
    let today: NaiveDate = TODAY.parse().expect("a date");
    let mut first = today - Days::new(90);
    let (mut all, mut answers) = (Vec::new(), Vec::new());
    while first <= today {
        let last = (first + Days::new(days - 1)).min(today);
        let task = create(client, path, &format!("dateFrom={first}&dateTo={last}")).await;
        let answer = fetch(client, path, &task).await;
        all.extend(rows(&answer));
        answers.push(answer);
        first = last + Days::new(1);
    }
    (all, answers)
}

#[tokio::test]
async fn remains_come_whole() {
    let (mock, client) = mock_of(200).await;
    let task = create(&client, REMAINS, ALL_GROUPINGS).await;
    let rows = rows(&fetch(&client, REMAINS, &task).await);
    assert_all_there(&mock, Dataset::Remains, &by_key(rows, &["nmId", "barcode", "techSize"]));
    assert_eq!(mock.import_requests(0, Dataset::Remains), 3);
}

#[tokio::test]
async fn remains_have_only_the_fields_of_the_groupings_that_were_chosen() {
    let (_mock, client) = mock_of(50).await;
    for (query, fields) in [
        ("", &["warehouses"][..]),
        ("groupByNm=true&groupBySa=false", &["nmId", "volume", "warehouses"]),
    ] {
        let task = create(&client, REMAINS, query).await;
        for row in rows(&fetch(&client, REMAINS, &task).await) {
            let names = row.as_object().expect("an object").keys();
            assert_eq!(
                names.collect::<BTreeSet<_>>(),
                fields.iter().copied().map(String::from).collect::<BTreeSet<_>>().iter().collect()
            );
        }
    }
}

#[tokio::test]
async fn the_sum_over_all_warehouses_counts_things_twice() {
    let (mock, _) = mock_of(50).await;
    for row in mock.expected(0, Dataset::Remains) {
        let row: Value = serde_json::from_str(&row.body).expect("a row");
        let quantity = |name: &str| -> u64 {
            let all = row["warehouses"].as_array().expect("a list").iter();
            let of_name = all.filter(|warehouse| warehouse["warehouseName"] == name);
            of_name.filter_map(|warehouse| warehouse["quantity"].as_u64()).sum()
        };
        let warehouses = row["warehouses"].as_array().expect("a list");
        let all: u64 = warehouses.iter().filter_map(|one| one["quantity"].as_u64()).sum();
        let ways = quantity("В пути до получателей") + quantity("В пути возвраты на склад WB");
        assert_eq!(all, 2 * quantity("Всего находится на складах") + ways);
    }
}

#[tokio::test]
async fn acceptance_and_storage_come_whole_in_windows_of_any_length() {
    let (mock, client) = mock_of(100).await;
    for days in [31, 30, 7] {
        let rows = by_windows(&client, ACCEPTANCE, days).await.0;
        let key = ["incomeId", "nmID", "giCreateDate", "shkCreateDate"];
        assert_all_there(&mock, Dataset::Acceptance, &by_key(rows, &key));
    }
    for days in [8, 5] {
        let rows = by_windows(&client, STORAGE, days).await.0;
        let key = ["date", "officeId", "giId", "chrtId", "barcode", "calcType", "palletPlaceCode"];
        assert_all_there(&mock, Dataset::Storage, &by_key(rows, &key));
    }
    assert_eq!(mock.import_requests(0, Dataset::Acceptance), 3 * 3);
    assert_eq!(mock.import_requests(0, Dataset::Storage), 3 * 12);
}

/// Statuses and bodies of the windows without rows, over some sellers.
async fn empty_windows(mock: &Mock, path: &str, days: u64) -> BTreeSet<(u16, String)> {
    let mut seen = BTreeSet::new();
    for seller in 0..mock.sellers().len() {
        let (_, answers) = by_windows(&Client::of(mock, seller), path, days).await;
        let empty = answers.into_iter().filter(|answer| answer.body.len() < 3);
        seen.extend(empty.map(|answer| (answer.status, answer.body)));
    }
    seen
}

#[tokio::test]
async fn windows_without_rows_are_answered_by_204_or_an_empty_array() {
    let mock = start(MockConfig { sellers: 12, ..of_size(20..=20) }).await;
    let both = BTreeSet::from([(200, "[]".to_owned()), (204, String::new())]);
    assert_eq!(empty_windows(&mock, ACCEPTANCE, 31).await, both);
    assert_eq!(empty_windows(&mock, STORAGE, 8).await, both);
}

#[tokio::test]
async fn unknown_tasks_and_those_of_other_sellers_and_reports_are_404() {
    let mock = start(MockConfig { sellers: 2, ..of_size(20..=20) }).await;
    let client = Client::of(&mock, 0);
    let task = create(&client, REMAINS, ALL_GROUPINGS).await;
    assert_eq!(fetch(&client, REMAINS, &task).await.status, 200);
    for end in ["status", "download"] {
        let other_seller = Client::of(&mock, 1);
        for (client, path, task) in [
            (&client, REMAINS, "6f1e2c9a-0000-4000-8000-000000000000"),
            (&client, STORAGE, task.as_str()),
            (&other_seller, REMAINS, task.as_str()),
        ] {
            let answer = client.get(&format!("{path}/tasks/{task}/{end}")).await;
            assert_refused(&answer, 404, "unknown");
        }
    }
}

#[tokio::test]
async fn a_task_takes_its_time_and_is_not_fetched_before() {
    let mock = start(MockConfig { speed: 1, ..of_size(20..=20) }).await;
    let client = Client::of(&mock, 0);
    let task = create(&client, REMAINS, ALL_GROUPINGS).await;
    let answer = client.get(&format!("{REMAINS}/tasks/{task}/status")).await;
    let status = answer.json()["data"]["status"].clone();
    assert!(status == "new" || status == "processing", "{status}");
    let answer = client.get(&format!("{REMAINS}/tasks/{task}/download")).await;
    assert_refused(&answer, 400, "not ready");
}

#[tokio::test]
async fn wrong_windows_and_groupings_are_refused() {
    let (_mock, client) = mock_of(5).await;
    for (path, query, trouble) in [
        (ACCEPTANCE, "", "dateFrom"),
        (ACCEPTANCE, "dateFrom=2026-09-01", "dateTo"),
        (ACCEPTANCE, "dateFrom=2026-08-31&dateTo=2026-10-01", "31 days"),
        (ACCEPTANCE, "dateFrom=2026-09-02&dateTo=2026-09-01", "before it begins"),
        (ACCEPTANCE, "dateFrom=2026-10-01&dateTo=2026-10-02", "future"),
        (ACCEPTANCE, "dateFrom=2026-07-01&dateTo=2026-07-20", "90 days"),
        (ACCEPTANCE, "dateFrom=01.09.2026&dateTo=2026-09-20", "dateFrom"),
        (ACCEPTANCE, "dateFrom=2026-9-1&dateTo=2026-09-20", "dateFrom"),
        (ACCEPTANCE, "dateFrom=2026-09-01T00:00:00&dateTo=2026-09-20", "dateFrom"),
        (ACCEPTANCE, "date_from=2026-09-01&dateTo=2026-09-20", "date_from"),
        (STORAGE, "dateFrom=2026-09-01&dateTo=2026-09-09", "8 days"),
        (STORAGE, "dateFrom=2026-07-01&dateTo=2026-07-08", "90 days"),
        (REMAINS, "groupByNm=yes", "groupByNm"),
        (REMAINS, "groupByNmId=true", "groupByNmId"),
        (REMAINS, "groupByNm=true&filterPics=1", "filterPics"),
    ] {
        assert_refused(&client.get(&format!("{path}?{query}")).await, 400, trouble);
    }
    for good in [
        format!("{ACCEPTANCE}?dateFrom=2026-09-01&dateTo=2026-10-01"),
        format!("{STORAGE}?dateFrom=2026-09-01&dateTo=2026-09-08"),
        format!("{STORAGE}?dateFrom=2026-07-03&dateTo=2026-07-03"),
    ] {
        assert_eq!(client.get(&good).await.status, 200, "{good}");
    }
}
