use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use waitless_job::{AccountId, UnixMillis};
use waitless_upstream::{Credential, Secret};

use crate::{MoscowTime, TokenError, TokenPart};

/// A seller's token and what can be read in it. Its signature is not verified: only the upstream
/// can, and we give the token to nobody else.
///
/// Its account is the seller (`sid`), not the token: all tokens of a seller share its buckets.
#[derive(Clone)]
pub struct SellerToken {
    secret: Secret,
    client_secret: Option<Secret>,
    account: AccountId,
    kind: TokenKind,
    categories: u64,
    expires_at: UnixMillis,
}

/// The type of a token (`acc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// 1: for everybody's programs, with limits of hours.
    Base,
    /// 3: for the seller's own programs.
    Personal,
    /// 4: for a service from the upstream's catalogue.
    Service,
}

impl TokenKind {
    /// The family whose limits it has by itself, as the catalogue calls it.
    #[must_use]
    pub fn family(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Personal => "personal",
            Self::Service => "service",
        }
    }
}

impl fmt::Debug for SellerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SellerToken")
            .field("account", &self.account)
            .field("kind", &self.kind)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl SellerToken {
    /// Reads a token, with or without `Bearer ` in front and white space around it.
    ///
    /// # Errors
    /// [`TokenError`]: missing, not three parts, a part or claim that cannot be read, a test token,
    /// or expired at `now`.
    pub fn parse(text: &str, now: UnixMillis) -> Result<Self, TokenError> {
        let text = text.trim();
        let text = text.strip_prefix("Bearer").map_or(text, str::trim_start);
        if text.is_empty() {
            return Err(TokenError::Missing);
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [header, claims, signature] = parts[..] else {
            return Err(TokenError::Parts { found: parts.len() });
        };
        object(TokenPart::Header, header)?;
        let claims = object(TokenPart::Claims, claims)?;
        decode(TokenPart::Signature, signature)?;

        let kind = kind(&claims)?;
        let expected = "a moment in seconds";
        let exp = claims.get("exp").and_then(Value::as_i64);
        let exp = exp.ok_or(TokenError::Claim { claim: "exp", expected })?;
        let expected = "the seller's id: up to 64 of A-Z a-z 0-9 . _ -";
        let account = claims.get("sid").and_then(Value::as_str).and_then(|sid| sid.parse().ok());
        let token = Self {
            secret: Secret::new(text),
            client_secret: None,
            account: account.ok_or(TokenError::Claim { claim: "sid", expected })?,
            kind,
            categories: claims.get("s").and_then(Value::as_u64).unwrap_or(0),
            // Beyond the calendar is as good as for ever.
            expires_at: UnixMillis(exp.saturating_mul(1_000).clamp(0, EXPIRES_MS_MAX)),
        };
        token.check(now)?;
        Ok(token)
    }

    /// Whether it is still good at `now`.
    ///
    /// # Errors
    /// [`TokenError::Expired`].
    pub fn check(&self, now: UnixMillis) -> Result<(), TokenError> {
        if self.expires_at > now {
            return Ok(());
        }
        Err(TokenError::Expired { since: MoscowTime::at(self.expires_at) })
    }

    /// The seller.
    #[must_use]
    pub fn account(&self) -> &AccountId {
        &self.account
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// With the secret of the program that asks. A base token that comes with one has the limits of
    /// a personal token; to other tokens it makes no difference, and they go without it.
    #[must_use]
    pub fn with_client_secret(self, secret: Secret) -> Self {
        let client_secret = (self.kind == TokenKind::Base).then_some(secret);
        Self { client_secret, ..self }
    }

    /// The family whose limits it has: that of its kind, and `base-secret` for a base token with a
    /// client's secret.
    #[must_use]
    pub fn family(&self) -> &'static str {
        match self.client_secret {
            Some(_) => "base-secret",
            None => self.kind.family(),
        }
    }

    /// The bit mask of what it opens (`s`), 0 if it does not say.
    #[must_use]
    pub fn categories(&self) -> u64 {
        self.categories
    }

    /// When it expires.
    #[must_use]
    pub fn expires_at(&self) -> UnixMillis {
        self.expires_at
    }

    /// What authenticates a request.
    #[must_use]
    pub fn credential(&self) -> Credential {
        Credential {
            client_secret: self.client_secret.clone(),
            ..Credential::new(self.secret.clone(), self.family())
        }
    }
}

/// The end of the year 9999.
const EXPIRES_MS_MAX: i64 = 253_402_300_799_000;

fn kind(claims: &Map<String, Value>) -> Result<TokenKind, TokenError> {
    if claims.get("t").and_then(Value::as_bool) == Some(true) {
        return Err(TokenError::Test);
    }
    match claims.get("acc").and_then(Value::as_u64) {
        Some(1) => Ok(TokenKind::Base),
        Some(2) => Err(TokenError::Test),
        Some(3) => Ok(TokenKind::Personal),
        Some(4) => Ok(TokenKind::Service),
        // Guessing would give the account limits that are 180 times too high, or too low.
        _ => Err(TokenError::Claim {
            claim: "acc",
            expected: "1 (base), 3 (personal) or 4 (service)",
        }),
    }
}

fn decode(part: TokenPart, text: &str) -> Result<Vec<u8>, TokenError> {
    let decoded = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    decoded.map_err(|_| TokenError::Part { part, problem: "is not base64url" })
}

fn object(part: TokenPart, text: &str) -> Result<Map<String, Value>, TokenError> {
    let decoded = decode(part, text)?;
    // The parser's own words could quote the token.
    serde_json::from_slice(&decoded)
        .map_err(|_| TokenError::Part { part, problem: "is not a JSON object" })
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::engine::general_purpose::URL_SAFE;
    use serde_json::json;

    use super::*;

    const NOW: UnixMillis = UnixMillis(1_790_856_000_000);

    fn claims() -> Value {
        json!({
            "sid": "b1a4a2c4-5f35-4f8e-9d5c-2f1a3f0c7e11", "acc": 3, "s": 16_382,
            "exp": NOW.0 / 1_000 + 1, "t": false,
        })
    }

    fn token(claims: &Value) -> String {
        let part = |text: String| URL_SAFE_NO_PAD.encode(text);
        let header = part(r#"{"alg":"ES256"}"#.to_owned());
        format!("{header}.{}.{}", part(claims.to_string()), part("signature".to_owned()))
    }

    /// A token of `seller-1`, good for years.
    pub(crate) fn token_of(acc: u64, categories: u64) -> SellerToken {
        let claims =
            json!({ "sid": "seller-1", "acc": acc, "exp": 4_000_000_000_u64, "s": categories });
        SellerToken::parse(&token(&claims), NOW).expect("a good token")
    }

    fn with(claim: &str, value: Value) -> Result<SellerToken, TokenError> {
        let mut claims = claims();
        claims[claim] = value;
        SellerToken::parse(&token(&claims), NOW)
    }

    #[test]
    fn a_token_says_whose_it_is_and_which_limits_it_has() {
        let read = SellerToken::parse(&token(&claims()), NOW).unwrap();
        assert_eq!(read.account().as_str(), "b1a4a2c4-5f35-4f8e-9d5c-2f1a3f0c7e11");
        assert_eq!((read.family(), read.categories()), ("personal", 16_382));
        assert_eq!(read.expires_at(), UnixMillis(NOW.0 + 1_000));
        assert_eq!(with("acc", json!(1)).unwrap().family(), "base");
        assert_eq!(with("acc", json!(4)).unwrap().family(), "service");
    }

    #[test]
    fn a_base_token_with_a_clients_secret_has_the_limits_of_a_personal_one() {
        let secret = || Secret::new("c11ent");
        let base = with("acc", json!(1)).unwrap();
        assert!(base.credential().client_secret.is_none());
        let base = base.with_client_secret(secret());
        let credential = base.credential();
        assert_eq!((base.family(), credential.family.as_str()), ("base-secret", "base-secret"));
        assert_eq!(credential.client_secret.unwrap().reveal(), "c11ent");
        assert!(!format!("{base:?}").contains("c11ent"));
        let personal = with("acc", json!(3)).unwrap().with_client_secret(secret());
        assert_eq!(personal.family(), "personal");
        assert!(personal.credential().client_secret.is_none());
    }

    #[test]
    fn padding_bearer_and_white_space_do_not_matter() {
        let raw = token(&claims());
        let padded: Vec<String> = raw
            .split('.')
            .map(|part| URL_SAFE.encode(URL_SAFE_NO_PAD.decode(part).unwrap()))
            .collect();
        assert!(padded.join(".").contains('='));
        for text in [padded.join("."), format!("Bearer {raw}"), format!("  {raw}\n")] {
            assert!(SellerToken::parse(&text, NOW).is_ok(), "{text}");
        }
        let read = SellerToken::parse(&format!("Bearer {raw}"), NOW).unwrap();
        assert_eq!(read.credential().secret.reveal(), raw, "sent raw");
    }

    #[test]
    fn each_way_to_be_wrong_is_told_apart() {
        let error = |text: &str| SellerToken::parse(text, NOW).unwrap_err();
        assert_eq!(error(" "), TokenError::Missing);
        assert_eq!(error("Bearer "), TokenError::Missing);
        assert_eq!(error("abc"), TokenError::Parts { found: 1 });
        assert_eq!(error("a.b.c.d"), TokenError::Parts { found: 4 });
        let part = |part, problem| TokenError::Part { part, problem };
        assert_eq!(error("%.e30.e30"), part(TokenPart::Header, "is not base64url"));
        assert_eq!(error("e30.e3.e30"), part(TokenPart::Claims, "is not base64url"));
        assert_eq!(error("e30.W10.e30"), part(TokenPart::Claims, "is not a JSON object"));
        let good = token(&claims());
        let cut = good.rsplit_once('.').unwrap().0;
        assert_eq!(error(&format!("{cut}.%")), part(TokenPart::Signature, "is not base64url"));
    }

    #[test]
    fn test_tokens_expired_ones_and_odd_claims_are_refused() {
        assert_eq!(with("t", json!(true)).unwrap_err(), TokenError::Test);
        assert_eq!(with("acc", json!(2)).unwrap_err(), TokenError::Test);
        let claim = |claim, value| match with(claim, value).unwrap_err() {
            TokenError::Claim { claim, .. } => claim,
            other => panic!("{other}"),
        };
        assert_eq!(claim("acc", json!(7)), "acc");
        assert_eq!(claim("acc", Value::Null), "acc");
        assert_eq!(claim("exp", json!("soon")), "exp");
        assert_eq!(claim("sid", json!("not a/name")), "sid");
        let expired = with("exp", json!(NOW.0 / 1_000)).unwrap_err();
        assert_eq!(
            expired.to_string(),
            "the token has expired on 2026-10-01T15:00:00 (Moscow time): make a new one"
        );
        assert!(with("exp", json!(i64::MAX)).is_ok());
    }

    #[test]
    fn nothing_of_a_token_is_in_what_is_shown_of_it() {
        let good = token(&claims());
        let shown = format!("{:?}", SellerToken::parse(&good, NOW).unwrap());
        for part in good.split('.') {
            assert!(!shown.contains(part), "{shown}");
        }
        let canary = "Y2FuYXJ5LTdmM2E5Yw";
        for text in
            [canary.to_owned(), format!("{canary}.{canary}.{canary}"), format!("e30.{canary}.e30")]
        {
            let error = SellerToken::parse(&text, NOW).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
            assert!(!format!("{error} {error:?}").contains(canary), "{error}");
        }
    }
}
