use waitless_upstream::{
    Answer, CHUNK_ROWS_MAX, CallError, ClientConfig, Phase, Rows, UpstreamError,
};

use crate::{
    client,
    ops::Notebook,
    request,
    server::{Server, Step, answer, head, json_of_length},
};

async fn answer_with(config: ClientConfig, steps: Vec<Step>) -> Result<Answer, CallError> {
    let server = Server::start(move |_, _| steps.clone()).await;
    let (_, ctx) = Notebook::with_permits([0]);
    client(config).call(&ctx, &request(&server)).await
}

async fn rows_with(config: ClientConfig, steps: Vec<Step>) -> Result<Rows, CallError> {
    Ok(answer_with(config, steps).await?.rows())
}

/// The sizes of all chunks, or the error after the last.
async fn chunks(config: ClientConfig, steps: Vec<Step>) -> Result<Vec<usize>, UpstreamError> {
    let mut rows = rows_with(config, steps).await.expect("an answer");
    let mut sizes = Vec::new();
    while let Some(chunk) = rows.next_chunk().await? {
        sizes.push(chunk.len());
    }
    Ok(sizes)
}

fn json(body: &str) -> Vec<Step> {
    answer("200 OK", &[("Content-Type", "application/json")], body)
}

fn quick() -> ClientConfig {
    ClientConfig { idle_timeout_ms: 150, ..ClientConfig::default() }
}

#[tokio::test]
async fn rows_come_in_chunks_of_a_thousand() {
    let body = serde_json::to_string(&vec!["row"; 2_500]).unwrap();
    let sizes = chunks(ClientConfig::default(), json(&body)).await.unwrap();
    assert_eq!(sizes, [CHUNK_ROWS_MAX, CHUNK_ROWS_MAX, 500]);
    assert_eq!(chunks(ClientConfig::default(), json("[]")).await.unwrap(), [0; 0]);
    let no_content = answer("204 No Content", &[], "");
    assert_eq!(chunks(ClientConfig::default(), no_content).await.unwrap(), [0; 0]);
}

#[tokio::test]
async fn a_chunk_ends_early_when_its_rows_are_large() {
    let row = format!("\"{}\"", "x".repeat(1_500_000));
    let body = format!("[{row},{row},{row},{row}]");
    assert_eq!(chunks(ClientConfig::default(), json(&body)).await.unwrap(), [3, 1]);
}

#[tokio::test]
async fn a_body_that_is_cut_short_is_told_from_one_that_is_wrong() {
    let cut = chunks(quick(), vec![json_of_length(999, b"[1,2")]).await.unwrap_err();
    assert!(matches!(cut, UpstreamError::Cut { bytes: 4, .. }), "{cut}");

    for (body, expected) in [
        ("[1,2", "it ends too early, after 1 rows"),
        ("[1] [2]", "without its 1 rows it is not JSON: trailing characters at line 1 column 4"),
        (r#"{"error":true}"#, r#"a JSON array of rows was expected; it begins: {"error":true}"#),
    ] {
        let error = chunks(quick(), json(body)).await.unwrap_err();
        assert!(matches!(error, UpstreamError::Rows { .. }), "{body} gave {error}");
        assert!(error.to_string().ends_with(&format!("/v1/rows: {expected}")), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_decompress_is_cut() {
    let headers = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
    let error = chunks(quick(), answer("200 OK", &headers, "[1,2,3]")).await.unwrap_err();
    assert!(matches!(error, UpstreamError::Cut { .. }), "{error}");
}

#[tokio::test]
async fn a_body_that_stops_or_trickles_is_given_up() {
    for last in [Step::Hang, Step::Trickle] {
        let steps = vec![json_of_length(999_999, b"[1,2,"), last];
        let error = chunks(quick(), steps).await.unwrap_err();
        let expected =
            matches!(error, UpstreamError::TimedOut { phase: Phase::Body, timeout_ms: 150, .. });
        assert!(expected, "{error}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_cap_is_given_up() {
    let config = ClientConfig { body_bytes_max: 1_000, ..quick() };
    let body = serde_json::to_string(&vec![7; 1_000]).unwrap();
    let error = chunks(config, json(&body)).await.unwrap_err();
    assert!(matches!(error, UpstreamError::BodyTooLarge { bytes_max: 1_000, .. }), "{error}");
}

#[tokio::test]
async fn html_is_told_with_its_beginning_whatever_it_calls_itself() {
    let page = format!("\n<html>  <h1>Maintenance</h1>{}", "x".repeat(200));
    let html = answer("200 OK", &[("Content-Type", "text/html; charset=utf-8")], &page);
    let Err(CallError::Upstream(error)) = rows_with(quick(), html).await else {
        panic!("HTML has no rows")
    };
    let UpstreamError::NotJson { beginning, content_type, .. } = &error else { panic!("{error}") };
    assert_eq!(content_type, "text/html");
    assert_eq!(beginning.chars().count(), 81, "80 and an ellipsis");
    assert!(beginning.starts_with("<html> <h1>Maintenance</h1>xxx"), "{beginning}");
    assert!(error.to_string().contains("/v1/rows answers with text/html"), "{error}");

    let error = chunks(quick(), json(&page)).await.unwrap_err();
    assert!(matches!(error, UpstreamError::NotJson { .. }), "{error}");
    let mut untyped = head("200 OK", &[]);
    untyped.extend_from_slice(b"\r\n<html>");
    let error = chunks(quick(), vec![Step::Send(untyped)]).await.unwrap_err();
    assert!(matches!(error, UpstreamError::NotJson { .. }), "{error}");
}

#[tokio::test]
async fn rows_inside_of_an_object_come_in_chunks_and_leave_the_rest_behind() {
    let items = vec![7; 1_500];
    let body = serde_json::json!({ "next": 9, "data": { "items": items, "error": false } });
    let whole = answer_with(quick(), json(&body.to_string())).await.unwrap();
    let mut rows = whole.rows_at(&["data", "items"]);
    assert_eq!(rows.next_chunk().await.unwrap().map(|rows| rows.len()), Some(CHUNK_ROWS_MAX));
    assert_eq!(rows.envelope(), &serde_json::Value::Null, "not yet");
    assert_eq!(rows.next_chunk().await.unwrap().map(|rows| rows.len()), Some(500));
    assert!(rows.next_chunk().await.unwrap().is_none());
    let rest = serde_json::json!({ "next": 9, "data": { "items": [], "error": false } });
    assert_eq!(rows.envelope(), &rest);

    let none = answer("204 No Content", &[], "");
    let mut rows = answer_with(quick(), none).await.unwrap().rows_at(&["data", "items"]);
    assert!(rows.next_chunk().await.unwrap().is_none());

    let wrong = answer_with(quick(), json(r#"{"data":"soon"}"#)).await.unwrap();
    let error = wrong.rows_at(&["data", "items"]).next_chunk().await.unwrap_err().to_string();
    assert!(error.ends_with(r#"a JSON object was expected at `data`; there begins: "soon"}"#));
}

#[tokio::test]
async fn a_small_body_is_read_whole_as_json_or_as_bytes() {
    let task = json(r#"{"data":{"taskId":"7-x"}}"#);
    let value: serde_json::Value =
        answer_with(quick(), task.clone()).await.unwrap().json(100).await.unwrap();
    assert_eq!(value["data"]["taskId"], "7-x");
    let bytes = answer_with(quick(), task.clone()).await.unwrap().bytes(25).await.unwrap();
    assert_eq!(bytes, br#"{"data":{"taskId":"7-x"}}"#);
    let error = answer_with(quick(), task.clone()).await.unwrap().bytes(24).await.unwrap_err();
    assert!(matches!(error, UpstreamError::BodyTooLarge { bytes_max: 24, .. }), "{error}");
    // The client's own limit holds, whatever the caller would take.
    let config = ClientConfig { body_bytes_max: 9, ..quick() };
    let error = answer_with(config, task).await.unwrap().bytes(100).await.unwrap_err();
    assert!(matches!(error, UpstreamError::BodyTooLarge { bytes_max: 9, .. }), "{error}");

    for (body, words) in [
        ("", "cannot be read: EOF while parsing a value at line 1 column 0; it begins: "),
        (r#"{"a":1}"#, r#"expected a sequence at line 1 column 0; it begins: {"a":1}"#),
        ("\n<html>", "answers with HTML where JSON was expected"),
    ] {
        let answer = answer_with(quick(), json(body)).await.unwrap();
        let error = answer.json::<Vec<u8>>(100).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
