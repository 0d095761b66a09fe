use std::{
    io::{BufRead, BufReader},
    process::Child,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use waitless_job::JobState;

use crate::support::{MAIN, Shop, json, run, start, stderr, waitless};

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).expect("the program is running");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_an_import_with_its_code_and_the_next_one_goes_on() {
    let shop = Shop::with_pages(30).await;
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let import = start(shop.import());
        // Under way when the mock has seen it.
        let before = shop.mock.audit().len();
        while shop.mock.audit().len() < before + 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        send(&import, signal);
        let output = import.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(json(&output)["interrupted"], true);
        for job in shop.jobs().await {
            assert_eq!((job.state, job.attempts), (JobState::Waiting, 0), "handed back unharmed");
        }
    }
    let output = run(shop.import());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("goes on with run"), "{}", stderr(&output));
    shop.assert_all_landed(&MAIN).await;
    assert_eq!(shop.mock.summary().rejected_429, 0);
    let needed: u64 = MAIN.into_iter().map(|dataset| shop.mock.import_requests(0, dataset)).sum();
    assert_eq!(shop.mock.summary().accepted, needed, "no page was fetched twice");
}

#[test]
fn a_mock_says_how_it_is_used_until_a_signal_ends_it() {
    let mut command = waitless();
    command.args(["mock", "--port", "0", "--speed", "60"]);
    let mut mock = start(command);
    let mut lines = BufReader::new(mock.stdout.take().expect("it is caught")).lines();
    let mut next = || lines.next().expect("it goes on").expect("it is text");
    let said: Vec<String> = (0..9).map(|_| next()).collect();
    let said = said.join("\n");
    for words in [
        "/_mock/token/0 > token",
        "/_mock/token/0?family=base&categories=statistics,content&expires_in_s=60",
        "/_mock/expected/0/orders",
        "--speed 60 --datasets all",
        "datasets           orders, sales, stocks, remains, ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    send(&mock, Signal::INT);
    let output = mock.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(stderr(&output), "answered 0 requests, 0 with rows, 0 with 429\n");
}
