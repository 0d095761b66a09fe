use proptest::prelude::*;
use waitless_job::{BucketKey, Policy};
use waitless_upstream::{Catalogue, CatalogueError, ScaleError};

use crate::SHOP;

/// One of everything that these tests put out of order.
pub(crate) const CATALOGUE: &str = r#"
upstream = "shop"
facts_as_of = 2026-10-01
families = ["full", "trial"]

[credential]
header = "Authorization"

[answers]
remaining = "X-Left"
retry = [{ header = "X-Wait", unit = "s" }]
refused_is_charged = false
message_fields = ["detail"]

[hosts]
api = { url = "http://127.0.0.1:9" }

[[groups]]
name = "rows"
limits = { full = "1/30s burst 5" }

[[endpoints]]
name = "rows"
method = "GET"
host = "api"
path = "/v1/rows"
group = "rows"
cost = 2
"#;

/// The catalogue of these tests with one text in it replaced, which makes it wrong.
fn error(from: &str, to: &str) -> String {
    assert!(CATALOGUE.contains(from), "{from}");
    let text = CATALOGUE.replacen(from, to, 1);
    Catalogue::parse("shop.toml", &text).expect_err("it is wrong").to_string()
}

#[test]
fn an_error_names_file_line_and_field() {
    for (from, to, expected) in [
        // Slips of syntax.
        ("upstream = \"shop\"", "upstream = shop", "shop.toml:2: upstream: "),
        ("facts_as_of", "upstream", "shop.toml:3: upstream: duplicate key"),
        // Unknown keys, and values of another type.
        ("upstream = \"shop\"", "upstream = 7", "shop.toml:2: upstream: invalid type: integer"),
        ("cost = 2", "costs = 2", "shop.toml:28: costs: unknown field `costs`"),
        ("cost = 2", "cost = \"2\"", "shop.toml:28: cost of endpoint `rows`: invalid type: string"),
        ("[hosts]", "[hots]", "shop.toml:15: hots: unknown field `hots`"),
        ("http://127.0.0.1:9\"", "http://127.0.0.1:9\", port = 9", "shop.toml:16: port: unknown"),
        ("unit = \"s\"", "unit = \"min\"", "shop.toml:11: unit of answers.retry: `min` is neither"),
        // What cannot be.
        ("2026-10-01", "2026-10-01T10:00:00", "shop.toml:3: facts_as_of: a day"),
        ("[\"full\", \"trial\"]", "[]", "shop.toml:4: families: at least one"),
        ("\"trial\"]", "\"full\"]", "shop.toml:4: families: `full` is there twice"),
        (
            "\"trial\"]",
            "\"trial\"]\nfamily_sets.all = [\"gold\"]",
            "shop.toml:5: all of family_sets: no family `gold`",
        ),
        (
            "\"trial\"]",
            "\"trial\"]\nfamily_sets.all = []",
            "shop.toml:5: all of family_sets: at least one",
        ),
        (
            "\"Authorization\"",
            "\"not a header\"",
            "shop.toml:7: header of credential: `not a header`",
        ),
        ("http://127", "ftp://127", "shop.toml:16: url of hosts.api: `ftp://127"),
        ("{ full =", "{ gold =", "shop.toml:20: limits of group `rows`: no family `gold`"),
        (
            "{ full = \"1/30s burst 5\" }",
            "{}",
            "shop.toml:20: limits of group `rows`: at least one",
        ),
        ("1/30s burst 5", "1/30s burst", "shop.toml:20: limits of group `rows`: `1/30s burst`"),
        ("1/30s burst 5", "0/30s", "shop.toml:20: limits of group `rows`: tokens must be"),
        ("1/30s burst 5", "9/365d burst 4000000000", "shop.toml:20: limits of group `rows`"),
        ("\"GET\"", "\"HEAD\"", "shop.toml:24: method of endpoint `rows`: `HEAD` is none of"),
        ("host = \"api\"", "host = \"web\"", "shop.toml:25: host of endpoint `rows`: there is no"),
        ("\"/v1/rows\"", "\"v1/rows\"", "shop.toml:26: path of endpoint `rows`"),
        ("\"/v1/rows\"", "\"/v1/{rows\"", "shop.toml:26: path of endpoint `rows`: a brace"),
        (
            "group = \"rows\"",
            "group = \"row\"",
            "shop.toml:27: group of endpoint `rows`: there is no",
        ),
        ("cost = 2", "cost = 0", "shop.toml:28: cost of endpoint `rows`: must be at least 1"),
        ("cost = 2", "cost = 6", "shop.toml:28: cost of endpoint `rows`: no request of 6 tokens"),
        ("cost = 2", "page_rows = 0", "shop.toml:28: page_rows of endpoint `rows`"),
        ("cost = 2", "category = \"x\"", "shop.toml:28: category of endpoint `rows`: there is no"),
        (
            "cost = 2",
            "families = [\"trial\"]",
            "shop.toml:28: families of endpoint `rows`: there is",
        ),
        ("cost = 2", "limits = \"1/s\"", "shop.toml:23: name of endpoint `rows`: group `rows` is"),
        ("cost = 2", "sandbox = true", "shop.toml:22: endpoint `rows`: its host has no `sandbox`"),
        (
            "cost = 2",
            "replaced_by = \"x\"",
            "shop.toml:28: replaced_by of endpoint `rows`: there is",
        ),
        (
            "cost = 2",
            "removed = \"soon\"",
            "shop.toml:28: removed of endpoint `rows`: invalid type",
        ),
        (
            "cost = 2",
            "answer_cost = { status = \"4XX\", requests = 10 }",
            "shop.toml:28: status of answer_cost of endpoint `rows`: `4XX` is neither",
        ),
        (
            "cost = 2",
            "daily_cap = { requests = 0 }",
            "shop.toml:28: requests of daily_cap of endpoint `rows`: must be at least 1",
        ),
        (
            "cost = 2",
            "daily_cap = { requests = 1, utc_offset = \"MSK\" }",
            "shop.toml:28: utc_offset of daily_cap of endpoint `rows`: `MSK` is no offset",
        ),
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
    let group = "[[groups]]\nname = \"rows\"\nlimits = \"1/s\"";
    assert!(twice(group).contains("`rows` is there twice"));
    let endpoint = "[[endpoints]]\nname = \"again\"\nmethod = \"GET\"\nhost = \"api\"\n\
                    path = \"/v1/rows\"\ngroup = \"rows\"";
    assert!(twice(endpoint).contains("path of endpoint `again`: `/v1/rows` is there twice"));
    // Two names of one place are one path.
    let places = |name: &str| {
        format!(
            "[[endpoints]]\nname = \"{name}\"\nmethod = \"GET\"\nhost = \"api\"\n\
             path = \"/v1/rows/{{{name}}}\"\ngroup = \"rows\"\n"
        )
    };
    assert!(twice(&(places("a") + &places("b"))).contains("is endpoint `a` already"));
    // And two names of one host are one host.
    let host = "[hosts.same]\nurl = \"http://127.0.0.1:9/\"\n";
    let elsewhere = endpoint.replace("\"api\"", "\"same\"");
    assert!(twice(&format!("{host}{elsewhere}")).contains("is endpoint `rows` already"));
}

#[test]
fn a_group_that_nobody_draws_on_is_refused() {
    let text = format!("{CATALOGUE}\n[[groups]]\nname = \"alone\"\nlimits = \"1/s\"");
    let error = Catalogue::parse("shop.toml", &text).expect_err("it has an orphan").to_string();
    assert_eq!(error, "shop.toml:31: name of group `alone`: no endpoint draws on group `alone`");
}

#[test]
fn one_look_finds_everything_and_says_it_from_top_to_bottom() {
    let text = CATALOGUE
        .replace("facts_as_of = 2026-10-01", "colour = \"red\"")
        .replace("burst 5", "burst many")
        .replace("method = \"GET\"\n", "")
        .replace("\"/v1/rows\"", "\"/v1/rows?x\"");
    let problems = Catalogue::problems("shop.toml", &text);
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = [
        "shop.toml:1: the file: missing field `facts_as_of`",
        "shop.toml:3: colour: unknown field `colour`",
        "shop.toml:20: limits of group `rows`: ",
        "shop.toml:22: endpoint `rows`: missing field `method`",
        "shop.toml:25: path of endpoint `rows`: ",
    ];
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(shown.starts_with(expected), "expected: {expected}\n   found: {shown}");
    }
    assert_eq!(Catalogue::problems("shop.toml", CATALOGUE).len(), 0);
}

#[test]
fn all_slips_of_syntax_are_named() {
    let text = CATALOGUE.replace("= \"shop\"", "= shop").replace("cost = 2", "cost = two");
    let lines: Vec<usize> =
        Catalogue::problems("shop.toml", &text).iter().map(CatalogueError::line).collect();
    assert_eq!(lines, [2, 28]);
}

#[test]
fn a_family_can_have_a_bucket_of_its_own_where_others_share() {
    let more = "[[endpoints]]\nname = \"rows.set\"\nmethod = \"POST\"\nhost = \"api\"\n\
                path = \"/v1/rows\"\ngroup = \"rows\"\nlimits = { trial = \"1/h\" }";
    let catalogue = Catalogue::parse("shop.toml", &format!("{CATALOGUE}\n{more}"));
    let catalogue = catalogue.expect("a catalogue");
    let endpoint = catalogue.endpoint("rows.set").expect("it is there");
    let group = |family| endpoint.group_of(family).as_str();
    assert_eq!((group("full"), group("trial")), ("rows", "rows.set"));
    let policy = |family| catalogue.policy_of(endpoint, family).unwrap().unwrap().to_string();
    assert_eq!(policy("full"), "1/30s burst 5 margin 60ms");
    assert_eq!(policy("trial"), "1/h burst 1 margin 60ms");
    assert_eq!(endpoint.needs_of("trial").as_slice()[0].group.as_str(), "rows.set");
}

#[test]
fn an_endpoint_may_let_in_fewer_families_than_its_group() {
    let text = CATALOGUE
        .replace("{ full = \"1/30s burst 5\" }", "\"1/30s burst 5\"")
        .replace("cost = 2", "families = [\"full\"]");
    let catalogue = Catalogue::parse("shop.toml", &text).expect("a catalogue");
    let endpoint = catalogue.endpoint("rows").expect("it is there");
    assert!(catalogue.policy(endpoint.group(), "trial").unwrap().is_some());
    assert_eq!(catalogue.policy_of(endpoint, "trial").unwrap(), None);
    assert!(catalogue.policy_of(endpoint, "gold").is_err());
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

#[test]
fn a_daily_cap_is_a_bucket_beside_the_endpoints_own() {
    let catalogue = Catalogue::parse("shop.toml", SHOP).expect("a catalogue");
    let account = "acct-1".parse().unwrap();
    let shown = |limits: Vec<(BucketKey, Policy)>| -> Vec<String> {
        limits.iter().map(|(bucket, policy)| format!("{}: {policy}", bucket.group)).collect()
    };
    let own = "report: 3/min burst 3 margin 60ms";
    let cap = "report.day: 10/d burst 10 margin 60ms";
    let limits = catalogue.limits_of(&account, "full", ["report"]).unwrap();
    assert_eq!(shown(limits), [own, cap]);
    assert!(shown(catalogue.limits(&account, "full").unwrap()).contains(&cap.to_owned()));
    assert!(
        catalogue
            .limits(&account, "partner")
            .unwrap()
            .iter()
            .all(|(bucket, _)| { bucket.group.as_str() != "report.day" })
    );
    let needs = catalogue.endpoint("report").unwrap().needs_of("full");
    let needs: Vec<_> = needs.as_slice().iter().map(|need| need.group.as_str()).collect();
    assert_eq!(needs, ["report", "report.day"]);
    let scaled = catalogue.scaled(3_600, 5).unwrap();
    let limits = scaled.limits_of(&account, "full", ["report"]).unwrap();
    assert_eq!(shown(limits)[1], "report.day: 10/24s burst 10 margin 5ms");
}

#[test]
fn a_daily_cap_needs_a_name_and_a_number_that_a_bucket_can_have() {
    let problem = |from: &str, to: &str| {
        let problems = Catalogue::problems("shop.toml", &SHOP.replacen(from, to, 1));
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    };
    assert!(problem("requests = 20", "requests = 4000000000").contains("burst"));
    assert!(problem("\"task\"", "\"report.day\"").contains("group `report.day` is there already"));
    let long = format!("\"{}\"", "r".repeat(61));
    assert!(problem("\"report\"", &long).contains(".day` is no"));
}

#[test]
fn a_mask_opens_categories_by_bits_that_count_from_one() {
    let catalogue = Catalogue::parse("shop.toml", SHOP).expect("a catalogue");
    let open = |mask| -> Vec<&str> {
        catalogue.open_categories(mask).map(|category| category.name()).collect()
    };
    assert_eq!(open(0b1_0001), ["sales", "stock"]);
    assert_eq!(open(0b1_0000), ["sales"]);
    assert_eq!(open(0b1), ["stock"]);
    assert!(open(0b1110).is_empty());
    let category = |endpoint| {
        let endpoint = catalogue.endpoint(endpoint).unwrap();
        catalogue.category_of(endpoint).unwrap().name()
    };
    assert_eq!((category("rows"), category("dear")), ("sales", "stock"));
    let groups = |category, family| {
        let groups = catalogue.groups_in(category, family);
        groups.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(groups("sales", "full"), ["report", "report.day", "rows", "task"]);
    assert_eq!(groups("sales", "partner"), ["task"]);
    assert_eq!(groups("stock", "trial"), ["dear"]);
    assert!(groups("colours", "full").is_empty() && groups("sales", "gold").is_empty());
}

/// Texts that stand in for others in a catalogue.
const SPLINTERS: [&str; 16] = [
    "",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "7",
    "true",
    "[]",
    "{}",
    "\"x\"",
    "2026-10-01",
    "limits",
    "é",
];

proptest! {
    /// Whatever happens to a file, it is read or refused with a reason, and an endpoint of it is
    /// never lost without a word.
    #[test]
    fn a_damaged_file_is_whole_or_has_problems(
        damage in prop::collection::vec((0_usize..700, 0_usize..12, 0_usize..SPLINTERS.len()), 1..4)
    ) {
        let mut text = CATALOGUE.to_owned();
        for (at, length, splinter) in damage {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end, SPLINTERS[splinter]);
        }
        let problems = Catalogue::problems("shop.toml", &text);
        match Catalogue::parse("shop.toml", &text) {
            Ok(catalogue) => {
                prop_assert_eq!(problems.len(), 0);
                prop_assert_eq!(catalogue.endpoints().count(), 1);
            }
            Err(_) => prop_assert_ne!(problems.len(), 0),
        }
    }
}
