use waitless_job::Leave;
use waitless_upstream::{ClientConfig, Credential, Secret, UpstreamError};

use crate::{
    CANARY, client,
    ops::Notebook,
    request,
    server::{Server, Step, answer, json_of_length},
};

/// Upstreams that quote the credential in every way they can.
fn parrots() -> Vec<Vec<Step>> {
    let quoting = format!(r#"{{"detail":"{CANARY} is malformed"}}"#);
    let html = format!("<p>{CANARY}</p>");
    let long = format!("<p>{}{CANARY}</p>", "x".repeat(70));
    let to = format!("http://127.0.0.1:9/{CANARY}?query-secret");
    let mut all = Vec::new();
    for status in ["400 No", "401 No", "402 No", "403 No", "404 No", "500 No", "503 No"] {
        all.push(answer(status, &[], &quoting));
        all.push(answer(status, &[], &html));
        all.push(answer(status, &[], &long));
    }
    all.push(answer("302 Go", &[("Location", to.as_str())], ""));
    all.push(answer("200 OK", &[("Content-Type", "text/html")], &long));
    all.push(answer("200 OK", &[("Content-Type", "application/json")], &html));
    all.push(answer("200 OK", &[("Content-Type", "application/json")], &quoting));
    all.push(answer("200 OK", &[], &format!("[{CANARY}]")));
    all.push(vec![json_of_length(999, b"[1")]);
    all.push(vec![]);
    all
}

#[tokio::test]
async fn no_error_text_and_no_debug_output_has_the_credential_or_the_query() {
    for steps in parrots() {
        let server = Server::start(move |_, _| steps.clone()).await;
        let (_, ctx) = Notebook::with_permits([0]);
        let (client, request) = (client(ClientConfig::default()), request(&server));
        let mut shown = format!("{client:?}");
        let leave: Leave = match client.call(&ctx, &request).await {
            Ok(answer) => {
                shown += &format!("{answer:?}");
                let mut rows = answer.rows();
                let error = rows.next_chunk().await.expect_err("all of them are broken");
                shown += &format!("{error:?} {rows:?}");
                error.leave()
            }
            Err(error) => {
                shown += &format!("{error:?}");
                error.into()
            }
        };
        shown += &format!("{leave:?}");
        for secret in [CANARY, &CANARY[..8], "query-secret"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }
}

#[test]
fn a_request_shows_no_credential() {
    let credential = Credential::new(Secret::new(CANARY), "full");
    let id = waitless_job::JobId::new(waitless_job::UnixMillis(0));
    let request = waitless_upstream::Request::new("rows", credential, id);
    assert!(!format!("{request:?}").contains(CANARY));
    let unfit = UpstreamError::UnfitCredential.to_string();
    assert!(unfit.contains("give it again"));
}
