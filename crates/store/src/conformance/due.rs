//! Asking what is due.

use waitless_job::{Feedback, JobState};

use super::scene::{NOW, Scene, at, read};
use crate::{
    Store,
    model::Place,
    ops::{Accounts, DueRequest, Outcome, Saved},
};

const FREE: &str = "100/s burst 100 margin 0";

/// To the millisecond.
pub async fn a_lane_is_due_at_the_moment_it_names_and_not_before(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "7/min burst 1 margin 30ms")]).await;
    scene.fill("a/orders", 3, NOW).await;
    assert_eq!(scene.due_lanes(NOW).await, ["a/orders"]);
    let mut now = NOW;
    for _ in 0..2 {
        scene.start("a/orders", now).await;
        let due = scene.due(now).await;
        assert_eq!(due.lanes, []);
        let next_at = due.next_at.expect("a lane is parked");
        assert_eq!(next_at.since(now), 8_602, "a seventh of a minute and the margin, rounded up");
        let just_before = waitless_bucket::UnixMillis(next_at.0 - 1);
        let due = scene.due(just_before).await;
        assert_eq!((due.lanes, due.next_at), (Vec::new(), Some(next_at)));
        assert_eq!(scene.due_lanes(next_at).await, ["a/orders"]);
        now = next_at;
    }
    scene.is_sound().await;
}

/// A job whose time has not come is in no lane; at its moment it is.
pub async fn delayed_jobs_come_at_their_moment(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", FREE)]).await;
    let later = scene.enqueue(scene.job("a/orders").run_at(at(1_000)), NOW).await;
    let past = scene.enqueue(scene.job("a/orders").run_at(at(5)), at(5)).await;
    assert_eq!(scene.state(later).await, JobState::Scheduled);
    assert_eq!(scene.state(past).await, JobState::Waiting, "its moment is now");
    let (job, _) = scene.start("a/orders", at(5)).await;
    assert_eq!(job.id, past);

    let due = scene.due(at(999)).await;
    assert_eq!((due.lanes, due.next_at), (Vec::new(), Some(at(1_000))));
    assert!(scene.claim("a/orders", at(999)).await.is_none());
    let due = scene.due(at(1_000)).await;
    assert_eq!((due.lanes.len(), due.next_at), (1, None));
    assert_eq!(scene.state(later).await, JobState::Waiting);
    // It keeps its place in the order of arrival.
    scene.fill("a/orders", 1, at(1_000)).await;
    assert_eq!(scene.start("a/orders", at(1_000)).await.0.id, later);
    scene.is_sound().await;
}

/// Lanes of accounts that have their share of slots are left out, and stay where they are.
pub async fn due_leaves_out_excluded_accounts(store: &dyn Store) {
    let limits = [("a/x", FREE), ("a-b/x", FREE), ("b/x", FREE)];
    let scene = Scene::with(store, &limits).await;
    for lane in ["a/x", "a-b/x", "b/x", "a/"] {
        scene.fill(lane, 1, NOW).await;
    }
    let due = |exclude: &'static [&'static str], limit| async move {
        let except = exclude.iter().map(|account| read(account)).collect();
        let accounts = Accounts { only: None, except };
        let due = store.due(DueRequest { limit, accounts }, NOW).await.expect("due is answered");
        due.lanes.iter().map(|due| due.lane.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(due(&["a"], 9).await, ["a-b/x", "b/x"]);
    assert_eq!(due(&["a", "a-b"], 1).await, ["b/x"]);
    assert!(due(&["a", "a-b", "b"], 9).await.is_empty());
    assert_eq!(due(&["nobody"], 9).await, ["a/x", "a-b/x", "b/x", "a/"]);

    let accounts =
        Accounts { only: Some([read("a"), read("b")].into()), except: [read("a")].into() };
    let due = store.due(DueRequest { limit: 9, accounts }, NOW).await.expect("due is answered");
    let lanes: Vec<_> = due.lanes.iter().map(|due| due.lane.to_string()).collect();
    assert_eq!(lanes, ["b/x"], "only those named, and of them not the excluded");
    scene.is_sound().await;
}

/// No more lanes than asked for, and the best of them.
pub async fn due_answers_with_at_most_its_limit(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    for account in ["a", "b", "c", "d"] {
        scene.fill(&format!("{account}/"), 2, NOW).await;
    }
    for limit in 0..6 {
        let request = DueRequest { limit, accounts: Accounts::default() };
        let due = store.due(request, NOW).await.expect("due is answered");
        let lanes: Vec<_> = due.lanes.iter().map(|due| due.lane.to_string()).collect();
        assert_eq!(lanes, ["a/", "b/", "c/", "d/"][..limit.min(4)]);
    }
    scene.is_sound().await;
}

/// As many as there are tokens for and jobs.
pub async fn due_says_how_many_jobs_could_start(store: &dyn Store) {
    let limits = [("a/x", "2/min burst 5 margin 0"), ("a/y", "1/s burst 9 margin 0")];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 7, NOW).await;
    scene.fill("a/x:2+y", 7, NOW).await;
    scene.fill("a/y", 3, NOW).await;
    let due = scene.due(NOW).await;
    let mut available: Vec<_> =
        due.lanes.iter().map(|due| (due.lane.to_string(), due.available, due.token_ms)).collect();
    available.sort();
    let expected = [("a/x", 5, 30_000), ("a/x+y", 2, 1_000), ("a/y", 3, 1_000)];
    let expected = expected.map(|(lane, jobs, ms)| (lane.to_owned(), jobs, ms));
    assert_eq!(available, expected);
    scene.is_sound().await;
}

/// A lane that was ready until another one took its token is put to sleep, and whoever asked for
/// one lane only learns that there is more to see now.
pub async fn lanes_that_lost_their_token_do_not_hide_others(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 1 margin 0"), ("z/x", "1/h burst 1 margin 0")];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 1, NOW).await;
    scene.drain("a/x", at(1)).await;
    scene.fill("z/x", 1, at(2)).await;
    let ask = |now| store.due(DueRequest { limit: 1, accounts: Accounts::default() }, now);
    let due = ask(at(3)).await.expect("due is answered");
    if due.lanes.is_empty() {
        assert_eq!(due.next_at, Some(at(3)), "a lane that is ready was not looked at");
    }
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(60_001) });
    let due = ask(at(3)).await.expect("due is answered");
    assert_eq!(due.lanes.len(), 1);
    assert_eq!((due.lanes[0].lane.clone(), due.next_at), (read("z/x"), Some(at(60_001))));
    scene.is_sound().await;
}

/// Whoever sleeps until the next due moment hears of what may come earlier.
pub async fn what_may_be_due_earlier_is_told(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 1 margin 0")]).await;
    scene.account("a").await;
    let mut changes = store.changes();
    let mut told = || {
        let told = changes.has_changed().expect("the store is open");
        changes.mark_unchanged();
        told
    };
    scene.fill("a/x", 2, NOW).await;
    assert!(told(), "by an enqueue");
    let (_, lease) = scene.start("a/x", NOW).await;
    told();
    scene.settle(lease, Outcome::HandBack, Saved::default(), NOW).await;
    assert!(told(), "by a job that waits again");
    scene.limit(&[("a/x", "2/min burst 2 margin 0")], NOW).await;
    assert!(told(), "by a limit");
    let feedback = |feedback| store.feedback(read("a/x"), feedback, NOW);
    let until = Some(at(9_000));
    let rejected = Feedback::Rejected { until, refund: None, sent_at: NOW };
    feedback(rejected).await.expect("feedback is taken down");
    told();
    feedback(Feedback::Released).await.expect("feedback is taken down");
    assert!(told(), "by feedback");
    let no_news = Feedback::Accepted { remaining: Some(9), in_flight: 0, sent_at: NOW };
    feedback(no_news).await.expect("feedback is taken down");
    assert!(!told(), "an answer that says nothing new wakes nobody");
    scene.pause("a", Some("why"), NOW).await;
    told();
    scene.pause("a", None, NOW).await;
    assert!(told(), "by an account that is resumed");
    scene.is_sound().await;
}
