use waitless_upstream::{
    CHUNK_ROWS_MAX, CallError, ClientConfig, Phase, Rows, RowsError, UpstreamError,
};

use crate::{
    client,
    ops::Notebook,
    request,
    server::{Server, Step, answer, head, json_of_length},
};

async fn rows_with(config: ClientConfig, steps: Vec<Step>) -> Result<Rows, CallError> {
    let server = Server::start(move |_, _| steps.clone()).await;
    let (_, ctx) = Notebook::with_permits([0]);
    Ok(client(config).call(&ctx, &request(&server)).await?.rows())
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
        ("[1,2", RowsError::Unfinished { rows: 1 }),
        ("[1] [2]", RowsError::TrailingGarbage { rows: 1 }),
        (r#"{"error":true}"#, RowsError::NotAnArray { beginning: r#"{"error":true}"#.into() }),
    ] {
        match chunks(quick(), json(body)).await.unwrap_err() {
            UpstreamError::Rows { source, .. } => assert_eq!(source, expected),
            other => panic!("{body} gave {other}"),
        }
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
