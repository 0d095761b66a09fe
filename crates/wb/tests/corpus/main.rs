//! What fuzzing has found worth keeping is read again.

mod checks;
mod report;

use std::{fs, path::Path};

/// Calls a check with every file that is kept for it.
fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files = 0;
    for file in fs::read_dir(corpus).expect("the corpus is in the repository") {
        let path = file.expect("it can be listed").path();
        check(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        files += 1;
    }
    assert!(files > 0);
}

#[test]
fn what_is_kept_of_tokens_is_read_and_not_shown() {
    replay("token", checks::token);
}

#[test]
fn what_is_kept_of_reports_is_read() {
    replay("report", report::report);
}
