//! Pauses of limits.

use std::sync::Arc;

use waitless_job::{Feedback, JobState};

use super::scene::{NOW, Scene, at, checkpoint, everything, read, unspent};
use crate::{
    Store,
    model::Place,
    ops::{Acquired, OnDenied, Outcome, Saved, Settled, Taken},
};

const FREE: &str = "100/s burst 100 margin 0";

/// Pauses limits of `a` with a reason, or resumes them.
async fn pause(store: &dyn Store, groups: &[&str], reason: Option<&str>, ms: u64) -> usize {
    let groups = groups.iter().copied().map(read).collect();
    let reason = reason.map(Arc::from);
    let paused = store.pause_limits(read("a"), Some(groups), reason, at(ms)).await;
    paused.expect("limits can be paused")
}

/// The buckets whose limits are paused, with the reasons.
async fn paused(store: &dyn Store) -> Vec<(String, String)> {
    let views = store.limits(None).await.expect("limits can be read");
    let paused = views.iter().filter_map(|view| {
        let reason = view.paused.as_ref()?;
        Some((view.bucket.to_string(), reason.to_string()))
    });
    paused.collect()
}

/// Every lane that draws on it, alone or among others, whatever its bucket hears meanwhile.
pub async fn a_paused_limit_starts_nothing_until_it_is_resumed(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 1 margin 0"), ("a/y", FREE), ("b/x", FREE)];
    let scene = Scene::with(store, &limits).await;
    for lane in ["a/x", "a/x+y", "a/y", "b/x"] {
        scene.fill(lane, 2, NOW).await;
    }
    scene.start("a/x", NOW).await;
    assert_eq!(pause(store, &["x"], Some("not in the token"), 1).await, 1);
    assert_eq!(paused(store).await, [("a/x".into(), "not in the token".into())]);
    scene.fill("a/x", 1, at(2)).await;
    store.feedback(read("a/x"), Feedback::Released, at(2)).await.expect("feedback is taken down");
    for lane in ["a/x", "a/x+y"] {
        assert_eq!(scene.place(lane).await, Place::Paused);
        assert!(scene.claim(lane, at(999_999)).await.is_none());
    }
    let due = scene.due(at(999_999)).await;
    assert_eq!(due.next_at, None, "a paused lane is woken by no clock");
    let mut lanes: Vec<_> = due.lanes.iter().map(|due| due.lane.to_string()).collect();
    lanes.sort();
    assert_eq!(lanes, ["a/y", "b/x"]);
    scene.is_sound().await;

    assert_eq!(pause(store, &["x"], None, 3).await, 1);
    assert_eq!(paused(store).await, []);
    for lane in ["a/x", "a/x+y"] {
        assert_eq!(scene.place(lane).await, Place::Parked { ready_at: at(60_000) });
    }
    assert!(scene.claim("a/x+y", at(60_000)).await.is_some());
    scene.is_sound().await;
}

/// Of one account, without those that are so already and without groups that have no limit.
pub async fn the_limits_that_a_pause_changes_are_counted(store: &dyn Store) {
    let limits = [("a/x", FREE), ("a/y", FREE), ("a/z", FREE), ("b/x", FREE)];
    let scene = Scene::with(store, &limits).await;
    let all =
        |reason: Option<&str>| store.pause_limits(read("a"), None, reason.map(Arc::from), NOW);
    assert_eq!(pause(store, &["x", "nothing"], Some("why"), 0).await, 1);
    assert_eq!(pause(store, &["x"], Some("why"), 0).await, 0);
    assert_eq!(pause(store, &["x"], Some("another reason"), 0).await, 0);
    assert_eq!(paused(store).await, [("a/x".into(), "why".into())], "the first one stays");
    assert_eq!(pause(store, &[], Some("why"), 0).await, 0);
    assert_eq!(all(Some("why")).await.expect("answered"), 2);
    assert_eq!(paused(store).await.len(), 3);
    assert_eq!(all(None).await.expect("answered"), 3);
    assert_eq!(all(None).await.expect("answered"), 0);
    assert_eq!(paused(store).await, []);
    let unknown = store.pause_limits(read("nobody"), None, Some("why".into()), NOW).await;
    assert_eq!(unknown.expect("answered"), 0);
    scene.is_sound().await;
}

/// What it allows may change; that it is paused does not.
pub async fn a_limit_keeps_its_pause_when_it_is_changed(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 1 margin 0")]).await;
    scene.fill("a/x", 1, NOW).await;
    pause(store, &["x"], Some("why"), 0).await;
    scene.limit(&[("a/x", FREE)], NOW).await;
    assert_eq!(paused(store).await, [("a/x".into(), "why".into())]);
    assert_eq!(scene.place("a/x").await, Place::Paused);
    scene.is_sound().await;
    pause(store, &["x"], None, 0).await;
    assert_eq!(scene.due(NOW).await.lanes.len(), 1);
    scene.is_sound().await;
}

/// An account and a limit are paused apart: who waits for both waits until both are resumed.
pub async fn a_lane_waits_for_its_account_and_for_its_limits(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.account("a").await;
    scene.fill("a/x", 1, NOW).await;
    scene.pause("a", Some("why"), NOW).await;
    pause(store, &["x"], Some("why"), 0).await;
    scene.pause("a", None, NOW).await;
    assert_eq!(scene.place("a/x").await, Place::Paused);
    scene.pause("a", Some("why"), NOW).await;
    pause(store, &["x"], None, 0).await;
    assert_eq!(scene.place("a/x").await, Place::Paused);
    scene.pause("a", None, NOW).await;
    assert_eq!(scene.due_lanes(NOW).await, ["a/x"]);
    scene.is_sound().await;
}

/// It is told so, or parked, as its caller wishes; permits of other limits are given.
pub async fn a_running_job_gets_no_permit_of_a_paused_limit(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("a/y", FREE)]).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    pause(store, &["x"], Some("why"), 0).await;
    let ask = |needs, on_denied| scene.acquire(lease, needs, on_denied, Saved::default(), at(1));
    assert!(matches!(ask("y", OnDenied::Park).await, Acquired::Granted { .. }));
    let told = ask("x+y", OnDenied::Tell).await;
    assert!(matches!(told, Acquired::Denied { wait_ms: 1.. }), "{told:?}");
    assert_eq!(scene.state(job.id).await, JobState::Running);
    let denied = scene.acquire(lease, "x", OnDenied::Park, checkpoint("[1]"), at(1)).await;
    assert!(matches!(denied, Acquired::Denied { wait_ms: 1.. }), "{denied:?}");
    assert_eq!(scene.state(job.id).await, JobState::Waiting);
    assert_eq!(scene.place("a/x").await, Place::Paused);
    scene.is_sound().await;
    pause(store, &["x"], None, 2).await;
    let (job, _) = scene.start("a/x", at(2)).await;
    assert_eq!(job.checkpoint.as_deref(), Some("[1]"));
    scene.is_sound().await;
}

/// Callers outside the queue are denied like everybody else.
pub async fn nobody_takes_tokens_of_a_paused_limit(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("a/y", FREE)]).await;
    pause(store, &["y"], Some("why"), 0).await;
    let draws = |groups: &[&str]| {
        let bucket = |group: &&str| read(&format!("a/{group}"));
        groups.iter().map(|group| (bucket(group), waitless_bucket::Cost::ONE)).collect()
    };
    let denied = store.take(draws(&["x", "y"]), NOW).await.expect("answered");
    match denied {
        Taken::Denied { wait_ms: 1.., bucket } => assert_eq!(bucket, read("a/y")),
        other => panic!("{other:?}"),
    }
    let allowed = store.take(draws(&["x"]), NOW).await.expect("answered");
    assert_eq!(allowed, Taken::Allowed { remaining: 99 }, "the denial took nothing");
    scene.is_sound().await;
}

/// In one step: the limits are paused, and the job waits for them with all it has saved. That costs
/// neither an attempt nor a snooze.
pub async fn a_job_that_pauses_its_limits_waits_for_them(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 1 margin 0"), ("a/y", FREE), ("b/x", FREE)];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 2, NOW).await;
    scene.fill("a/y", 1, NOW).await;
    scene.fill("b/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let pause_both = Outcome::Pause {
        groups: vec![read("x"), read("nothing")],
        reason: "401: the token was revoked".into(),
    };
    let saved = everything("[7]", vec![unspent("x", NOW)]);
    let settled = scene.settle(lease, pause_both.clone(), saved.clone(), NOW).await;
    assert_eq!(settled, Settled::Now(JobState::Waiting));
    let record = scene.record(job.id).await;
    assert_eq!((record.attempts, record.snoozes, record.error), (0, 0, None));
    assert_eq!(record.checkpoint.as_deref(), Some("[7]"));
    assert_eq!(paused(store).await, [("a/x".into(), "401: the token was revoked".into())]);
    assert_eq!(scene.place("a/x").await, Place::Paused);
    let lane = store.lane(read("a/x")).await.expect("lanes can be read");
    assert_eq!(lane.waiting, 2);
    let mut due = scene.due_lanes(at(999_999)).await;
    due.sort();
    assert_eq!(due, ["a/y", "b/x"]);
    scene.is_sound().await;

    let again = scene.settle(lease, pause_both, Saved::default(), at(1)).await;
    assert_eq!(again, Settled::Stale);
    pause(store, &["x"], None, 2).await;
    let (first, _) = scene.start("a/x", at(2)).await;
    assert_eq!(first.id, job.id, "it has kept its place, and its token came back");
    scene.is_sound().await;
}
