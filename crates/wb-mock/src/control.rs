//! The paths under `/_mock`, for clients in any language. They are not counted.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use chrono::TimeDelta;
use serde::Deserialize;

use crate::upstream::Upstream;
use crate::{Category, Dataset, Family, Faults, Summary, TokenOptions, body};

type Shared = State<Arc<Upstream>>;

const EXPIRES_DAYS_MAX: i64 = 36_500;

const NDJSON: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/x-ndjson")];

pub(crate) fn router() -> Router<Arc<Upstream>> {
    Router::new()
        .route("/sellers", get(sellers))
        .route("/token/{index}", get(token))
        .route("/secret/{index}", get(secret))
        .route("/stranger", get(stranger))
        .route("/faults", post(faults))
        .route("/expected/{index}/{dataset}", get(expected))
        .route("/summary", get(summary))
        .route("/audit", get(audit))
        .fallback(|| async { StatusCode::NOT_FOUND })
}

async fn sellers(State(upstream): Shared) -> Response {
    Json(&upstream.sellers).into_response()
}

/// [`TokenOptions`] as a query: `?family=base&categories=content,prices&expires_in_s=-60`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenQuery {
    family: Option<Family>,
    categories: Option<String>,
    expires_in_s: Option<i64>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    test: bool,
}

impl TryFrom<TokenQuery> for TokenOptions {
    type Error = String;

    fn try_from(query: TokenQuery) -> Result<Self, String> {
        let defaults = Self::default();
        let category =
            |name: &str| Category::from_name(name).ok_or_else(|| format!("no category {name:?}\n"));
        let categories = match query.categories.as_deref() {
            None => defaults.categories,
            Some("") => Vec::new(),
            Some(names) => names.split(',').map(category).collect::<Result<_, _>>()?,
        };
        let expires_in = match query.expires_in_s {
            Some(seconds) => TimeDelta::try_seconds(seconds)
                .filter(|span| span.abs() <= TimeDelta::days(EXPIRES_DAYS_MAX))
                .ok_or("expires_in_s is beyond a century\n")?,
            None => defaults.expires_in,
        };
        Ok(Self {
            family: query.family.unwrap_or(defaults.family),
            categories,
            read_only: query.read_only,
            test: query.test,
            expires_in,
        })
    }
}

async fn token(
    State(upstream): Shared,
    Path(index): Path<usize>,
    Query(query): Query<TokenQuery>,
) -> Response {
    let Some(seller) = upstream.sellers.get(index) else { return no_such_seller(index) };
    // From now, which is what whoever asks means, and not from the start of the mock.
    let asked_at = TimeDelta::microseconds(upstream.clock.elapsed_us().cast_signed());
    let from_now = query.expires_in_s.map_or(TimeDelta::zero(), |_| asked_at);
    match TokenOptions::try_from(query) {
        Ok(options) => {
            let options = TokenOptions { expires_in: options.expires_in + from_now, ..options };
            upstream.token(seller, &options).into_response()
        }
        Err(problem) => (StatusCode::BAD_REQUEST, problem).into_response(),
    }
}

async fn secret(State(upstream): Shared, Path(index): Path<usize>) -> Response {
    match upstream.sellers.get(index) {
        Some(seller) => upstream.client_secret(seller).into_response(),
        None => no_such_seller(index),
    }
}

async fn stranger(State(upstream): Shared) -> String {
    upstream.stranger.base_url()
}

/// A script in place of the one before; an empty one ends all faults.
async fn faults(State(upstream): Shared, script: String) -> Response {
    match Faults::read(&script) {
        Ok(faults) => {
            upstream.play(faults);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
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
    Json(upstream.summary())
}

async fn audit(State(upstream): Shared) -> Response {
    (NDJSON, body::ndjson(upstream.audit().into_iter())).into_response()
}

fn no_such_seller(index: usize) -> Response {
    (StatusCode::NOT_FOUND, format!("no seller {index}\n")).into_response()
}
