//! The funnel as a file: reports with ids that clients make up.

use std::io::{Cursor, Read};

use serde_json::{Value, json};
use waitless_wb_mock::{Dataset, Mock, MockConfig};

use super::{YESTERDAY, assert_all_there, assert_refused, by_key, mock_of, of_size, rows_at};
use crate::client::{Client, start};

const REPORTS: &str = "/api/v2/nm-report/downloads";
const RETRY: &str = "/api/v2/nm-report/downloads/retry";
const ID: &str = "06eea887-9d9f-491f-b16a-bb1766fcb8d2";

fn order(id: &str, start: &str) -> Value {
    json!({
        "id": id,
        "reportType": "DETAIL_HISTORY_REPORT",
        "userReportName": "Воронка",
        "params": {
            "startDate": start,
            "endDate": YESTERDAY,
            "timezone": "Europe/Moscow",
            "aggregationLevel": "day",
        },
    })
}

async fn listed(client: &Client, id: &str) -> Vec<Value> {
    let answer = client.get(&format!("{REPORTS}?filter%5BdownloadIds%5D={id}")).await;
    rows_at(&answer, "/data")
}

/// Waits for the end of a report's work.
async fn finished(client: &Client, id: &str) -> Value {
    loop {
        let report = listed(client, id).await.remove(0);
        match report["status"].as_str() {
            Some("SUCCESS" | "FAILED") => return report,
            Some("WAITING" | "RETRY" | "PROCESSING") => tokio::task::yield_now().await,
            other => panic!("{other:?}"),
        }
    }
}

/// Orders a report, once more if it fails, and returns how large it is said to be.
async fn made(client: &Client, id: &str) -> u64 {
    assert_eq!(client.post(REPORTS, &order(id, "2026-07-03")).await.status, 200);
    let mut report = finished(client, id).await;
    if report["status"] == "FAILED" {
        let answer = client.post(RETRY, &json!({"downloadId": id})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        report = finished(client, id).await;
    }
    assert_eq!(report["status"], "SUCCESS");
    report["size"].as_u64().expect("a size")
}

async fn file(mock: &Mock, seller: usize, id: &str) -> Vec<u8> {
    let request = Client::of(mock, seller).request(&format!("{REPORTS}/file/{id}"));
    let response = request.send().await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "application/zip");
    response.bytes().await.expect("a body").to_vec()
}

/// Lines as objects. Quotes hide neither commas nor line breaks in this format.
fn lines(archive: Vec<u8>) -> Vec<Value> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).expect("an archive");
    assert_eq!(archive.len(), 1);
    let mut csv = String::new();
    archive.by_index(0).expect("a file").read_to_string(&mut csv).expect("UTF-8");
    let mut lines = csv.lines().map(|line| line.split(',').map(|field| field.trim_matches('"')));
    let header: Vec<&str> = lines.next().expect("a header").collect();
    assert_eq!((header.len(), header[0], header[14]), (15, "nmID", "currency"));
    let object = |line| header.iter().map(|name| name.to_string()).zip(line).collect();
    lines.map(object).collect()
}

#[tokio::test]
async fn the_file_has_every_day_with_a_visit_and_some_lines_are_quoted() {
    let (mock, client) = mock_of(100).await;
    let size = made(&client, ID).await;
    let archive = file(&mock, 0, ID).await;
    assert_eq!(archive.len() as u64, size);
    let mut csv = String::new();
    let mut opened = zip::ZipArchive::new(Cursor::new(archive.clone())).expect("an archive");
    opened.by_index(0).expect("a file").read_to_string(&mut csv).expect("UTF-8");
    let quoted = csv.lines().filter(|line| line.starts_with('"')).count();
    assert!(0 < quoted && quoted < csv.lines().count());
    assert_all_there(&mock, Dataset::FunnelCsv, &by_key(lines(archive), &["nmID", "dt"]));
    assert_eq!(mock.import_requests(0, Dataset::FunnelCsv), 3);
}

#[tokio::test]
async fn some_reports_fail_and_get_ready_after_a_retry() {
    let mock = start(MockConfig { sellers: 12, ..of_size(5..=5) }).await;
    let mut failed = 0;
    for seller in 0..12 {
        let client = Client::of(&mock, seller);
        client.post(REPORTS, &order(ID, "2026-09-01")).await;
        let report = finished(&client, ID).await;
        if report["status"] == "FAILED" {
            failed += 1;
            assert_eq!(report["size"], 0);
            let answer = client.get(&format!("{REPORTS}/file/{ID}")).await;
            assert_refused(&answer, 404, "unknown");
            assert_eq!(client.post(RETRY, &json!({"downloadId": ID})).await.status, 200);
            assert_eq!(finished(&client, ID).await["status"], "SUCCESS");
        }
        let retry = client.post(RETRY, &json!({"downloadId": ID})).await;
        assert_refused(&retry, 400, "only a report that failed");
    }
    assert!(0 < failed && failed < 12, "{failed} failed");
}

#[tokio::test]
async fn a_second_report_of_one_id_is_the_first_and_sellers_do_not_see_each_other() {
    let mock = start(MockConfig { sellers: 2, ..of_size(5..=5) }).await;
    let client = Client::of(&mock, 0);
    made(&client, ID).await;
    assert_eq!(client.post(REPORTS, &order(ID, "2026-09-29")).await.status, 200);
    assert_eq!(rows_at(&client.get(REPORTS).await, "/data").len(), 1);
    assert_eq!(listed(&client, ID).await[0]["startDate"], "2026-07-03");

    let other = Client::of(&mock, 1);
    assert!(listed(&other, ID).await.is_empty());
    assert_refused(&other.get(&format!("{REPORTS}/file/{ID}")).await, 404, "unknown");
}

#[tokio::test]
async fn a_report_takes_its_time_and_is_not_fetched_before() {
    let mock = start(MockConfig { speed: 1, ..of_size(5..=5) }).await;
    let client = Client::of(&mock, 0);
    client.post(REPORTS, &order(ID, "2026-09-01")).await;
    let report = listed(&client, ID).await.remove(0);
    assert!(report["status"] == "WAITING" || report["status"] == "PROCESSING", "{report}");
    assert_eq!((&report["name"], &report["size"]), (&"Воронка".into(), &0.into()));
    assert_refused(&client.get(&format!("{REPORTS}/file/{ID}")).await, 400, "not ready");
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let (_mock, client) = mock_of(5).await;
    let with = |change: fn(&mut Value)| {
        let mut body = order(ID, "2026-09-01");
        change(&mut body);
        body
    };
    for (body, trouble) in [
        (with(|body| body["id"] = "1".into()), "UUID"),
        (with(|body| body["reportType"] = "GROUPED_HISTORY_REPORT".into()), "reportType"),
        (with(|body| body["params"]["startDate"] = "2025-09-30".into()), "365 days"),
        (with(|body| body["params"]["endDate"] = "soon".into()), "endDate"),
        (with(|body| body["params"]["aggregationLevel"] = "week".into()), "aggregationLevel"),
        (with(|body| body["params"] = json!({})), "startDate"),
        (with(|body| body["params"]["dateFrom"] = "2026-09-01".into()), "unknown field"),
    ] {
        assert_refused(&client.post(REPORTS, &body).await, 400, trouble);
    }
    let unknown = client.get(&format!("{REPORTS}/file/{ID}")).await;
    assert_refused(&unknown, 404, "unknown");
    assert_refused(&client.post(RETRY, &json!({"downloadId": ID})).await, 404, "unknown");
    let list = client.get(&format!("{REPORTS}?filter%5BdownloadIds%5D=7")).await;
    assert_refused(&list, 400, "UUID");
    assert!(listed(&client, ID).await.is_empty());
}
