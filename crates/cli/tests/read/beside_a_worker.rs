use waitless_job::WorkerName;
use waitless_store::Store;

use crate::{
    program::words,
    scene::{Scene, id},
};

#[tokio::test]
async fn every_command_reads_beside_a_worker() {
    let scene = Scene::in_use().await;
    let worker = WorkerName::new("worker-1").expect("it is a name");
    scene.store.start_worker(worker, scene.now).await.expect("it is the first");
    let lease = scene.claim("acct-1/sales").await;
    assert_eq!(lease.job.to_string(), id(5));

    for command in [
        "run list",
        "run show 01900001",
        "job list",
        "job show 01900005",
        "limit list",
        "limit show acct-1/sales",
        "account list",
        "doctor",
    ] {
        for output in ["table", "wide", "json", "jsonl", "id"] {
            let said = scene.waitless(&format!("{command} -o {output}"));
            let printed = said.text();
            assert!(!printed.is_empty() && !printed.contains('\u{1b}'), "{command}: {printed:?}");
        }
    }
    assert_eq!(
        words(scene.waitless("job explain 01900005").text()),
        r"
running  with worker worker-1, lease until <time> (in <span>)
  attempts 0 of 8  snoozes 0 (to be put back costs no attempt)
"
    );
    let owner = format!("worker worker-1, process {} works on it", std::process::id());
    let said = scene.waitless("doctor");
    assert!(said.text().contains(&format!("ok    worker        {owner}")), "{}", said.stdout);

    // Reading has taken nothing away from the worker.
    let running = scene.waitless("job list -o id --state running");
    assert_eq!(running.text(), format!("{}\n", id(5)));
}

#[tokio::test]
async fn a_reader_leaves_the_file_to_the_next_worker() {
    let scene = Scene::in_use().await;
    scene.waitless("doctor").text();
    let worker = WorkerName::new("worker-1").expect("it is a name");
    scene.store.start_worker(worker, scene.now).await.expect("nobody has the lock");
}
