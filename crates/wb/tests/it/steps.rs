//! What the driver makes of the steps that datasets decide on, over real HTTP.

use std::io::{Cursor, Write};

use serde_json::{Value, json};
use waitless_job::Leave;
use waitless_sink::Sink;
use waitless_wb::Dataset;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::{
    SELLER,
    attempt::{Attempts, Setup},
    server::{Server, Step, answer, head},
};

fn ok(body: &Value) -> Vec<Step> {
    answer("200 OK", &[("Content-Type", "application/json")], &body.to_string())
}

async fn importing(server: &Server, dataset: Dataset) -> Attempts {
    Attempts::with(server, Setup { dataset, ..Setup::default() }).await
}

/// The paths of all requests so far, without their queries.
fn paths(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let path = |request: &String| {
        let target = request.split(' ').nth(1).expect("a request line");
        target.split('?').next().expect("a path").to_owned()
    };
    requests.iter().map(path).collect()
}

/// The JSON bodies of all requests so far.
fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests();
    let body = |request: &String| {
        let body = request.split_once("\r\n\r\n").expect("a head").1;
        serde_json::from_str(body).unwrap_or_default()
    };
    requests.iter().map(body).collect()
}

#[tokio::test]
async fn a_task_waits_in_the_lane_of_its_next_request_and_not_in_a_slot() {
    let polls = std::sync::Mutex::new(vec!["done", "processing"]);
    let server = Server::start(move |head, _| {
        if head.contains("/status") {
            let status = polls.lock().unwrap().pop().expect("two polls");
            ok(&json!({ "data": { "id": "task-1", "status": status } }))
        } else if head.contains("/download") {
            ok(&json!([{ "nmId": 1, "barcode": "2", "techSize": "0" }, { "nmId": null }]))
        } else {
            ok(&json!({ "data": { "taskId": "task-1" } }))
        }
    })
    .await;
    let mut job = importing(&server, Dataset::Remains).await;

    assert_eq!(job.run().await, Err(Leave::Snooze { wait_ms: 5_000 }));
    // It took a permit of the lane to wait in, and sent nothing with it.
    let groups = ["analytics.warehouse-remains.create", "analytics.warehouse-remains.status"];
    assert_eq!((job.asked.clone(), server.requests().len()), (groups.map(str::to_owned).into(), 1));
    let saved = job.record.checkpoint.clone().expect("a checkpoint");
    assert!(saved.contains("task-1"), "{saved}");

    // Between two polls it is in the right lane already.
    assert_eq!(job.run().await, Err(Leave::Snooze { wait_ms: 10_000 }));
    assert_eq!(job.asked.len(), 3);
    job.run().await.expect("the report");
    let path = "/api/v1/warehouse_remains";
    let task = format!("{path}/tasks/task-1");
    assert_eq!(
        paths(&server),
        [
            path.to_owned(),
            format!("{task}/status"),
            format!("{task}/status"),
            format!("{task}/download")
        ]
    );
    assert!(server.requests()[0].contains("?groupByBrand=true&"), "{}", server.requests()[0]);
    assert_eq!(job.keys().await, ["1/2/0"]);
    assert_eq!(job.sink.count(SELLER, "remains").await.unwrap().quarantined, 1);
    assert_eq!(
        (job.record.progress.requests_done, job.record.progress.requests_total),
        (4, Some(4))
    );
}

#[tokio::test]
async fn a_task_that_is_gone_is_created_again_and_no_content_is_no_rows() {
    let server = Server::start(|head, place| {
        if head.contains("/status") {
            ok(&json!({ "data": { "status": "done" } }))
        } else if head.contains("/download") && place < 3 {
            answer("404 Not Found", &[], r#"{"title":"not found","detail":"task is unknown"}"#)
        } else if head.contains("/download") {
            answer("204 No Content", &[], "")
        } else {
            ok(&json!({ "data": { "taskId": format!("task-{place}") } }))
        }
    })
    .await;
    let mut job = importing(&server, Dataset::Acceptance).await;
    let (result, waits) = job.run_on().await;
    result.expect("an import");
    assert_eq!((server.requests().len(), waits), (6, vec![5_000, 5_000]));
    assert!(paths(&server)[5].ends_with("/tasks/task-3/download"), "{:?}", paths(&server));
    assert!(server.requests()[0].contains("?dateFrom=2026-09-30&dateTo=2026-10-01 "));
}

fn zip(csv: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("report.csv", SimpleFileOptions::default()).expect("a file");
    zip.write_all(csv.as_bytes()).expect("memory");
    zip.finish().expect("memory").into_inner()
}

fn archive(bytes: &[u8]) -> Vec<Step> {
    let mut answer = head("200 OK", &[("Content-Type", "application/zip")]);
    answer.extend_from_slice(format!("Content-Length: {}\r\n\r\n", bytes.len()).as_bytes());
    answer.extend_from_slice(bytes);
    vec![Step::Send(answer)]
}

/// An upstream with one report, whose file is this.
fn reports(
    file: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static,
) -> impl Fn(&str, usize) -> Vec<Step> + Send + Sync + 'static {
    move |head, place| {
        let path = "/api/v2/nm-report/downloads";
        if head.starts_with(&format!("GET {path}/file/")) {
            return archive(&file(place));
        }
        if head.starts_with(&format!("POST {path} ")) {
            return ok(&json!({ "data": "Начато формирование файла/отчета" }));
        }
        let id = head.split("=").nth(1).and_then(|rest| rest.split(' ').next()).expect("an id");
        ok(&json!({ "data": [{ "id": id, "status": "SUCCESS" }] }))
    }
}

#[tokio::test]
async fn a_reports_id_is_saved_before_it_is_sent_and_never_changes_after() {
    let csv = format!(
        "nmID,dt,ordersCount\n{}",
        (0..2_500).map(|row| format!("{row},2026-09-30,7\n")).collect::<String>()
    );
    let server = Server::start(reports(move |_| zip(&csv))).await;
    let mut job = importing(&server, Dataset::FunnelCsv).await;

    assert_eq!(job.run().await, Err(Leave::Snooze { wait_ms: 0 }));
    assert_eq!(server.requests().len(), 0);
    let saved = job.record.checkpoint.clone().expect("a checkpoint");

    // The process dies after the report was created, before that is saved.
    assert!(matches!(job.run().await, Err(Leave::Snooze { .. })));
    job.record.checkpoint = Some(saved.clone());
    let (result, _) = job.run_on().await;
    result.expect("an import");
    let bodies = bodies(&server);
    assert_eq!(bodies[0], bodies[1], "the very same report");
    let id = bodies[0]["id"].as_str().expect("an id");
    assert!(saved.contains(id));
    assert!(paths(&server)[3].ends_with(&format!("/file/{id}")), "{:?}", paths(&server));
    assert_eq!(job.landed().await, 2_500);
    assert_eq!(job.sink.largest(), 1_000, "in bounded memory");
    assert_eq!(job.record.progress.rows, 2_500);
}

#[tokio::test]
async fn a_damaged_zip_is_fetched_again() {
    let good = zip("nmID,dt\n17,2026-09-30\nodd\n");
    let server = Server::start(reports(move |place| {
        if place == 2 { good[..good.len() / 2].to_vec() } else { good.clone() }
    }))
    .await;
    let mut job = importing(&server, Dataset::FunnelCsv).await;
    let (result, _) = job.run_on().await;
    let Err(Leave::Retry { error }) = result else { panic!("{result:?}") };
    assert!(error.contains("the report cannot be unpacked"), "{error}");
    job.run().await.expect("the second attempt does it");
    assert_eq!((server.requests().len(), job.keys().await), (4, vec!["17/2026-09-30".to_owned()]));
    assert_eq!(job.sink.count(SELLER, "funnel-csv").await.unwrap().quarantined, 1);
}

#[tokio::test]
async fn an_answer_that_means_an_error_or_has_no_place_for_rows_is_no_end() {
    for (body, words) in [
        (json!({ "data": null, "error": true, "errorText": "Access denied" }), "Access denied"),
        (json!({ "status": "maintenance" }), "has no `data.listGoods` in it"),
    ] {
        let server = Server::start(move |_, _| ok(&body)).await;
        let mut job = importing(&server, Dataset::Prices).await;
        let Err(Leave::Retry { error }) = job.run().await else { panic!("{words}") };
        assert!(error.contains(words), "{error}");
        assert_eq!(job.record.checkpoint, None);
    }
    let server =
        Server::start(|_, _| ok(&json!({ "data": { "listGoods": null }, "error": false }))).await;
    importing(&server, Dataset::Prices).await.run().await.expect("nothing is there");
}

#[tokio::test]
async fn a_refusal_of_a_page_is_a_dead_letter_with_the_upstreams_words() {
    let body = r#"{"title":"Invalid request body","detail":"limit: too large"}"#;
    let server = Server::start(move |_, _| answer("400 Bad Request", &[], body)).await;
    let result = importing(&server, Dataset::Stocks).await.run().await;
    let Err(Leave::Dead { reason }) = result else { panic!("{result:?}") };
    assert!(reason.contains("limit: too large"), "{reason}");
}

#[tokio::test]
async fn of_two_rows_with_one_key_on_a_page_the_last_stays() {
    let server = Server::start(|head, _| {
        if !head.contains("offset=0") {
            return ok(&json!({ "data": { "listGoods": [] } }));
        }
        // More than a chunk apart, and next to each other.
        let mut rows: Vec<Value> =
            (0..1_500).map(|number| json!({ "nmID": number, "discount": 1 })).collect();
        rows.push(json!({ "nmID": 0, "discount": 2 }));
        rows.push(json!({ "nmID": "0", "discount": 3 }));
        ok(&json!({ "data": { "listGoods": rows } }))
    })
    .await;
    let mut job = importing(&server, Dataset::Prices).await;
    job.run().await.expect("an import");
    assert_eq!(job.landed().await, 1_500);
    assert_eq!(job.sink.last_body("0"), r#"{"discount":3,"nmID":"0"}"#);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_row_that_becomes_many_lands_in_batches_and_is_kept_once_if_some_of_it_is_odd() {
    let server = Server::start(|head, _| {
        if head.contains("/promotion/count") {
            let list: Vec<Value> = (0..50).map(|id| json!({ "advertId": id })).collect();
            return ok(&json!({ "adverts": [{ "type": 9, "status": 9, "advert_list": list }] }));
        }
        let day = |day: u32| json!({ "date": format!("day {day}"), "views": 1 });
        let mut days: Vec<Value> = (0..31).map(day).collect();
        days.push(json!({ "date": null }));
        days.push(json!(7));
        let row = |id: u32| json!({ "advertId": id, "days": days });
        ok(&Value::Array((0..50).map(row).collect()))
    })
    .await;
    let mut job = importing(&server, Dataset::CampaignStats).await;
    job.run().await.expect("an import");
    assert_eq!((job.landed().await, job.sink.largest()), (50 * 31, 1_000));
    assert_eq!(job.sink.count(SELLER, "campaign-stats").await.unwrap().quarantined, 50);
    assert_eq!(job.record.progress.requests_total, Some(2));
}

#[tokio::test]
async fn a_job_that_is_parked_between_two_pages_goes_on_with_the_second() {
    let server = Server::start(|head, _| {
        let names = ["commission", "box", "pallet", "return", "coefficients"];
        let list = names.iter().position(|name| head.contains(name)).expect("a list");
        let house = json!({ "response": { "data": { "warehouseList": [{ "warehouseName": "Коледино" }] } } });
        ok(&match list {
            0 => json!({ "report": [{ "subjectID": 1 }] }),
            4 => json!([{ "date": "d", "warehouseID": 1, "boxTypeID": 2 }]),
            _ => house,
        })
    })
    .await;
    let mut job = importing(&server, Dataset::Tariffs).await;
    job.permits = 1;
    let mut attempts = 1;
    while job.run().await == Err(Leave::Parked) {
        attempts += 1;
    }
    let keys =
        ["acceptance/d/1/2", "box/Коледино", "commission/1", "pallet/Коледино", "return/Коледино"];
    assert_eq!(
        (attempts, server.requests().len(), job.keys().await),
        (5, 5, keys.map(str::to_owned).into())
    );
}
