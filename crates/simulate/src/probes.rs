use std::sync::{Arc, Mutex};

use waitless_job::{AccountId, BucketKey, Class, Clock, LimitGroup, NewJob, Policy, UnixMillis};
use waitless_store::{Store, StoreError};

use crate::{
    SimulateError,
    options::Strategy,
    report::Waits,
    request::{KIND, Request},
    scenario::{Backlog, Scenario},
    truth::Truth,
    upstream::Upstream,
};

/// Most interactive jobs of each sort: enough for a p99, few beside the backlog.
const PROBES_MAX: usize = 200;

/// Interactive jobs that come in the middle of the work, one at a time: on a bucket that the
/// backlog drains, and on a bucket of the same account that nobody uses.
#[derive(Debug)]
pub(crate) struct Probes {
    planned: Vec<Planned>,
    idle_group: LimitGroup,
    idle_limit: Policy,
    bound_ms: u64,
    // A std mutex: never held across an await.
    waits: Mutex<Vec<Option<u64>>>,
    enqueued_at: Mutex<Vec<UnixMillis>>,
}

#[derive(Debug, Clone)]
struct Planned {
    account: AccountId,
    group: LimitGroup,
    after_ms: u64,
    is_idle: bool,
}

impl Probes {
    /// Plans at most one job of each sort for an account, at moments spread over the middle eight
    /// tenths of the bound.
    pub(crate) fn plan(scenario: &Scenario, seed: u64) -> Result<Arc<Self>, SimulateError> {
        let mut random = fastrand::Rng::with_seed(seed ^ 0x5EED);
        let mut busy: Vec<(AccountId, &Backlog)> = Vec::new();
        for accounts in &scenario.accounts {
            let Some(backlog) = accounts.backlog.iter().max_by_key(|one| longest(one)) else {
                continue;
            };
            for id in accounts.ids() {
                busy.push((id?, backlog));
            }
        }
        random.shuffle(&mut busy);
        busy.truncate(PROBES_MAX);
        let idle_group = LimitGroup::new("waitless-idle")?;
        let whole_ms = scenario.bound_ms();
        let mut planned = Vec::new();
        for (account, backlog) in &busy {
            for (group, is_idle) in [(backlog.group.clone(), false), (idle_group.clone(), true)] {
                let span_ms =
                    if is_idle { whole_ms } else { backlog.limit.bound_ms(backlog.requests) };
                let after_ms = random.u64(span_ms / 10..=span_ms * 9 / 10);
                planned.push(Planned { account: account.clone(), group, after_ms, is_idle });
            }
        }
        planned.sort_by_key(|one| one.after_ms);
        let probed = busy.iter().map(|(_, one)| one.limit.bound_ms(one.requests + 1));
        let bound_ms = probed.max().unwrap_or(0);
        let count = planned.len();
        Ok(Arc::new(Self {
            planned,
            bound_ms,
            idle_group,
            idle_limit: Policy::new(1, 60_000).expect("it is a policy"),
            waits: Mutex::new(vec![None; count]),
            enqueued_at: Mutex::new(vec![UnixMillis::default(); count]),
        }))
    }

    pub(crate) fn len(&self) -> u64 {
        self.planned.len() as u64
    }

    /// The time in milliseconds that the slowest probed bucket needs for its backlog and its probe.
    pub(crate) fn bound_ms(&self) -> u64 {
        self.bound_ms
    }

    /// Gives each probed account its idle bucket.
    pub(crate) async fn set_limits(
        &self,
        store: &dyn Store,
        upstream: &Upstream,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        let idle = self
            .planned
            .iter()
            .filter(|one| one.is_idle)
            .map(|one| BucketKey { account: one.account.clone(), group: self.idle_group.clone() });
        let limits: Vec<_> = idle.map(|bucket| (bucket, self.idle_limit)).collect();
        for (bucket, policy) in &limits {
            upstream.limit(bucket.clone(), policy, &Truth::default());
        }
        store.set_limits(limits, now).await
    }

    /// Enqueues each at its moment.
    pub(crate) async fn enqueue(
        self: Arc<Self>,
        store: Arc<dyn Store>,
        clock: Clock,
        strategy: Strategy,
    ) -> Result<(), SimulateError> {
        let start = clock.now();
        for (index, one) in self.planned.iter().enumerate() {
            clock.sleep_until(start.plus(one.after_ms)).await;
            let now = clock.now();
            let request = Request { group: one.group.clone(), probe: Some(index) };
            let job = NewJob::new(KIND, &one.account, &request, now)?.class(Class::Interactive);
            self.enqueued_at.lock().expect("noting does not panic")[index] = now;
            store.enqueue(vec![strategy.needs(job, &one.group)], now).await?;
        }
        Ok(())
    }

    /// Notes that a probe's request went out.
    pub(crate) fn sent(&self, probe: usize, at: UnixMillis) {
        let enqueued_at = self.enqueued_at.lock().expect("noting does not panic")[probe];
        let mut waits = self.waits.lock().expect("noting does not panic");
        waits[probe].get_or_insert(at.since(enqueued_at));
    }

    /// What they waited: on busy buckets, and on idle ones.
    pub(crate) fn waits(&self) -> (Option<Waits>, Option<Waits>) {
        let waits = self.waits.lock().expect("noting does not panic");
        let of = |idle: bool| {
            let mut of: Vec<u64> = self
                .planned
                .iter()
                .zip(waits.iter())
                .filter(|(one, _)| one.is_idle == idle)
                .filter_map(|(_, wait_ms)| *wait_ms)
                .collect();
            Waits::of(&mut of)
        };
        (of(false), of(true))
    }
}

/// The backlog whose bucket is probed: the one with the longest work, and of several the one with
/// the largest burst, whose bucket is done first, so that a probe does not lengthen the bound.
fn longest(backlog: &Backlog) -> (u64, u32) {
    let work_ms =
        backlog.requests * backlog.limit.interval_ms() / u64::from(backlog.limit.tokens());
    (work_ms, backlog.limit.burst())
}
