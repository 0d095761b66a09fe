//! Every dataset but orders and sales: read to its end by a naive client, and refused if asked
//! wrongly.

mod advertising;
mod cards;
mod fbs_orders;
mod feedbacks;
mod finance;
mod funnel;
mod offsets;
mod reports;
mod tariffs;
mod tasks;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::Value;
use waitless_wb_mock::{CabinetSizes, Dataset, Mock, MockConfig};

use crate::client::{Answer, Client, Imported, expected, start, unlimited};

/// The day in Moscow on which the mocks of these tests start.
const TODAY: &str = "2026-10-01";
const YESTERDAY: &str = "2026-09-30";

/// A mock with so much of everything for each seller, and limits that no test can reach.
fn of_size(range: RangeInclusive<u64>) -> MockConfig {
    let cabinet = CabinetSizes {
        products: range.clone(),
        campaigns: range.clone(),
        feedbacks: range.clone(),
        fbs_orders: range.clone(),
        finance_rows: range,
    };
    MockConfig { cabinet, ..unlimited(0, 1000) }
}

/// A mock with so much of everything, and a client of its seller.
async fn mock_of(size: u64) -> (Mock, Client) {
    let mock = start(of_size(size..=size)).await;
    let client = Client::of(&mock, 0);
    (mock, client)
}

/// Rows by the plain texts of those of their fields.
fn by_key(rows: Vec<Value>, fields: &[&str]) -> Imported {
    let count = rows.len();
    let imported: Imported = rows.into_iter().map(|row| (key(&row, fields), row)).collect();
    assert_eq!(imported.len(), count, "no key comes twice");
    imported
}

fn key(row: &Value, fields: &[&str]) -> String {
    let texts = fields.iter().map(|field| match row.pointer(&format!("/{field}")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        other => panic!("{field} is {other:?}"),
    });
    texts.collect::<Vec<_>>().join("/")
}

/// The array at that pointer of an answer with status 200.
fn rows_at(answer: &Answer, pointer: &str) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = answer.json();
    body.pointer(pointer).and_then(Value::as_array).expect("an array").clone()
}

#[track_caller]
fn assert_all_there(mock: &Mock, dataset: Dataset, imported: &Imported) {
    let expected = expected(mock, 0, dataset);
    let keys = |rows: &Imported| rows.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(imported), keys(&expected), "{dataset}");
    for (key, row) in imported {
        assert_eq!(row, &expected[key], "{dataset}");
    }
    assert_eq!(imported.len() as u64, mock.expected_count(0, dataset));
}

/// Refused with that status, in a body that names the trouble.
#[track_caller]
fn assert_refused(answer: &Answer, status: u16, trouble: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.body.contains(trouble), "{trouble} in {}", answer.body);
}

#[tokio::test]
async fn equal_seeds_give_equal_rows_and_every_dataset_has_some() {
    let [one, again] = [start(of_size(150..=600)).await, start(of_size(150..=600)).await];
    for dataset in Dataset::ALL.into_iter().skip(2) {
        let rows: Vec<_> = one.expected(0, dataset).collect();
        assert!(rows.len() > 20, "{} rows of {dataset}", rows.len());
        assert_eq!(rows, again.expected(0, dataset).collect::<Vec<_>>(), "{dataset}");
        let keys: BTreeSet<_> = rows.iter().map(|row| &row.key).collect();
        assert_eq!(keys.len(), rows.len(), "keys of {dataset}");
    }
}

#[tokio::test]
async fn default_sizes_are_small_enough_for_a_demo() {
    let mock = start(MockConfig { sellers: 4, ..unlimited(0, 1) }).await;
    for seller in 0..4 {
        for dataset in Dataset::ALL.into_iter().skip(2) {
            let count = mock.expected_count(seller, dataset);
            assert!(count < 20_000, "{count} rows of {dataset}");
        }
    }
}

#[tokio::test]
async fn sellers_share_some_nm_ids_but_not_all() {
    let mock = start(MockConfig { sellers: 2, ..of_size(90..=90) }).await;
    let keys = |seller| -> BTreeSet<String> {
        mock.expected(seller, Dataset::Cards).map(|row| row.key).collect()
    };
    assert_eq!(keys(0).intersection(&keys(1)).count(), 30);
}

#[tokio::test]
async fn sellers_without_anything_have_empty_datasets() {
    let (mock, client) = mock_of(0).await;
    for dataset in Dataset::ALL.into_iter().filter(|dataset| *dataset != Dataset::Tariffs) {
        assert_eq!(mock.expected_count(0, dataset), 0, "{dataset}");
    }
    let count = client.get("/adv/v1/promotion/count").await;
    assert_eq!(count.json(), serde_json::json!({"adverts": null, "all": 0}));
}
