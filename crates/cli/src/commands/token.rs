//! Reading an upstream's token from where the command line says it is.

use anyhow::Result;
use waitless_job::UnixMillis;
use waitless_upstream::Secret;
use waitless_wb::{SellerToken, TokenKind};

use crate::{
    args::TokenArg,
    exit::{Exit, Failure},
    format::span,
    views::TOKEN_WARN_MS,
};

/// Reads the token, and warns if it soon expires.
pub(crate) fn read(from: &TokenArg, now: UnixMillis) -> Result<SellerToken> {
    let (text, place) = match (&from.token_file, &from.token_env) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                auth(format!("cannot read the token file {}: {error}", path.display()))
            })?;
            (text, format!("the file {}", path.display()))
        }
        (None, Some(name)) => (variable(name, "token")?, format!("the variable {name}")),
        (None, None) => return Err(Failure::new(Exit::Usage, "give --token-file or --token-env")),
    };
    let token = SellerToken::parse(text.trim(), now);
    let mut token = token.map_err(|error| auth(format!("in {place}: {error}")))?;
    if let Some(name) = &from.client_secret_env {
        let secret = Secret::new(variable(name, "client secret")?.trim());
        token = token.with_client_secret(secret);
        if token.kind() != TokenKind::Base {
            say!(
                "note: the client secret is not used: it goes with base tokens, this one is {}",
                token.family()
            );
        }
    }
    let days_left_ms = token.expires_at().since(now);
    if days_left_ms < TOKEN_WARN_MS {
        say!("warning: this token expires in {}: make a new one soon", span(days_left_ms));
    }
    Ok(token)
}

fn variable(name: &str, what: &str) -> Result<String> {
    let text = std::env::var(name).unwrap_or_default();
    if !text.trim().is_empty() {
        return Ok(text);
    }
    Err(auth(format!("the environment variable {name} holds no {what}: set it")))
}

fn auth(what: impl std::fmt::Display) -> anyhow::Error {
    Failure::new(Exit::Auth, what)
}
