//! What the gateways and services say when they refuse.

use serde_json::{Value, json};
use waitless_wb_mock::{Category, Faults, Mock, MockConfig, TokenOptions};

use crate::client::{Answer, Client, ORDERS, start, unlimited};

const CARDS: &str = "/content/v2/get/cards/list";
const FULLSTATS: &str = "/adv/v3/fullstats";
const FEEDBACKS: &str = "/api/v1/feedbacks";
const FBS: &str = "/api/v3/orders";
const PRICES: &str = "/api/v2/list/goods/filter";
const STORAGE: &str = "/api/v1/paid_storage";
const TARIFFS: &str = "/api/v1/tariffs/box";

async fn playing(fault: &str) -> Mock {
    let faults = Faults::read(&format!("[[faults]]\nplay = {fault}")).expect("a good script");
    start(MockConfig { faults, ..unlimited(5, 100) }).await
}

/// The body without what differs from one answer to the next.
fn body(answer: &Answer) -> Value {
    let mut body = answer.json();
    for field in ["requestId", "timestamp", "code"] {
        body.as_object_mut().expect("an object").remove(field);
    }
    body
}

#[tokio::test]
async fn a_category_that_is_missing_is_401_of_the_older_gateway_and_403_of_the_newer() {
    let mock = start(unlimited(5, 100)).await;
    let token = |categories: &[Category]| {
        let categories = categories.to_vec();
        mock.token_of(0, &TokenOptions { categories, ..TokenOptions::default() })
    };
    let client = Client::with_authorization(&mock, Some(&token(&[Category::Content])));
    let newer = client.get(ORDERS).await;
    assert_eq!(newer.status, 403);
    assert_eq!(
        body(&newer),
        json!({"title": "forbidden", "detail": "scope is not allowed for this resource",
               "origin": "ag-statistics", "status": 403, "statusText": "Forbidden"})
    );
    let older = client.get(FEEDBACKS).await;
    assert_eq!(older.status, 401);
    assert_eq!(
        body(&older),
        json!({"title": "unauthorized", "detail": "token scope not allowed",
               "origin": "s2s-api-auth-catalog", "status": 401, "statusText": "Unauthorized"})
    );
    assert!(older.header("X-Ratelimit-Remaining").is_some());
    assert!(![401, 403].contains(&client.post(CARDS, &json!({})).await.status));

    let nothing = Client::with_authorization(&mock, Some(&token(&[])));
    assert!(![401, 403].contains(&nothing.get(TARIFFS).await.status));
}

#[tokio::test]
async fn an_expired_and_a_test_token_are_401() {
    let mock = start(unlimited(5, 100)).await;
    let expired =
        TokenOptions { expires_in: chrono::TimeDelta::seconds(-1), ..TokenOptions::default() };
    let test = TokenOptions { test: true, ..TokenOptions::default() };
    for (options, detail) in [
        (expired, "token problem; token has invalid claims: token is expired"),
        (test, "token problem; test token is not allowed here"),
    ] {
        let client = Client::with_authorization(&mock, Some(&mock.token_of(0, &options)));
        let answer = client.get(ORDERS).await;
        assert_eq!((answer.status, &answer.json()["detail"]), (401, &json!(detail)));
    }
}

#[tokio::test]
async fn every_service_has_its_own_shape_of_errors() {
    let mock = playing("{ status = 400 }").await;
    let client = Client::of(&mock, 0);
    let detail = "played by a fault script";
    for (path, expected) in [
        (ORDERS, json!({"errors": detail})),
        (
            STORAGE,
            json!({"title": "Invalid request body", "detail": detail,
                   "origin": "analytics-open-api"}),
        ),
        (FBS, json!({"message": detail, "data": null})),
        (PRICES, json!({"data": null, "error": true, "errorText": detail})),
        (
            FEEDBACKS,
            json!({"data": null, "error": true, "errorText": detail, "additionalErrors": null}),
        ),
    ] {
        let answer = client.get(path).await;
        assert_eq!((answer.status, body(&answer)), (400, expected), "{path}");
        assert!(answer.header("X-Ratelimit-Remaining").is_some());
    }
    assert_eq!(client.get(FBS).await.json()["code"], "IncorrectParameter");
}

#[tokio::test]
async fn a_body_that_is_not_json_is_400() {
    let mock = start(unlimited(5, 100)).await;
    let url = mock.base_url() + CARDS;
    let request = reqwest::Client::new().post(url).header("Authorization", mock.token(0));
    let answer = Answer::of(request.body("{")).await;
    assert_eq!(
        (answer.status, answer.json()["errorText"].as_str()),
        (400, Some("the request body is not JSON"))
    );
}

#[tokio::test]
async fn scripts_play_the_refusals_of_the_gateway() {
    let statuses = [
        (401, "token problem; token is withdrawn"),
        (
            402,
            "wb solution for business has insufficient funds on its balance. \
               please top up your balance",
        ),
        (403, "scope is not allowed for this resource"),
    ];
    for (status, detail) in statuses {
        let mock = playing(&format!("{{ status = {status} }}")).await;
        let answer = Client::of(&mock, 0).get(FULLSTATS).await;
        assert_eq!((answer.status, &answer.json()["detail"]), (status, &json!(detail)));
    }
}

#[tokio::test]
async fn a_429_has_one_of_four_bodies() {
    let details = [
        ("old", "limited by "),
        ("global", "Limited by global limiter, per seller "),
        ("new", "rate limit exceeded, retry after the period"),
        ("daily-cap", "The daily response limit has been exceeded"),
    ];
    for (name, detail) in details {
        let mock = playing(&format!("{{ limited = {{ body = '{name}' }} }}")).await;
        let answer = Client::of(&mock, 0).get(ORDERS).await;
        assert_eq!(answer.status, 429);
        let said = answer.json()["detail"].as_str().expect("a text").to_owned();
        assert!(said.starts_with(detail), "{said}");
        assert_eq!(answer.json()["code"].is_string(), ["old", "global"].contains(&name));
    }
}

#[tokio::test]
async fn a_bucket_refuses_in_the_shape_of_its_gateway() {
    let mock = start(MockConfig { speed: 1, ..unlimited(5, 100) }).await;
    let client = Client::of(&mock, 0);
    client.get(STORAGE.to_owned().as_str()).await;
    let refused = loop {
        let answer = client.get(STORAGE).await;
        if answer.status == 429 {
            break answer;
        }
    };
    assert_eq!(refused.json()["origin"], "s2s-api-auth-catalog");
    assert!(refused.json()["code"].is_string());
    assert_eq!(refused.number("X-Ratelimit-Limit"), Some(5));
}
