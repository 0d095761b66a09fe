//! What buckets are told of answers.

use waitless_job::{Cost, Feedback, Leave};
use waitless_upstream::{CallError, ClientConfig};

use crate::{
    client,
    ops::{NOW, Notebook},
    request_of,
    server::{Server, answer},
};

/// The reports that an answer gives rise to, and how the job left if it did.
async fn reports(
    endpoint: &str,
    status: &'static str,
    headers: &[(&'static str, &str)],
) -> (Vec<(String, Feedback)>, Option<Leave>) {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let server = Server::start(move |_, _| {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        answer(status, &headers, "{}")
    })
    .await;
    let (notebook, ctx) = Notebook::with_permits([0]);
    let client = client(ClientConfig::default());
    let answer = client.call(&ctx, &request_of(endpoint, &server)).await;
    let is_refused = u64::from(status.starts_with("429"));
    assert_eq!((server.requests().len(), client.refused()), (1, is_refused));
    (notebook.reports(), answer.map_err(CallError::into).err())
}

fn cost(tokens: u32) -> Cost {
    Cost::new(tokens).expect("not 0")
}

fn rejected(group: &str, wait_ms: Option<u64>, refund: Option<u32>) -> (String, Feedback) {
    let until = wait_ms.map(|wait_ms| NOW.plus(wait_ms));
    let refund = refund.map(cost);
    (group.to_owned(), Feedback::Rejected { until, refund, sent_at: NOW })
}

fn accepted(group: &str, remaining: Option<u32>) -> (String, Feedback) {
    (group.to_owned(), Feedback::Accepted { remaining, in_flight: 0, sent_at: NOW })
}

fn charged(group: &str, extra: u32) -> (String, Feedback) {
    (group.to_owned(), Feedback::Charged { extra: cost(extra) })
}

#[tokio::test]
async fn a_429_closes_the_bucket_until_the_wait_is_over_rounded_up_and_parks_the_job() {
    let long = "9".repeat(10_000);
    for (headers, wait_ms) in [
        (vec![("X-Wait", "2")], 2_000),
        (vec![("X-Wait", "2.1")], 3_000),
        (vec![("X-Wait", "1.5")], 2_000),
        (vec![("X-Wait", "0")], 1_000),
        (vec![("X-Wait", "43200")], 12 * 3_600_000),
        (vec![("X-Wait", "1000000000")], 7 * 86_400_000),
        (vec![("X-Wait", long.as_str())], 7 * 86_400_000),
        // Of two the longer one; of one that cannot be read and one that can, that.
        (vec![("X-Wait", "2"), ("X-Wait", "7")], 7_000),
        (vec![("X-Wait", "-7"), ("X-Wait", "2")], 2_000),
        // What the catalogue does not name is no hint, whatever others mean by it.
        (vec![("X-Wait", "2"), ("Retry-After", "9")], 2_000),
    ] {
        let (reports, leave) = reports("rows", "429 Slow down", &headers).await;
        assert_eq!(reports, [rejected("rows", Some(wait_ms), Some(2))], "{headers:?}");
        assert_eq!(leave, Some(Leave::Parked));
    }
}

#[tokio::test]
async fn a_429_without_a_wait_that_can_be_read_names_none() {
    let long = format!("Fri, 31 Dec {} 23:59:59 GMT", "9".repeat(10_000));
    for headers in [
        vec![],
        vec![("X-Wait", "-5")],
        vec![("X-Wait", "soon")],
        vec![("X-Wait", "1e9")],
        vec![("Retry-After", "5")],
        // Dates are never read: the sender's clock is not ours.
        vec![("X-Wait", "Fri, 31 Dec 1999 23:59:59 GMT")],
        vec![("X-Wait", "Fri, 31 Dec 2999 23:59:59 GMT")],
        vec![("X-Wait", "Fri, 99 Foo 2026 99:99:99")],
        vec![("X-Wait", long.as_str())],
    ] {
        let (reports, leave) = reports("rows", "429 Slow down", &headers).await;
        assert_eq!(reports, [rejected("rows", None, Some(2))], "{headers:?}");
        assert_eq!(leave, Some(Leave::Parked));
    }
}

#[tokio::test]
async fn an_answer_that_passed_the_limiter_was_accepted_and_says_what_is_left() {
    for status in ["200 OK", "204 No Content", "302 Found", "400 No", "404 No", "500 Oops"] {
        let (reports, _) = reports("rows", status, &[("X-Left", "3")]).await;
        assert_eq!(reports, [accepted("rows", Some(3))], "{status}");
    }
    for status in ["200 OK", "302 Found", "404 No"] {
        let (reports, _) = reports("rows", status, &[("X-Left", "many")]).await;
        assert_eq!(reports, [accepted("rows", None)], "{status}");
    }
}

#[tokio::test]
async fn what_a_gateway_says_in_the_upstreams_place_is_no_clean_answer() {
    let page = ("Content-Type", "text/html; charset=utf-8");
    for (status, headers) in [
        ("500 Oops", vec![]),
        ("503 Busy", vec![]),
        ("503 Busy", vec![page]),
        ("200 OK", vec![page]),
        ("403 Forbidden", vec![page]),
        ("404 Not Found", vec![page]),
        ("498 Prove that you are human", vec![page]),
    ] {
        let (reports, _) = reports("rows", status, &headers).await;
        assert_eq!(reports, [], "{status} {headers:?}");
    }
}

#[tokio::test]
async fn a_dear_answer_is_charged_before_its_hint_is_taken() {
    for status in ["400 No", "404 No", "409 No"] {
        let (reports, _) = reports("dear", status, &[("X-Left", "3")]).await;
        assert_eq!(reports, [charged("dear", 9), accepted("dear", Some(3))], "{status}");
    }
    for status in ["200 OK", "500 Oops"] {
        let (reports, _) = reports("dear", status, &[("X-Left", "3")]).await;
        assert_eq!(reports, [accepted("dear", Some(3))], "{status}");
    }
}

#[tokio::test]
async fn a_dear_429_is_not_given_back_and_charged_behind_its_hold() {
    let (reports, _) = reports("dear", "429 Slow down", &[("X-Wait", "2")]).await;
    assert_eq!(reports, [rejected("dear", Some(2_000), None), charged("dear", 10)]);
}

#[tokio::test]
async fn a_429_without_a_wait_closes_a_daily_cap_until_midnight_and_one_with_a_wait_its_bucket() {
    let midnight = NOW.0 - NOW.0.rem_euclid(86_400_000) + 86_400_000 - 3 * 3_600_000;
    let wait_ms = u64::try_from(midnight - NOW.0).unwrap();
    let (told, leave) = reports("report", "429 Slow down", &[]).await;
    assert_eq!(told, [rejected("report.day", Some(wait_ms), Some(1))]);
    assert_eq!(leave, Some(Leave::Parked));
    let (told, _) = reports("report", "429 Slow down", &[("X-Wait", "2")]).await;
    assert_eq!(told, [rejected("report", Some(2_000), Some(1))]);
    let (told, _) = reports("report", "200 OK", &[("X-Left", "3")]).await;
    assert_eq!(told, [accepted("report", Some(3))], "what is left is left of the bucket");
}
