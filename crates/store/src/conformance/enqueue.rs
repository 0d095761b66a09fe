//! Enqueueing.

use waitless_job::{Class, JobState, NewJob, NewJobError, Progress, RunId};

use super::scene::{NOW, Scene, at, cost_of, id, needs, read};
use crate::{
    Store, StoreError,
    ops::{Enqueued, LeaseRef, Outcome, Saved},
};

/// One job that cannot be taken, and none of its batch is.
pub async fn enqueue_is_all_or_none(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 2 margin 0")]).await;
    let bad = [
        NewJob { args: "{".into(), ..scene.job("a/orders") },
        NewJob { attempts_max: 0, ..scene.job("a/orders") },
        scene.job("a/orders:3"),
        scene.job("a/unknown"),
    ];
    for bad in bad {
        let bad_id = bad.id;
        let batch = vec![scene.job("a/orders"), scene.job("a/orders"), bad];
        let refused = store.enqueue(batch, NOW).await.expect_err("one of the batch is bad");
        match refused {
            StoreError::Job { index, id, source } => {
                assert_eq!((index, id), (2, bad_id));
                assert!(matches!(source, NewJobError::NotJson(_) | NewJobError::NoAttempts));
            }
            StoreError::CostAboveBurst { .. } | StoreError::UnknownLimit { .. } => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(store.job_counts(None).await.expect("jobs can be counted"), []);
    assert_eq!(store.audit().await.expect("a store can be read").enqueued, 0);
    scene.is_sound().await;
}

/// The same id again changes nothing, whatever else the job says and wherever the first one is.
pub async fn the_same_id_is_enqueued_once(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 9 margin 0")]).await;
    let job = scene.job("a/orders");
    let twice = store.enqueue(vec![job.clone(), job.clone()], NOW).await.expect("both are good");
    let answers = |existed| Enqueued { id: job.id, existed };
    assert_eq!(twice, [answers(false), answers(true)]);

    let before = scene.record(job.id).await;
    let other = NewJob { class: Class::Interactive, args: "[1]".into(), ..job.clone() };
    let again = store.enqueue(vec![other.clone()], at(5)).await.expect("it is there");
    assert_eq!(again, [answers(true)]);
    assert_eq!(scene.record(job.id).await, before);

    let (_, lease) = scene.start("a/orders", at(5)).await;
    scene.settle(lease, Outcome::Done, Saved::default(), at(5)).await;
    let again = store.enqueue(vec![other], at(6)).await.expect("it is there");
    assert_eq!(again, [answers(true)]);
    assert_eq!(scene.state(job.id).await, JobState::Succeeded);
    scene.is_sound().await;
}

/// Whoever enqueues a second job with the key of a live one is given the live one's id, until it
/// has ended.
pub async fn a_unique_key_has_one_live_job(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/s burst 9 margin 0")]).await;
    let keyed = |key: &str| scene.job("a/orders").unique_key(key);
    let (first, second, other) = (keyed("page 1"), keyed("page 1"), keyed("page 2"));
    let ids = [first.id, second.id, other.id];
    let batch = store.enqueue(vec![first, second, other], NOW).await.expect("all are good");
    let answer = |id, existed| Enqueued { id, existed };
    assert_eq!(batch, [answer(ids[0], false), answer(ids[0], true), answer(ids[2], false)]);
    let missing = store.job(ids[1]).await.expect("jobs can be read");
    assert!(missing.is_none(), "the second job was not taken");

    let asks_again = || async {
        let asked = store.enqueue(vec![keyed("page 1")], at(1)).await.expect("the job is good");
        assert_eq!(asked, [answer(ids[0], true)]);
    };
    asks_again().await;
    let (job, lease) = scene.start("a/orders", at(1)).await;
    assert_eq!(job.id, ids[0]);
    asks_again().await;
    let retry = Outcome::Retry { at: at(50), error: "503".into() };
    scene.settle(lease, retry, Saved::default(), at(2)).await;
    asks_again().await;
    let _ = scene.due(at(50)).await;
    let (job, lease): (_, LeaseRef) = scene.start("a/orders", at(50)).await;
    assert_eq!(job.id, ids[0], "it came first and waits again");
    scene.settle(lease, Outcome::Done, Saved::default(), at(51)).await;

    let next = keyed("page 1");
    let id = next.id;
    let free = store.enqueue(vec![next], at(52)).await.expect("the job is good");
    assert_eq!(free, [answer(id, false)], "the key is free again");
    scene.is_sound().await;
}

/// A cost that no wait can ever meet is refused at once, wherever it is asked for.
pub async fn a_cost_above_the_burst_is_refused(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min burst 2 margin 0")]).await;
    let refused = |error: StoreError| match error {
        StoreError::CostAboveBurst { bucket, cost, burst } => {
            assert_eq!((bucket.to_string().as_str(), cost, burst), ("a/orders", 3, 2));
        }
        other => panic!("{other}"),
    };
    let job = scene.job("a/orders:3");
    refused(store.enqueue(vec![job], NOW).await.expect_err("three of two"));
    let draws = vec![(read("a/orders"), cost_of(3))];
    refused(store.take(draws, NOW).await.expect_err("three of two"));
    scene.enqueue(scene.job("a/orders"), NOW).await;
    let (job, lease) = scene.start("a/orders", NOW).await;
    let acquire = crate::ops::Acquire {
        lease,
        needs: needs("orders:3"),
        on_denied: crate::ops::OnDenied::Park,
        saved: Saved::default(),
    };
    refused(store.acquire(acquire, NOW).await.expect_err("three of two"));
    assert_eq!(scene.state(job.id).await, JobState::Running);
    scene.is_sound().await;
}

/// Work that draws on a bucket nobody has described is refused.
pub async fn a_bucket_without_a_limit_is_refused(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min margin 0")]).await;
    let refused = |error: StoreError| match error {
        StoreError::UnknownLimit { bucket } => assert_eq!(bucket.to_string(), "a/sales"),
        other => panic!("{other}"),
    };
    let job = scene.job("a/orders+sales");
    refused(store.enqueue(vec![job], NOW).await.expect_err("nobody knows sales"));
    let draws = vec![(read("a/orders"), cost_of(1)), (read("a/sales"), cost_of(1))];
    refused(store.take(draws, NOW).await.expect_err("nobody knows sales"));
    scene.is_sound().await;
}

/// A job is read as it was written: every field, and its arguments byte for byte.
pub async fn what_was_enqueued_is_kept_as_it_was(store: &dyn Store) {
    let scene =
        Scene::with(store, &[("a/orders", "5/min margin 0"), ("a/sales", "5/min margin 0")]).await;
    let args = r#" {"large": 9007199254740993, "float": 1.10, "text": "\u0000 ю 💧 '", "x":[ ]} "#;
    let run = RunId(id(77).0);
    let job =
        NewJob { args: args.into(), kind: read("wb.sync_v2"), ..scene.job("a/sales:2+orders") }
            .class(Class::Bulk)
            .run_at(at(10))
            .attempts_max(3)
            .unique_key("ключ ' \0 \"")
            .run(run);
    scene.enqueue(job.clone(), at(1)).await;
    scene.enqueue(scene.job("a/"), at(2)).await;

    let (record, kept) = store.job(job.id).await.expect("jobs can be read").expect("it is there");
    assert_eq!(&*kept, args);
    assert_eq!(record.id, job.id);
    assert_eq!(record.kind, job.kind);
    assert_eq!(record.account, job.account);
    assert_eq!(record.run, Some(run));
    assert_eq!(record.class, Class::Bulk);
    assert_eq!(record.seq, 0);
    assert_eq!(record.needs, needs("orders+sales:2"));
    assert_eq!(record.state, JobState::Scheduled);
    assert_eq!(record.run_at, at(10));
    assert_eq!((record.attempts, record.attempts_max, record.snoozes), (0, 3, 0));
    assert_eq!(record.lease, None);
    assert_eq!(record.checkpoint, None);
    assert_eq!(record.progress, Progress::default());
    assert_eq!(record.error, None);
    assert_eq!(record.unique_key.as_deref(), Some("ключ ' \0 \""));
    assert_eq!(record.created_at, at(1));
    assert_eq!((record.started_at, record.finished_at), (None, None));
    scene.is_sound().await;
}

/// Clients that enqueue one job at the same time, because one took the other for dead, make one.
pub async fn two_enqueues_of_one_job_at_once_make_one(store: &dyn Store) {
    let scene = Scene::with(store, &[("a/orders", "1/min margin 0")]).await;
    let job = scene.job("a/orders").unique_key("key");
    let same_key = scene.job("a/orders").unique_key("key");
    let (one, two, three, four) = tokio::join!(
        store.enqueue(vec![job.clone()], NOW),
        store.enqueue(vec![job.clone()], NOW),
        store.enqueue(vec![same_key.clone()], NOW),
        store.enqueue(vec![job.clone(), same_key.clone()], NOW),
    );
    let mut answers = Vec::new();
    for answer in [one, two, three, four] {
        answers.extend(answer.expect("each is good"));
    }
    let new: Vec<_> = answers.iter().filter(|answer| !answer.existed).collect();
    assert_eq!(new.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.id == new[0].id), "{answers:?}");
    let counts = store.job_counts(None).await.expect("jobs can be counted");
    assert_eq!(counts, [(JobState::Waiting, 1)]);
    scene.is_sound().await;
}
