//! Who is let in.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use waitless_wb_mock::Mock;

use crate::client::{Client, FROM_THE_BEGINNING, SALES, start, unlimited};

fn token(claims: &Value) -> String {
    let encoded = |part: &str| URL_SAFE_NO_PAD.encode(part);
    let header = encoded(r#"{"alg":"ES256","typ":"JWT"}"#);
    [header, encoded(&claims.to_string()), encoded("any bytes")].join(".")
}

async fn status_and_detail(mock: &Mock, authorization: Option<&str>) -> (u16, String) {
    let client = Client::with_authorization(mock, authorization);
    let answer = client.get(&format!("{SALES}?dateFrom={FROM_THE_BEGINNING}")).await;
    let detail = match answer.json() {
        Value::Object(body) => body["detail"].as_str().expect("a text").to_owned(),
        _ => String::new(),
    };
    (answer.status, detail)
}

#[tokio::test]
async fn a_token_is_taken_raw_or_after_bearer() {
    let mock = start(unlimited(5, 100)).await;
    let token = mock.token(0);
    for authorization in [token.clone(), format!("Bearer {token}")] {
        assert_eq!(status_and_detail(&mock, Some(&authorization)).await, (200, String::new()));
    }
}

#[tokio::test]
async fn every_problem_with_a_token_is_a_401_that_names_it() {
    let mock = start(unlimited(5, 100)).await;
    let sid = &mock.sellers()[0].sid;
    let noon = 1_790_856_000;
    let day = 86_400;
    let mut without_signature = mock.token(0);
    without_signature.truncate(without_signature.rfind('.').expect("three parts"));

    let problems = [
        (None, "empty Authorization header"),
        (
            Some("nonsense".to_owned()),
            "token is malformed: token contains an invalid number of segments",
        ),
        (
            Some(without_signature),
            "token is malformed: token contains an invalid number of segments",
        ),
        (Some("e30.e30.!".to_owned()), "token is malformed: could not base64 decode signature"),
        (
            Some(token(&json!({"exp": noon + day}))),
            "token is malformed: could not JSON decode claim",
        ),
        (
            Some(token(&json!({"sid": sid, "acc": 3, "exp": noon}))),
            "token has invalid claims: token is expired",
        ),
        (
            Some(token(&json!({"sid": sid, "acc": 3, "exp": noon + day, "t": true}))),
            "test token is not allowed here",
        ),
        (Some(token(&json!({"sid": "nobody", "acc": 3, "exp": noon + day}))), "seller is unknown"),
    ];
    for (authorization, problem) in problems {
        assert_eq!(
            status_and_detail(&mock, authorization.as_deref()).await,
            (401, format!("token problem; {problem}"))
        );
    }
}

#[tokio::test]
async fn two_tokens_of_one_seller_share_its_buckets() {
    let mock = start(waitless_wb_mock::MockConfig { speed: 1, ..unlimited(5, 100) }).await;
    let claims =
        json!({"sid": mock.sellers()[0].sid, "exp": 1_790_856_000 + 86_400, "acc": 3, "s": 32});
    let first = status_and_detail(&mock, Some(&mock.token(0))).await;
    let second = status_and_detail(&mock, Some(&token(&claims))).await;
    assert_eq!((first.0, second.0), (200, 429));
}

#[tokio::test]
async fn the_claims_are_those_of_a_personal_token_for_statistics() {
    let mock = start(unlimited(5, 100)).await;
    let token = mock.token(0);
    let payload = token.split('.').nth(1).expect("three parts");
    let payload = URL_SAFE_NO_PAD.decode(payload).expect("base64");
    let mut claims: Value = serde_json::from_slice(&payload).expect("claims");
    let id = claims.as_object_mut().and_then(|claims| claims.remove("id")).expect("an id");
    assert_eq!(id.as_str().map(str::len), Some(36));
    let bits = claims.as_object_mut().and_then(|claims| claims.remove("s")).expect("categories");
    // Position 5 in a list that begins with 1; as a bit, that is read in both ways.
    let statistics = (1 << 4) | (1 << 5);
    assert_eq!(bits.as_u64().map(|bits| bits & statistics), Some(statistics));
    assert_eq!(
        claims,
        json!({
            "sid": mock.sellers()[0].sid,
            "exp": 1_790_856_000 + 180 * 86_400,
            "acc": 3,
            "for": "self",
            "t": false,
        })
    );
}
