//! Many dear answers in a row: the bucket goes into debt as deep as the upstream's.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use waitless_bucket::{BucketState, Decision, accept, charge, evaluate, late, reject};
use waitless_job::{
    BucketKey, Feedback, JobContext, JobOps, Leave, Needs, Permit, Policy, Progress, Quota,
    UnixMillis,
};
use waitless_upstream::{Client, ClientConfig};

use crate::{
    client,
    ops::NOW,
    request_of,
    server::{Server, answer},
};

/// A worker whose jobs wait by turning the clock on.
struct Patient {
    clock: Arc<AtomicI64>,
    policy: Policy,
    bucket: Mutex<Option<BucketState>>,
}

impl Patient {
    fn change(&self, change: impl FnOnce(Option<&BucketState>, UnixMillis) -> BucketState) {
        let mut bucket = self.bucket.lock().expect("no test panics under it");
        *bucket = Some(change(bucket.as_ref(), self.now()));
    }
}

#[async_trait]
impl JobOps for Patient {
    async fn permit(&self, needs: Needs) -> Result<Permit, Leave> {
        let cost = needs.as_slice()[0].cost;
        loop {
            let mut bucket = self.bucket.lock().expect("no test panics under it");
            match evaluate(bucket.as_ref(), &self.policy, cost, self.now()) {
                Decision::Allowed { state, .. } => {
                    *bucket = Some(state);
                    return Ok(Permit::new(needs, self.now(), 60, Arc::default()));
                }
                Decision::Denied { wait_ms } => {
                    let wait_ms = i64::try_from(wait_ms).expect("a bearable wait");
                    self.clock.fetch_add(wait_ms, Ordering::SeqCst);
                }
            }
        }
    }

    async fn try_permit(&self, _: Needs) -> Result<Result<Permit, u64>, Leave> {
        unreachable!("the client has no use for this")
    }

    async fn peek(&self, _: BucketKey) -> Result<Quota, Leave> {
        unreachable!("the client has no use for this")
    }

    async fn report(&self, _: BucketKey, feedback: Feedback) -> Result<(), Leave> {
        let policy = &self.policy;
        self.change(|state, now| match feedback {
            Feedback::Accepted { remaining, in_flight, sent_at } => {
                accept(state, policy, remaining, in_flight, sent_at, now)
            }
            Feedback::Charged { extra } => charge(state, policy, extra, now),
            Feedback::Late { late_ms } => late(state, policy, late_ms, now),
            Feedback::Rejected { until, refund, sent_at } => {
                reject(state, policy, until, refund, sent_at, now)
            }
            Feedback::Released => unreachable!("the client opens nothing"),
        });
        Ok(())
    }

    fn stage_checkpoint(&self, _: Arc<str>) {}

    fn stage_progress(&self, _: Progress) {}

    fn now(&self) -> UnixMillis {
        UnixMillis(self.clock.load(Ordering::SeqCst))
    }

    async fn stopping(&self) {}
}

/// 20 at once, and one each 200 ms; every 404 counts as ten.
const BURST: i64 = 20;
const INTERVAL_MS: i64 = 200;

/// How an upstream counts what it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Free,
    DearAndInItsWait,
    DearBehindItsWait,
}

/// Asks 100 times for what is not there; answers with how often that was refused for its rate. At the
/// start the upstream's bucket holds `level` tokens.
async fn storm(level: i64, refusal: Refusal) -> u64 {
    let clock = Arc::new(AtomicI64::new(NOW.0));
    // When the bucket will be full again.
    let full_at = Mutex::new(NOW.0 + (BURST - level) * INTERVAL_MS);
    let upstreams_clock = Arc::clone(&clock);
    let server = Server::start(move |_, _| {
        let now = upstreams_clock.fetch_add(17, Ordering::SeqCst) + 17;
        let mut full_at = full_at.lock().expect("no test panics under it");
        *full_at = (*full_at).max(now);
        if *full_at + INTERVAL_MS - now > BURST * INTERVAL_MS {
            if refusal == Refusal::DearAndInItsWait {
                *full_at += 10 * INTERVAL_MS;
            }
            let wait_ms = *full_at + INTERVAL_MS - now - BURST * INTERVAL_MS;
            if refusal == Refusal::DearBehindItsWait {
                *full_at += 10 * INTERVAL_MS;
            }
            let wait = format!("{}.{:03}", wait_ms / 1_000, wait_ms % 1_000);
            return answer("429 Slow down", &[("X-Wait", wait.as_str())], "{}");
        }
        *full_at += 10 * INTERVAL_MS;
        let left = (BURST - (*full_at - now + INTERVAL_MS - 1) / INTERVAL_MS).max(0).to_string();
        answer("404 Not Found", &[("X-Left", left.as_str())], "{}")
    })
    .await;
    let client: Client = client(ClientConfig::default());
    let dear = client.catalogue().endpoint("dear").expect("it is there");
    let policy = client.catalogue().policy_of(dear, "full").expect("a family").expect("it is open");
    let bucket = Mutex::new(Some(BucketState::full(&policy, NOW)));
    let ops = Arc::new(Patient { clock, policy, bucket });
    let ctx = JobContext::new("acct-1".parse().expect("a name"), ops);
    for _ in 0..100 {
        client.call(&ctx, &request_of("dear", &server)).await.expect_err("it is not there");
    }
    client.refused()
}

#[tokio::test]
async fn a_storm_of_dear_answers_causes_no_refusal() {
    assert_eq!(storm(BURST, Refusal::Free).await, 0);
}

#[tokio::test]
async fn a_refusal_that_somebody_else_caused_causes_no_other() {
    for refusal in [Refusal::Free, Refusal::DearAndInItsWait, Refusal::DearBehindItsWait] {
        assert_eq!(storm(0, refusal).await, 1, "{refusal:?}");
    }
}
