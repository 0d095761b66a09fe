//! Why a method refuses a request.

use axum::http::StatusCode;

use crate::drawer::Reply;

/// Why a method refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
}

impl Refusal {
    /// 400.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, detail: detail.into() }
    }

    /// 404.
    pub(crate) fn unknown(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, detail: detail.into() }
    }
}

/// The reply to a request that was refused or not.
pub(crate) fn replied(result: Result<Reply, Refusal>) -> Reply {
    result.unwrap_or_else(|Refusal { status, detail }| Reply::Refused { status, detail })
}
