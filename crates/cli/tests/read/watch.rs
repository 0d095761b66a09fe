use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use waitless_job::RunId;
use waitless_store::ops::{Outcome, Saved};

use crate::{
    program::{json, program, words},
    scene::{Scene, id, read},
};

/// A store with a run of one job, which can start at once.
async fn one_job() -> Scene {
    let scene = Scene::empty().await;
    scene.limits(&[("acct-1/orders", "1/d burst 9 margin 0")]).await;
    scene.run(1, "digitization").await;
    scene.enqueue(scene.job(1, "orders", "acct-1").run(RunId(read(&id(1))))).await;
    scene
}

/// The program watching the latest run. Answers when it has printed its first line.
fn watching(scene: &Scene, output: &str) -> (Child, BufReader<ChildStdout>, String) {
    let mut child = program(&["run", "watch", "--latest", "-o", output, "--store", scene.url()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut first = String::new();
    stdout.read_line(&mut first).expect("it prints a line");
    (child, stdout, first)
}

fn rest_of(mut stdout: BufReader<ChildStdout>) -> String {
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("it prints text");
    rest
}

#[tokio::test]
async fn a_watch_ends_with_its_run() {
    let scene = one_job().await;
    scene.start_worker().await;
    let (mut child, stdout, first) = watching(&scene, "table");
    assert_eq!(
        words(&first),
        "\n<time>  running  0/1 job  0/1 request  0 rows  ETA in <span>, binding: slots\n"
    );
    scene.end(1, "acct-1/orders", Outcome::Done, None).await;
    let rest = rest_of(stdout);
    let ended = words(&rest);
    let end = "
state  finished
started  <time> (<span> ago)
done  1 of 1 job, 0 of 0 requests, 0 rows
ETA  ended <time>
";
    assert!(ended.ends_with(end), "{rest}");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(!rest.contains('\u{1b}'), "nothing is drawn where no terminal is: {rest:?}");
}

#[tokio::test]
async fn a_watch_prints_json_when_something_changes() {
    let scene = one_job().await;
    let (mut child, stdout, first) = watching(&scene, "jsonl");
    assert_eq!(json(&first)["state"], "running");
    scene.end(1, "acct-1/orders", Outcome::Done, None).await;
    let rest = rest_of(stdout);
    let last = json(rest.lines().last().expect("it ended with a line"));
    assert_eq!((&last["state"], &last["jobs"]["done"]), (&"finished".into(), &1.into()));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[tokio::test]
async fn a_watch_of_a_run_with_a_dead_job_exits_with_8() {
    let scene = one_job().await;
    let lease = scene.claim("acct-1/orders").await;
    let dead = Outcome::Dead { reason: "the upstream has forgotten the seller".into() };
    scene.settle(lease, dead, Saved::default()).await;
    let said = scene.waitless("run watch --latest --json");
    assert_eq!((said.code, json(&said.stdout)["state"].as_str()), (8, Some("failed")));
}

#[tokio::test]
async fn a_watch_that_is_interrupted_says_so_and_leaves_the_run_alone() {
    let scene = one_job().await;
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let (mut child, stdout, _) = watching(&scene, "table");
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("there is a kill");
        assert!(sent.success());
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        drop(stdout);
    }
    let counts = scene.waitless("job list -o id --state waiting");
    assert_eq!(counts.text(), format!("{}\n", id(1)));
}

#[tokio::test]
async fn a_watch_says_once_that_no_worker_runs_and_goes_on() {
    let scene = one_job().await;
    let mut child = program(&["run", "watch", "--latest", "--store", scene.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut first = String::new();
    stdout.read_line(&mut first).expect("it prints a line");
    assert_eq!(words(&first), "\n<time>  stopped  0/1 job  0/1 request  0 rows  no worker\n");
    scene.end(1, "acct-1/orders", Outcome::Done, None).await;
    assert!(rest_of(stdout).contains("finished"));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "no worker runs on this store: nothing starts before one does\n"
    );
}
