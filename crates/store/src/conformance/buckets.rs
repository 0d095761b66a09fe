//! Buckets: limits, takes outside the queue, and what upstreams say.

use waitless_bucket::Cost;
use waitless_job::{BucketKey, Feedback};

use super::scene::{NOW, Scene, at, cost_of, read};
use crate::{Store, StoreError, model::Place, ops::Taken};

async fn tell(store: &dyn Store, bucket: &str, feedback: Feedback, ms: u64) {
    store.feedback(read(bucket), feedback, at(ms)).await.expect("feedback is taken down");
}

async fn take(store: &dyn Store, draws: &[(&str, u32)], ms: u64) -> Taken {
    let draws = draws.iter().map(|(bucket, cost)| (read(bucket), cost_of(*cost))).collect();
    store.take(draws, at(ms)).await.expect("a take is answered")
}

/// One refused request closes the bucket once, for all that draw on it; a hold that is already
/// longer stays. At its end there is one token.
pub async fn a_hold_closes_a_lane_until_its_end(store: &dyn Store) {
    let limits = [("a/x", "1/s burst 9 margin 0"), ("a/y", "1/s burst 9 margin 0")];
    let scene = Scene::with(store, &limits).await;
    scene.fill("a/x", 2, NOW).await;
    scene.fill("a/x+y", 2, NOW).await;
    scene.fill("a/y", 2, NOW).await;
    let rejected = |ms, refund| Feedback::Rejected { until: Some(at(ms)), refund, sent_at: NOW };
    tell(store, "a/x", rejected(5_000, None), 1).await;
    tell(store, "a/x", rejected(4_000, None), 2).await;
    let parked = Place::Parked { ready_at: at(5_000) };
    assert_eq!(scene.place("a/x").await, parked);
    assert_eq!(scene.place("a/x+y").await, parked);
    let due = scene.due(at(4_999)).await;
    assert_eq!((due.lanes.len(), due.next_at), (1, Some(at(5_000))));
    assert_eq!(due.lanes[0].lane, read("a/y"));
    assert!(scene.claim("a/x", at(4_999)).await.is_none());
    assert_eq!(scene.due_lanes(at(5_000)).await.len(), 3);
    assert!(scene.claim("a/x", at(5_000)).await.is_some());
    assert!(scene.claim("a/x", at(5_000)).await.is_none(), "one token, and not the whole burst");

    // The token of a request that the upstream does not charge comes back.
    scene.drain("a/y", at(5_000)).await;
    tell(store, "a/y", rejected(5_010, Some(Cost::ONE)), 5_000).await;
    assert_eq!(scene.place("a/y").await, Place::Parked { ready_at: at(5_010) });
    scene.is_sound().await;
}

/// At once. What the refusal took from its level is forgotten, and no token is made of that.
pub async fn a_release_opens_a_held_lane(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/s burst 1 margin 0")]).await;
    scene.fill("a/x", 1, NOW).await;
    scene.drain("a/x", NOW).await;
    let until = Some(at(3_600_000));
    let hour = Feedback::Rejected { until, refund: None, sent_at: NOW };
    tell(store, "a/x", hour, 0).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(3_600_000) });
    tell(store, "a/x", Feedback::Released, 400).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(1_400) });
    assert_eq!(scene.due_lanes(at(1_400)).await, ["a/x"]);
    scene.is_sound().await;
}

/// Below zero, and the lane sleeps for the whole of it.
pub async fn an_answer_that_cost_more_puts_the_bucket_in_debt(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/s burst 3 margin 0")]).await;
    scene.fill("a/x", 1, NOW).await;
    tell(store, "a/x", Feedback::Charged { extra: cost_of(10) }, 0).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(8_000) });
    assert!(scene.claim("a/x", at(7_999)).await.is_none());
    assert!(scene.claim("a/x", at(8_000)).await.is_some());
    scene.is_sound().await;
}

/// The upstream's bucket gains that much later, and so does ours.
pub async fn a_request_that_came_late_puts_the_next_token_off(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 1 margin 0")]).await;
    scene.fill("a/x", 2, NOW).await;
    scene.claim("a/x", NOW).await.expect("the bucket was full");
    tell(store, "a/x", Feedback::Late { late_ms: 350 }, 400).await;
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(60_350) });
    scene.is_sound().await;
}

/// The upstream's count is believed when it is lower than ours.
pub async fn remaining_lowers_a_level_and_never_raises_it(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 10 margin 0")]).await;
    let remaining = |remaining, in_flight| {
        let remaining = Some(remaining);
        Feedback::Accepted { remaining, in_flight, sent_at: NOW }
    };
    let level = || async {
        let views = store.limits(None).await.expect("limits can be read");
        views[0].state.expect("the bucket was spoken of").whole_tokens()
    };
    tell(store, "a/x", remaining(6, 1), 0).await;
    assert_eq!(level().await, 5);
    tell(store, "a/x", remaining(9, 0), 0).await;
    assert_eq!(level().await, 5);
    scene.is_sound().await;
}

/// For callers outside the queue, across buckets and accounts.
pub async fn a_take_is_all_or_none(store: &dyn Store) {
    let limits = [("a/x", "1/min burst 3 margin 0"), ("b/y", "1/s burst 2 margin 0")];
    let scene = Scene::with(store, &limits).await;
    let allowed = |remaining| Taken::Allowed { remaining };
    assert_eq!(take(store, &[("a/x", 1), ("b/y", 1)], 0).await, allowed(1));
    assert_eq!(take(store, &[("a/x", 2)], 0).await, allowed(0));
    let bucket: BucketKey = read("a/x");
    let denied = Taken::Denied { wait_ms: 59_999, bucket };
    assert_eq!(take(store, &[("b/y", 1), ("a/x", 1)], 1).await, denied);
    assert_eq!(take(store, &[("b/y", 2)], 1_000).await, allowed(0), "the denial took nothing");
    assert_eq!(take(store, &[("b/y", 1), ("a/x", 1)], 60_000).await, allowed(0));
    scene.is_sound().await;
}

/// Two draws on one bucket are not decided without knowledge of each other.
pub async fn draws_on_one_bucket_are_added_up(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 3 margin 0")]).await;
    let allowed = Taken::Allowed { remaining: 1 };
    assert_eq!(take(store, &[("a/x", 1), ("a/x", 1)], 0).await, allowed);
    let denied = Taken::Denied { wait_ms: 60_000, bucket: read("a/x") };
    assert_eq!(take(store, &[("a/x", 1), ("a/x", 1)], 0).await, denied);
    let draws = vec![(read("a/x"), cost_of(2)), (read("a/x"), cost_of(u32::MAX))];
    let refused = store.take(draws, NOW).await.expect_err("more than the bucket holds");
    assert!(matches!(refused, StoreError::CostAboveBurst { .. }), "{refused}");
    scene.is_sound().await;
}

/// Nobody sleeps too long, no token is made of nothing.
pub async fn a_changed_limit_puts_its_lanes_where_they_belong(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 4 margin 0")]).await;
    scene.fill("a/x", 9, NOW).await;
    scene.fill("a/x:2", 1, NOW).await;
    scene.drain("a/x", NOW).await;
    let parked = |ms| Place::Parked { ready_at: at(ms) };
    assert!(scene.due_lanes(at(1)).await.is_empty());
    assert_eq!(scene.place("a/x").await, parked(60_000));
    scene.limit(&[("a/x", "2/min burst 4 margin 0")], at(30_000)).await;
    assert_eq!(scene.place("a/x").await, parked(45_000), "half a token is there already");
    scene.limit(&[("a/x", "2/min burst 4 margin 0")], at(30_000)).await;
    assert_eq!(scene.place("a/x").await, parked(45_000), "the same limit changes nothing");
    scene.limit(&[("a/x", "1/s burst 1 margin 0")], at(40_000)).await;
    assert_eq!(scene.due_lanes(at(41_000)).await, ["a/x"]);
    let claimed = scene.claim_all(&["a/x", "a/x"], at(999_999)).await;
    assert_eq!(claimed.len(), 1, "never more than the new burst");
    scene.is_sound().await;
}

/// One job at the end of the hold, under whatever numbers, and the next when its token is there.
pub async fn a_limit_that_is_changed_while_its_bucket_is_refused_makes_no_burst(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/x", "1/min burst 10 margin 0")]).await;
    scene.fill("a/x", 9, NOW).await;
    let hour = Feedback::Rejected { until: Some(at(3_600_000)), refund: None, sent_at: NOW };
    tell(store, "a/x", hour, 0).await;
    for limit in ["1/s burst 20 margin 0", "1/min burst 5 margin 0"] {
        scene.limit(&[("a/x", limit)], at(1_800_000)).await;
        assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(3_600_000) }, "{limit}");
    }
    assert_eq!(scene.claim_all(&["a/x"; 9], at(3_600_000)).await.len(), 1);
    assert_eq!(scene.place("a/x").await, Place::Parked { ready_at: at(3_660_000) });
    scene.is_sound().await;
}

/// Nothing is known of it.
pub async fn feedback_on_a_bucket_without_a_limit_is_refused(store: &dyn Store) {
    let scene = Scene::with(store, &[]).await;
    let refused = store.feedback(read("a/x"), Feedback::Released, NOW).await;
    assert!(matches!(refused, Err(StoreError::UnknownLimit { .. })), "{refused:?}");
    scene.is_sound().await;
}
