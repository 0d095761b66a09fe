use waitless_upstream::{Catalogue, Change, changes};

use crate::catalogue::CATALOGUE;

/// The changes that replacing texts in the catalogue of these tests makes, as JSON.
fn made_by(replaced: &[(&str, &str)]) -> Vec<String> {
    let old = Catalogue::parse("old.toml", CATALOGUE).expect("a catalogue");
    let mut text = CATALOGUE.to_owned();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let new = Catalogue::parse("new.toml", &text).expect("a catalogue");
    let json = |change: &Change| serde_json::to_string(change).expect("it can be written");
    changes(&old, &new).iter().map(json).collect()
}

#[test]
fn a_catalogue_differs_in_nothing_from_itself() {
    assert_eq!(made_by(&[]), [""; 0]);
}

#[test]
fn a_policy_that_changes_is_told_for_each_family() {
    assert_eq!(
        made_by(&[(
            "full = \"1/30s burst 5\"",
            "full = \"1/20s burst 5\", trial = \"1/h burst 2\""
        )]),
        [
            r#"{"change":"policy","group":"rows","family":"full","from":"1/30s burst 5 margin 60ms","to":"1/20s burst 5 margin 60ms"}"#,
            r#"{"change":"policy","group":"rows","family":"trial","from":null,"to":"1/h burst 2 margin 60ms"}"#,
            r#"{"change":"endpoint","operation":"GET http://127.0.0.1:9/v1/rows","field":"families","from":"full","to":"full, trial"}"#,
        ]
    );
}

#[test]
fn an_operation_is_its_method_and_url_whatever_its_name() {
    assert_eq!(
        made_by(&[("name = \"rows\"\nmethod", "name = \"all-rows\"\nmethod")]),
        [
            r#"{"change":"endpoint","operation":"GET http://127.0.0.1:9/v1/rows","field":"name","from":"rows","to":"all-rows"}"#
        ]
    );
    assert_eq!(
        made_by(&[("path = \"/v1/rows\"", "path = \"/v2/rows\"")]),
        [
            r#"{"change":"added","operation":"GET http://127.0.0.1:9/v2/rows","endpoint":"rows"}"#,
            r#"{"change":"removed","operation":"GET http://127.0.0.1:9/v1/rows","endpoint":"rows"}"#,
        ]
    );
}

#[test]
fn an_endpoint_that_moves_to_another_bucket_is_told_with_what_that_changes() {
    assert_eq!(
        made_by(&[
            (
                "name = \"rows\"\nlimits = { full = \"1/30s burst 5\" }",
                "name = \"all\"\nlimits = { full = \"1/min burst 5\" }"
            ),
            ("group = \"rows\"", "group = \"all\""),
        ]),
        [
            r#"{"change":"moved","operation":"GET http://127.0.0.1:9/v1/rows","from":"rows","to":"all","families":["full"],"policies":[{"family":"full","from":"1/30s burst 5 margin 60ms","to":"1/min burst 5 margin 60ms"}]}"#
        ]
    );
}
