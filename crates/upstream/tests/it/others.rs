//! Upstreams without a connector: the same format holds what they publish.

use waitless_upstream::{Catalogue, CatalogueFile};

fn catalogue(upstream: &str) -> Catalogue {
    let mut files = CatalogueFile::WITHOUT_CONNECTOR.into_iter();
    let file = files.find(|file| file.upstream == upstream).expect("it is built in");
    assert_eq!(Catalogue::problems(file.file, file.text).len(), 0);
    file.catalogue().expect("it has no problem")
}

/// A decimal of few digits as ten-thousandths, exactly.
fn ten_thousandths(decimal: &str) -> u64 {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    format!("{whole}{fraction:0<4}").parse().expect("it is a decimal of at most four places")
}

#[test]
fn amazon_has_the_published_rates_to_the_last_digit() {
    let amazon = catalogue("amazon-sp-api");
    let rows = include_str!("../data/amazon-sp-api-rates.tsv").lines();
    let mut accounted_for = 0;
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let [name, method, path, rate, burst] = columns[..] else { panic!("{row}") };
        let endpoint = amazon.endpoint(name).unwrap_or_else(|| panic!("{name} is not there"));
        assert_eq!((endpoint.method().as_str(), endpoint.path()), (method, path));
        let policy = amazon.policy_of(endpoint, "any").unwrap().expect("it is open to all");
        assert_eq!(policy.burst().to_string(), burst, "{name}");
        let tokens = u64::from(policy.tokens()) * 1_000 * 10_000;
        assert_eq!(tokens, ten_thousandths(rate) * policy.interval_ms(), "{name}");
        accounted_for += 1;
    }
    assert_eq!((accounted_for, amazon.endpoints().count()), (30, 30));
    assert_eq!(amazon.groups().filter(|group| group.is_shared()).count(), 0);
}

#[test]
fn all_of_shopify_draws_on_one_bucket_as_large_as_the_plan_of_the_store() {
    let shopify = catalogue("shopify");
    let account = "store-1".parse().expect("it is a name");
    let limits = |plan: &str| -> Vec<String> {
        let limits = shopify.limits(&account, plan).expect("it is a plan");
        limits.iter().map(|(bucket, policy)| format!("{bucket} {policy}")).collect()
    };
    assert_eq!(limits("standard"), ["store-1/rest 2/s burst 40 margin 60ms"]);
    assert_eq!(limits("advanced"), ["store-1/rest 4/s burst 80 margin 60ms"]);
    assert_eq!(limits("plus"), ["store-1/rest 20/s burst 400 margin 60ms"]);
    let orders = shopify.endpoint("orders").expect("it is there");
    let path = orders.path_with(&[("version", "2026-10")]).expect("all places are filled");
    assert_eq!(path, "/admin/api/2026-10/orders.json");
}
