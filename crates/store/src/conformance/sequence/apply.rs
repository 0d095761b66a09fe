//! Carrying out one operation on one store.

use std::fmt::Debug;

use waitless_bucket::UnixMillis;
use waitless_job::{JobState, LaneKey};

use super::{
    course::{Course, account, bucket, draws, group, kind, needs, policy, run, saved, text},
    operation::{FilterSpec, Reading, What},
};
use crate::{
    Store, StoreError,
    conformance::scene::{account as account_named, read},
    model::{Account, Run},
    ops::{
        Accounts, Acquire, Claim, DueRequest, JobFilter, LeaseRef, OnDenied, Pick, Reap, Renewal,
        Settle,
    },
};

/// What a store answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// All of it.
    pub(super) text: String,
    /// The leases that a claim gave.
    pub(super) given: Vec<LeaseRef>,
    /// The lanes that are due and when to ask again, if that was asked.
    pub(super) due: Option<(Vec<LaneKey>, Option<UnixMillis>)>,
}

impl Answer {
    fn new<T: Debug>(answer: &Result<T, StoreError>) -> Self {
        Self { text: format!("{answer:?}"), given: Vec::new(), due: None }
    }
}

/// Carries out an operation. Changes nothing but the store.
pub(super) async fn apply(what: &What, course: &Course, store: &dyn Store) -> Answer {
    let now = course.now;
    match what {
        What::SetLimits(limits) => {
            let limits = limits.iter().map(|(index, number)| (bucket(*index), policy(*number)));
            Answer::new(&store.set_limits(limits.collect(), now).await)
        }
        What::PutAccount { account: of, named, paused } => {
            let account = Account {
                name: text(*named),
                added_at: now,
                token_expires_at: (*named % 2 == 0).then_some(now),
                token_family: (*named % 3 == 0).then(|| text(*named)),
                categories: (*named % 5 > 0).then(|| (0..*named % 5).map(text).collect()),
                paused: paused.then(|| "given".into()),
                ..account_named(account(*of).as_str())
            };
            Answer::new(&store.put_account(account).await)
        }
        What::Pause { account: of, reason } => {
            let reason = reason.map(|number| text(number).to_string());
            Answer::new(&store.pause_account(account(*of), reason, now).await)
        }
        What::PauseLimits { account: of, groups, reason } => {
            let groups =
                groups.as_ref().map(|numbers| numbers.iter().copied().map(group).collect());
            Answer::new(&store.pause_limits(account(*of), groups, reason.map(text), now).await)
        }
        What::PutRun { run: of, named } => {
            let run = Run { id: run(*of), name: text(*named), started_at: now };
            Answer::new(&store.put_run(run).await)
        }
        What::Enqueue(specs) => Answer::new(&store.enqueue(course.new_jobs(specs), now).await),
        What::Due { limit, only, except } => {
            let named = |numbers: &Vec<u8>| numbers.iter().map(|of| account(*of)).collect();
            let accounts = Accounts { only: only.as_ref().map(named), except: named(except) };
            let due = store.due(DueRequest { limit: *limit, accounts }, now).await;
            let asked = due
                .as_ref()
                .ok()
                .map(|due| (due.lanes.iter().map(|due| due.lane.clone()).collect(), due.next_at));
            Answer { due: asked, ..Answer::new(&due) }
        }
        What::Claim(specs) => {
            let leases = course.new_leases(specs.iter().map(|spec| spec.again));
            let picks = specs.iter().zip(leases);
            let picks = picks.map(|(spec, lease)| Pick { lane: course.lane(&spec.lane), lease });
            let claim = Claim {
                worker: read("worker"),
                expires_at: now.plus(30_000),
                picks: picks.collect(),
            };
            let claimed = store.claim(claim, now).await;
            let given = claimed.iter().flatten().filter_map(|claimed| {
                let lease = claimed.job.lease.as_ref()?;
                Some(LeaseRef { job: claimed.job.id, token: lease.token })
            });
            Answer { given: given.collect(), ..Answer::new(&claimed) }
        }
        What::Acquire { lease, needs: spec, park, saved: save } => {
            let acquire = Acquire {
                lease: course.lease_ref(lease),
                needs: needs(spec),
                on_denied: if *park { OnDenied::Park } else { OnDenied::Tell },
                saved: saved(save, now),
            };
            Answer::new(&store.acquire(acquire, now).await)
        }
        What::Renew(specs) => {
            let renewals = specs.iter().map(|(lease, ms, save)| Renewal {
                lease: course.lease_ref(lease),
                expires_at: course.moment(*ms),
                saved: saved(save, now),
            });
            Answer::new(&store.renew(renewals.collect(), now).await)
        }
        What::Settle(specs) => {
            let settles = specs.iter().map(|(lease, outcome, save)| Settle {
                lease: course.lease_ref(lease),
                outcome: course.outcome(outcome),
                saved: saved(save, now),
            });
            Answer::new(&store.settle(settles.collect(), now).await)
        }
        What::Reap { all, limit } => {
            let which = if *all { Reap::All } else { Reap::Expired };
            Answer::new(&store.reap(which, *limit, now).await)
        }
        What::Prune { before_ms, limit } => {
            Answer::new(&store.prune(course.moment(*before_ms), *limit).await)
        }
        What::Feedback { bucket: index, feedback, times } => {
            let (bucket, feedback) = (bucket(*index), course.feedback(feedback));
            for _ in 1..*times {
                // Answered as the last one is.
                let _ = store.feedback(bucket.clone(), feedback, now).await;
            }
            Answer::new(&store.feedback(bucket, feedback, now).await)
        }
        What::Take(specs) => Answer::new(&store.take(draws(specs), now).await),
        What::Read(reading) => look(reading, course, store).await,
    }
}

async fn look(reading: &Reading, course: &Course, store: &dyn Store) -> Answer {
    match reading {
        Reading::Job(number) => Answer::new(&store.job(course.job(*number)).await),
        Reading::Jobs(spec) => Answer::new(&store.jobs(filter(spec, course)).await),
        Reading::Counts(of) => Answer::new(&store.job_counts(of.map(run)).await),
        Reading::Position(number) => Answer::new(&store.position(course.job(*number)).await),
        Reading::Lane(spec) => Answer::new(&store.lane(course.lane(spec)).await),
        Reading::Limits(of) => Answer::new(&store.limits(of.map(account)).await),
        Reading::Accounts => Answer::new(&store.accounts().await),
        Reading::Runs => Answer::new(&store.runs().await),
    }
}

fn filter(spec: &FilterSpec, course: &Course) -> JobFilter {
    let prefix = spec.prefix.map(|(number, len)| {
        let text = format!("{}0", course.job(number));
        text[..len.min(text.len())].to_owned()
    });
    JobFilter {
        state: spec.state.map(|number| JobState::ALL[usize::from(number)]),
        account: spec.account.map(account),
        kind: spec.kind.map(kind),
        run: spec.run.map(run),
        id_prefix: prefix,
        after: spec.after.map(|number| course.job(number)),
        limit: spec.limit,
    }
}
