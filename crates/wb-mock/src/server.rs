//! The HTTP side: from a request to its answer.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::SecondsFormat;
use serde_json::json;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

use crate::audit::RowsSent;
use crate::date_from::{self, BadQuery, PageQuery};
use crate::limiter::Verdict;
use crate::methods::{Answer, METHODS, Method};
use crate::token::TokenProblem;
use crate::upstream::{Counted, Sender, Upstream};
use crate::{Dataset, body, control, gateway, token};

pub(crate) fn router(upstream: Arc<Upstream>) -> Router {
    let mut router = Router::new();
    for method in METHODS {
        let handler = move |State(upstream): State<Arc<Upstream>>, headers: HeaderMap, uri: Uri| async move {
            call(&upstream, method, &headers, &uri).await
        };
        router = router.route(method.path, get(handler));
    }
    router
        .method_not_allowed_fallback(|State(upstream): State<Arc<Upstream>>, uri: Uri| async move {
            no_such_method(&upstream, StatusCode::METHOD_NOT_ALLOWED, &uri)
        })
        .fallback(|State(upstream): State<Arc<Upstream>>, uri: Uri| async move {
            no_such_method(&upstream, StatusCode::NOT_FOUND, &uri)
        })
        .nest("/_mock", control::router())
        // Rows repeat themselves so much that the fastest level is enough.
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .with_state(upstream)
}

/// What an admitted request asks for.
enum Question {
    Ping,
    Page(Dataset, PageQuery),
}

impl Question {
    fn read(method: &Method, uri: &Uri) -> Result<Self, BadQuery> {
        match method.answer {
            Answer::Ping => Ok(Self::Ping),
            Answer::Page(dataset) => Ok(Self::Page(dataset, date_from::page_query(uri)?)),
        }
    }
}

async fn call(
    upstream: &Arc<Upstream>,
    method: &'static Method,
    headers: &HeaderMap,
    uri: &Uri,
) -> Response {
    upstream.arrive().await;
    let response = judge(upstream, method, headers, uri);
    upstream.take_time().await;
    response
}

/// In the gateway's order: the token, then the bucket, then the query.
fn judge(
    upstream: &Arc<Upstream>,
    method: &'static Method,
    headers: &HeaderMap,
    uri: &Uri,
) -> Response {
    let mut sender = Sender {
        date_from: date_from::date_from_text(uri),
        job_id: text_of(headers, "x-job-id"),
        ..Sender::default()
    };
    let seller = match authorize(upstream, headers, &mut sender) {
        Ok(seller) => seller,
        Err(problem) => {
            let counted = upstream.count_free(method.path, sender, StatusCode::UNAUTHORIZED);
            let response = gateway::unauthorized(&problem, &upstream.stamp(counted.sequence));
            // There is no seller to ask the bucket of: this is what a rested one would say.
            return gateway::with_remaining(response, u64::from(method.burst));
        }
    };

    let question = Question::read(method, uri);
    let status = if question.is_ok() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let (verdict, Counted { sequence, rows_sent }) = upstream.count(seller, method, sender, status);
    let remaining = match verdict {
        Verdict::Admitted { remaining } => remaining,
        Verdict::Refused { retry_us, reset_us } => {
            let stamp = upstream.stamp(sequence);
            return gateway::too_many_requests(method, retry_us, reset_us, &stamp);
        }
    };
    let response = match question {
        Ok(question) => answer(upstream, seller, question, rows_sent),
        Err(bad) => (status, Json(bad.body())).into_response(),
    };
    gateway::with_remaining(response, remaining)
}

/// The seller of the token. Notes in `sender` what could be read of it, good or not.
fn authorize(
    upstream: &Upstream,
    headers: &HeaderMap,
    sender: &mut Sender,
) -> Result<usize, TokenProblem> {
    let claims = token::read(headers.get(AUTHORIZATION))?;
    sender.sid = Some(claims.sid.clone());
    claims.check(upstream.clock.now())?;
    let known = upstream.sellers.iter().find(|seller| seller.sid == claims.sid);
    let seller = known.ok_or(TokenProblem::UnknownSeller)?.index;
    sender.seller = Some(seller);
    Ok(seller)
}

fn answer(upstream: &Upstream, seller: usize, question: Question, rows_sent: RowsSent) -> Response {
    match question {
        Question::Ping => {
            let now = upstream.clock.moscow().to_rfc3339_opts(SecondsFormat::Secs, false);
            Json(json!({"TS": now, "Status": "OK"})).into_response()
        }
        Question::Page(dataset, query) => {
            let table = upstream.table(seller, dataset).expect("a known seller has all datasets");
            let rows = table.rows(table.answer(query));
            let json = [(CONTENT_TYPE, "application/json; charset=utf-8")];
            (json, body::json_array(rows, rows_sent)).into_response()
        }
    }
}

fn no_such_method(upstream: &Upstream, status: StatusCode, uri: &Uri) -> Response {
    let counted = upstream.count_free(uri.path(), Sender::default(), status);
    gateway::no_such_method(status, uri.path(), &upstream.stamp(counted.sequence))
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
