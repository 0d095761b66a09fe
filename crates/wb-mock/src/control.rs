//! The paths under `/_mock`, for clients in any language. They are not counted.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};

use crate::upstream::Upstream;
use crate::{Dataset, Summary, TokenOptions, body};

type Shared = State<Arc<Upstream>>;

const NDJSON: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/x-ndjson")];

pub(crate) fn router() -> Router<Arc<Upstream>> {
    Router::new()
        .route("/sellers", get(sellers))
        .route("/token/{index}", get(token))
        .route("/expected/{index}/{dataset}", get(expected))
        .route("/summary", get(summary))
        .route("/audit", get(audit))
        .fallback(|| async { StatusCode::NOT_FOUND })
}

async fn sellers(State(upstream): Shared) -> Response {
    Json(&upstream.sellers).into_response()
}

async fn token(State(upstream): Shared, Path(index): Path<usize>) -> Response {
    match upstream.sellers.get(index) {
        Some(seller) => upstream.token(seller, &TokenOptions::default()).into_response(),
        None => no_such_seller(index),
    }
}

async fn expected(
    State(upstream): Shared,
    Path((index, dataset)): Path<(usize, String)>,
) -> Response {
    let Some(dataset) = Dataset::from_name(&dataset) else {
        return (StatusCode::NOT_FOUND, format!("no dataset {dataset}\n")).into_response();
    };
    let Some(drawer) = upstream.drawer(index, dataset) else {
        return no_such_seller(index);
    };
    (NDJSON, body::ndjson(drawer.expected())).into_response()
}

async fn summary(State(upstream): Shared) -> Json<Summary> {
    Json(Summary::of(&upstream.audit()))
}

async fn audit(State(upstream): Shared) -> Response {
    (NDJSON, body::ndjson(upstream.audit().into_iter())).into_response()
}

fn no_such_seller(index: usize) -> Response {
    (StatusCode::NOT_FOUND, format!("no seller {index}\n")).into_response()
}
