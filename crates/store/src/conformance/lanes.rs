//! Lanes: who comes first.

use std::cmp::Reverse;

use waitless_job::{Class, JobState};

use super::scene::{NOW, Scene, at, read};
use crate::{
    Store,
    model::{Lane, Place, Rank},
    ops::{Outcome, Saved},
};

const FREE: &str = "100/s burst 100 margin 0";

/// Class first, then arrival, also for jobs that come back.
pub async fn jobs_of_a_lane_come_by_class_then_arrival(store: &dyn Store) {
    use Class::{Bulk, Interactive, Normal};
    let scene = Scene::with(store, &[("a/orders", FREE)]).await;
    let mut ids = Vec::new();
    for class in [Bulk, Normal, Interactive, Bulk, Interactive, Normal] {
        ids.push(scene.enqueue(scene.job("a/orders").class(class), NOW).await);
    }
    let (first, lease) = scene.start("a/orders", NOW).await;
    assert_eq!(first.id, ids[2]);
    scene.settle(lease, Outcome::HandBack, Saved::default(), NOW).await;
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push(scene.start("a/orders", NOW).await.0.id);
    }
    assert_eq!(order, [ids[2], ids[4], ids[1], ids[5], ids[0], ids[3]]);
    scene.is_sound().await;
}

/// Of lanes that are due, the better class goes first, then the one whose bucket is full first, then
/// the one whose tokens are rarer, then the one whose bucket is smaller.
pub async fn lanes_come_by_class_then_slack_then_the_rarer_token_then_the_smaller_bucket(
    store: &dyn Store,
) {
    let scene = Scene::with(
        store,
        &[
            ("a/slow", "1/min burst 10 margin 0"),
            ("a/small", "1/min burst 2 margin 0"),
            ("a/fast", "1/s burst 10 margin 0"),
            ("a/touched", "1/min burst 10 margin 0"),
            ("a/urgent", "1/min burst 10 margin 0"),
        ],
    )
    .await;
    // One token of this bucket is gone: it is full later, so waiting wastes nothing yet.
    store.take(vec![(read("a/touched"), waitless_bucket::Cost::ONE)], NOW).await.expect("full");
    for lane in ["a/touched", "a/slow", "a/fast", "a/small"] {
        scene.enqueue(scene.job(lane), NOW).await;
    }
    scene.enqueue(scene.job("a/urgent").class(Class::Interactive), at(3)).await;
    let due = scene.due(at(5)).await;
    let order: Vec<_> = due.lanes.iter().map(|due| due.lane.to_string()).collect();
    assert_eq!(order, ["a/urgent", "a/small", "a/slow", "a/fast", "a/touched"]);
    assert!(due.lanes.is_sorted_by_key(|due| due.rank), "{due:?}");
    let full_at = due.lanes[4].rank.full_at;
    assert_eq!(full_at, at(60_000), "one token of one per minute is back after one minute");
    assert_eq!(due.lanes[1].rank.time_to_full_ms, 120_000);
    assert_eq!(due.lanes[2].rank.time_to_full_ms, 600_000);
    scene.is_sound().await;
}

/// Ties end with the key: account, then limit groups, each compared byte by byte. Not the key's
/// text: there `a-b/` would come before `a/`.
pub async fn lanes_of_equal_rank_come_by_account_then_groups(store: &dyn Store) {
    let lanes = ["A/x", "a/", "a/x", "a/x+y", "a/x-", "a/y", "a-b/x", "a.b/x", "b/x"];
    let mut limits = Vec::new();
    for account in ["A", "a", "a-b", "a.b", "b"] {
        for group in ["x", "x-", "y"] {
            limits.push((format!("{account}/{group}"), "1/min margin 0"));
        }
    }
    let limits: Vec<_> = limits.iter().map(|(bucket, policy)| (bucket.as_str(), *policy)).collect();
    let scene = Scene::with(store, &limits).await;
    for lane in lanes.iter().rev() {
        scene.enqueue(scene.job(lane), NOW).await;
    }
    // The lane without buckets is as if full since its job came, and no token is less rare than none.
    let mut by_rank: Vec<_> = lanes.into_iter().filter(|lane| *lane != "a/").collect();
    by_rank.push("a/");
    assert_eq!(scene.due_lanes(NOW).await, by_rank);

    for account in ["A", "a", "a-b", "a.b", "b"] {
        scene.account(account).await;
        scene.pause(account, Some("test"), NOW).await;
        scene.pause(account, None, NOW).await;
    }
    let audit = store.audit().await.expect("a store can be read");
    let keys: Vec<_> = audit.lanes.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, lanes);
    let buckets = store.limits(None).await.expect("limits can be read");
    assert!(buckets.is_sorted_by(|a, b| a.bucket < b.bucket), "limits come by bucket");
    scene.is_sound().await;
}

/// A job that needs no tokens is always ready.
pub async fn jobs_without_needs_wait_for_slots_only(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    scene.fill("a/", 3, NOW).await;
    let due = scene.due(NOW).await;
    assert_eq!(due.next_at, None);
    assert_eq!(due.lanes.len(), 1);
    assert_eq!((due.lanes[0].available, due.lanes[0].token_ms), (3, 0));
    let rank =
        Rank { class: Class::Normal, full_at: NOW, token_ms: Reverse(0), time_to_full_ms: 0 };
    assert_eq!(due.lanes[0].rank, rank);
    assert_eq!(scene.claim_all(&["a/", "a/", "a/", "a/"], NOW).await.len(), 3);
    scene.is_sound().await;
}

/// Tokens that one lane has taken are not there for another on the same bucket.
pub async fn lanes_that_share_a_bucket_share_its_tokens(store: &dyn Store) {
    let scene = Scene::with(
        store,
        &[("a/orders", "1/min burst 2 margin 0"), ("a/sales", FREE), ("b/orders", FREE)],
    )
    .await;
    scene.fill("a/orders", 2, NOW).await;
    scene.fill("a/orders+sales", 2, NOW).await;
    scene.fill("b/orders", 1, NOW).await;
    let claimed =
        scene.claim_all(&["a/orders", "a/orders+sales", "a/orders", "a/orders+sales"], NOW).await;
    assert_eq!(claimed.len(), 2, "the bucket holds two tokens");
    assert_eq!(scene.due_lanes(NOW).await, ["b/orders"]);
    // One token comes back: either lane may have it, and only one of them gets it.
    assert_eq!(scene.due_lanes(at(60_000)).await.len(), 3);
    let claimed = scene.claim_all(&["a/orders+sales", "a/orders"], at(60_000)).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].job.lane(), read("a/orders+sales"));
    scene.is_sound().await;
}

/// All buckets give their tokens in one step, or none does.
pub async fn a_job_that_draws_on_two_buckets_takes_all_or_none(store: &dyn Store) {
    let scene = Scene::with(
        store,
        &[("a/orders", "1/min burst 1 margin 0"), ("a/sales", "1/s burst 3 margin 0")],
    )
    .await;
    scene.fill("a/orders+sales:2", 2, NOW).await;
    scene.start("a/orders+sales", NOW).await;
    let before = store.limits(None).await.expect("limits can be read");
    assert!(scene.claim("a/orders+sales", at(2_000)).await.is_none(), "orders is empty");
    let after = store.limits(None).await.expect("limits can be read");
    let states = |views: &[crate::model::LimitView]| -> Vec<_> {
        views.iter().map(|view| view.state).collect()
    };
    assert_eq!(states(&before), states(&after), "a denial writes nothing");
    let ready_at = at(60_000);
    assert_eq!(scene.place("a/orders+sales").await, Place::Parked { ready_at });
    assert!(scene.claim("a/orders+sales", ready_at).await.is_some());
    scene.is_sound().await;
}

/// A lane in which nobody waits any more is as one that nobody has used.
pub async fn an_empty_lane_is_forgotten(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", FREE)]).await;
    let empty = Lane { waiting: 0, place: Place::Empty };
    let lane = || async { store.lane(read("a/orders")).await.expect("lanes can be read") };
    assert_eq!(lane().await, empty);
    scene.fill("a/orders", 2, NOW).await;
    assert_eq!(lane().await.waiting, 2);
    let (first, _) = scene.start("a/orders", NOW).await;
    assert_eq!(lane().await.waiting, 1);
    scene.start("a/orders", NOW).await;
    assert_eq!(lane().await, empty);
    assert_eq!(store.audit().await.expect("a store can be read").lanes, []);
    assert_eq!(scene.state(first.id).await, JobState::Running);
    scene.is_sound().await;
}
