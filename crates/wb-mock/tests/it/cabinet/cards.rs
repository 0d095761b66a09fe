//! Cards behind a cursor.

use serde_json::{Value, json};
use waitless_wb_mock::{Dataset, MockConfig};

use super::{assert_all_there, assert_refused, key, mock_of, of_size, rows_at};
use crate::client::{Client, Imported, start};

const CARDS: &str = "/content/v2/get/cards/list";

fn body(cursor: &Value) -> Value {
    json!({"settings": {"sort": {"ascending": true}, "filter": {"withPhoto": -1}, "cursor": cursor}})
}

/// Follows the cursor to a short page; the last write wins.
async fn import(client: &Client, limit: u64) -> (Imported, u64) {
    let mut imported = Imported::new();
    let mut cursor = json!({"limit": limit});
    for requests in 1.. {
        let answer = client.post(CARDS, &body(&cursor)).await;
        let cards = rows_at(&answer, "/cards");
        let next = answer.json()["cursor"].clone();
        assert_eq!(next["total"], cards.len(), "the total is that of the page");
        imported.extend(cards.into_iter().map(|card| (key(&card, &["nmID"]), card)));
        if next["total"].as_u64() < Some(limit) {
            return (imported, requests);
        }
        cursor = json!({"limit": limit, "updatedAt": next["updatedAt"], "nmID": next["nmID"]});
    }
    unreachable!("the loop has no end of its own")
}

#[tokio::test]
async fn a_naive_client_ends_up_with_exactly_the_expected_cards() {
    for size in [1, 99, 100, 101, 199, 200, 450] {
        for late_updates in [false, true] {
            let mock = start(MockConfig { late_updates, ..of_size(size..=size) }).await;
            let (imported, requests) = import(&Client::of(&mock, 0), 100).await;
            assert_all_there(&mock, Dataset::Cards, &imported);
            assert_eq!(requests, mock.import_requests(0, Dataset::Cards), "{size} {late_updates}");
        }
    }
}

#[tokio::test]
async fn a_client_with_small_pages_ends_up_with_the_same_cards() {
    let mock = start(MockConfig { late_updates: true, ..of_size(150..=150) }).await;
    assert_all_there(&mock, Dataset::Cards, &import(&Client::of(&mock, 0), 7).await.0);
}

#[tokio::test]
async fn a_second_of_the_upstream_that_has_fractions_is_cut_off_where_cards_begin() {
    let config = of_size(150..=150);
    let now = config.now + chrono::Duration::nanoseconds(123_456_789);
    let mock = start(MockConfig { now, ..config }).await;
    let (imported, requests) = import(&Client::of(&mock, 0), 100).await;
    assert_all_there(&mock, Dataset::Cards, &imported);
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn late_updates_bring_cards_again_that_were_served_before() {
    let mock = start(MockConfig { late_updates: true, ..of_size(300..=300) }).await;
    let client = Client::of(&mock, 0);
    let before = rows_at(&client.post(CARDS, &body(&json!({"limit": 100}))).await, "/cards");
    let (after, _) = import(&client, 100).await;
    let changed = before.iter().filter(|card| after[&key(card, &["nmID"])] != **card);
    for card in changed.clone() {
        let later = &after[&key(card, &["nmID"])];
        assert!(later["updatedAt"].as_str() > Some("2026-10-01T11:"), "{later}");
        assert_ne!(later["description"], card["description"]);
    }
    assert_eq!(changed.count(), 5);
}

#[tokio::test]
async fn more_than_a_page_of_cards_share_a_moment_and_are_ordered_by_nm_id() {
    let (mock, client) = mock_of(600).await;
    let (imported, _) = import(&client, 100).await;
    assert_all_there(&mock, Dataset::Cards, &imported);
    let mut moments = std::collections::BTreeMap::new();
    for card in imported.values() {
        *moments.entry(card["updatedAt"].to_string()).or_insert(0) += 1;
    }
    assert!(moments.values().any(|count| *count > 100), "{:?}", moments.values().max());

    let page = rows_at(&client.post(CARDS, &body(&json!({"limit": 100}))).await, "/cards");
    let place = |card: &Value| (card["updatedAt"].to_string(), card["nmID"].as_u64());
    assert!(page.is_sorted_by_key(place));
}

#[tokio::test]
async fn without_being_told_cards_come_latest_first_and_ten_at_a_time() {
    let (_mock, client) = mock_of(60).await;
    let first = client.post(CARDS, &json!({})).await;
    let cards = rows_at(&first, "/cards");
    assert_eq!(cards.len(), 10);
    assert!(cards.is_sorted_by(|a, b| a["updatedAt"].as_str() >= b["updatedAt"].as_str()));

    let next = &first.json()["cursor"];
    let cursor = json!({"updatedAt": next["updatedAt"], "nmID": next["nmID"]});
    let second = client.post(CARDS, &json!({"settings": {"cursor": cursor}})).await;
    let older = rows_at(&second, "/cards");
    assert!(older[0]["updatedAt"].as_str() <= cards[9]["updatedAt"].as_str());
    assert!(!cards.contains(&older[0]));
}

#[tokio::test]
async fn photos_can_be_asked_for() {
    let (_mock, client) = mock_of(100).await;
    for (with_photo, are_there) in [(0, false), (1, true)] {
        let settings = json!({"filter": {"withPhoto": with_photo}, "cursor": {"limit": 100}});
        let cards = rows_at(&client.post(CARDS, &json!({"settings": settings})).await, "/cards");
        assert!(!cards.is_empty());
        let photos = |card: &Value| card["photos"].as_array().is_some_and(|all| !all.is_empty());
        assert!(cards.iter().all(|card| photos(card) == are_there));
    }
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    for (cursor, trouble) in [
        (json!({"limit": 101}), "limit"),
        (json!({"limit": 0}), "limit"),
        (json!({"limit": "100"}), "invalid type"),
        (json!({"limit": 100, "nmID": 7}), "go together"),
        (json!({"limit": 100, "updatedAt": "2026-10-01T00:00:00Z"}), "go together"),
        (json!({"limit": 100, "updatedAt": "yesterday", "nmID": 7}), "updatedAt"),
        (json!({"limit": 100, "nmId": 7}), "unknown field"),
    ] {
        let answer = client.post(CARDS, &body(&cursor)).await;
        assert_refused(&answer, 400, trouble);
        assert_eq!((&answer.json()["error"], &answer.json()["data"]), (&true.into(), &Value::Null));
    }
    assert_refused(&client.post_text(CARDS, "{").await, 400, "JSON");
    assert_refused(&client.post_text(CARDS, "").await, 400, "JSON");
}
