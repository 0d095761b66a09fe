//! `evaluate` beside `governor`'s checks, in one run.
//!
//! Both sides answer the same questions about the same limit, and neither asks a real clock. In
//! `allowed` time moves by one token with each question, so that each is granted; in `denied` it
//! stands still on an empty bucket. `keyed` has one bucket for each of 10,000 accounts and visits
//! them in a fixed disorder.

use std::{
    cell::Cell, collections::HashMap, hint::black_box, num::NonZeroU32, sync::Mutex, time::Duration,
};

use criterion::{Criterion, criterion_group, criterion_main};
use governor::{
    RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::keyed::{DashMapStateStore, HashMapStateStore},
};
use waitless_bucket::{BucketState, Cost, Decision, Policy, UnixMillis, evaluate};

const INTERVAL_MS: u64 = 200;
const BURST: u32 = 20;
const ACCOUNTS: u64 = 10_000;
/// Shares no factor with the number of accounts: every account has its turn.
const STRIDE: u64 = 7_919;

/// A clock that moves by its step whenever it is asked.
#[derive(Clone)]
struct SteppingClock {
    now_ms: Cell<u64>,
    step_ms: u64,
}

impl SteppingClock {
    fn new(step_ms: u64) -> Self {
        Self { now_ms: Cell::new(1_000_000), step_ms }
    }

    fn next_ms(&self) -> u64 {
        let now_ms = self.now_ms.get() + self.step_ms;
        self.now_ms.set(now_ms);
        now_ms
    }

    fn next(&self) -> UnixMillis {
        UnixMillis(0).plus(self.next_ms())
    }
}

impl Clock for SteppingClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Duration::from_millis(self.next_ms()).into()
    }
}

/// Whether requests are granted or refused.
#[derive(Clone, Copy)]
enum Path {
    Allowed,
    Denied,
}

impl Path {
    fn clock(self) -> SteppingClock {
        SteppingClock::new(match self {
            Self::Allowed => INTERVAL_MS,
            Self::Denied => 0,
        })
    }

    fn expect(self, allowed: bool) {
        assert_eq!(allowed, matches!(self, Self::Allowed), "the benchmark measures what it says");
    }

    /// How many requests to make beforehand: none, or the burst.
    fn spent(self) -> u32 {
        match self {
            Self::Allowed => 0,
            Self::Denied => BURST,
        }
    }
}

fn accounts() -> impl Iterator<Item = u64> {
    (0_u64..).map(|nth| nth * STRIDE % ACCOUNTS)
}

fn policy() -> Policy {
    Policy::from_parts(1, INTERVAL_MS, BURST, 0).expect("a small limit")
}

fn quota() -> governor::Quota {
    governor::Quota::with_period(Duration::from_millis(INTERVAL_MS))
        .expect("not zero")
        .allow_burst(NonZeroU32::new(BURST).expect("not zero"))
}

/// Asks for one token and stores the answer, as a store would.
fn ask(state: &mut Option<BucketState>, policy: &Policy, now: UnixMillis) -> bool {
    match evaluate(state.as_ref(), policy, Cost::ONE, now) {
        Decision::Allowed { state: next, .. } => {
            *state = Some(next);
            true
        }
        Decision::Denied { .. } => false,
    }
}

fn single(criterion: &mut Criterion, name: &str, path: Path) {
    let mut group = criterion.benchmark_group(name);

    group.bench_function("waitless", |bencher| {
        let (policy, clock) = (policy(), path.clock());
        let mut state = None;
        for _ in 0..path.spent() {
            ask(&mut state, &policy, clock.next());
        }
        path.expect(ask(&mut state, &policy, clock.next()));
        bencher.iter(|| ask(black_box(&mut state), black_box(&policy), clock.next()));
    });

    group.bench_function("governor", |bencher| {
        let limiter = RateLimiter::direct_with_clock(quota(), path.clock());
        for _ in 0..path.spent() {
            let _ = limiter.check();
        }
        path.expect(limiter.check().is_ok());
        bencher.iter(|| black_box(&limiter).check().is_ok());
    });
}

fn keyed(criterion: &mut Criterion, name: &str, path: Path) {
    let mut group = criterion.benchmark_group(name);

    // The lock is for likeness: governor's hash map has one.
    group.bench_function("waitless/hashmap", |bencher| {
        let (policy, clock) = (policy(), path.clock());
        let states = Mutex::new(HashMap::<u64, Option<BucketState>>::new());
        let check = |account| {
            let mut states = states.lock().expect("one thread");
            ask(states.entry(account).or_default(), black_box(&policy), clock.next())
        };
        for account in 0..ACCOUNTS {
            for _ in 0..path.spent().max(1) {
                check(account);
            }
        }
        path.expect(check(0));
        let mut accounts = accounts();
        bencher.iter(|| check(black_box(accounts.next().expect("endless"))));
    });

    macro_rules! governor {
        ($name:literal, $store:ty) => {
            group.bench_function($name, |bencher| {
                let store = <$store>::default();
                let limiter: RateLimiter<u64, $store, SteppingClock, NoOpMiddleware<Nanos>> =
                    RateLimiter::new(quota(), store, path.clock());
                for account in 0..ACCOUNTS {
                    for _ in 0..path.spent().max(1) {
                        let _ = limiter.check_key(&account);
                    }
                }
                path.expect(limiter.check_key(&0).is_ok());
                let mut accounts = accounts();
                bencher.iter(|| {
                    let account = accounts.next().expect("endless");
                    black_box(&limiter).check_key(black_box(&account)).is_ok()
                });
            });
        };
    }
    governor!("governor/hashmap", HashMapStateStore<u64>);
    governor!("governor/dashmap", DashMapStateStore<u64>);
}

fn all(criterion: &mut Criterion) {
    single(criterion, "single/allowed", Path::Allowed);
    single(criterion, "single/denied", Path::Denied);
    keyed(criterion, "keyed_10000/allowed", Path::Allowed);
    keyed(criterion, "keyed_10000/denied", Path::Denied);
}

criterion_group!(benches, all);
criterion_main!(benches);
