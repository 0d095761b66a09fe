use serde_json::json;

use crate::{
    Files,
    program::{waitless, words},
};

#[test]
fn the_catalogues_of_the_program_have_no_problem() {
    assert_eq!(
        words(waitless(&["catalogue", "check", "--builtin"]).text()),
        r"
UPSTREAM  FACTS AS OF  OPERATIONS  GROUPS  SHARED  FAMILIES  DEPRECATED  REMOVED  ENDING  DAILY CAPS
wildberries  2026-10-01  308  193  20  4  5  3  3  1
amazon-sp-api  2026-08-05  30  30  0  1  0  0  0  0
shopify  2026-10-01  4  1  1  3  0  0  0  0
"
    );
}

#[test]
fn a_good_file_is_summed_up() {
    let files = Files::new();
    let shop = files.write("shop.toml", &[]);
    assert_eq!(
        waitless(&["catalogue", "check", &shop, "-o", "json"]).json(),
        json!([{
            "file": shop,
            "upstream": "shop",
            "facts_as_of": "2026-10-01",
            "operations": 3,
            "groups": 3,
            "shared_groups": 1,
            "families": 2,
            "categories": 0,
            "deprecated": 0,
            "removed": 0,
            "ending": 0,
            "daily_caps": 1,
            "problems": [],
        }])
    );
    assert_eq!(waitless(&["catalogue", "check", &shop, "-o", "id"]).text(), "shop\n");
}

#[test]
fn everything_that_is_wrong_is_named_with_file_and_line_from_top_to_bottom() {
    let files = Files::new();
    let shop = files.write(
        "shop.toml",
        &[
            ("upstream = \"shop\"", "upstream = \"shop\"\ncolour = \"red\""),
            ("1/30s burst 5", "0/30s"),
            ("\n]\nendpoints", "\n  { name = \"alone\", limits = \"1/s\" },\n  { name = \"rows\", limits = \"1/s\" },\n]\nendpoints"),
            ("host = \"api\"", "host = \"web\""),
            ("method = \"POST\"", "method = \"GET\""),
            ("/v1/report\"", "/v1/rows/{no}\""),
            ("limits = \"3/min\"", "group = \"reports\""),
        ],
    );
    let said = waitless(&["catalogue", "check", &shop]);
    let expected = [
        "2: colour: unknown field `colour`, expected one of `upstream`, `facts_as_of`, `families`, \
         `family_sets`, `credential`, `answers`, `hosts`, `categories`, `groups`, `endpoints`",
        "9: limits of group `rows`: tokens must be at least 1",
        "10: name of group `alone`: no endpoint draws on group `alone`",
        "11: name of group `rows`: `rows` is there twice",
        "14: host of endpoint `rows`: there is no [hosts] entry `web`",
        "16: path of endpoint `report`: `/v1/rows/{no}` is there twice: GET of it at https://api.shop.example is",
        "16: group of endpoint `report`: there is no group `reports`",
    ];
    let found: Vec<&str> = said.stdout.lines().collect();
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(&format!("{shop}:{expected}")), "{expected}\n{}", said.stdout);
    }
    assert_eq!((said.code, found.len()), (1, expected.len()), "{}", said.stdout);
    assert_eq!(said.stderr, format!("error: {} problems\n", expected.len()));
}

#[test]
fn problems_are_data_too() {
    let files = Files::new();
    let shop = files.write("shop.toml", &[("trial = \"1/h\"", "gold = \"1/h\"")]);
    let said = waitless(&["catalogue", "check", &shop, "--json"]);
    assert_eq!(said.code, 1);
    assert_eq!(
        crate::program::json(&said.stdout),
        json!([{
            "file": shop,
            "upstream": null,
            "facts_as_of": null,
            "problems": [{
                "file": shop,
                "line": 8,
                "field": "limits of group `rows`",
                "problem": "no family `gold`; there are full, trial",
            }],
        }])
    );
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    let said = waitless(&["catalogue", "check", "no/such/file.toml"]);
    assert_eq!((said.code, said.stdout.as_str()), (3, ""));
    assert!(said.stderr.contains("no/such/file.toml"), "{}", said.stderr);
    assert_eq!(waitless(&["catalogue", "check"]).code, 2);
    assert_eq!(waitless(&["catalogue", "check", "a.toml", "--builtin"]).code, 2);
}

#[test]
fn a_file_that_is_no_text_or_no_toml_fails_and_says_so() {
    let files = Files::new();
    let shop = files.write("shop.toml", &[]);
    std::fs::write(&shop, [0xff, 0xfe, 0x00]).expect("the file is written");
    assert_eq!(waitless(&["catalogue", "check", &shop]).code, 1);
    std::fs::write(&shop, "\u{1b}[31m = [\n").expect("the file is written");
    let said = waitless(&["catalogue", "check", &shop]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.starts_with(&format!("{shop}:1: ")), "{}", said.stdout);
    assert!(!said.stdout.contains('\u{1b}'), "nothing of it speaks to the terminal");
    std::fs::write(&shop, "").expect("the file is written");
    assert_eq!(waitless(&["catalogue", "check", &shop]).code, 1);
}
