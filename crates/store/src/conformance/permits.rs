//! Permits for running jobs.

use waitless_job::{Class, JobState};

use super::scene::{NOW, Scene, at, checkpoint, everything, needs, read, unspent};
use crate::{
    Store, StoreError,
    model::Place,
    ops::{Acquire, Acquired, OnDenied, Outcome, Renewal, Saved, Settled},
};

/// The tokens are gone, the job's needs are those of its last permit, and its checkpoint is saved.
pub async fn a_granted_permit_takes_its_tokens(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 3 margin 20ms"), ("a/y", "1/min burst 3 margin 10ms")];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let saved = everything("[1]", Vec::new());
    let acquired = scene.acquire(lease, "x+y:2", OnDenied::Park, saved.clone(), at(60)).await;
    assert_eq!(acquired, Acquired::Granted { grant_ttl_ms: 10 });
    let after = scene.record(job.id).await;
    assert_eq!(after.state, JobState::Running);
    assert_eq!(after.lease, job.lease);
    assert_eq!(after.needs, needs("x+y:2"));
    assert_eq!(after.checkpoint.as_deref(), Some("[1]"));
    assert_eq!(Some(after.progress), saved.progress);
    let views = store.limits(None).await.expect("limits can be read");
    let whole: Vec<_> = views
        .iter()
        .map(|view| (view.running, view.state.expect("drawn on").whole_tokens()))
        .collect();
    assert_eq!(whole, [(1, 1), (1, 0)], "y is a hair below one token: the margin");
    // Without needs there is nothing to take, and no end to the permit.
    let acquired = scene.acquire(lease, "", OnDenied::Park, Saved::default(), at(60)).await;
    assert_eq!(acquired, Acquired::Granted { grant_ttl_ms: u64::MAX });
    scene.is_sound().await;
}

/// In the step that denies it: back in the lane of what it needs now, its lease over, no attempt
/// and one snooze counted.
pub async fn a_denied_permit_parks_the_job_with_its_checkpoint(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 2 margin 0"), ("a/y", "1/min burst 1 margin 0")];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    scene.drain("a/y", NOW).await;
    let saved = everything("{\"page\":7}", Vec::new());
    let acquired = scene.acquire(lease, "x+y", OnDenied::Park, saved.clone(), at(10)).await;
    assert_eq!(acquired, Acquired::Denied { wait_ms: 59_990 });

    let parked = scene.record(job.id).await;
    assert_eq!(parked.state, JobState::Waiting);
    assert_eq!((parked.attempts, parked.snoozes), (0, 1));
    assert_eq!(parked.lease, None);
    assert_eq!(parked.checkpoint.as_deref(), Some("{\"page\":7}"));
    assert_eq!(Some(parked.progress), saved.progress);
    assert_eq!(scene.place("a/x").await, Place::Empty);
    assert_eq!(scene.place("a/x+y").await, Place::Parked { ready_at: at(60_000) });
    let settled = scene.settle(lease, Outcome::Done, Saved::default(), at(11)).await;
    assert_eq!(settled, Settled::Stale, "its lease is over");
    // The token of x is there still: all or none.
    assert!(scene.claim("a/x+y", at(59_999)).await.is_none());
    let (job, _) = scene.start("a/x+y", at(60_000)).await;
    assert_eq!(job.checkpoint.as_deref(), Some("{\"page\":7}"));
    assert_eq!(job.started_at, Some(NOW), "a worker first had it then");
    scene.is_sound().await;
}

/// A job that has something else to do meanwhile is told the wait and keeps its slot.
pub async fn a_denied_permit_may_leave_the_job_running(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 1 margin 0")]).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let acquired = scene.acquire(lease, "x", OnDenied::Tell, checkpoint("[2]"), at(1_000)).await;
    assert_eq!(acquired, Acquired::Denied { wait_ms: 59_000 });
    let after = scene.record(job.id).await;
    assert_eq!((after.state, after.snoozes), (JobState::Running, 0));
    assert_eq!(after.lease, job.lease);
    assert_eq!(after.checkpoint.as_deref(), Some("[2]"));
    let acquired = scene.acquire(lease, "x", OnDenied::Tell, Saved::default(), at(60_000)).await;
    assert_eq!(acquired, Acquired::Granted { grant_ttl_ms: 1 });
    scene.is_sound().await;
}

/// A permit that can never be is refused before anything else is done.
pub async fn a_refused_permit_saves_nothing(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 2 margin 0")]).await;
    scene.fill("a/x:2", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let before = store.audit().await.expect("a store can be read");
    let saved = everything("[3]", vec![unspent("x:2", NOW)]);
    let acquire = Acquire { lease, needs: needs("y"), on_denied: OnDenied::Park, saved };
    let refused = store.acquire(acquire, at(1)).await.expect_err("nobody knows y");
    assert!(matches!(refused, StoreError::UnknownLimit { .. }), "{refused}");
    assert_eq!(store.audit().await.expect("a store can be read"), before);
    assert_eq!(scene.state(job.id).await, JobState::Running);
    scene.is_sound().await;
}

/// An import that rides its burst lets an interactive job pass: there is a token, but not for it.
pub async fn a_running_job_gives_way_to_a_more_urgent_one(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 5 margin 0"), ("a/y", "1/min burst 5 margin 0")];
    let scene = Scene::with(store, &limits).await;
    let bulk = scene.enqueue(scene.job("a/x").class(Class::Bulk), NOW).await;
    let (_, lease) = scene.start("a/x", NOW).await;
    let ask = |on_denied| scene.acquire(lease, "x", on_denied, Saved::default(), at(1));
    let granted = Acquired::Granted { grant_ttl_ms: 1 };
    assert_eq!(ask(OnDenied::Park).await, granted);

    // Neither a later job of its class nor an urgent one elsewhere stops it.
    scene.enqueue(scene.job("a/x").class(Class::Bulk), NOW).await;
    scene.enqueue(scene.job("a/y").class(Class::Interactive), NOW).await;
    assert_eq!(ask(OnDenied::Park).await, granted);

    let urgent = scene.enqueue(scene.job("a/x+y").class(Class::Interactive), NOW).await;
    assert_eq!(ask(OnDenied::Tell).await, Acquired::Denied { wait_ms: 0 });
    assert_eq!(scene.state(bulk).await, JobState::Running);
    assert_eq!(ask(OnDenied::Park).await, Acquired::Denied { wait_ms: 0 });
    assert_eq!(scene.state(bulk).await, JobState::Waiting);
    let (job, _) = scene.start("a/x+y", at(2)).await;
    assert_eq!(job.id, urgent);
    let (job, _) = scene.start("a/x", at(2)).await;
    assert_eq!(job.id, bulk, "it came before the other import");
    scene.is_sound().await;
}

/// What was taken and not spent is there again, with an outcome, a permit or a renewal, and whoever
/// sleeps for it is awake.
pub async fn unspent_tokens_come_back_and_wake_the_lane(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/h burst 2 margin 0")]).await;
    scene.fill("a/x", 4, NOW).await;
    // Given back at the moment they were taken, so that all of them comes back.
    let give_back = |at| Saved { unspent: vec![unspent("x", at)], ..Saved::default() };
    let (_, first) = scene.start("a/x", NOW).await;
    let (_, second) = scene.start("a/x", NOW).await;
    assert!(scene.due_lanes(at(1)).await.is_empty());

    scene.settle(first, Outcome::Done, give_back(at(1)), at(1)).await;
    assert_eq!(scene.due_lanes(at(1)).await, ["a/x"]);
    let (_, third) = scene.start("a/x", at(1)).await;
    assert!(scene.due_lanes(at(1)).await.is_empty());

    let renewal = Renewal { lease: second, expires_at: at(90_000), saved: give_back(at(2)) };
    assert_eq!(store.renew(vec![renewal], at(2)).await.expect("it is renewed"), [true]);
    assert_eq!(scene.due_lanes(at(2)).await, ["a/x"]);
    let (_, fourth) = scene.start("a/x", at(2)).await;

    // A stale permit, given back with the question for a new one.
    let acquired = scene.acquire(third, "x", OnDenied::Park, give_back(at(3)), at(3)).await;
    assert_eq!(acquired, Acquired::Granted { grant_ttl_ms: 1 });
    // Never above full.
    let many = Saved {
        unspent: ["x:2", "x:2", "x"].map(|groups| unspent(groups, at(4))).to_vec(),
        ..Saved::default()
    };
    scene.settle(fourth, Outcome::Done, many, at(4)).await;
    let view = &store.limits(None).await.expect("limits can be read")[0];
    assert_eq!(view.state.expect("drawn on").whole_tokens(), 2);
    // A stale lease gives nothing back.
    scene.drain("a/x", at(5)).await;
    assert_eq!(scene.settle(first, Outcome::Done, give_back(at(5)), at(5)).await, Settled::Stale);
    assert!(scene.claim("a/x", at(5)).await.is_none());
    scene.is_sound().await;
}

/// What the bucket has gained since the take might have been wasted without it.
pub async fn a_permit_given_back_late_gives_no_more_than_it_kept(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/s burst 2 margin 0")]).await;
    scene.fill("a/x", 4, NOW).await;
    let (_, first) = scene.start("a/x", NOW).await;
    // The bucket is full again a second later, so this permit has cost nobody anything by then.
    let late = Saved { unspent: vec![unspent("x", NOW)], ..Saved::default() };
    let (_, second) = scene.start("a/x", at(1_000)).await;
    scene.settle(first, Outcome::Done, late, at(1_000)).await;
    scene.start("a/x", at(1_000)).await;
    assert!(scene.claim("a/x", at(1_000)).await.is_none(), "three at once from a burst of two");
    // Half of what it took is there again when half of its time has passed.
    let half = Saved { unspent: vec![unspent("x", at(1_000))], ..Saved::default() };
    scene.settle(second, Outcome::Done, half, at(1_500)).await;
    assert_eq!(scene.due_lanes(at(1_500)).await, ["a/x"]);
    scene.is_sound().await;
}

/// Tokens that no bucket can have given are no reason to refuse an outcome.
pub async fn unspent_tokens_of_an_unknown_bucket_are_ignored(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/h burst 2 margin 0")]).await;
    scene.fill("a/x", 2, NOW).await;
    let (job, first) = scene.start("a/x", NOW).await;
    let (other, second) = scene.start("a/x", NOW).await;
    let unspent = vec![unspent("x", at(1)), unspent("unknown+x", at(1))];
    let settle = |lease, unspent| crate::ops::Settle {
        lease,
        outcome: Outcome::Done,
        saved: Saved { unspent, ..Saved::default() },
    };
    let settles = vec![settle(first, Vec::new()), settle(second, unspent)];
    let settled = store.settle(settles, at(1)).await.expect("both outcomes are taken down");
    assert_eq!(settled, [Settled::Now(JobState::Succeeded); 2]);
    assert_eq!(scene.state(job.id).await, JobState::Succeeded);
    assert_eq!(scene.state(other.id).await, JobState::Succeeded);
    let views = store.limits(Some(read("a"))).await.expect("limits can be read");
    assert_eq!(views.len(), 1);
    assert_eq!(views[0].state.expect("drawn on").whole_tokens(), 2);
    scene.is_sound().await;
}
