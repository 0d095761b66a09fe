//! Claiming.

use waitless_job::{JobState, Lease};

use super::scene::{LEASE_MS, NOW, Scene, at, read};
use crate::{
    Store,
    model::Place,
    ops::{Outcome, Pick, Saved},
};

/// The job, its token and its lease in one step; the lane has moved on in the same.
pub async fn a_claim_takes_token_job_and_lease_together(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 1 margin 40ms")]).await;
    let job = waitless_job::NewJob { args: "[42]".into(), ..scene.job("a/orders") };
    let ids = [scene.enqueue(job, NOW).await, scene.enqueue(scene.job("a/orders"), NOW).await];

    let pick = scene.pick("a/orders");
    let claim = scene.claim_of(vec![pick.clone()], at(7));
    let worker = claim.worker.clone();
    let claimed = store.claim(claim, at(7)).await.expect("a claim is answered");
    assert_eq!(claimed.len(), 1);
    let claimed = &claimed[0];
    assert_eq!(claimed.job.id, ids[0]);
    assert_eq!(claimed.job.state, JobState::Running);
    let lease = Lease { token: pick.lease, worker, expires_at: at(7 + LEASE_MS) };
    assert_eq!(claimed.job.lease, Some(lease));
    assert_eq!(claimed.job.started_at, Some(at(7)));
    assert_eq!(&*claimed.args, "[42]");
    assert_eq!(claimed.grant_ttl_ms, 40, "a grant is good for the margin");
    assert_eq!(scene.record(ids[0]).await, claimed.job);

    let view = &store.limits(None).await.expect("limits can be read")[0];
    assert_eq!((view.waiting, view.running), (1, 1));
    assert!(view.state.is_some(), "the bucket was drawn on");
    let ready_at = at(7 + 60_040);
    assert_eq!(scene.place("a/orders").await, Place::Parked { ready_at });
    scene.is_sound().await;
}

/// A pick whose lane has no token or no job is left out, and the lane sleeps until it has one.
pub async fn a_claim_without_a_token_takes_nothing(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 1 margin 0")]).await;
    let ids = scene.fill("a/orders", 1, NOW).await;
    scene.drain("a/orders", at(10)).await;
    assert!(scene.claim("a/orders", at(10)).await.is_none(), "no token");
    assert!(scene.claim("a/", at(10)).await.is_none(), "no job");
    assert!(scene.claim("b/orders", at(10)).await.is_none(), "no job, and no limit");
    assert_eq!(scene.state(ids[0]).await, JobState::Waiting);
    assert_eq!(scene.place("a/orders").await, Place::Parked { ready_at: at(60_010) });
    assert!(scene.claim("a/orders", at(60_009)).await.is_none(), "one millisecond too early");
    assert!(scene.claim("a/orders", at(60_010)).await.is_some());
    scene.is_sound().await;
}

/// A claim whose answer was lost is asked again with the same leases, and finds what it took.
pub async fn a_claim_may_be_repeated(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 2 margin 0")]).await;
    scene.fill("a/orders", 4, NOW).await;
    let picks = vec![scene.pick("a/orders"), scene.pick("a/orders"), scene.pick("a/orders")];
    let claim = scene.claim_of(picks, NOW);
    let first = store.claim(claim.clone(), NOW).await.expect("a claim is answered");
    assert_eq!(first.len(), 2, "two tokens");
    let again = store.claim(claim.clone(), at(5)).await.expect("a claim is answered");
    assert_eq!(again, first);
    let running = store.limits(None).await.expect("limits can be read")[0].running;
    assert_eq!(running, 2, "nothing more was taken");

    // Once settled it is over: the same lease is then as good as a new one.
    let lease = crate::ops::LeaseRef { job: first[0].job.id, token: claim.picks[0].lease };
    scene.settle(lease, Outcome::Done, Saved::default(), at(6)).await;
    assert_eq!(store.claim(claim, at(6)).await.expect("a claim is answered"), first[1..]);
    scene.is_sound().await;
}

/// The picks of one claim see each other's work.
pub async fn picks_are_taken_in_order(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/s burst 3 margin 0")]).await;
    let ids = scene.fill("a/orders", 4, NOW).await;
    let other = scene.fill("b/", 1, NOW).await;
    let lanes = ["a/orders", "b/", "a/orders", "a/orders", "a/orders", "b/"];
    let claimed = scene.claim_all(&lanes, NOW).await;
    let order: Vec<_> = claimed.iter().map(|claimed| claimed.job.id).collect();
    assert_eq!(order, [ids[0], other[0], ids[1], ids[2]]);
    scene.is_sound().await;
}

/// Two workers that claim at the same time get different jobs.
pub async fn two_claims_at_once_take_no_job_twice(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/s burst 7 margin 0")]).await;
    scene.fill("a/orders", 12, NOW).await;
    let claim = || {
        let pick = || Pick { lane: read("a/orders"), lease: scene.lease() };
        store.claim(scene.claim_of(vec![pick(), pick(), pick()], NOW), NOW)
    };
    let (one, two, three) = tokio::join!(claim(), claim(), claim());
    let mut ids = Vec::new();
    for claimed in [one, two, three] {
        let claimed = claimed.expect("a claim is answered");
        ids.extend(claimed.into_iter().map(|claimed| claimed.job.id));
    }
    assert_eq!(ids.len(), 7, "seven tokens");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 7, "no job twice");
    scene.is_sound().await;
}
