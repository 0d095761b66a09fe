//! The answers that the upstream's gateway gives in place of a method, and the headers about limits.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::methods::Method;
use crate::token::TokenProblem;

const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RETRY: HeaderName = HeaderName::from_static("x-ratelimit-retry");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// What makes one error answer different from the next.
pub(crate) struct Stamp {
    pub(crate) request_id: String,
    pub(crate) now: DateTime<Utc>,
}

impl Stamp {
    fn timestamp(&self) -> String {
        self.now.to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

/// 429, in the shape of the newer gateway, which has no `code`. The times are in the headers.
pub(crate) fn too_many_requests(
    method: &Method,
    retry_us: u64,
    reset_us: u64,
    stamp: &Stamp,
) -> Response {
    let body = json!({
        "status": 429,
        "statusText": "Too Many Requests",
        "title": "too many requests",
        "detail": "rate limit exceeded, retry after the period specified in the \
                   X-RateLimit-Retry header",
        "requestId": stamp.request_id,
        "origin": method.origin,
        "timestamp": stamp.timestamp(),
    });
    let mut response = (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(RETRY, HeaderValue::from(whole_seconds(retry_us)));
    headers.insert(LIMIT, HeaderValue::from(method.burst));
    headers.insert(RESET, HeaderValue::from(whole_seconds(reset_us)));
    response
}

/// 401.
pub(crate) fn unauthorized(problem: &TokenProblem, stamp: &Stamp) -> Response {
    let body = error(StatusCode::UNAUTHORIZED, "unauthorized", &problem.to_string(), stamp);
    (StatusCode::UNAUTHORIZED, Json(body)).into_response()
}

/// 404, or 405 for a known path that was called with another verb.
pub(crate) fn no_such_method(status: StatusCode, path: &str, stamp: &Stamp) -> Response {
    let title = if status == StatusCode::NOT_FOUND { "path not found" } else { "wrong method" };
    (status, Json(error(status, title, path, stamp))).into_response()
}

/// The header that is on every answer of a method except 429.
pub(crate) fn with_remaining(mut response: Response, remaining: u64) -> Response {
    response.headers_mut().insert(REMAINING, HeaderValue::from(remaining));
    response
}

fn error(status: StatusCode, title: &str, detail: &str, stamp: &Stamp) -> Value {
    json!({
        "title": title,
        "detail": detail,
        "code": format!("07e4668e--{}", &stamp.request_id[..12]),
        "requestId": stamp.request_id,
        "origin": "s2s-api-auth-catalog",
        "status": status.as_u16(),
        "statusText": status.canonical_reason(),
        "timestamp": stamp.timestamp(),
    })
}

/// Rounded up, and at least 1: a client that waits as long as it was told is not refused again.
fn whole_seconds(us: u64) -> u64 {
    us.div_ceil(1_000_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up_and_never_zero() {
        let seconds = [0, 1, 1_000_000, 1_000_001].map(whole_seconds);
        assert_eq!(seconds, [1, 1, 1, 2]);
    }
}
