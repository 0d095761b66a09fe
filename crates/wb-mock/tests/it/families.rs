//! Families of tokens, shared buckets, costs and caps.

use serde_json::json;
use waitless_wb_mock::{Call, Dataset, Family, Faults, Method, Mock, MockConfig, TokenOptions};

use crate::client::{Answer, Client, FROM_THE_BEGINNING, ORDERS, SALES, start, unlimited};

const STOCKS: &str = "/api/analytics/v1/stocks-report/wb-warehouses";
const FBS: &str = "/api/v3/orders";
const REPORTS: &str = "/api/v2/nm-report/downloads";

async fn strict() -> Mock {
    start(MockConfig { speed: 1, ..unlimited(5, 100) }).await
}

fn of_family(mock: &Mock, family: Family) -> Client {
    let options = TokenOptions { family, ..TokenOptions::default() };
    Client::with_authorization(mock, Some(&mock.token_of(0, &options)))
}

fn orders() -> String {
    format!("{ORDERS}?dateFrom={FROM_THE_BEGINNING}")
}

async fn remaining(client: &Client) -> Option<u64> {
    client.get(&orders()).await.number("X-Ratelimit-Remaining")
}

#[tokio::test]
async fn personal_and_service_tokens_share_a_bucket_and_base_tokens_have_their_own() {
    let mock = strict().await;
    let service = of_family(&mock, Family::Service);
    assert_eq!(remaining(&of_family(&mock, Family::Personal)).await, Some(9));
    assert_eq!(remaining(&service).await, Some(8));
    let base = of_family(&mock, Family::Base);
    assert_eq!(remaining(&base).await, Some(0));

    let refused = base.get(&orders()).await;
    assert_eq!((refused.status, refused.number("X-Ratelimit-Limit")), (429, Some(1)));
    let three_hours = 3 * 3600;
    let retry = refused.number("X-Ratelimit-Retry").expect("a wait");
    assert!((three_hours - 60..=three_hours).contains(&retry), "{retry}");
    assert_eq!(remaining(&service).await, Some(7));
}

#[tokio::test]
async fn a_base_token_with_the_secret_has_the_full_limits() {
    let mock = strict().await;
    assert_eq!(remaining(&Client::of(&mock, 0)).await, Some(9));
    let base = of_family(&mock, Family::Base);
    let with =
        |secret: String| Answer::of(base.request(&orders()).header("X-Client-Secret", secret));
    let good = with(mock.client_secret(0)).await;
    assert_eq!((good.status, good.number("X-Ratelimit-Remaining")), (200, Some(8)));
    let bad = with("guess".to_owned()).await;
    assert_eq!(bad.status, 401);
    assert_eq!(bad.json()["detail"], "token problem; client secret is wrong");
}

#[tokio::test]
async fn a_method_that_is_closed_to_base_tokens_says_so_and_costs_nothing() {
    let mock = strict().await;
    let base = of_family(&mock, Family::Base);
    for _ in 0..2 {
        let mut refused = base.post(STOCKS, &json!({})).await.json();
        let fields = refused.as_object_mut().expect("an object");
        assert!(fields.remove("requestId").is_some() && fields.remove("timestamp").is_some());
        assert_eq!(
            refused,
            json!({"title": "forbidden", "detail": "base token is not allowed",
                   "code": "base token is not allowed for this path",
                   "origin": "analytics-open-api", "status": 403, "statusText": "Forbidden"})
        );
    }
}

#[tokio::test]
async fn methods_of_one_path_have_a_bucket_for_each_verb() {
    let mock = strict().await;
    let client = Client::of(&mock, 0);
    let posted = client.post(REPORTS, &json!({})).await;
    let listed = client.get(REPORTS).await;
    assert_eq!(posted.number("X-Ratelimit-Remaining"), Some(2));
    assert_eq!(listed.number("X-Ratelimit-Remaining"), Some(2));
}

#[tokio::test]
async fn a_4xx_of_the_marketplace_costs_ten_and_goes_into_debt() {
    let mock = strict().await;
    let script = "[[faults]]\nplay = { lower-limit = { rate = 0.001 } }\n\
                  [[faults]]\nplay = { status = 409 }\nrequests = [12, 12]";
    mock.play(Faults::read(script).expect("a good script"));
    let client = Client::of(&mock, 0);
    let mut left = Vec::new();
    for _ in 0..12 {
        let answer = client.get(&format!("{FBS}?limit=10&next=0")).await;
        left.push(answer.number("X-Ratelimit-Remaining").expect("a count"));
    }
    assert_eq!(left, [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 0]);
    let refused = client.get(FBS).await;
    assert_eq!(refused.status, 429);
    // One in debt and one to spend, at 200 seconds each.
    assert!(refused.number("X-Ratelimit-Retry") > Some(200));
}

#[tokio::test]
async fn a_4xx_of_other_services_costs_one() {
    let mock = strict().await;
    mock.play(Faults::read("[[faults]]\nplay = { status = 409 }").expect("a good script"));
    assert_eq!(remaining(&Client::of(&mock, 0)).await, Some(9));
}

#[tokio::test]
async fn only_so_many_reports_are_made_a_day() {
    // The buckets are as good as unlimited, the day is longer than this test.
    let mock = start(MockConfig { speed: 20_000, ..unlimited(5, 100) }).await;
    let client = Client::of(&mock, 0);
    let mut created = 0;
    let refused = loop {
        let answer = client.post(REPORTS, &json!({})).await;
        if answer.status != 429 {
            created += 1;
        } else if answer.json()["origin"] == "analytics-open-api" {
            break answer;
        }
    };
    assert_eq!(created, 20);
    let mut body = refused.json();
    body.as_object_mut().expect("an object").remove("requestId");
    assert_eq!(
        body,
        json!({
            "title": "Too many requests",
            "detail": "The daily response limit has been exceeded. The maximum number is 20.",
            "origin": "analytics-open-api",
        })
    );
    assert_eq!((refused.header("X-Ratelimit-Retry"), refused.header("Retry-After")), (None, None));
    assert_ne!(client.get(REPORTS).await.status, 429);
}

#[tokio::test]
async fn a_bound_is_the_time_of_the_slowest_bucket() {
    let mock = strict().await;
    let of = |family, datasets: &[Dataset]| mock.bound_ms(0, family, datasets);
    let requests = |dataset| mock.import_requests(0, dataset);
    let orders = requests(Dataset::Orders);
    let sales = requests(Dataset::Sales);
    assert_eq!(of(Family::Personal, &[Dataset::Sales]), (sales - 1) * 60_000);
    let both = [Dataset::Orders, Dataset::Sales];
    let hours = 3_600_000;
    let slowest = ((orders - 1) * 3 * hours).max((sales - 1) * 2 * hours);
    assert_eq!(of(Family::Base, &both), slowest);
    assert_eq!(of(Family::BaseWithSecret, &both), of(Family::Service, &both));
    assert_eq!(of(Family::Base, &[Dataset::Stocks]), 0);
    assert_eq!(of(Family::Base, &[]), 0);
    assert!(sales >= 2);
}

#[test]
fn a_call_of_a_dataset_is_a_method() {
    let method = Method::of(Dataset::FunnelCsv, Call::Create);
    assert_eq!((method.path, method.per_day), (REPORTS, Some(20)));
    assert_eq!(Method::of(Dataset::Sales, Call::Page).path, SALES);
}
