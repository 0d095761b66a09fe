//! Faults on purpose, by flag and by file.

use std::{fs, process::Output};

use crate::support::{json, run, stderr, waitless};

fn demo(args: &[&str]) -> Output {
    let mut command = waitless();
    command.args(["demo", "--sellers", "1", "--speed", "3600", "-o", "json"]).args(args);
    run(command)
}

#[track_caller]
fn assert_whole(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let summary = json(output);
    assert!(summary["faults"].as_u64().is_some_and(|faults| faults >= 3), "{summary}");
    for none in ["rows_missing", "rows_duplicated", "jobs_dead"] {
        assert_eq!(summary[none], 0, "{none}: {summary}");
    }
}

#[test]
fn faults_of_the_command_line_are_played_and_lose_nothing() {
    assert_whole(&demo(&[
        "--datasets",
        "sales,cards",
        "--fault",
        "play = { status = 503 }, every = 8",
        "--fault",
        "play = { cut = { bytes = 40 } }, requests = [2, 2]",
    ]));
}

#[test]
fn faults_of_a_file_are_played_and_lose_nothing() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let file = folder.path().join("faults.toml");
    fs::write(
        &file,
        "[[faults]]\nplay = \"html\"\nevery = 7\n[[faults]]\nplay = { limited = { retry_s = 1 } }\n\
         requests = [4, 4]\n",
    )
    .expect("the file is written");
    assert_whole(&demo(&["--faults", file.to_str().expect("the path is text")]));
}

#[test]
fn a_rule_that_cannot_be_played_is_named() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let file = folder.path().join("faults.toml");
    fs::write(&file, "[[faults]]\nplay = \"hang\"\n\n[[faults]]\nplay = \"dance\"\n").expect("ok");
    let path = file.to_str().expect("the path is text");
    for (args, words) in [
        (vec!["--faults", path], vec!["faults.toml:5: ", "dance"]),
        (vec!["--faults", "no-such-file"], vec!["cannot read no-such-file"]),
        (
            vec!["--fault", "play = \"hang\"", "--fault", "play = \"dance\", every = 2"],
            vec!["--fault 'play = \"dance\", every = 2': ", "hang"],
        ),
        (vec!["--fault", "play = { status = 200 }"], vec!["status 200 is no error"]),
        (vec!["--fault", "play = \"hang\"", "--faults", path], vec!["cannot be used with"]),
    ] {
        for command in ["demo", "mock"] {
            let mut program = waitless();
            program.arg(command).args(&args);
            let output = run(program);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
            for word in &words {
                assert!(stderr(&output).contains(word), "{word}: {}", stderr(&output));
            }
        }
    }
}
