use waitless_upstream::{Catalogue, CatalogueError, ScaleError};

use crate::CATALOGUE;

/// The catalogue of these tests with one text in it replaced, which makes it wrong.
fn error(from: &str, to: &str) -> String {
    assert!(CATALOGUE.contains(from), "{from}");
    let text = CATALOGUE.replacen(from, to, 1);
    Catalogue::parse("shop.toml", &text).expect_err("it is wrong").to_string()
}

#[test]
fn an_error_names_file_line_and_field() {
    for (from, to, expected) in [
        // What the TOML reader finds.
        ("upstream = \"shop\"", "upstream = shop", "shop.toml:2: upstream: "),
        ("upstream = \"shop\"", "upstream = 7", "shop.toml:2: upstream: invalid type"),
        ("cost = 2", "costs = 2", "shop.toml:28: costs: unknown field `costs`"),
        ("[hosts]", "[hots]", "shop.toml:15: [hots]: unknown field `hots`"),
        ("unit = \"s\"", "unit = \"min\"", "shop.toml:11: retry: unknown variant `min`"),
        // What cannot be.
        ("2026-10-01", "2026-10-01T10:00:00", "shop.toml:3: facts_as_of: a day"),
        ("[\"full\", \"trial\"]", "[]", "shop.toml:4: families: at least one"),
        ("\"trial\"]", "\"full\"]", "shop.toml:4: families: `full` is there twice"),
        ("\"Authorization\"", "\"not a header\"", "shop.toml:7: credential.header: `not a header`"),
        ("http://127", "ftp://127", "shop.toml:16: hosts.api.url: `ftp://127"),
        (
            "[\"full\"], policy",
            "[\"gold\"], policy",
            "shop.toml:20: limits.families of group `rows`",
        ),
        (
            "1/30s burst 5",
            "1/30s burst",
            "shop.toml:20: limits.policy of group `rows`: `1/30s burst`",
        ),
        ("1/30s burst 5", "0/30s", "shop.toml:20: limits.policy of group `rows`: tokens must be"),
        ("1/30s burst 5", "9/365d burst 4000000000", "shop.toml:20: limits.policy of group `rows`"),
        ("\"GET\"", "\"HEAD\"", "shop.toml:24: method of endpoint `rows`: `HEAD` is none of"),
        ("host = \"api\"", "host = \"web\"", "shop.toml:25: host of endpoint `rows`: there is no"),
        ("\"/v1/rows\"", "\"v1/rows\"", "shop.toml:26: path of endpoint `rows`"),
        (
            "group = \"rows\"",
            "group = \"row\"",
            "shop.toml:27: group of endpoint `rows`: there is no",
        ),
        ("cost = 2", "cost = 0", "shop.toml:28: cost of endpoint `rows`: must be at least 1"),
        ("cost = 2", "cost = 6", "shop.toml:28: cost of endpoint `rows`: no request of 6 tokens"),
        ("cost = 2", "page_rows = 0", "shop.toml:28: page_rows of endpoint `rows`"),
    ] {
        let error = error(from, to);
        assert!(error.starts_with(expected), "expected: {expected}\n   found: {error}");
    }
}

#[test]
fn a_missing_key_is_named() {
    let error = error("method = \"GET\"\n", "");
    assert!(error.contains("missing field `method`"), "{error}");
}

#[test]
fn nothing_is_there_twice() {
    let twice = |more: &str| {
        let text = format!("{CATALOGUE}\n{more}");
        Catalogue::parse("shop.toml", &text).expect_err("it is there twice").to_string()
    };
    let group = "[[groups]]\nname = \"rows\"\nlimits = [{ policy = \"1/s\" }]";
    assert!(twice(group).contains("`rows` is there twice"));
    let endpoint = "[[endpoints]]\nname = \"again\"\nmethod = \"GET\"\nhost = \"api\"\n\
                    path = \"/v1/rows\"\ngroup = \"rows\"";
    assert!(twice(endpoint).contains("endpoints.path: `/v1/rows` is there twice"));
}

#[test]
fn a_group_that_does_not_name_a_family_is_closed_to_it() {
    let catalogue = Catalogue::parse("shop.toml", CATALOGUE).expect("a catalogue");
    let account = "acct-1".parse().unwrap();
    assert_eq!(catalogue.limits(&account, "full").unwrap().len(), 1);
    assert_eq!(catalogue.limits(&account, "trial").unwrap().len(), 0);
    let error = catalogue.limits(&account, "gold").unwrap_err();
    assert_eq!(error.to_string(), "shop has no family of credentials `gold`; it has full, trial");
}

#[test]
fn scaling_divides_intervals_and_never_makes_them_faster_than_that() {
    let catalogue = Catalogue::parse("shop.toml", CATALOGUE).expect("a catalogue");
    let policy = |speed| {
        let scaled = catalogue.scaled(speed, 5).expect("it can be");
        scaled.policy(&"rows".parse().unwrap(), "full").unwrap().unwrap().to_string()
    };
    assert_eq!(policy(600), "1/50ms burst 5 margin 5ms");
    assert_eq!(policy(7), "1/4286ms burst 5 margin 5ms");
    assert_eq!(policy(u32::MAX), "1/ms burst 5 margin 5ms");
    assert_eq!(catalogue.scaled(0, 5).unwrap_err(), ScaleError::NoSpeed);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Catalogue::read("no/such/catalogue.toml").expect_err("there is none");
    assert!(matches!(&error, CatalogueError::Read { .. }));
    assert!(error.to_string().contains("no/such/catalogue.toml"));
}
