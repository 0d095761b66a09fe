//! Who is let in: the token, before any bucket is asked.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::gateway::{self, Stamp};
use crate::methods::{BucketName, Method};
use crate::token::{self, TokenProblem};
use crate::upstream::{Sender, Upstream};
use crate::{Family, Gateway, Limit};

pub(crate) const CLIENT_SECRET: &str = "x-client-secret";

/// A request that was let in: who calls what, and what its bucket allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) seller: usize,
    pub(crate) method: &'static Method,
    pub(crate) limit: Limit,
    /// Whether it draws on the bucket of base tokens.
    base: bool,
}

/// What tells a bucket from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BucketKey {
    pub(crate) seller: usize,
    name: BucketName,
    base: bool,
}

impl Visit {
    /// A visit with any token but a base one.
    pub(crate) fn of_full_limits(seller: usize, method: &'static Method) -> Self {
        Self { seller, method, limit: method.bucket.full, base: false }
    }

    pub(crate) fn bucket(&self) -> BucketKey {
        BucketKey { seller: self.seller, name: self.method.bucket_name(), base: self.base }
    }
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    Token(TokenProblem),
    Scope,
    BaseToken,
}

impl Stopped {
    pub(crate) fn status(&self, method: &Method) -> StatusCode {
        match (self, method.service.gateway) {
            (Self::Token(_), _) | (Self::Scope, Gateway::Old) => StatusCode::UNAUTHORIZED,
            (Self::Scope, Gateway::New) | (Self::BaseToken, _) => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn response(&self, method: &Method, stamp: &Stamp) -> Response {
        match self {
            Self::Token(problem) => {
                gateway::unauthorized(&problem.to_string(), &method.service, stamp)
            }
            Self::Scope => gateway::scope_not_allowed(&method.service, stamp),
            Self::BaseToken => gateway::base_not_allowed(&method.service, stamp),
        }
    }
}

/// Reads the token. Notes in `sender` what could be read of it, good or not.
pub(crate) fn let_in(
    upstream: &Upstream,
    method: &'static Method,
    headers: &HeaderMap,
    sender: &mut Sender,
) -> Result<Visit, Stopped> {
    let claims = token::read(headers.get(AUTHORIZATION)).map_err(Stopped::Token)?;
    sender.sid = Some(claims.sid.clone());
    claims.check(upstream.clock.now()).map_err(Stopped::Token)?;
    let known = upstream.sellers.iter().find(|seller| seller.sid == claims.sid);
    let seller = known.ok_or(Stopped::Token(TokenProblem::UnknownSeller))?;
    sender.seller = Some(seller.index);

    let mut family = claims.family().map_err(Stopped::Token)?;
    if let Some(secret) = headers.get(CLIENT_SECRET).filter(|_| family == Family::Base) {
        if secret.as_bytes() != upstream.client_secret(seller).as_bytes() {
            return Err(Stopped::Token(TokenProblem::WrongSecret));
        }
        family = Family::BaseWithSecret;
    }
    let limit = method.bucket.limit(family).ok_or(Stopped::BaseToken)?;
    if method.service.category.is_some_and(|category| !claims.opens(category)) {
        return Err(Stopped::Scope);
    }
    Ok(Visit { seller: seller.index, method, limit, base: family == Family::Base })
}
