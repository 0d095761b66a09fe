//! Tokens: issuing them, and reading them strictly.

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::dice::{Dice, Topic};

const LIFETIME_DAYS: i64 = 180;

/// Categories 1 to 13, statistics among them, whether one counts bits from 0 or from 1: the two
/// readings of the documentation differ, and a client of either should find its bit.
const ALL_CATEGORIES: u64 = 0b11_1111_1111_1110 | (1 << 4);

const PERSONAL: u8 = 3;

#[derive(Serialize)]
struct Header {
    alg: &'static str,
    kid: &'static str,
    typ: &'static str,
}

#[derive(Serialize)]
struct IssuedClaims<'a> {
    acc: u8,
    exp: i64,
    #[serde(rename = "for")]
    for_whom: &'static str,
    id: String,
    s: u64,
    sid: &'a str,
    t: bool,
}

/// What the mock reads of a token.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Claims {
    pub(crate) sid: String,
    exp: i64,
    #[serde(default)]
    t: bool,
}

impl Claims {
    pub(crate) fn check(&self, now: DateTime<Utc>) -> Result<(), TokenProblem> {
        if self.t {
            Err(TokenProblem::Test)
        } else if self.exp <= now.timestamp() {
            Err(TokenProblem::Expired)
        } else {
            Ok(())
        }
    }
}

/// Why a request is unauthorized. The text is the `detail` of the 401 answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenProblem {
    #[error("token problem; empty Authorization header")]
    Missing,
    #[error("token problem; token is malformed: {0}")]
    Malformed(&'static str),
    #[error("token problem; token has invalid claims: token is expired")]
    Expired,
    #[error("token problem; test token is not allowed here")]
    Test,
    #[error("token problem; seller is unknown")]
    UnknownSeller,
}

/// The token of a seller, the same every time.
pub(crate) fn issue(seed: u64, index: usize, sid: &str, now: DateTime<Utc>) -> String {
    let mut dice = Dice::of(seed, Topic::Token, &[index as u64]);
    let header = Header { alg: "ES256", kid: "20260101v1", typ: "JWT" };
    let claims = IssuedClaims {
        acc: PERSONAL,
        exp: now.timestamp() + LIFETIME_DAYS * 86_400,
        for_whom: "self",
        id: dice.uuid(),
        s: ALL_CATEGORIES,
        sid,
        t: false,
    };
    // Nobody but the issuer can check a signature, so any bytes of the right length will do.
    let signature: Vec<u8> = (0..8).flat_map(|_| dice.roll().to_be_bytes()).collect();
    [
        serde_json::to_vec(&header).expect("plain values"),
        serde_json::to_vec(&claims).expect("plain values"),
        signature,
    ]
    .map(|part| URL_SAFE_NO_PAD.encode(part))
    .join(".")
}

/// Reads the `Authorization` header: a token, with or without `Bearer ` before it.
pub(crate) fn read(authorization: Option<&HeaderValue>) -> Result<Claims, TokenProblem> {
    let text = authorization.ok_or(TokenProblem::Missing)?;
    let text = text.to_str().map_err(|_| TokenProblem::Malformed("not a text"))?;
    let token = text.strip_prefix("Bearer ").unwrap_or(text).trim();
    if token.is_empty() {
        return Err(TokenProblem::Missing);
    }
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts[..] else {
        return Err(TokenProblem::Malformed("token contains an invalid number of segments"));
    };
    let decoded = |part: &str, problem| {
        URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenProblem::Malformed(problem))
    };
    decoded(header, "could not base64 decode header")?;
    let claims = decoded(claims, "could not base64 decode claim")?;
    decoded(signature, "could not base64 decode signature")?;
    serde_json::from_slice(&claims)
        .map_err(|_| TokenProblem::Malformed("could not JSON decode claim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_856_000, 0).expect("a moment")
    }

    fn read_text(text: &str) -> Result<Claims, TokenProblem> {
        read(Some(&HeaderValue::from_str(text).expect("a header value")))
    }

    #[test]
    fn an_issued_token_is_read_raw_and_after_bearer() {
        let token = issue(1, 0, "a-seller", now());
        let claims = read_text(&token).expect("a good token");
        assert_eq!(claims.sid, "a-seller");
        assert_eq!(read_text(&format!("Bearer {token}")), Ok(claims));
    }

    #[test]
    fn a_token_is_good_for_180_days() {
        let claims = read_text(&issue(1, 0, "a-seller", now())).expect("a good token");
        let end = now() + chrono::Duration::days(180);
        assert_eq!(claims.check(end - chrono::Duration::seconds(1)), Ok(()));
        assert_eq!(claims.check(end), Err(TokenProblem::Expired));
    }

    #[test]
    fn each_way_to_be_malformed_has_its_text() {
        assert_eq!(read(None), Err(TokenProblem::Missing));
        assert_eq!(read_text("Bearer "), Err(TokenProblem::Missing));
        let malformed = |text: &str| match read_text(text) {
            Err(TokenProblem::Malformed(problem)) => problem,
            other => panic!("{text} was read as {other:?}"),
        };
        assert_eq!(malformed("abc"), "token contains an invalid number of segments");
        assert_eq!(malformed("e30.e30.%"), "could not base64 decode signature");
        assert_eq!(malformed("e30.e30.e30"), "could not JSON decode claim");
    }
}
