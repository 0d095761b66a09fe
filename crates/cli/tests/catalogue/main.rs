//! Catalogues on the command line, tried with the program itself: no store, no network.

#[path = "../read/program.rs"]
#[allow(dead_code, reason = "shared with the tests of the commands that read a store")]
mod program;

mod check;
mod diff;
mod published;

use std::{fs, path::PathBuf};

use tempfile::TempDir;

/// A catalogue without a mistake.
const SHOP: &str = r#"upstream = "shop"
facts_as_of = 2026-10-01
families = ["full", "trial"]
credential.header = "Authorization"
answers.refused_is_charged = false
hosts.api = { url = "https://api.shop.example" }
groups = [
  { name = "rows", limits = { full = "1/30s burst 5", trial = "1/h" } },
]
endpoints = [
  { name = "rows", method = "GET", host = "api", path = "/v1/rows", group = "rows" },
  { name = "row", method = "GET", host = "api", path = "/v1/rows/{id}", group = "rows" },
  { name = "report", method = "POST", host = "api", path = "/v1/report", limits = "3/min", families = ["full"], daily_cap = { requests = 20 } },
]
"#;

/// A folder with catalogue files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is a temporary folder"))
    }

    /// The catalogue with texts in it replaced, as a file of this name.
    fn write(&self, name: &str, replaced: &[(&str, &str)]) -> String {
        let mut text = SHOP.to_owned();
        for (from, to) in replaced {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        let path: PathBuf = self.0.path().join(name);
        fs::write(&path, text).expect("the file is written");
        path.to_str().expect("the path is text").to_owned()
    }
}
