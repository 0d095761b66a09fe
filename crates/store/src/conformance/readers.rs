//! What readers see.

use waitless_job::{Class, JobId, JobState, NewJob, RunId};

use super::scene::{NOW, Scene, account, at, id, read};
use crate::{
    Store,
    model::{Lane, Place, Run},
    ops::{JobFilter, Outcome, Saved},
};

const FREE: &str = "100/s burst 100 margin 0";

async fn listed(store: &dyn Store, filter: JobFilter) -> Vec<JobId> {
    let jobs = store.jobs(filter).await.expect("jobs can be listed");
    jobs.iter().map(|job| job.id).collect()
}

fn all() -> JobFilter {
    JobFilter { limit: 100, ..JobFilter::default() }
}

/// In the order of ids, whatever the order of arrival.
pub async fn jobs_are_listed_in_pages_by_id(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    for number in [5, 2, 9, 1, 7] {
        scene.enqueue(NewJob { id: id(number), ..scene.job("a/") }, NOW).await;
    }
    let ids = |numbers: &[u64]| numbers.iter().map(|number| id(*number)).collect::<Vec<_>>();
    assert_eq!(listed(store, all()).await, ids(&[1, 2, 5, 7, 9]));
    let page = |after, limit| JobFilter { after, limit, ..JobFilter::default() };
    assert_eq!(listed(store, page(None, 2)).await, ids(&[1, 2]));
    assert_eq!(listed(store, page(Some(id(2)), 2)).await, ids(&[5, 7]));
    assert_eq!(listed(store, page(Some(id(3)), 2)).await, ids(&[5, 7]), "3 does not exist");
    assert_eq!(listed(store, page(Some(id(9)), 2)).await, []);
    assert_eq!(listed(store, page(None, 0)).await, []);
    scene.is_sound().await;
}

/// Everything given must match.
pub async fn jobs_are_listed_by_what_they_match(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("b/x", FREE)]).await;
    let run = RunId(id(500).0);
    let of_kind = |lane: &str, kind: &str| NewJob { kind: read(kind), ..scene.job(lane) };
    let one = scene.enqueue(of_kind("a/x", "orders").run(run), NOW).await;
    let two = scene.enqueue(of_kind("b/x", "orders").run(run), NOW).await;
    let three = scene.enqueue(of_kind("a/x", "sales"), NOW).await;
    let four = scene.enqueue(of_kind("a/", "orders").run(run).run_at(at(9)), NOW).await;
    let (_, lease) = scene.start("a/x", NOW).await;
    scene.settle(lease, Outcome::Done, Saved::default(), NOW).await;

    let (a, orders) = (Some(read("a")), Some(read("orders")));
    let waiting = Some(JobState::Waiting);
    let cases = [
        (all(), vec![one, two, three, four]),
        (JobFilter { account: a.clone(), ..all() }, vec![one, three, four]),
        (JobFilter { kind: orders.clone(), ..all() }, vec![one, two, four]),
        (JobFilter { state: waiting, ..all() }, vec![two, three]),
        (JobFilter { run: Some(run), ..all() }, vec![one, two, four]),
        (JobFilter { run: Some(run), account: a.clone(), ..all() }, vec![one, four]),
        (JobFilter { run: Some(run), state: waiting, ..all() }, vec![two]),
        (JobFilter { state: waiting, account: a.clone(), ..all() }, vec![three]),
        (JobFilter { state: waiting, kind: orders.clone(), ..all() }, vec![two]),
        (JobFilter { after: Some(one), account: a.clone(), limit: 1, ..all() }, vec![three]),
        (JobFilter { run: Some(run), kind: orders, account: a, state: waiting, ..all() }, vec![]),
        (JobFilter { run: Some(RunId(id(501).0)), ..all() }, vec![]),
        (JobFilter { account: Some(read("nobody")), ..all() }, vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(listed(store, filter.clone()).await, expected, "{filter:?}");
    }
    scene.is_sound().await;
}

/// As people type ids: from the left, in their usual form.
pub async fn jobs_are_listed_by_the_beginning_of_their_id(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    let texts = [
        "01900000-0000-7000-8000-000000000001",
        "01900000-1000-7000-8000-000000000001",
        "0190a000-0000-7000-8000-000000000001",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ];
    for text in texts.iter().rev() {
        scene.enqueue(NewJob { id: read(text), ..scene.job("a/") }, NOW).await;
    }
    let found = |prefix: &str, after: Option<&str>| {
        let after = after.map(read);
        let filter = JobFilter { id_prefix: Some(prefix.into()), after, ..all() };
        async move {
            let ids = listed(store, filter).await;
            ids.iter().map(ToString::to_string).collect::<Vec<_>>()
        }
    };
    assert_eq!(found("", None).await, texts);
    assert_eq!(found("0190", None).await, texts[..3]);
    assert_eq!(found("01900000", None).await, texts[..2]);
    assert_eq!(found("01900000-", None).await, texts[..2]);
    assert_eq!(found("01900000-1", None).await, texts[1..2]);
    assert_eq!(found(texts[2], None).await, texts[2..3]);
    assert_eq!(found("f", None).await, texts[3..]);
    assert_eq!(found("0190", Some(texts[0])).await, texts[1..3]);
    assert_eq!(found("0190", Some("00000000-0000-0000-0000-000000000000")).await, texts[..3]);
    assert_eq!(found("0190", Some(texts[3])).await, texts[..0]);
    for nothing in ["0190A", "019000000", "1", "-", "0190%", "_", "ю", "0190 "] {
        assert_eq!(found(nothing, None).await, texts[..0], "{nothing:?}");
    }
    let too_long = format!("{}0", texts[0]);
    assert_eq!(found(&too_long, None).await, texts[..0]);
    scene.is_sound().await;
}

/// Of its lane, in the order in which they will go.
pub async fn a_position_counts_the_jobs_ahead(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("a/y", FREE)]).await;
    let ids = scene.fill("a/x", 3, NOW).await;
    let other = scene.fill("a/y", 1, NOW).await;
    let urgent = scene.enqueue(scene.job("a/x").class(Class::Interactive), NOW).await;
    let delayed = scene.enqueue(scene.job("a/x").run_at(at(9)), NOW).await;
    let position = |id| async move { store.position(id).await.expect("positions can be read") };
    let positions = [ids[0], ids[1], ids[2], other[0], urgent, delayed, id(999)];
    let expected = [Some(1), Some(2), Some(3), Some(0), Some(0), None, None];
    for (id, expected) in positions.into_iter().zip(expected) {
        assert_eq!(position(id).await, expected);
    }
    scene.start("a/x", NOW).await;
    assert_eq!(position(urgent).await, None, "it runs");
    assert_eq!(position(ids[2]).await, Some(2));
    scene.is_sound().await;
}

/// Of one run or of all; states with none are left out.
pub async fn jobs_are_counted_by_state(store: &dyn Store) {
    use JobState::{Dead, Retryable, Running, Scheduled, Succeeded, Waiting};
    let scene = Scene::with(store, &[]).await;
    let run = RunId(id(500).0);
    scene.run("a/", Outcome::Done, NOW).await;
    scene.run("a/", Outcome::Dead { reason: "r".into() }, NOW).await;
    scene.run("a/", Outcome::Retry { at: at(50), error: "e".into() }, NOW).await;
    for _ in 0..3 {
        scene.enqueue(scene.job("a/").run(run), NOW).await;
    }
    scene.enqueue(scene.job("a/").run(run).run_at(at(99)), NOW).await;
    scene.start("a/", NOW).await;
    let counts = |run| async move { store.job_counts(run).await.expect("jobs can be counted") };
    let all =
        [(Scheduled, 1), (Waiting, 2), (Running, 1), (Retryable, 1), (Succeeded, 1), (Dead, 1)];
    assert_eq!(counts(None).await, all);
    assert_eq!(counts(Some(run)).await, all[..3]);
    assert_eq!(counts(Some(RunId(id(501).0))).await, []);
    scene.is_sound().await;
}

/// Of one account or of all; who waits in a lane of several groups waits for each of them.
pub async fn limits_say_who_waits_for_them_and_who_runs(store: &dyn Store) {
    let limits = [("a/x", FREE), ("a/y", "1/min burst 1 margin 0"), ("a-b/x", FREE), ("b/x", FREE)];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x+y", 2, NOW).await;
    scene.fill("a/x", 3, NOW).await;
    scene.fill("a/", 5, NOW).await;
    scene.fill("b/x", 1, NOW).await;
    scene.start("a/x", NOW).await;
    let (_, lease) = scene.start("a/x+y", NOW).await;
    scene.start("a/", NOW).await;

    let views = |account: Option<&str>| {
        let account = account.map(read);
        async move {
            let views = store.limits(account).await.expect("limits can be read");
            let short = views.iter().map(|view| {
                (view.bucket.to_string(), view.state.is_some(), view.waiting, view.running)
            });
            short.collect::<Vec<_>>()
        }
    };
    let view = |bucket: &str, drawn, waiting, running| (bucket.to_owned(), drawn, waiting, running);
    let of_a = vec![view("a/x", true, 3, 2), view("a/y", true, 1, 1)];
    assert_eq!(views(Some("a")).await, of_a);
    let of_all = vec![view("a-b/x", false, 0, 0), view("b/x", false, 1, 0)];
    assert_eq!(views(None).await, [of_a, of_all].concat());
    assert_eq!(views(Some("nobody")).await, []);
    let policies = store.limits(Some(read("a"))).await.expect("limits can be read");
    assert_eq!(policies[1].policy, read("1/min burst 1 margin 0"));

    // Running counts by the last permit, which may be another than the first.
    scene.acquire(lease, "x", crate::ops::OnDenied::Tell, Saved::default(), at(1)).await;
    assert_eq!(views(Some("a")).await, [view("a/x", true, 3, 2), view("a/y", true, 1, 0)]);
    scene.is_sound().await;
}

/// A run that is put again is replaced.
pub async fn accounts_and_runs_are_listed_by_id(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    for name in ["b", "a-b", "a", "A"] {
        scene.account(name).await;
    }
    let accounts = store.accounts().await.expect("accounts can be read");
    assert_eq!(accounts, ["A", "a", "a-b", "b"].map(account));

    let run = |number, name: &str| Run {
        id: RunId(id(number).0),
        name: name.into(),
        started_at: at(number),
    };
    for run in [run(3, "third"), run(1, "first"), run(2, "second"), run(3, "3.")] {
        store.put_run(run).await.expect("a run can be added");
    }
    let runs = store.runs().await.expect("runs can be read");
    assert_eq!(runs, [run(1, "first"), run(2, "second"), run(3, "3.")]);
    scene.is_sound().await;
}

/// Empty answers, no errors.
pub async fn nobody_is_found_in_an_empty_store(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    assert_eq!(store.job(id(1)).await.expect("answered"), None);
    assert_eq!(store.jobs(all()).await.expect("answered"), []);
    assert_eq!(store.job_counts(None).await.expect("answered"), []);
    assert_eq!(store.position(id(1)).await.expect("answered"), None);
    let empty = Lane { waiting: 0, place: Place::Empty };
    assert_eq!(store.lane(read("a/x+y")).await.expect("answered"), empty);
    assert_eq!(store.limits(None).await.expect("answered"), []);
    assert_eq!(store.accounts().await.expect("answered"), []);
    assert_eq!(store.runs().await.expect("answered"), []);
    let due = scene.due(NOW).await;
    assert_eq!((due.lanes, due.next_at), (Vec::new(), None));
    assert_eq!(store.audit().await.expect("answered"), crate::model::Audit::default());
    scene.is_sound().await;
}
