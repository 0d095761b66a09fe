//! The answers that the upstream's gateways give in place of a method, the shapes of a service's own
//! errors, and the headers about limits.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::service::{ErrorShape, Gateway, Service};
use crate::token::TokenProblem;

const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RETRY: HeaderName = HeaderName::from_static("x-ratelimit-retry");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// What signs the answers of the older gateway, whatever the service.
const OLD_ORIGIN: &str = "s2s-api-auth-catalog";

/// What makes one error answer different from the next.
pub(crate) struct Stamp {
    pub(crate) request_id: String,
    pub(crate) now: DateTime<Utc>,
}

impl Stamp {
    fn timestamp(&self) -> String {
        self.now.to_rfc3339_opts(SecondsFormat::Secs, true)
    }

    fn code(&self) -> String {
        format!("07e4668e--{}", &self.request_id[..12])
    }
}

/// Which of its bodies a 429 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LimitedBody {
    /// Of the older gateway, for one bucket.
    Old,
    /// Of the older gateway, for all methods of a seller together.
    Global,
    /// Of the newer gateway.
    New,
    /// Of the reports that are made so many times a day.
    DailyCap,
}

impl LimitedBody {
    pub(crate) fn of(service: &Service) -> Self {
        match service.gateway {
            Gateway::Old => Self::Old,
            Gateway::New => Self::New,
        }
    }
}

/// What the headers of a 429 say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitHeaders {
    pub(crate) retry_us: u64,
    pub(crate) reset_us: u64,
    pub(crate) burst: u32,
}

/// 429. The times are in the headers, if there are any.
pub(crate) fn too_many_requests(
    body: LimitedBody,
    headers: Option<LimitHeaders>,
    service: &Service,
    sid: &str,
    stamp: &Stamp,
) -> Response {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let title = "too many requests";
    let body = match body {
        LimitedBody::Old => old(status, title, &format!("limited by {sid}"), stamp),
        LimitedBody::Global => {
            let detail = format!(
                "Limited by global limiter, per seller {sid}; \
                 See https://dev.wildberries.ru/openapi/api-information"
            );
            old(status, title, &detail, stamp)
        }
        LimitedBody::New => {
            let detail = "rate limit exceeded, retry after the period specified in the \
                          X-RateLimit-Retry header";
            new(status, title, detail, service, stamp)
        }
        LimitedBody::DailyCap => json!({
            "title": "Too many requests",
            "detail": "The daily response limit has been exceeded. The maximum number is 20.",
            "requestId": stamp.request_id,
            "origin": service.origin,
        }),
    };
    let mut response = (status, Json(body)).into_response();
    if let Some(LimitHeaders { retry_us, reset_us, burst }) = headers {
        let headers = response.headers_mut();
        headers.insert(RETRY, HeaderValue::from(whole_seconds(retry_us)));
        headers.insert(LIMIT, HeaderValue::from(burst));
        headers.insert(RESET, HeaderValue::from(whole_seconds(reset_us)));
    }
    response
}

/// 401.
pub(crate) fn unauthorized(detail: &str, service: &Service, stamp: &Stamp) -> Response {
    refused(StatusCode::UNAUTHORIZED, "unauthorized", detail, service, stamp)
}

/// 402: the business solution has no money left.
pub(crate) fn payment_required(stamp: &Stamp) -> Response {
    let body = json!({
        "title": "payment required",
        "detail": "wb solution for business has insufficient funds on its balance. \
                   please top up your balance",
        "requestId": stamp.request_id,
    });
    (StatusCode::PAYMENT_REQUIRED, Json(body)).into_response()
}

/// A token that does not open the category: 401 of the older gateway, 403 of the newer.
pub(crate) fn scope_not_allowed(service: &Service, stamp: &Stamp) -> Response {
    match service.gateway {
        Gateway::Old => unauthorized(&TokenProblem::Scope.to_string(), service, stamp),
        Gateway::New => forbidden("scope is not allowed for this resource", service, stamp),
    }
}

/// 403.
pub(crate) fn forbidden(detail: &str, service: &Service, stamp: &Stamp) -> Response {
    refused(StatusCode::FORBIDDEN, "forbidden", detail, service, stamp)
}

/// 403 for a base token where none is let in.
pub(crate) fn base_not_allowed(service: &Service, stamp: &Stamp) -> Response {
    let status = StatusCode::FORBIDDEN;
    let mut body = old(status, "forbidden", "base token is not allowed", stamp);
    body["code"] = json!("base token is not allowed for this path");
    body["origin"] = json!(service.origin);
    (status, Json(body)).into_response()
}

/// 404, or 405 for a known path that was called with another verb.
pub(crate) fn no_such_method(status: StatusCode, path: &str, stamp: &Stamp) -> Response {
    let title = if status == StatusCode::NOT_FOUND { "path not found" } else { "wrong method" };
    (status, Json(old(status, title, path, stamp))).into_response()
}

/// A service's own error.
pub(crate) fn service_error(
    status: StatusCode,
    detail: &str,
    service: &Service,
    stamp: &Stamp,
) -> Response {
    let body = match service.errors {
        ErrorShape::Errors => json!({"errors": detail}),
        ErrorShape::Title => json!({
            "title": if status == StatusCode::BAD_REQUEST {
                "Invalid request body"
            } else {
                status.canonical_reason().unwrap_or_default()
            },
            "detail": detail,
            "requestId": stamp.request_id,
            "origin": service.origin,
        }),
        ErrorShape::Code => {
            let code = match status {
                StatusCode::BAD_REQUEST => "IncorrectParameter",
                StatusCode::FORBIDDEN => "AccessDenied",
                StatusCode::NOT_FOUND => "NotFound",
                StatusCode::CONFLICT => "StatusMismatch",
                _ => "InternalServerError",
            };
            json!({"code": code, "message": detail, "data": null})
        }
        ErrorShape::ErrorText => json!({"data": null, "error": true, "errorText": detail}),
        ErrorShape::AdditionalErrors => json!({
            "data": null,
            "error": true,
            "errorText": detail,
            "additionalErrors": null,
        }),
    };
    (status, Json(body)).into_response()
}

/// The header that is on every answer of a method except 429.
pub(crate) fn with_remaining(mut response: Response, remaining: u64) -> Response {
    response.headers_mut().insert(REMAINING, HeaderValue::from(remaining));
    response
}

fn refused(
    status: StatusCode,
    title: &str,
    detail: &str,
    service: &Service,
    stamp: &Stamp,
) -> Response {
    let body = match service.gateway {
        Gateway::Old => old(status, title, detail, stamp),
        Gateway::New => new(status, title, detail, service, stamp),
    };
    (status, Json(body)).into_response()
}

/// The older gateway's shape.
fn old(status: StatusCode, title: &str, detail: &str, stamp: &Stamp) -> Value {
    json!({
        "title": title,
        "detail": detail,
        "code": stamp.code(),
        "requestId": stamp.request_id,
        "origin": OLD_ORIGIN,
        "status": status.as_u16(),
        "statusText": status.canonical_reason(),
        "timestamp": stamp.timestamp(),
    })
}

/// The newer gateway's shape.
fn new(status: StatusCode, title: &str, detail: &str, service: &Service, stamp: &Stamp) -> Value {
    json!({
        "status": status.as_u16(),
        "statusText": status.canonical_reason(),
        "title": title,
        "detail": detail,
        "requestId": stamp.request_id,
        "origin": service.origin,
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
