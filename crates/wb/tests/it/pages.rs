use waitless_job::Leave;
use waitless_sink::Sink;
use waitless_upstream::{Catalogue, ClientConfig};
use waitless_wb::{Dataset, SellerToken, Tokens, plan};

use crate::{
    NOON, SELLER,
    attempt::{Attempts, Setup},
    server::{Server, Step, answer, json_of_length},
    token_text,
};

fn order(number: u32, second: u32) -> String {
    format!(
        r#"{{"srid":"order-{number}","lastChangeDate":"2026-09-30T10:{:02}:{:02}"}}"#,
        second / 60,
        second % 60
    )
}

fn page(rows: &[String]) -> String {
    format!("[{}]", rows.join(","))
}

fn ok(body: &str) -> Vec<Step> {
    answer("200 OK", &[("Content-Type", "application/json")], body)
}

/// An upstream with orders of one a second, in pages of `size`, that knows `dateFrom`.
fn orders_from(head: &str, count: u32, size: u32) -> String {
    let from = head.split("dateFrom=").nth(1).expect("a parameter").split(['&', ' ']).next();
    let from = from.expect("a value").replace("%3A", ":");
    let rows = (0..count).map(|number| (order(number, number), number));
    let rows = rows.filter(|(row, _)| {
        let changed = row.split("lastChangeDate\":\"").nth(1).expect("a date");
        changed[..19] >= *from
    });
    page(&rows.take(size as usize).map(|(row, _)| row).collect::<Vec<_>>())
}

fn retry_of(result: Result<(), Leave>) -> String {
    match result.expect_err("it failed") {
        Leave::Retry { error } => error,
        other => panic!("not a retry: {other:?}"),
    }
}

fn reason_of(result: Result<(), Leave>) -> String {
    match result.expect_err("it is dead") {
        Leave::Dead { reason } => reason,
        other => panic!("not dead: {other:?}"),
    }
}

#[tokio::test]
async fn a_page_that_breaks_off_is_asked_for_again_and_lands_once() {
    let server = Server::start(|head, place| {
        let body = orders_from(head, 2_500, 2_000);
        if place == 0 {
            vec![json_of_length(body.len(), &body.as_bytes()[..body.len() * 3 / 4])]
        } else {
            ok(&body)
        }
    })
    .await;
    let mut job = Attempts::at(&server).await;
    let error = retry_of(job.run().await);
    assert!(error.contains("was cut off after"), "{error}");
    assert_eq!(job.landed().await, 1_000, "the chunk that was whole");
    assert_eq!(job.record.checkpoint, None, "a cursor moves behind a whole page only");

    job.run().await.expect("the second attempt does it");
    assert_eq!(job.landed().await, 2_500);
    assert_eq!(server.requests().len(), 4, "cut, the same again, the rest, the end");
    assert_eq!(server.requests()[0].lines().next(), server.requests()[1].lines().next());
    assert_eq!((job.record.progress.rows, job.record.progress.requests_done), (2_500, 3));
}

#[tokio::test]
async fn an_answer_without_content_is_an_end_only_where_that_is_documented() {
    for dataset in Dataset::ALL {
        let server = Server::start(|_, _| answer("204 No Content", &[], "")).await;
        let setup = Setup { dataset, ..Setup::default() };
        let mut job = Attempts::with(&server, setup).await;
        let result = job.run_on().await.0;
        if dataset == Dataset::Finance {
            assert_eq!(result, Ok(()));
        } else {
            let error = retry_of(result);
            let says_so = error.contains("without content (204)") || dataset.is_task();
            assert!(says_so, "{dataset}: {error}");
        }
    }
}

#[tokio::test]
async fn a_job_that_runs_the_day_after_it_was_planned_asks_for_no_day_out_of_reach() {
    let task = r#"{"data":{"taskId":"t"}}"#;
    let server = Server::start(move |_, _| ok(task)).await;
    let token = SellerToken::parse(&token_text(86_400), NOON).expect("good for a day");
    let plan = plan(&token, &waitless_wb::catalogue(), &[Dataset::Storage], None, NOON);
    let tokens = Tokens::new();
    tokens.put(token);
    let setup = Setup { dataset: Dataset::Storage, tokens, ..Setup::default() };
    let job = plan.expect("a plan").jobs.remove(0);
    assert!(job.args.contains("2026-07-03"), "the first day that can be asked for then");
    let mut job = Attempts::of_job(&server.base_url(), setup, job).await;
    job.now = NOON.plus(15 * 3_600_000);
    job.run().await.expect_err("it waits for the task");
    let asked = server.requests().remove(0);
    assert!(asked.contains("dateFrom=2026-07-04&dateTo=2026-07-11"), "{asked}");
}

#[tokio::test]
async fn pages_that_had_landed_before_a_crash_do_not_end_the_import_early() {
    let server = Server::start(|head, _| ok(&orders_from(head, 50, 20))).await;
    let mut job = Attempts::at(&server).await;
    job.permits = 1;
    assert_eq!(job.run().await, Err(Leave::Parked));
    assert_eq!(job.landed().await, 20);

    // The process dies before the cursor is saved: all of the first page comes again.
    (job.record.checkpoint, job.permits) = (None, 100);
    job.run().await.expect("it goes on behind the page that brought nothing new");
    assert_eq!(job.landed().await, 50);
}

#[tokio::test]
async fn an_attempt_goes_on_where_the_last_one_was_parked() {
    let server = Server::start(|head, _| ok(&orders_from(head, 50, 20))).await;
    let mut job = Attempts::at(&server).await;
    job.permits = 1;
    let mut attempts = 1;
    while job.run().await == Err(Leave::Parked) {
        attempts += 1;
    }
    // 0 to 19, 19 to 38, 38 to 49, 49 once more.
    assert_eq!((attempts, server.requests().len(), job.landed().await), (4, 4, 50));
}

#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_begins_anew() {
    let server = Server::start(|head, _| ok(&orders_from(head, 5, 20))).await;
    let mut job = Attempts::at(&server).await;
    job.record.checkpoint = Some(r#"{"page":7}"#.into());
    job.run().await.expect("an import");
    assert_eq!(job.landed().await, 5);
}

#[tokio::test]
async fn rows_that_cannot_be_keyed_go_to_quarantine_and_the_import_goes_on() {
    let server = Server::start(|_, _| {
        let rows = [
            r#"{"lastChangeDate":"2026-09-30T10:00:00"}"#.to_owned(),
            order(1, 1),
            r#"{"srid":"order-2"}"#.to_owned(),
            "17".to_owned(),
            order(3, 3),
            r#"{"srid":"order-4","lastChangeDate":"soon"}"#.to_owned(),
        ];
        ok(&page(&rows))
    })
    .await;
    let mut job = Attempts::at(&server).await;
    job.run().await.expect("an import");
    let counts = job.sink.count(SELLER, "orders").await.unwrap();
    assert_eq!((counts.rows, counts.quarantined), (2, 4));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_page_of_rows_none_of_which_has_a_date_is_a_dead_letter() {
    let server = Server::start(|_, _| ok(r#"[{"srid":"a"},{"srid":"b"}]"#)).await;
    let mut job = Attempts::at(&server).await;
    let reason = reason_of(job.run().await);
    assert!(reason.starts_with("orders: none of the 2 rows"), "{reason}");
    assert_eq!(job.sink.count(SELLER, "orders").await.unwrap().quarantined, 2);
}

#[tokio::test]
async fn a_second_with_more_rows_than_a_page_holds_is_a_dead_letter_and_not_a_loss() {
    let text = include_str!("../../catalogue/wildberries-2026-10.toml");
    let text = text.replace("page_rows = 80000", "page_rows = 10");
    let catalogue = Catalogue::parse("small-pages.toml", &text).expect("a catalogue");
    let setup = Setup { catalogue, ..Setup::default() };
    let same_second: Vec<String> = (0..10).map(|number| order(number, 7)).collect();
    let server = Server::start(move |_, _| ok(&page(&same_second))).await;
    let mut job = Attempts::with(&server, setup).await;
    for _ in 0..2 {
        let reason = reason_of(job.run().await);
        assert!(reason.contains("2026-09-30T10:00:07") && reason.contains("cap"), "{reason}");
    }
    assert_eq!(job.landed().await, 10, "what came has landed");
}

#[tokio::test]
async fn sales_and_their_returns_are_rows_of_their_own() {
    let row = |id: &str, amount: &str| {
        let at = "2026-09-30T10:00:00";
        format!(r#"{{"srid":"a","saleID":{id},"forPay":{amount},"lastChangeDate":"{at}"}}"#)
    };
    let rows = [row("\"S1\"", "5"), row("\"R1\"", "-5"), row("null", "5"), row("\"\"", "-5")];
    let server = Server::start(move |_, _| ok(&page(&rows))).await;
    let setup = Setup { dataset: Dataset::Sales, ..Setup::default() };
    let mut job = Attempts::with(&server, setup).await;
    job.run().await.expect("an import");
    let keys: Vec<String> =
        job.sink.rows(SELLER, "sales").await.into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["R1", "S1", "a/R", "a/S"]);
}

#[tokio::test]
async fn html_a_hang_and_an_object_are_tried_again_and_land_nothing() {
    let html = answer("200 OK", &[("Content-Type", "text/html")], "<html>Maintenance</html>");
    for (steps, words) in [
        (html, "text/html where JSON was expected"),
        (vec![Step::Hang], "took longer than 200 ms to answer"),
        (vec![json_of_length(99, b"["), Step::Hang], "took longer than 200 ms to send more"),
        (ok(r#"{"error":true}"#), "a JSON array of rows was expected; it begins: {\"error\":true}"),
    ] {
        let server = Server::start(move |_, _| steps.clone()).await;
        let config = ClientConfig {
            answer_timeout_ms: 200,
            idle_timeout_ms: 200,
            ..ClientConfig::default()
        };
        let mut job = Attempts::with(&server, Setup { config, ..Setup::default() }).await;
        let error = retry_of(job.run().await);
        assert!(error.contains(words), "{error}");
        assert!(
            error.contains("/api/v1/supplier/orders") && !error.contains("dateFrom"),
            "{error}"
        );
        assert_eq!((job.landed().await, &job.record.checkpoint), (0, &None));
    }
}
