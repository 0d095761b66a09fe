//! All datasets of a seller, and what a token does not open.

use std::collections::BTreeMap;

use waitless_wb_mock::{Category, Dataset, DatasetSize, Family, SellerSizes, TokenOptions};

use crate::support::{MAIN, SPEED, Shop, json, run, stderr};

/// A little of everything.
async fn small_shop() -> Shop {
    let size = DatasetSize::Pages(3..=3);
    let mut shop = Shop::with_sizes(SellerSizes { orders: size.clone(), sales: size }).await;
    // So many requests at once may arrive late on a busy machine.
    shop.speed = SPEED / 2;
    shop
}

/// A number of each dataset of a summary.
fn of_datasets(summary: &serde_json::Value, field: &str) -> BTreeMap<String, u64> {
    let datasets = summary["datasets"].as_array().expect("it is a list");
    let name = |dataset: &serde_json::Value| dataset["dataset"].as_str().map(str::to_owned);
    let all = datasets.iter().map(|dataset| (name(dataset), dataset[field].as_u64()));
    all.map(|(name, number)| (name.expect("it has a name"), number.expect("a number"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dataset_lands_and_a_second_import_changes_nothing() {
    let shop = small_shop().await;
    let output = run(shop.import_of("all"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&Dataset::ALL).await;
    let first = json(&output);
    assert_eq!(first["skipped"], serde_json::json!([]));
    let in_sink = of_datasets(&first, "rows_in_sink");
    assert_eq!(in_sink.len(), Dataset::ALL.len(), "{first}");
    assert!(in_sink.values().all(|rows| *rows > 0), "{first}");
    assert_eq!(of_datasets(&first, "rows_quarantined").values().sum::<u64>(), 0);

    let output = run(shop.import_of("all"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&Dataset::ALL).await;
    let second = json(&output);
    assert_ne!(second["run"], first["run"]);
    assert_eq!(of_datasets(&second, "rows_in_sink"), in_sink, "no row more");
    let changed = of_datasets(&second, "rows_changed");
    assert_eq!(changed.values().sum::<u64>(), 0, "{changed:?}");
    assert_eq!(shop.mock.summary().rejected_429, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_token_does_not_open_is_said_first_and_named_at_the_end() {
    let shop = small_shop().await;
    let categories = vec![Category::Statistics, Category::Promotion];
    shop.give_token(&TokenOptions { categories, ..TokenOptions::default() });
    let output = run(shop.import_of("orders,cards,campaigns,tariffs"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    let reason = "the token has no category Content: make one in the seller's portal that has it";
    assert!(said.starts_with(&format!("note: cards is left out: {reason}\n")), "{said}");
    let summary = json(&output);
    assert_eq!(summary["skipped"], serde_json::json!([{ "dataset": "cards", "reason": reason }]));
    assert_eq!(summary["datasets"].as_array().map(Vec::len), Some(3));
    shop.assert_all_landed(&[Dataset::Orders, Dataset::Campaigns, Dataset::Tariffs]).await;
    let refused = shop.mock.summary().rejected_other;
    assert_eq!(refused, 0, "nothing was asked that the token does not open");

    let mut people = shop.import_printing("table");
    people.args(["--datasets", "orders,cards"]);
    let text = String::from_utf8(run(people).stdout).expect("it is text");
    assert!(text.contains(&format!("cards           left out   {reason}\n")), "{text}");

    let none = run(shop.import_of("cards,prices"));
    assert_eq!(none.status.code(), Some(4), "{}", stderr(&none));
    assert!(stderr(&none).contains("no category Content"), "{}", stderr(&none));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_token_with_its_clients_secret_has_the_limits_of_a_personal_one() {
    let shop = small_shop().await;
    shop.give_token(&TokenOptions { family: Family::Base, ..TokenOptions::default() });
    let mut import = shop.import_of("orders,sales");
    import.args(["--client-secret-env", "SHOP_SECRET"]);
    let output = run(import);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("SHOP_SECRET holds no client secret"), "{}", stderr(&output));

    let mut import = shop.import_of("orders,sales");
    import.args(["--client-secret-env", "SHOP_SECRET"]);
    import.env("SHOP_SECRET", shop.mock.client_secret(0));
    let output = run(import);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
    let shown = json(&shop.waitless(&["account", "show", "shop", "--json"]));
    assert_eq!(shown["token_family"], "base-secret");
    assert_eq!(shop.mock.summary().rejected_429, 0);
}
