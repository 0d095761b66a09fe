//! Tokens: issuing them, and reading them strictly.

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::dice::{Dice, Topic};
use crate::{Category, Seller};

const READ_ONLY: u64 = 1 << 30;

/// Kinds of tokens, which have limits of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// For the seller's own programs.
    Personal,
    /// For a service from the upstream's catalogue.
    Service,
    /// For anybody's programs, with limits of hours.
    Base,
    /// A base token that comes with the client's secret: it has the limits of the others.
    BaseWithSecret,
}

impl Family {
    /// The claim `acc`. The secret is not in the token, but in a header beside it.
    const fn acc(self) -> u8 {
        match self {
            Self::Base | Self::BaseWithSecret => 1,
            Self::Personal => 3,
            Self::Service => 4,
        }
    }
}

/// What a token should be like.
///
/// ```
/// use waitless_wb_mock::{Category, Family, TokenOptions};
///
/// let options = TokenOptions::default();
/// assert_eq!(options.family, Family::Personal);
/// assert_eq!(options.categories, Category::ALL);
/// assert_eq!(options.expires_in.num_days(), 180);
/// assert!(!options.read_only && !options.test);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOptions {
    /// Default personal.
    pub family: Family,
    /// What it opens. Default everything.
    pub categories: Vec<Category>,
    /// Whether it opens only methods that read; all methods of the mock do. Default no.
    pub read_only: bool,
    /// Whether it is a test token, which no method takes. Default no.
    pub test: bool,
    /// How long it is good, from the start of the mock; below zero it has expired. Default 180 days.
    pub expires_in: TimeDelta,
}

impl Default for TokenOptions {
    fn default() -> Self {
        Self {
            family: Family::Personal,
            categories: Category::ALL.to_vec(),
            read_only: false,
            test: false,
            expires_in: TimeDelta::days(180),
        }
    }
}

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
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    for_whom: Option<String>,
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
    acc: u8,
    #[serde(default)]
    s: u64,
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

    /// The family, if the secret did not come with it.
    pub(crate) fn family(&self) -> Result<Family, TokenProblem> {
        match self.acc {
            1 => Ok(Family::Base),
            2 => Err(TokenProblem::Test),
            3 => Ok(Family::Personal),
            4 => Ok(Family::Service),
            _ => Err(TokenProblem::Malformed("unknown token type")),
        }
    }

    pub(crate) fn opens(&self, category: Category) -> bool {
        self.s & category.bit() != 0
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
    #[error("token problem; client secret is wrong")]
    WrongSecret,
    #[error("token scope not allowed")]
    Scope,
}

/// A token of a seller; equal options give equal tokens.
pub(crate) fn issue(
    seed: u64,
    seller: &Seller,
    started: DateTime<Utc>,
    options: &TokenOptions,
) -> String {
    let acc = options.family.acc();
    let exp = (started + options.expires_in).timestamp();
    let categories = options.categories.iter().fold(0, |s, category| s | category.bit());
    let s = categories | if options.read_only { READ_ONLY } else { 0 };
    let numbers = [seller.index as u64, u64::from(acc), exp as u64, s, u64::from(options.test)];
    let mut dice = Dice::of(seed, Topic::Token, &numbers);
    let header = Header { alg: "ES256", kid: "20260101v1", typ: "JWT" };
    let claims = IssuedClaims {
        acc,
        exp,
        for_whom: match options.family {
            Family::Personal => Some("self".to_owned()),
            Family::Service => Some(format!("asid:{}", dice.uuid())),
            Family::Base | Family::BaseWithSecret => None,
        },
        id: dice.uuid(),
        s,
        sid: &seller.sid,
        t: options.test,
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

/// What a client sends in `X-Client-Secret` beside a base token of that seller.
pub(crate) fn client_secret(seed: u64, seller: &Seller) -> String {
    Dice::of(seed, Topic::ClientSecret, &[seller.index as u64]).hex()
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

    fn issued() -> String {
        let seller = Seller { index: 0, sid: "a-seller".to_owned(), name: String::new() };
        issue(1, &seller, now(), &TokenOptions::default())
    }

    fn read_text(text: &str) -> Result<Claims, TokenProblem> {
        read(Some(&HeaderValue::from_str(text).expect("a header value")))
    }

    #[test]
    fn an_issued_token_is_read_raw_and_after_bearer() {
        let token = issued();
        let claims = read_text(&token).expect("a good token");
        assert_eq!(claims.sid, "a-seller");
        assert_eq!(read_text(&format!("Bearer {token}")), Ok(claims));
    }

    #[test]
    fn a_token_is_good_for_180_days() {
        let claims = read_text(&issued()).expect("a good token");
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
