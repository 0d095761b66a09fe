//! Campaigns and their statistics.

use serde_json::{Value, json};
use waitless_wb_mock::{Dataset, MockConfig};

use super::{YESTERDAY, assert_all_there, assert_refused, by_key, mock_of, of_size, rows_at};
use crate::client::{Client, start};

const COUNT: &str = "/adv/v1/promotion/count";
const FULLSTATS: &str = "/adv/v3/fullstats";

const WINDOWS: [(&str, &str); 3] =
    [("2026-07-03", "2026-08-02"), ("2026-08-03", "2026-09-02"), ("2026-09-03", YESTERDAY)];

async fn campaigns(client: &Client) -> Vec<Value> {
    let answer = client.get(COUNT).await;
    let mut all = Vec::new();
    for group in rows_at(&answer, "/adverts") {
        let list = group["advert_list"].as_array().expect("a list");
        assert_eq!(group["count"], list.len());
        for entry in list {
            let mut campaign = entry.clone();
            campaign["type"] = group["type"].clone();
            campaign["status"] = group["status"].clone();
            all.push(campaign);
        }
    }
    assert_eq!(answer.json()["all"], all.len());
    all
}

async fn stats(client: &Client, ids: &[u64], (begin, end): (&str, &str)) -> Vec<Value> {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    let query = format!("ids={}&beginDate={begin}&endDate={end}", ids.join(","));
    rows_at(&client.get(&format!("{FULLSTATS}?{query}")).await, "")
}

fn id_of(campaign: &Value) -> u64 {
    campaign["advertId"].as_u64().expect("a number")
}

#[tokio::test]
async fn all_campaigns_come_at_once_in_several_types_and_statuses() {
    let (mock, client) = mock_of(120).await;
    let all = campaigns(&client).await;
    for (field, kinds) in [("type", 6), ("status", 3)] {
        let seen: std::collections::BTreeSet<_> =
            all.iter().map(|campaign| campaign[field].as_u64()).collect();
        assert_eq!(seen.len(), kinds, "{field}");
    }
    assert_all_there(&mock, Dataset::Campaigns, &by_key(all.clone(), &["advertId"]));
    let versions = mock.expected(0, Dataset::Campaigns).map(|row| (row.key, row.version));
    let versions: std::collections::BTreeMap<_, _> = versions.collect();
    for campaign in &all {
        assert_eq!(campaign["changeTime"], versions[&id_of(campaign).to_string()]);
    }
    assert_eq!(mock.import_requests(0, Dataset::Campaigns), 1);
}

#[tokio::test]
async fn the_days_of_all_chunks_and_windows_come_whole() {
    let (mock, client) = mock_of(120).await;
    let ids: Vec<u64> = campaigns(&client).await.iter().map(id_of).collect();
    let mut days = Vec::new();
    let mut requests = 1;
    for window in WINDOWS {
        for chunk in ids.chunks(50) {
            requests += 1;
            for campaign in stats(&client, chunk, window).await {
                for day in campaign["days"].as_array().expect("a list") {
                    let mut day = day.clone();
                    day["advertId"] = campaign["advertId"].clone();
                    days.push(day);
                }
            }
        }
    }
    assert_all_there(&mock, Dataset::CampaignStats, &by_key(days, &["advertId", "date"]));
    assert_eq!(requests, mock.import_requests(0, Dataset::CampaignStats));
}

#[tokio::test]
async fn campaigns_without_activity_are_left_out_and_days_are_those_of_the_window() {
    let (_mock, client) = mock_of(50).await;
    let ids: Vec<u64> = campaigns(&client).await.iter().map(id_of).collect();
    let (begin, end) = WINDOWS[1];
    let active = stats(&client, &ids, (begin, end)).await;
    assert!(!active.is_empty() && active.len() < ids.len(), "{} of {}", active.len(), ids.len());
    for campaign in &active {
        let days = campaign["days"].as_array().expect("a list");
        assert!(!days.is_empty());
        let views = |row: &Value| row["views"].as_u64().expect("a number");
        assert_eq!(views(campaign), days.iter().map(views).sum::<u64>());
        for day in days {
            let date = day["date"].as_str().expect("a text");
            assert!(date.ends_with("T00:00:00Z") && (begin..=end).contains(&&date[..10]));
            assert_eq!(day["apps"].as_array().map(Vec::len), Some(3));
        }
    }
    assert_eq!(stats(&client, &[1, 2], WINDOWS[0]).await, Vec::<Value>::new(), "unknown ids");
}

#[tokio::test]
async fn sellers_share_the_ids_of_campaigns_but_not_their_days() {
    let mock = start(MockConfig { sellers: 2, ..of_size(30..=30) }).await;
    let rows = |seller, dataset| mock.expected(seller, dataset).collect::<Vec<_>>();
    let ids = |seller| {
        rows(seller, Dataset::Campaigns).into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(ids(0), ids(1));
    assert_ne!(rows(0, Dataset::CampaignStats), rows(1, Dataset::CampaignStats));
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let many = (1..=51).map(|id: u64| id.to_string()).collect::<Vec<_>>().join(",");
    for (query, trouble) in [
        ("beginDate=2026-09-01&endDate=2026-09-30".to_owned(), "ids"),
        ("ids=&beginDate=2026-09-01&endDate=2026-09-30".to_owned(), "ids"),
        ("ids=1,,2&beginDate=2026-09-01&endDate=2026-09-30".to_owned(), "ids"),
        (format!("ids={many}&beginDate=2026-09-01&endDate=2026-09-30"), "50"),
        ("ids=1&endDate=2026-09-30".to_owned(), "beginDate"),
        ("ids=1&beginDate=2026-09-01".to_owned(), "endDate"),
        ("ids=1&beginDate=2026-08-31&endDate=2026-10-01".to_owned(), "31 days"),
        ("ids=1&beginDate=2026-07-01&endDate=2026-07-05".to_owned(), "90 days"),
        ("ids=1&dateFrom=2026-09-01&dateTo=2026-09-30".to_owned(), "dateFrom"),
    ] {
        assert_refused(&client.get(&format!("{FULLSTATS}?{query}")).await, 400, trouble);
    }
    assert_refused(&client.get(&format!("{COUNT}?type=8")).await, 400, "type");
    assert_eq!(client.post(COUNT, &json!({})).await.status, 405);
}
