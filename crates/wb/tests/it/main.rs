//! Imports over real HTTP: from the strict stand-in, and from servers that misbehave.

mod attempt;
mod cabinet;
mod imports;
mod limits;
mod pages;
mod refusals;
#[path = "../../../upstream/tests/it/server.rs"]
#[allow(dead_code, reason = "shared with the tests of the client, which use all of it")]
mod server;
mod steps;
#[path = "../support/mod.rs"]
mod support;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use waitless_wb::SellerToken;

use self::support::{NOON, fleet, recorder};

/// A seller that the stand-in does not know.
const SELLER: &str = "b1a4a2c4-5f35-4f8e-9d5c-2f1a3f0c7e11";

/// A personal token of [`SELLER`] that expires so many seconds after noon. Its signature is a
/// canary: it must be found nowhere but in its header.
fn token_text(seconds: i64) -> String {
    let part = |text: String| URL_SAFE_NO_PAD.encode(text);
    let exp = NOON.0 / 1_000 + seconds;
    let claims = format!(r#"{{"sid":"{SELLER}","acc":3,"exp":{exp},"s":0,"t":false}}"#);
    let header = part(r#"{"alg":"ES256","typ":"JWT"}"#.to_owned());
    format!("{header}.{}.{CANARY}", part(claims))
}

const CANARY: &str = "Y2FuYXJ5LTdmM2E5Yw";

fn token() -> SellerToken {
    SellerToken::parse(&token_text(3_600), NOON).expect("a good token")
}
