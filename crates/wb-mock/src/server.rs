//! The HTTP side: from a request to its answer.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap, StatusCode, Uri, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use axum::{Json, Router};
use chrono::SecondsFormat;
use serde_json::{Value, json};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};

use crate::door::{self, Visit};
use crate::drawer::{Question, Reply, TaskFate};
use crate::faults::{self, Part, Raw, Scene};
use crate::ledger::{Admission, Counted};
use crate::methods::{METHODS, Method, Verb};
use crate::query::Query;
use crate::upstream::{Sender, Upstream};
use crate::{body, control, gateway};

pub(crate) fn router(upstream: Arc<Upstream>) -> Router {
    let mut router = Router::new();
    for method in METHODS {
        let handler = move |State(upstream): State<Arc<Upstream>>,
                            Path(places): Path<HashMap<String, String>>,
                            headers: HeaderMap,
                            uri: Uri,
                            body: Bytes| async move {
            call(&upstream, method, Request { places, headers, uri, body }).await
        };
        let filter = match method.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
        };
        router = router.route(method.path, on(filter, handler));
    }
    router
        .method_not_allowed_fallback(
            |State(upstream): State<Arc<Upstream>>, verb: axum::http::Method, uri: Uri| async move {
                no_such_method(&upstream, StatusCode::METHOD_NOT_ALLOWED, &verb, &uri)
            },
        )
        .fallback(
            |State(upstream): State<Arc<Upstream>>, verb: axum::http::Method, uri: Uri| async move {
                no_such_method(&upstream, StatusCode::NOT_FOUND, &verb, &uri)
            },
        )
        .nest("/_mock", control::router())
        // Rows repeat themselves so much that the fastest level is enough.
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(DefaultPredicate::new().and(unless_raw)),
        )
        .with_state(upstream)
}

/// A request to a method, as it came.
struct Request {
    places: HashMap<String, String>,
    headers: HeaderMap,
    uri: Uri,
    body: Bytes,
}

async fn call(upstream: &Arc<Upstream>, method: &'static Method, request: Request) -> Response {
    upstream.arrive().await;
    let Some(response) = judge(upstream, method, request) else {
        // Only a mock that stops lets go of the client.
        upstream.stopped().await;
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    upstream.take_time().await;
    response
}

/// In the gateway's order: the token, then the bucket, then what is asked. None is no answer, ever.
fn judge(upstream: &Upstream, method: &'static Method, request: Request) -> Option<Response> {
    let mut sender = Sender {
        verb: method.verb.name().to_owned(),
        path: method.path.to_owned(),
        date_from: Query::of(&request.uri).get("dateFrom").map(str::to_owned),
        job_id: text_of(&request.headers, "x-job-id"),
        ..Sender::default()
    };
    let visit = match door::let_in(upstream, method, &request.headers, &mut sender) {
        Ok(visit) => visit,
        Err(stopped) => {
            let counted = upstream.count_free(sender, stopped.status(method));
            let response = stopped.response(method, &upstream.stamp(counted.sequence));
            // No bucket was asked: this is what a rested one would say.
            return Some(gateway::with_remaining(response, method.bucket.full.burst.into()));
        }
    };

    let (admission, counted) = upstream.admit(&visit, sender);
    let scene = Scene {
        service: &method.service,
        sid: &upstream.sellers[visit.seller].sid,
        burst: visit.limit.burst,
        stranger: &upstream.stranger.base_url(),
        path_and_query: &request.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        stamp: upstream.stamp(counted.sequence),
    };
    match admission {
        Admission::Admitted { fault: None } => {
            Some(answer(upstream, &visit, request, None, counted))
        }
        Admission::Admitted { fault: Some(fault) } => match fault.part(&scene) {
            Part::Instead(response) => {
                let remaining = upstream.settle(&visit, &counted, response.status());
                Some(gateway::with_remaining(response, remaining))
            }
            Part::Never => {
                upstream.settle_without_answer(&counted);
                None
            }
            Part::Beside => {
                let response = answer(upstream, &visit, request, fault.fate(), counted);
                Some(fault.spoil(response))
            }
        },
        Admission::Refused { headers, body, .. } => {
            let Scene { service, sid, stamp, .. } = scene;
            Some(gateway::too_many_requests(body, headers, service, sid, &stamp))
        }
        Admission::Scripted(limited) => Some(faults::limited(&limited, &scene)),
    }
}

/// Answers an admitted request.
fn answer(
    upstream: &Upstream,
    visit: &Visit,
    request: Request,
    fate: Option<TaskFate>,
    counted: Counted,
) -> Response {
    let reply = match read_body(visit.method, &request.body) {
        Ok(body) => {
            let (query, now) = (Query::of(&request.uri), upstream.clock.now());
            ask(upstream, visit, &Question { places: request.places, query, body, now, fate })
        }
        Err(_) => Reply::Refused {
            status: StatusCode::BAD_REQUEST,
            detail: "the request body is not JSON".to_owned(),
        },
    };
    let remaining = upstream.settle(visit, &counted, reply.status());
    gateway::with_remaining(respond(upstream, visit.method, reply, counted), remaining)
}

fn unless_raw(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<Raw>().is_none()
}

fn read_body(method: &Method, body: &Bytes) -> serde_json::Result<Value> {
    match method.verb {
        Verb::Get => Ok(Value::Null),
        Verb::Post => serde_json::from_slice(body),
    }
}

fn ask(upstream: &Upstream, visit: &Visit, question: &Question) -> Reply {
    let Some((dataset, call)) = visit.method.serves else {
        let now = upstream.clock.moscow().to_rfc3339_opts(SecondsFormat::Secs, false);
        return Reply::Json(json!({"TS": now, "Status": "OK"}));
    };
    let drawer = upstream.drawer(visit.seller, dataset);
    drawer.expect("a known seller has all datasets").answer(call, question)
}

fn respond(upstream: &Upstream, method: &Method, reply: Reply, counted: Counted) -> Response {
    match reply {
        Reply::Json(value) => Json(value).into_response(),
        Reply::Rows(rows) => {
            let json = [(CONTENT_TYPE, "application/json; charset=utf-8")];
            (json, body::rows(rows, counted.rows_sent)).into_response()
        }
        Reply::Zip(bytes) => ([(CONTENT_TYPE, "application/zip")], bytes).into_response(),
        Reply::NoContent => StatusCode::NO_CONTENT.into_response(),
        Reply::Error { status, body } => (status, Json(body)).into_response(),
        Reply::Refused { status, detail } => {
            let stamp = upstream.stamp(counted.sequence);
            gateway::service_error(status, &detail, &method.service, &stamp)
        }
    }
}

fn no_such_method(
    upstream: &Upstream,
    status: StatusCode,
    verb: &axum::http::Method,
    uri: &Uri,
) -> Response {
    let sender =
        Sender { verb: verb.to_string(), path: uri.path().to_owned(), ..Sender::default() };
    let counted = upstream.count_free(sender, status);
    gateway::no_such_method(status, uri.path(), &upstream.stamp(counted.sequence))
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
