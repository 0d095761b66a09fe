//! What must hold of whatever people and the upstream hand in, for any bytes at all. Shared with the
//! targets in `fuzz`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use waitless_job::UnixMillis;
use waitless_wb::SellerToken;

/// A token as somebody pastes it, and one that has these claims.
///
/// # Panics
/// If an error or `Debug` shows the token.
pub(crate) fn token(data: &[u8]) {
    check(&String::from_utf8_lossy(data));
    let (head, claims) = (URL_SAFE_NO_PAD.encode("{}"), URL_SAFE_NO_PAD.encode(data));
    check(&format!("{head}.{claims}.c2ln"));
}

fn check(text: &str) {
    let shown = match SellerToken::parse(text, UnixMillis(1_790_000_000_000)) {
        Ok(token) => format!("{token:?} {:?} {:?}", token.credential(), token.categories()),
        Err(error) => format!("{error} {error:?}"),
    };
    // Shorter words, and those of a sentence, are in many an innocent text.
    let is_of_token = |part: &str| {
        part.len() >= 24 && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    for part in text.split('.').filter(|part| is_of_token(part)) {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
}
