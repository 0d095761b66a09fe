//! Feedbacks in two passes.

use std::collections::BTreeSet;

use serde_json::Value;
use waitless_wb_mock::Dataset;

use super::{assert_all_there, assert_refused, by_key, mock_of, rows_at};
use crate::client::Client;

const FEEDBACKS: &str = "/api/v1/feedbacks";

async fn pass(client: &Client, is_answered: bool, take: usize) -> (Vec<Value>, u64) {
    let mut all: Vec<Value> = Vec::new();
    for requests in 1.. {
        let query =
            format!("isAnswered={is_answered}&take={take}&skip={}&order=dateAsc", all.len());
        let answer = client.get(&format!("{FEEDBACKS}?{query}")).await;
        let page = rows_at(&answer, "/data/feedbacks");
        assert_eq!(answer.json()["error"], false);
        let is_last = page.len() < take;
        all.extend(page);
        if is_last {
            return (all, requests);
        }
    }
    unreachable!("the loop has no end of its own")
}

#[tokio::test]
async fn both_passes_together_have_every_feedback_once() {
    let (mock, client) = mock_of(300).await;
    for take in [5000, 100, 37] {
        let (mut all, first) = pass(&client, true, take).await;
        let answered = all.len();
        assert!(all.iter().all(|feedback| feedback["answer"]["text"].is_string()));
        let (others, second) = pass(&client, false, take).await;
        assert!(others.iter().all(|feedback| feedback["answer"].is_null()));
        let pages = |count: usize| (count / take + 1) as u64;
        assert_eq!((first, second), (pages(answered), pages(300 - answered)));
        all.extend(others);
        assert_all_there(&mock, Dataset::Feedbacks, &by_key(all, &["id"]));
    }
    assert_eq!(mock.import_requests(0, Dataset::Feedbacks), 2);
}

#[tokio::test]
async fn a_full_last_page_is_followed_by_an_empty_one() {
    let (_mock, client) = mock_of(50).await;
    let (all, _) = pass(&client, true, 5000).await;
    assert_eq!(pass(&client, true, all.len()).await, (all, 2));
}

#[tokio::test]
async fn feedbacks_come_in_the_order_that_is_asked_for() {
    let (_mock, client) = mock_of(50).await;
    let (mut all, _) = pass(&client, true, 5000).await;
    assert!(all.is_sorted_by_key(|feedback| feedback["createdDate"].to_string()));
    let answer = client.get(&format!("{FEEDBACKS}?isAnswered=true&take=5000&skip=0")).await;
    all.reverse();
    assert_eq!(rows_at(&answer, "/data/feedbacks"), all);
}

#[tokio::test]
async fn what_may_be_null_is_null_somewhere_and_nowhere_always() {
    let (_mock, client) = mock_of(400).await;
    let (all, _) = pass(&client, true, 5000).await;
    for field in ["supplierArticle", "supplierName", "brandName"] {
        let kinds: BTreeSet<bool> =
            all.iter().map(|feedback| feedback["productDetails"][field].is_null()).collect();
        assert_eq!(kinds.len(), 2, "{field}");
    }
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    for (query, trouble) in [
        ("take=10&skip=0", "isAnswered"),
        ("isAnswered=maybe&take=10&skip=0", "isAnswered"),
        ("isAnswered=true&skip=0", "take"),
        ("isAnswered=true&take=10", "skip"),
        ("isAnswered=true&take=5001&skip=0", "take"),
        ("isAnswered=true&take=0&skip=0", "take"),
        ("isAnswered=true&take=10&skip=199991", "skip"),
        ("isAnswered=true&take=10&skip=0&order=newest", "order"),
    ] {
        let answer = client.get(&format!("{FEEDBACKS}?{query}")).await;
        assert_refused(&answer, 400, trouble);
        assert_eq!((&answer.json()["error"], &answer.json()["data"]), (&true.into(), &Value::Null));
    }
    let deepest = format!("{FEEDBACKS}?isAnswered=true&take=10&skip=199990");
    assert!(rows_at(&client.get(&deepest).await, "/data/feedbacks").is_empty());
}
