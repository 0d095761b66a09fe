//! What refusals teach a bucket of how fast it may really go.

use waitless_bucket::{CLEAN_ANSWERS, effective};
use waitless_job::Feedback;

use super::scene::{NOW, Scene, at, read};
use crate::{Store, model::Place};

async fn tell(store: &dyn Store, feedback: Feedback, ms: u64) {
    store.feedback(read("a/x"), feedback, at(ms)).await.expect("feedback is taken down");
}

/// An answer to a request that was sent a moment before.
async fn accepted(store: &dyn Store, ms: u64) {
    let sent_at = at(ms - 1);
    tell(store, Feedback::Accepted { remaining: None, in_flight: 0, sent_at }, ms).await;
}

/// A refusal of one, which names no wait.
async fn refused(store: &dyn Store, ms: u64) {
    let sent_at = at(ms - 1);
    tell(store, Feedback::Rejected { until: None, refund: None, sent_at }, ms).await;
}

/// The interval that the bucket keeps to, in milliseconds.
async fn interval_ms(store: &dyn Store) -> u64 {
    let view = &store.limits(None).await.expect("limits can be read")[0];
    effective(view.state.as_ref(), &view.policy).interval_ms()
}

/// Of one interval, twice that for the second in a row, and so on. Lanes sleep until then.
pub async fn a_refusal_that_names_no_wait_closes_the_bucket_for_an_interval(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 9 margin 0")]).await;
    scene.fill("a/x", 3, NOW).await;
    refused(store, 10_000).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(70_000) });
    refused(store, 70_002).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(190_002) });
    assert!(scene.claim("a/x", at(190_002)).await.is_some());
    assert!(scene.claim("a/x", at(190_002)).await.is_none(), "one token, and not the whole burst");
    scene.is_sound().await;
}

/// Lanes sleep by the longer interval, and readers see it. Clean answers bring the published one
/// back; setting the same limit again does not, another limit does.
pub async fn refusals_that_keep_coming_make_a_bucket_slower_until_none_comes(store: &dyn Store) {
    let limit = [("a/x", "1/min burst 1 margin 0")];
    let scene = Scene::with(store, &limit).await;
    scene.fill("a/x", 9, NOW).await;
    let learn = |ms| async move {
        refused(store, ms).await;
        accepted(store, ms + 100_000).await;
        refused(store, ms + 200_000).await;
    };
    learn(1_000).await;
    assert_eq!(interval_ms(store).await, 63_780);
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(201_000 + 63_780) });
    scene.start("a/x", at(300_000)).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(300_000 + 63_780) });
    scene.is_sound().await;
    scene.limit(&limit, at(300_000)).await;
    assert_eq!(interval_ms(store).await, 63_780);
    for _ in 0..CLEAN_ANSWERS {
        accepted(store, 310_000).await;
    }
    assert_eq!(interval_ms(store).await, 60_000);
    scene.is_sound().await;

    learn(1_000_000).await;
    assert_ne!(interval_ms(store).await, 60_000);
    scene.limit(&[("a/x", "2/min burst 2 margin 0")], at(2_000_000)).await;
    assert_eq!(interval_ms(store).await, 60_000);
    scene.is_sound().await;
}

/// An upstream answers thousands of times a day that all is well.
pub async fn an_answer_that_says_nothing_new_writes_nothing(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 9 margin 0")]).await;
    accepted(store, 1).await;
    let before = store.audit().await.expect("a store can be read");
    assert_eq!(before.buckets, [], "a full bucket is not stored");
    scene.fill("a/x", 2, at(1)).await;
    scene.start("a/x", at(1)).await;
    let before = store.audit().await.expect("a store can be read");
    let says = |remaining| Feedback::Accepted { remaining, in_flight: 0, sent_at: at(1) };
    for remaining in [None, Some(8), Some(9)] {
        tell(store, says(remaining), 700).await;
        assert_eq!(store.audit().await.expect("a store can be read"), before);
    }
    tell(store, says(Some(3)), 700).await;
    assert_ne!(store.audit().await.expect("a store can be read"), before);
    scene.is_sound().await;
}
