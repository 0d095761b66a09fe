use crate::support::{json, run, start, stderr, waitless};

#[test]
fn a_demo_lands_every_row_once_without_a_429_and_without_a_slot_that_waits() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let mut command = waitless();
    command.args(["demo", "--sellers", "20", "--speed", "60", "-o", "json"]).args([
        "--store",
        &url("queue.db"),
        "--sink",
        &url("rows.db"),
    ]);
    let output = run(command);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&output);
    println!("{summary:#}");
    for none in ["rows_missing", "rows_duplicated", "upstream_429", "jobs_dead"] {
        assert_eq!(summary[none], 0, "{none}: {summary}");
    }
    assert_eq!(summary["slot_wait_seconds"], 0.0, "{summary}");
    assert_eq!(summary["rows_landed"], summary["rows_expected"]);
    assert_eq!(summary["datasets"], 40);
    // A ratio of two times of one run, with a wide berth for a busy machine.
    let ratio = summary["makespan_over_bound"].as_f64().expect("it is a number");
    assert!(ratio <= 1.10, "{summary}");
    let wakeups = summary["wakeups_per_request"].as_f64().expect("it is a number");
    assert!(wakeups <= 1.01, "{summary}");
}

#[test]
fn a_demo_in_memory_answers_in_lines_for_people() {
    let mut command = waitless();
    command.args(["demo", "--sellers", "2", "--speed", "3600", "--seed", "7"]);
    let output = run(command);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}\n{}", stderr(&output));
    assert!(text.contains("every row landed exactly once"), "{text}");
    assert!(text.contains("429s from the marketplace: 0"), "{text}");
    assert!(!stderr(&output).contains('\u{1b}'), "no escape codes without a terminal");
    assert!(stderr(&output).contains("slot seconds spent waiting 0.0"), "{}", stderr(&output));
}

#[test]
fn a_demo_of_base_tokens_leaves_out_what_is_closed_to_them() {
    let mut command = waitless();
    command
        .args(["demo", "--sellers", "1", "--token-type", "base", "--speed", "3600"])
        .args(["--datasets", "stocks,prices,tariffs,campaigns"]);
    let output = run(command);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}\n{}", stderr(&output));
    let reason = "Wildberries does not let base tokens ask for it";
    assert!(text.contains(&format!("stocks          left out   {reason}")), "{text}");
    assert!(text.contains("every row landed exactly once"), "{text}");
    assert!(text.contains("1 seller, 3 datasets"), "{text}");
    assert!(stderr(&output).contains("note: stocks is left out"), "{}", stderr(&output));
}

#[test]
fn a_kind_of_tokens_that_there_is_not_is_refused_with_those_there_are() {
    let mut command = waitless();
    command.args(["demo", "--token-type", "gold"]);
    let output = run(command);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("personal, service, base, base-secret"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_demo_whose_standard_error_nobody_reads_goes_on_to_its_end() {
    let mut command = waitless();
    command.args(["demo", "--sellers", "1", "--speed", "3600", "-o", "json"]);
    let mut demo = start(command);
    drop(demo.stderr.take());
    let output = demo.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output)["rows_missing"], 0);
}
