//! Leases.

use waitless_job::{JobState, LeaseToken};

use super::scene::{LEASE_MS, NOW, Scene, at, everything, id, unspent};
use crate::{
    Store,
    ops::{Acquired, LeaseRef, OnDenied, Outcome, Reap, Renewal, Saved, Settled},
};

const FREE: &str = "100/s burst 100 margin 0";

/// A token that is not, or no longer, the job's: every report under it is refused and leaves all
/// as it was, what it wants to save and to give back included.
pub async fn a_stale_lease_changes_nothing(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/h burst 9 margin 0")]).await;
    scene.fill("a/x", 3, NOW).await;
    let (_, lost) = scene.start("a/x", NOW).await;
    store.reap(Reap::Expired, 10, at(LEASE_MS)).await.expect("leases can be ended");
    let (_, held) = scene.start("a/x", at(LEASE_MS)).await;
    assert_eq!(held.job, lost.job, "somebody else has it now");
    let (_, over) = scene.start("a/x", at(LEASE_MS)).await;
    scene.settle(over, Outcome::Done, Saved::default(), at(LEASE_MS)).await;

    let before = store.audit().await.expect("a store can be read");
    let never = LeaseRef { job: held.job, token: LeaseToken(id(0xdead).0) };
    let nobody = LeaseRef { job: id(0xbeef), token: held.token };
    for stale in [lost, over, never, nobody] {
        let now = at(LEASE_MS + 1);
        let saved = || everything("[9]", vec![unspent("x:5", NOW)]);
        for outcome in [
            Outcome::Done,
            Outcome::Snooze { until: at(1) },
            Outcome::Retry { at: at(1), error: "e".into() },
            Outcome::Cancel { reason: "r".into() },
            Outcome::Dead { reason: "r".into() },
            Outcome::HandBack,
        ] {
            assert_eq!(scene.settle(stale, outcome, saved(), now).await, Settled::Stale);
        }
        for on_denied in [OnDenied::Park, OnDenied::Tell] {
            let acquired = scene.acquire(stale, "x", on_denied, saved(), now).await;
            assert_eq!(acquired, Acquired::Stale);
        }
        let renewal = Renewal { lease: stale, expires_at: at(999_999), saved: saved() };
        assert_eq!(store.renew(vec![renewal], now).await.expect("answered"), [false]);
    }
    assert_eq!(store.audit().await.expect("a store can be read"), before);
    scene.is_sound().await;
}

/// Late renewals that overtake each other cannot shorten a lease.
pub async fn a_renewal_extends_a_lease_and_never_shortens_it(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 2, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let (_, other) = scene.start("a/x", NOW).await;
    let renew = |lease, expires_at| Renewal { lease, expires_at, saved: Saved::default() };
    let end = || async { scene.record(job.id).await.lease.map(|lease| lease.expires_at) };

    let stale = LeaseRef { job: job.id, token: other.token };
    let renewals = vec![renew(stale, at(1)), renew(lease, at(99_000)), renew(other, at(5))];
    let renewed = store.renew(renewals, at(1)).await.expect("answered");
    assert_eq!(renewed, [false, true, true], "in order");
    assert_eq!(end().await, Some(at(99_000)));
    store.renew(vec![renew(lease, at(98_000))], at(2)).await.expect("answered");
    assert_eq!(end().await, Some(at(99_000)));
    let reaped = store.reap(Reap::Expired, 9, at(98_999)).await.expect("leases can be ended");
    assert_eq!(reaped.len(), 1);
    assert_eq!(reaped[0].id, other.job);
    // A lease past its end that nobody has ended yet is still its holder's.
    let settled = scene.settle(lease, Outcome::Done, Saved::default(), at(200_000)).await;
    assert_eq!(settled, Settled::Now(JobState::Succeeded));
    scene.is_sound().await;
}

/// Checkpoint and progress are safe with the next renewal.
pub async fn a_renewal_saves_what_the_job_has(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    let saved = everything("\"cursor\"", Vec::new());
    let renewal = Renewal { lease, expires_at: at(70_000), saved: saved.clone() };
    store.renew(vec![renewal], at(1)).await.expect("answered");
    let renewal = Renewal { lease, expires_at: at(80_000), saved: Saved::default() };
    store.renew(vec![renewal], at(2)).await.expect("answered");
    store.reap(Reap::Expired, 9, at(80_000)).await.expect("leases can be ended");
    let after = scene.record(job.id).await;
    assert_eq!(after.state, JobState::Waiting);
    assert_eq!(after.checkpoint, saved.checkpoint);
    assert_eq!(Some(after.progress), saved.progress);
    scene.is_sound().await;
}

/// The job waits again, one attempt older, and says why; its token stays spent.
pub async fn a_lease_ends_at_its_end_and_not_before(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/h burst 1 margin 0")]).await;
    scene.fill("a/x", 1, NOW).await;
    let (job, _) = scene.start("a/x", NOW).await;
    let early = store.reap(Reap::Expired, 9, at(LEASE_MS - 1)).await.expect("answered");
    assert_eq!(early, []);
    let reaped = store.reap(Reap::Expired, 9, at(LEASE_MS)).await.expect("answered");
    assert_eq!(reaped, [scene.record(job.id).await]);
    let job = &reaped[0];
    assert_eq!((job.state, job.attempts, job.snoozes), (JobState::Waiting, 1, 0));
    assert_eq!(job.lease, None);
    let error = job.error.as_deref().expect("it says why");
    assert!(error.contains("worker-1"), "{error}");
    assert!(scene.claim("a/x", at(LEASE_MS)).await.is_none(), "the request may have gone out");
    assert!(scene.claim("a/x", at(3_600_000)).await.is_some());
    scene.is_sound().await;
}

/// A job that kills its workers does not do so for ever.
pub async fn the_last_lost_lease_makes_a_dead_letter(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let id = scene.enqueue(scene.job("a/x").attempts_max(3), NOW).await;
    for attempt in 1..=3 {
        let now = at(attempt * LEASE_MS);
        scene.start("a/x", now).await;
        let reaped = store.reap(Reap::Expired, 9, now.plus(LEASE_MS)).await.expect("answered");
        let (last, job) = (attempt == 3, &reaped[0]);
        assert_eq!(u64::from(job.attempts), attempt);
        assert_eq!(job.state, if last { JobState::Dead } else { JobState::Waiting });
        assert_eq!(job.finished_at, last.then(|| now.plus(LEASE_MS)));
    }
    assert_eq!(scene.state(id).await, JobState::Dead);
    assert!(scene.due_lanes(at(9 * LEASE_MS)).await.is_empty());
    scene.is_sound().await;
}

/// Those longest overdue first, no more than asked for.
pub async fn leases_are_ended_earliest_first(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    let ids = scene.fill("a/x", 4, NOW).await;
    let mut leases = Vec::new();
    for _ in 0..4 {
        leases.push(scene.start("a/x", NOW).await.1);
    }
    for (lease, end) in leases.iter().zip([90_000, 70_000, 80_000, 70_000]) {
        let renewal = Renewal { lease: *lease, expires_at: at(end), saved: Saved::default() };
        store.renew(vec![renewal], NOW).await.expect("answered");
    }
    let reap = |limit, now| async move {
        let reaped = store.reap(Reap::Expired, limit, now).await.expect("answered");
        reaped.iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(reap(1, at(85_000)).await, [ids[1]]);
    assert_eq!(reap(9, at(85_000)).await, [ids[3], ids[2]]);
    assert!(reap(9, at(85_000)).await.is_empty());
    assert_eq!(reap(9, at(90_000)).await, [ids[0]]);
    scene.is_sound().await;
}

/// By a worker that knows its predecessor to be dead.
pub async fn every_lease_can_be_ended_at_once(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 3, NOW).await;
    scene.start("a/x", NOW).await;
    scene.start("a/x", NOW).await;
    assert_eq!(store.reap(Reap::All, 1, at(1)).await.expect("answered").len(), 1);
    assert_eq!(store.reap(Reap::All, 9, at(1)).await.expect("answered").len(), 1);
    assert_eq!(store.reap(Reap::All, 9, at(1)).await.expect("answered").len(), 0);
    let counts = store.job_counts(None).await.expect("jobs can be counted");
    assert_eq!(counts, [(JobState::Waiting, 3)]);
    scene.is_sound().await;
}
