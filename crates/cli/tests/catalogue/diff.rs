use serde_json::json;

use crate::{
    Files,
    program::{waitless, words},
};

#[test]
fn a_catalogue_and_itself_have_no_difference() {
    let said = waitless(&["catalogue", "diff", "wildberries", "wildberries"]);
    assert_eq!(said.text(), "no difference\n");
    let said = waitless(&["catalogue", "diff", "shopify", "shopify", "-o", "json"]);
    assert_eq!(said.text(), "[]\n");
}

#[test]
fn a_catalogue_that_is_printed_is_the_one_that_is_part_of_the_program() {
    let files = Files::new();
    let copy = files.write("copy.toml", &[]);
    for upstream in ["wildberries", "amazon-sp-api", "shopify"] {
        let shown = waitless(&["catalogue", "show", upstream]);
        std::fs::write(&copy, shown.text()).expect("the file is written");
        let said = waitless(&["catalogue", "diff", upstream, &copy]);
        assert_eq!(said.text(), "no difference\n");
    }
    assert_eq!(waitless(&["catalogue", "show", "ebay"]).code, 3);
}

#[test]
fn a_newer_file_is_told_by_what_it_adds_takes_and_changes() {
    let files = Files::new();
    let old = files.write("old.toml", &[]);
    let new = files.write(
        "new.toml",
        &[
            ("2026-10-01", "2026-11-01"),
            ("trial = \"1/h\"", "trial = \"1/2h\""),
            (
                "\"GET\", host = \"api\", path = \"/v1/rows/{id}\", group = \"rows\"",
                "\"GET\", host = \"api\", path = \"/v1/rows/{id}\", limits = \"1/s\"",
            ),
            ("/v1/report\"", "/v2/report\""),
        ],
    );
    let said = waitless(&["catalogue", "diff", &old, &new]);
    assert_eq!(
        words(said.text()),
        r"
CHANGE  WHAT  FROM  TO  FOR
facts_as_of  -  2026-10-01  2026-11-01  -
added  POST https://api.shop.example/v2/report  -  report  -
removed  POST https://api.shop.example/v1/report  report  -  -
policy  rows  1/h burst 1 margin 60ms  1/2h burst 1 margin 60ms  trial
moved  GET https://api.shop.example/v1/rows/{id}  rows (full: 1/30s burst 5 margin 60ms, trial: 1/h burst 1 margin 60ms)  row (full: 1/s burst 1 margin 60ms, trial: 1/s burst 1 margin 60ms)  full,trial
"
    );
    let said = waitless(&["catalogue", "diff", &old, &new, "-o", "json"]);
    assert_eq!(
        said.json()[3],
        json!({
            "change": "policy",
            "group": "rows",
            "family": "trial",
            "from": "1/h burst 1 margin 60ms",
            "to": "1/2h burst 1 margin 60ms",
        })
    );
}

#[test]
fn a_catalogue_that_is_unknown_is_not_found_and_one_that_is_wrong_fails() {
    let said = waitless(&["catalogue", "diff", "wildberry", "wildberries"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("wildberries, amazon-sp-api, shopify"), "{}", said.stderr);
    let files = Files::new();
    let wrong = files.write("wrong.toml", &[("1/30s", "0/30s")]);
    let said = waitless(&["catalogue", "diff", &wrong, "wildberries"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains(&format!("{wrong}:8: limits of group `rows`")), "{}", said.stderr);
}
