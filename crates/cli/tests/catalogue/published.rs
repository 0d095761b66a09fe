use serde_json::json;

use crate::{
    Files,
    program::{waitless, words},
};

/// The lines of a table of Wildberries' limits that begin so.
fn lines(args: &[&str], beginning: &str) -> Vec<String> {
    let all = [&["limit", "list", "--upstream", "wildberries"], args].concat();
    let shown = words(waitless(&all).text());
    shown.lines().filter(|line| line.starts_with(beginning)).map(str::to_owned).collect()
}

#[test]
fn limits_are_listed_for_the_families_that_share_them() {
    assert_eq!(
        lines(&[], "orders "),
        [
            "orders  1/min burst 10 margin 60ms  personal,service,base-secret  1  -  -  -",
            "orders  1/3h burst 1 margin 60ms  base  1  -  -  -",
        ]
    );
    assert_eq!(
        lines(&["--token-type", "base"], "orders "),
        ["orders  1/3h burst 1 margin 60ms  base  1  -  -  -"]
    );
}

#[test]
fn what_is_closed_to_a_token_is_not_listed_for_it() {
    let name = "finance.sales-reports.list ";
    assert_eq!(lines(&["--token-type", "base"], name), [""; 0]);
    assert_eq!(lines(&["--token-type", "personal"], name).len(), 1);
}

#[test]
fn groups_costs_caps_and_ends_have_their_columns() {
    let personal = ["--token-type", "personal"];
    assert_eq!(
        lines(&personal, "marketplace.fbs "),
        ["marketplace.fbs  1/200ms burst 20 margin 60ms  personal  25  4xx=10  -  -"]
    );
    assert_eq!(
        lines(&personal, "analytics.nm-report.create "),
        ["analytics.nm-report.create  1/20s burst 3 margin 60ms  personal  1  -  20  -"]
    );
    assert_eq!(
        lines(&personal, "analytics.nm-report.create.day "),
        ["analytics.nm-report.create.day  10/d burst 10 margin 60ms  personal  1  -  20  -"]
    );
    assert_eq!(
        lines(&personal, "promotion.budget-v1 "),
        ["promotion.budget-v1  1/250ms burst 4 margin 60ms  personal  1  -  -  off 2026-11-16"]
    );
    let wide = lines(&["--token-type", "personal", "-o", "wide"], "marketplace.pickup-meta-write ");
    assert!(wide[0].contains("marketplace.pickup.orders.meta.gtin"), "{wide:?}");
    assert!(wide[0].contains("look swapped"), "{wide:?}");
}

#[test]
fn a_limit_is_an_object_and_a_group_is_an_id() {
    let files = Files::new();
    let shop = files.write("shop.toml", &[]);
    let list = |more: &[&str]| waitless(&[&["limit", "list", "--upstream", &shop], more].concat());
    assert_eq!(
        list(&["--token-type", "full", "--json"]).json(),
        json!([
            {
                "group": "report",
                "families": ["full"],
                "policy": "3/min burst 3 margin 60ms",
                "shared": false,
                "endpoints": ["report"],
                "answer_cost": null,
                "daily_cap": 20,
                "state": null,
                "note": null,
            },
            {
                "group": "report.day",
                "families": ["full"],
                "policy": "10/d burst 10 margin 60ms",
                "shared": false,
                "endpoints": ["report"],
                "answer_cost": null,
                "daily_cap": 20,
                "state": null,
                "note": null,
            },
            {
                "group": "rows",
                "families": ["full"],
                "policy": "1/30s burst 5 margin 60ms",
                "shared": true,
                "endpoints": ["row", "rows"],
                "answer_cost": null,
                "daily_cap": null,
                "state": null,
                "note": null,
            },
        ])
    );
    assert_eq!(list(&["-o", "jsonl"]).text().lines().count(), 4);
    assert_eq!(list(&["-o", "id"]).text(), "report\nreport.day\nrows\n");
}

#[test]
fn other_upstreams_are_listed_by_the_same_command() {
    let ids = |upstream| {
        let said = waitless(&["limit", "list", "--upstream", upstream, "-o", "id"]);
        said.text().lines().count()
    };
    assert_eq!((ids("amazon-sp-api"), ids("shopify")), (30, 1));
}

#[test]
fn an_unknown_upstream_or_token_type_is_not_found_and_says_what_there_is() {
    let said = waitless(&["limit", "list", "--upstream", "ozon"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("wildberries, amazon-sp-api, shopify"), "{}", said.stderr);
    let said = waitless(&["limit", "list", "--upstream", "wildberries", "--token-type", "gold"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("personal, service, base-secret, base"), "{}", said.stderr);
    assert_eq!(waitless(&["limit", "list", "--token-type", "base"]).code, 2);
    let said = waitless(&["limit", "list", "--upstream", "shopify", "--account", "a"]);
    assert_eq!(said.code, 2);
}
