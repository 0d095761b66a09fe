//! What a fault puts in place of an answer, or does to it.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use futures::{StreamExt, stream};

use super::{Fault, Limited, RetryAfter};
use crate::gateway::{self, LimitHeaders, LimitedBody, Stamp};
use crate::service::Service;

/// What `location` of a redirect to the mock's stranger says.
const STRANGER: &str = "stranger";

const FLOOD_CHUNK: &[u8] = &[b'x'; 64 * 1024];

/// A mark on responses that must travel as they are: compressed, one byte at a time would be no
/// byte for a long time and then all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw;

/// Where and when a fault is played.
pub(crate) struct Scene<'a> {
    pub(crate) service: &'a Service,
    pub(crate) sid: &'a str,
    pub(crate) burst: u32,
    pub(crate) stranger: &'a str,
    pub(crate) path_and_query: &'a str,
    pub(crate) stamp: Stamp,
}

/// Which part a fault takes.
pub(crate) enum Part {
    /// It answers.
    Instead(Response),
    /// It answers never.
    Never,
    /// It changes the answer that there would be.
    Beside,
}

impl Fault {
    pub(crate) fn part(&self, scene: &Scene<'_>) -> Part {
        match self {
            Self::Status(status) => Part::Instead(error(*status, scene)),
            Self::BadGzip => Part::Instead(bad_gzip()),
            Self::Html => Part::Instead(html(StatusCode::OK, "Сервис временно недоступен")),
            Self::Redirect { location, status } => {
                Part::Instead(redirect(location, *status, scene))
            }
            Self::Flood { bytes } => Part::Instead(flood(*bytes)),
            Self::Hang => Part::Never,
            Self::Slow { .. } | Self::Cut { .. } | Self::Task(_) => Part::Beside,
            Self::Limited(_) | Self::LowerLimit(_) | Self::HiddenClient { .. } => {
                unreachable!("{} is played before a request is admitted", self.name())
            }
        }
    }

    /// Changes the body of the answer that there would be.
    pub(crate) fn spoil(&self, response: Response) -> Response {
        match self {
            Self::Slow { pace_ms } => slow(response, Duration::from_millis(*pace_ms)),
            Self::Cut { bytes } => cut(response, *bytes),
            _ => response,
        }
    }
}

/// 429 in place of admission.
pub(crate) fn limited(limited: &Limited, scene: &Scene<'_>) -> Response {
    let headers = limited.retry_s.map(|seconds| {
        let us = seconds.saturating_mul(1_000_000);
        LimitHeaders { retry_us: us, reset_us: us, burst: scene.burst }
    });
    let body = limited.body.unwrap_or_else(|| LimitedBody::of(scene.service));
    let mut response =
        gateway::too_many_requests(body, headers, scene.service, scene.sid, &scene.stamp);
    if let Some(retry_after) = &limited.retry_after {
        let value = retry_after.value(scene.stamp.now);
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}

impl RetryAfter {
    fn value(&self, now: DateTime<Utc>) -> HeaderValue {
        let date = |moment: DateTime<Utc>| moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let text = match self {
            Self::Seconds(seconds) => seconds.to_string(),
            Self::Past => date(now - TimeDelta::hours(1)),
            Self::Future => date(now + TimeDelta::hours(1)),
            Self::Malformed => "soon; -1, NaN".to_owned(),
            Self::Huge => "9".repeat(10_000),
        };
        HeaderValue::from_str(&text).expect("printable ASCII")
    }
}

fn error(status: u16, scene: &Scene<'_>) -> Response {
    let status = StatusCode::from_u16(status).expect("scripts are checked");
    let Scene { service, stamp, .. } = scene;
    match status.as_u16() {
        401 => gateway::unauthorized("token problem; token is withdrawn", service, stamp),
        402 => gateway::payment_required(stamp),
        403 => gateway::forbidden("scope is not allowed for this resource", service, stamp),
        502..=504 => html(status, status.canonical_reason().unwrap_or_default()),
        _ => gateway::service_error(status, "played by a fault script", service, stamp),
    }
}

fn html(status: StatusCode, text: &str) -> Response {
    let page = format!("<html><head><title>{text}</title></head><body>{text}</body></html>\n");
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn bad_gzip() -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "gzip")];
    // The magic number and the method are right, so that a reader gets going.
    (headers, Bytes::from_static(b"\x1f\x8b\x08\0\0\0\0\0\0\x03 not deflated at all"))
        .into_response()
}

fn redirect(location: &str, status: u16, scene: &Scene<'_>) -> Response {
    let status = StatusCode::from_u16(status).expect("scripts are checked");
    let location = match location {
        STRANGER => format!("{}{}", scene.stranger, scene.path_and_query),
        elsewhere => elsewhere.to_owned(),
    };
    let location = HeaderValue::from_str(&location).expect("scripts are checked");
    (status, [(LOCATION, location)]).into_response()
}

/// An array with one long text in it.
fn flood(bytes: u64) -> Response {
    let chunk = Bytes::from_static(FLOOD_CHUNK);
    let chunks = bytes.div_ceil(chunk.len() as u64);
    let texts = stream::once(async { Bytes::from_static(b"[\"") })
        .chain(stream::repeat(chunk).take(usize::try_from(chunks).unwrap_or(usize::MAX)))
        .chain(stream::once(async { Bytes::from_static(b"\"]") }));
    let body = Body::from_stream(texts.map(Ok::<_, io::Error>));
    raw(([(CONTENT_TYPE, "application/json")], body).into_response())
}

fn slow(response: Response, pace: Duration) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = body.into_data_stream().flat_map(|chunk| {
        let bytes = match chunk {
            Ok(chunk) => (0..chunk.len()).map(|n| Ok(chunk.slice(n..=n))).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(bytes)
    });
    let paced = bytes.then(move |byte| async move {
        tokio::time::sleep(pace).await;
        byte
    });
    raw(Response::from_parts(parts, Body::from_stream(paced)))
}

fn cut(response: Response, bytes: u64) -> Response {
    let (parts, body) = response.into_parts();
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    let start = body.into_data_stream().scan((), move |(), chunk| {
        let chunk = chunk.ok().map(|chunk| chunk.slice(..chunk.len().min(left)));
        left -= chunk.as_ref().map_or(0, Bytes::len);
        let more = chunk.filter(|chunk| !chunk.is_empty());
        async move { more.map(Ok) }
    });
    // The server closes the connection of a body that fails.
    let end = stream::once(async {
        // The bytes before must be on their way first.
        tokio::task::yield_now().await;
        Err(io::Error::other("cut by a fault script"))
    });
    raw(Response::from_parts(parts, Body::from_stream(start.chain(end))))
}

fn raw(mut response: Response) -> Response {
    response.extensions_mut().insert(Raw);
    response
}
