//! Accounts and their pauses.

use waitless_job::JobState;

use super::scene::{NOW, Scene, account, at};
use crate::{
    Store,
    model::{Account, Place, Rank},
    ops::{Acquired, OnDenied, Outcome, Reap, Saved},
};

const FREE: &str = "100/s burst 100 margin 0";

/// Its lanes are not due and give nothing; others do. A job that runs goes on.
pub async fn a_paused_account_starts_nothing_until_it_is_resumed(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("a/y", "1/min burst 1 margin 0")]).await;
    scene.account("a").await;
    for lane in ["a/x", "a/y", "a/", "b/"] {
        scene.fill(lane, 2, NOW).await;
    }
    let (_, lease) = scene.start("a/x", NOW).await;
    scene.start("a/y", NOW).await;
    assert!(scene.pause("a", Some("its token is dead"), at(1)).await);
    for lane in ["a/x", "a/y", "a/"] {
        assert_eq!(scene.place(lane).await, Place::Paused);
        assert!(scene.claim(lane, at(999_999)).await.is_none());
    }
    let due = scene.due(at(999_999)).await;
    assert_eq!(due.lanes.len(), 1);
    assert_eq!(due.next_at, None, "a paused lane is woken by no clock");
    let accounts = store.accounts().await.expect("accounts can be read");
    assert_eq!(accounts[0].paused.as_deref(), Some("its token is dead"));
    let settled = scene.settle(lease, Outcome::HandBack, Saved::default(), at(2)).await;
    assert_eq!(settled, crate::ops::Settled::Now(JobState::Waiting));
    assert_eq!(scene.place("a/x").await, Place::Paused);
    scene.is_sound().await;

    assert!(scene.pause("a", None, at(3)).await);
    assert_eq!(scene.place("a/y").await, Place::Parked { ready_at: at(60_000) });
    assert!(matches!(scene.place("a/x").await, Place::Ready(Rank { .. })));
    assert!(scene.claim("a/x", at(3)).await.is_some());
    let accounts = store.accounts().await.expect("accounts can be read");
    assert_eq!(accounts[0].paused, None);
    scene.is_sound().await;
}

/// New jobs, delayed ones whose moment comes, and lost ones.
pub async fn jobs_that_come_while_an_account_is_paused_wait_for_it(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE), ("a/y", FREE), ("a/z", FREE)]).await;
    scene.account("a").await;
    scene.fill("a/z", 1, NOW).await;
    scene.start("a/z", NOW).await;
    scene.enqueue(scene.job("a/y").run_at(at(100)), NOW).await;
    scene.pause("a", Some("why"), NOW).await;
    scene.fill("a/x", 1, at(1)).await;
    store.reap(Reap::All, 9, at(1)).await.expect("leases can be ended");
    assert!(scene.due_lanes(at(100)).await.is_empty());
    for lane in ["a/x", "a/y", "a/z"] {
        assert_eq!(scene.place(lane).await, Place::Paused, "{lane}");
    }
    scene.is_sound().await;
    scene.pause("a", None, at(101)).await;
    assert_eq!(scene.due_lanes(at(101)).await.len(), 3);
    scene.is_sound().await;
}

/// What people call it and what is known of its token may change; its pause, and when it was first
/// seen, do not.
pub async fn an_account_keeps_its_pause_when_it_is_changed(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    scene.account("a").await;
    scene.pause("a", Some("why"), NOW).await;
    let changed = Account {
        name: "Another".into(),
        upstream: "elsewhere".into(),
        added_at: at(99),
        token_expires_at: None,
        token_family: None,
        categories: Some(Vec::new()),
        ..account("a")
    };
    store.put_account(changed.clone()).await.expect("an account can be changed");
    let kept = Account { added_at: NOW, paused: Some("why".into()), ..changed };
    assert_eq!(store.accounts().await.expect("accounts can be read"), [kept]);
    scene.is_sound().await;
}

/// Its jobs may wait already: pausing their lanes is a step of its own.
pub async fn adding_an_account_pauses_nothing(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 1, NOW).await;
    let paused = Account { paused: Some("why".into()), ..account("a") };
    store.put_account(paused).await.expect("an account can be added");
    assert_eq!(store.accounts().await.expect("accounts can be read"), [account("a")]);
    scene.is_sound().await;
    assert_eq!(scene.due_lanes(NOW).await, ["a/x"]);
    scene.is_sound().await;
}

/// The answer says so.
pub async fn an_unknown_account_cannot_be_paused(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", FREE)]).await;
    scene.fill("a/x", 1, NOW).await;
    assert!(!scene.pause("a", Some("why"), NOW).await);
    assert_eq!(scene.due_lanes(NOW).await, ["a/x"]);
    assert_eq!(store.accounts().await.expect("accounts can be read"), []);
    scene.is_sound().await;
}

/// It is parked like any other whose permit is denied, and goes on when the account is resumed.
pub async fn a_running_job_of_a_paused_account_gets_no_further_permit(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/s burst 5 margin 0")]).await;
    scene.account("a").await;
    scene.fill("a/x", 1, NOW).await;
    let (job, lease) = scene.start("a/x", NOW).await;
    assert!(scene.pause("a", Some("dead token"), NOW).await);
    let denied = scene.acquire(lease, "x", OnDenied::Park, Saved::default(), at(1)).await;
    assert!(matches!(denied, Acquired::Denied { wait_ms: 1.. }), "{denied:?}");
    assert_eq!(scene.state(job.id).await, JobState::Waiting);
    assert!(scene.due_lanes(at(1)).await.is_empty());
    assert!(scene.pause("a", None, at(1)).await);
    assert_eq!(scene.due_lanes(at(1)).await, ["a/x"]);
    scene.is_sound().await;
}
