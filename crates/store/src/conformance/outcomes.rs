//! How attempts end, and what becomes of ended jobs.

use waitless_job::JobState;

use super::scene::{NOW, Scene, at, checkpoint, everything, id};
use crate::{
    Store,
    model::Pruned,
    ops::{Outcome, Saved, Settle, Settled},
};

const FREE: &str = "100/s burst 100 margin 0";

/// Done, cancelled or dead: with the moment, the reason, and what it saved.
pub async fn a_job_that_ended_stays_as_it_ended(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let cases = [
        (Outcome::Done, JobState::Succeeded, None),
        (Outcome::Cancel { reason: "not wanted".into() }, JobState::Cancelled, Some("not wanted")),
        (Outcome::Dead { reason: "token dead".into() }, JobState::Dead, Some("token dead")),
    ];
    for (outcome, state, error) in cases {
        let id = scene.enqueue(scene.job("a/x"), NOW).await;
        let (_, lease) = scene.start("a/x", NOW).await;
        let saved = everything("[5]", Vec::new());
        let settled = scene.settle(lease, outcome, saved.clone(), at(9)).await;
        assert_eq!(settled, Settled::Now(state));
        let job = scene.record(id).await;
        assert_eq!((job.state, job.error.as_deref()), (state, error));
        assert_eq!((job.attempts, job.finished_at), (1, Some(at(9))));
        assert_eq!(job.checkpoint.as_deref(), Some("[5]"));
        assert_eq!(Some(job.progress), saved.progress);
        assert_eq!(job.lease, None);
        let again = scene.settle(lease, Outcome::Done, Saved::default(), at(10)).await;
        assert_eq!(again, Settled::Stale);
    }
    assert!(scene.due_lanes(at(999_999)).await.is_empty());
    scene.is_sound().await;
}

/// The attempt is counted, the error kept, and the job comes back at the moment it was given.
pub async fn a_failed_attempt_waits_for_its_backoff(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let id = scene.enqueue(scene.job("a/x"), NOW).await;
    for attempt in 1..=3 {
        let (_, lease) = scene.start("a/x", at(attempt * 1_000)).await;
        let again_at = at((attempt + 1) * 1_000);
        let retry = Outcome::Retry { at: again_at, error: format!("try {attempt}").into() };
        let settled = scene.settle(lease, retry, Saved::default(), at(attempt * 1_000 + 5)).await;
        assert_eq!(settled, Settled::Now(JobState::Retryable));
        let job = scene.record(id).await;
        assert_eq!(u64::from(job.attempts), attempt);
        assert_eq!(job.error, Some(format!("try {attempt}").into()));
        assert_eq!((job.run_at, job.finished_at, job.snoozes), (again_at, None, 0));
        let due = scene.due(at(attempt * 1_000 + 999)).await;
        assert_eq!((due.lanes, due.next_at), (Vec::new(), Some(again_at)));
        assert_eq!(scene.due_lanes(again_at).await, ["a/x"]);
    }
    scene.is_sound().await;
}

/// After as many attempts as the job has.
pub async fn the_last_failed_attempt_makes_a_dead_letter(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let id = scene.enqueue(scene.job("a/x").attempts_max(2), NOW).await;
    let retry = || Outcome::Retry { at: NOW, error: "503".into() };
    let (_, lease) = scene.start("a/x", NOW).await;
    let settled = scene.settle(lease, retry(), Saved::default(), NOW).await;
    assert_eq!(settled, Settled::Now(JobState::Retryable));
    let _ = scene.due(NOW).await;
    let (_, lease) = scene.start("a/x", NOW).await;
    let settled = scene.settle(lease, retry(), Saved::default(), at(1)).await;
    assert_eq!(settled, Settled::Now(JobState::Dead));
    let job = scene.record(id).await;
    assert_eq!((job.attempts, job.finished_at), (2, Some(at(1))));
    assert_eq!(job.error.as_deref(), Some("503"));
    scene.is_sound().await;
}

/// Attempts are those since the job last got anywhere: an import of a thousand pages does not die
/// of its second passing fault, days in.
pub async fn a_checkpoint_that_moved_starts_the_attempts_anew(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let id = scene.enqueue(scene.job("a/x").attempts_max(2), NOW).await;
    let fail = |saved: Saved| {
        let scene = &scene;
        async move {
            let _ = scene.due(NOW).await;
            let (_, lease) = scene.start("a/x", NOW).await;
            let retry = Outcome::Retry { at: NOW, error: "503".into() };
            let settled = scene.settle(lease, retry, saved, NOW).await;
            (settled, scene.record(id).await.attempts)
        }
    };
    let alive = Settled::Now(JobState::Retryable);
    assert_eq!(fail(Saved::default()).await, (alive, 1));
    assert_eq!(fail(checkpoint("1")).await, (alive, 1));
    assert_eq!(fail(checkpoint("2")).await, (alive, 1));
    assert_eq!(fail(checkpoint("2")).await, (Settled::Now(JobState::Dead), 2), "it did not move");
    scene.is_sound().await;
}

/// It is put off, and counted apart.
pub async fn a_snooze_costs_no_attempt(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let id = scene.enqueue(scene.job("a/x").attempts_max(1), NOW).await;
    for count in 1..=3 {
        let now = at(count * 100);
        let _ = scene.due(now).await;
        let (_, lease) = scene.start("a/x", now).await;
        let snooze = Outcome::Snooze { until: now.plus(100) };
        let settled = scene.settle(lease, snooze, Saved::default(), now).await;
        assert_eq!(settled, Settled::Now(JobState::Scheduled));
        let job = scene.record(id).await;
        assert_eq!((job.attempts, job.snoozes), (0, count));
        assert_eq!(job.run_at, now.plus(100));
        assert_eq!(scene.due(now.plus(99)).await.next_at, Some(now.plus(100)));
    }
    scene.is_sound().await;
}

/// By a worker that stops: at once in its lane again, nothing counted.
pub async fn a_job_that_is_handed_back_waits_in_its_lane(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let ids = scene.fill("a/x", 2, NOW).await;
    let (_, lease) = scene.start("a/x", NOW).await;
    let settled = scene.settle(lease, Outcome::HandBack, checkpoint("4"), at(1)).await;
    assert_eq!(settled, Settled::Now(JobState::Waiting));
    let job = scene.record(ids[0]).await;
    assert_eq!((job.attempts, job.snoozes, job.error), (0, 0, None));
    assert_eq!(job.checkpoint.as_deref(), Some("4"));
    assert_eq!(store.position(ids[1]).await.expect("positions can be read"), Some(1));
    assert_eq!(scene.start("a/x", at(1)).await.0.id, ids[0], "before those that came after it");
    scene.is_sound().await;
}

/// Each report has its answer, in its place.
pub async fn reports_are_answered_in_order(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 3, NOW).await;
    let mut settles = Vec::new();
    for outcome in [Outcome::Done, Outcome::HandBack, Outcome::Cancel { reason: "r".into() }] {
        let (_, lease) = scene.start("a/x", NOW).await;
        settles.push(Settle { lease, outcome, saved: Saved::default() });
    }
    // The same report twice: the second is stale.
    settles.insert(1, settles[0].clone());
    let settled = store.settle(settles, NOW).await.expect("reports are answered");
    let now = Settled::Now;
    assert_eq!(
        settled,
        [
            now(JobState::Succeeded),
            Settled::Stale,
            now(JobState::Waiting),
            now(JobState::Cancelled),
        ]
    );
    assert_eq!(store.settle(Vec::new(), NOW).await.expect("nothing is asked"), []);
    scene.is_sound().await;
}

/// Only what ended before a moment, the oldest end first, no more than asked for; counted by state.
pub async fn prune_removes_what_ended_before_a_moment(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let dead = || Outcome::Dead { reason: "r".into() };
    let cancel = || Outcome::Cancel { reason: "r".into() };
    let third = scene.run("a/x", Outcome::Done, at(30)).await;
    let first = scene.run("a/x", dead(), at(10)).await;
    let second = scene.run("a/x", cancel(), at(20)).await;
    let live = scene.enqueue(scene.job("a/x"), NOW).await;

    let prune = |before, limit| store.prune(at(before), limit);
    assert_eq!(prune(10, 9).await.expect("answered"), 0, "it ended then, not before");
    assert_eq!(prune(25, 1).await.expect("answered"), 1);
    assert!(store.job(first).await.expect("jobs can be read").is_none());
    assert!(store.job(second).await.expect("jobs can be read").is_some());
    assert_eq!(prune(25, 9).await.expect("answered"), 1);
    assert!(store.job(second).await.expect("jobs can be read").is_none());
    scene.record(third).await;
    assert_eq!(prune(999_999, 9).await.expect("answered"), 1);
    assert_eq!(prune(999_999, 9).await.expect("answered"), 0);
    assert_eq!(scene.state(live).await, JobState::Waiting);
    let audit = store.audit().await.expect("a store can be read");
    assert_eq!(audit.pruned, Pruned { succeeded: 1, cancelled: 1, dead: 1 });
    assert_eq!(audit.enqueued, 4);
    scene.is_sound().await;
}

/// With its checkpoint and all its attempts; what has not been given up stays as it is.
pub async fn a_job_that_was_given_up_can_be_put_back(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/s burst 5 margin 0")]).await;
    let ids = scene.fill("a/x", 3, NOW).await;
    let (_, lease) = scene.start("a/x", NOW).await;
    let dead = Outcome::Dead { reason: "no token".into() };
    scene.settle(lease, dead, checkpoint("[7]"), NOW).await;
    assert_eq!(scene.state(ids[0]).await, JobState::Dead);
    assert!(store.requeue(ids[0], at(1)).await.expect("answered"));
    assert!(!store.requeue(ids[0], at(1)).await.expect("answered"), "it waits already");
    assert!(!store.requeue(ids[1], at(1)).await.expect("answered"), "it was never given up");
    assert!(!store.requeue(id(99), at(1)).await.expect("answered"), "there is no such job");

    let (job, lease) = scene.start("a/x", at(1)).await;
    assert_eq!((job.id, job.attempts, job.error), (ids[0], 0, None));
    assert_eq!(job.checkpoint.as_deref(), Some("[7]"));
    scene.settle(lease, Outcome::Done, Saved::default(), at(2)).await;
    assert!(!store.requeue(ids[0], at(3)).await.expect("answered"), "it is done");
    scene.is_sound().await;
}
