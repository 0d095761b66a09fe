//! What a sequence has brought about so far, and what its numbers stand for.

use std::sync::Arc;

use waitless_bucket::{Cost, Policy, UnixMillis};
use waitless_job::{
    AccountId, BucketKey, Class, Feedback, JobId, Kind, LaneKey, LeaseToken, LimitGroup, Need,
    Needs, NewJob, Progress, RunId,
};

use super::operation::{
    Advance, BucketIndex, FeedbackSpec, JobSpec, LaneSpec, LeaseSpec, OutcomeSpec, SavedSpec,
};
use crate::{
    conformance::scene::{NOW, cost_of, id, read},
    ops::{LeaseRef, Outcome, Saved, Unspent},
};

const ACCOUNTS: [&str; 4] = ["a", "a-b", "b", "nobody"];
const GROUPS: [&str; 3] = ["x", "x-", "y"];
const KINDS: [&str; 3] = ["orders", "sales", "stocks"];
const POLICIES: [&str; 6] = [
    "1/s burst 1 margin 0",
    "1/s burst 3 margin 0",
    "3/s burst 5 margin 60ms",
    "1/7s burst 2 margin 500ms",
    "100/s burst 100 margin 0",
    "2/min burst 4 margin 0",
];
const TEXTS: [&str; 4] = ["\"page 1\"", "[]", "{\"cursor\":\"ю\\u0000'\"}", "9007199254740993"];

/// A tag for the numbers of leases, so that they are not those of jobs.
const LEASES: u64 = 0xffff_0000_0000;

/// A tag for the numbers of runs.
const RUNS: u64 = 0xeeee_0000_0000;

/// What both stores have been through.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) now: UnixMillis,
    /// Jobs that were given a number so far.
    pub(super) jobs: u64,
    /// Leases that were given a number so far.
    pub(super) leases: u64,
    /// Leases under which a job was claimed.
    pub(super) given: Vec<LeaseRef>,
    /// The lanes in which they were enqueued, or would have been.
    pub(super) used: Vec<LaneKey>,
    /// The lanes that were due when last asked.
    pub(super) due: Vec<LaneKey>,
    /// The moment at which something will be due, as last told.
    pub(super) next_at: Option<UnixMillis>,
}

impl Course {
    pub(super) fn new() -> Self {
        Self {
            now: NOW,
            jobs: 0,
            leases: 0,
            given: Vec::new(),
            used: Vec::new(),
            due: Vec::new(),
            next_at: None,
        }
    }

    pub(super) fn advance(&mut self, advance: Advance) {
        self.now = match advance {
            Advance::By(ms) => self.moment(ms),
            // A lane that can never be due is parked until the end of time.
            Advance::ToDue(ms) => match self.next_at {
                Some(next_at) if next_at < NOW.plus(1 << 40) => UnixMillis(next_at.0 + ms),
                _ => self.now,
            },
        };
    }

    pub(super) fn moment(&self, from_now_ms: i64) -> UnixMillis {
        UnixMillis(self.now.0.saturating_add(from_now_ms))
    }

    /// A job that was given a number, or one that was not.
    pub(super) fn job(&self, number: u16) -> JobId {
        id(u64::from(number) % (self.jobs + 1))
    }

    /// The jobs of a batch; the new ones are numbered on from here.
    pub(super) fn new_jobs(&self, specs: &[JobSpec]) -> Vec<NewJob> {
        let mut jobs = self.jobs;
        let with_id = specs.iter().map(|spec| {
            let id = match spec.again {
                Some(number) => self.job(number),
                None => {
                    jobs += 1;
                    id(jobs - 1)
                }
            };
            NewJob { id, ..self.new_job(spec) }
        });
        with_id.collect()
    }

    fn new_job(&self, spec: &JobSpec) -> NewJob {
        let job = NewJob::new(kind(spec.args), account(spec.account), &(), self.now)
            .expect("the names are good");
        // One in 64 has arguments that are no JSON.
        let args: Arc<str> = if spec.args % 64 == 63 { "{".into() } else { text(spec.args) };
        NewJob {
            needs: needs(&spec.needs),
            class: Class::ALL[usize::from(spec.class) % Class::ALL.len()],
            args,
            run_at: self.moment(spec.delay_ms),
            attempts_max: spec.attempts_max,
            unique_key: spec.unique_key.map(|key| format!("key {key}").into()),
            run: spec.run.map(run),
            ..job
        }
    }

    /// The leases of a claim; the new ones are numbered on from here.
    pub(super) fn new_leases(&self, again: impl Iterator<Item = Option<u16>>) -> Vec<LeaseToken> {
        let mut leases = self.leases;
        again
            .map(|again| match again {
                Some(number) => lease(u64::from(number) % (self.leases + 1)),
                None => {
                    leases += 1;
                    lease(leases - 1)
                }
            })
            .collect()
    }

    pub(super) fn lane(&self, spec: &LaneSpec) -> LaneKey {
        match spec {
            LaneSpec::Due(number) if !self.due.is_empty() => {
                self.due[usize::from(*number) % self.due.len()].clone()
            }
            LaneSpec::Due(number) | LaneSpec::Used(number) => {
                let used = self.used.iter().rev().nth(usize::from(*number)).cloned();
                used.unwrap_or_else(|| LaneKey::of(&account(0), &needs(&[(0, 1)])))
            }
            LaneSpec::Any { account: of, groups } => {
                let groups: Vec<_> = groups.iter().map(|group| (*group, 1)).collect();
                LaneKey::of(&account(*of), &needs(&groups))
            }
        }
    }

    pub(super) fn lease_ref(&self, spec: &LeaseSpec) -> LeaseRef {
        let never = LeaseRef { job: self.job(0), token: lease(0xffff_ffff) };
        // Counted from the last.
        let given = |number: u16| {
            let index = usize::from(number) % self.given.len().max(1);
            self.given.iter().rev().nth(index).copied().unwrap_or(never)
        };
        match spec {
            LeaseSpec::Given(number) => given(*number),
            LeaseSpec::Mixed(job, token) => {
                LeaseRef { job: given(*job).job, token: given(*token).token }
            }
            LeaseSpec::Never => never,
        }
    }

    pub(super) fn outcome(&self, spec: &OutcomeSpec) -> Outcome {
        match spec {
            OutcomeSpec::Done => Outcome::Done,
            OutcomeSpec::Snooze(ms) => Outcome::Snooze { until: self.moment(*ms) },
            OutcomeSpec::Retry(ms) => {
                Outcome::Retry { at: self.moment(*ms), error: "503 'ю'".into() }
            }
            OutcomeSpec::Cancel => Outcome::Cancel { reason: "not wanted".into() },
            OutcomeSpec::Dead => Outcome::Dead { reason: "cannot be".into() },
            OutcomeSpec::Pause { groups, reason } => Outcome::Pause {
                groups: groups.iter().map(|number| group(*number)).collect(),
                reason: text(*reason),
            },
            OutcomeSpec::HandBack => Outcome::HandBack,
        }
    }

    pub(super) fn feedback(&self, spec: &FeedbackSpec) -> Feedback {
        match spec {
            FeedbackSpec::Accepted { remaining, in_flight, sent_ms_ago } => Feedback::Accepted {
                remaining: *remaining,
                in_flight: *in_flight,
                sent_at: self.moment(-sent_ms_ago),
            },
            FeedbackSpec::Rejected { for_ms, refund, sent_ms_ago } => Feedback::Rejected {
                until: for_ms.map(|ms| self.moment(ms)),
                refund: refund.map(cost_of),
                sent_at: self.moment(-sent_ms_ago),
            },
            FeedbackSpec::Charged(extra) => Feedback::Charged { extra: cost_of(*extra) },
            FeedbackSpec::Late(late_ms) => Feedback::Late { late_ms: *late_ms },
            FeedbackSpec::Released => Feedback::Released,
        }
    }
}

pub(super) fn account(number: u8) -> AccountId {
    read(ACCOUNTS[usize::from(number) % ACCOUNTS.len()])
}

pub(super) fn kind(number: u8) -> Kind {
    read(KINDS[usize::from(number) % KINDS.len()])
}

pub(super) fn run(number: u8) -> RunId {
    RunId(id(RUNS + u64::from(number)).0)
}

pub(super) fn bucket(index: BucketIndex) -> BucketKey {
    BucketKey { account: account(index / 3), group: group(index % 3) }
}

pub(super) fn policy(number: u8) -> Policy {
    read(POLICIES[usize::from(number) % POLICIES.len()])
}

pub(super) fn text(number: u8) -> Arc<str> {
    TEXTS[usize::from(number) % TEXTS.len()].into()
}

pub(super) fn draws(specs: &[(BucketIndex, u32)]) -> Vec<(BucketKey, Cost)> {
    specs.iter().map(|(index, cost)| (bucket(*index), cost_of(*cost))).collect()
}

pub(super) fn needs(spec: &[(u8, u32)]) -> Needs {
    let needs = spec.iter();
    Needs::new(needs.map(|(index, cost)| Need { group: group(*index), cost: cost_of(*cost) }))
}

pub(super) fn saved(spec: &SavedSpec, now: UnixMillis) -> Saved {
    Saved {
        checkpoint: spec.checkpoint.map(text),
        progress: spec.progress.map(|number| Progress {
            requests_done: number,
            requests_total: number.is_multiple_of(2).then_some(number / 2),
            rows: number.wrapping_mul(3) >> 12,
        }),
        unspent: spec
            .unspent
            .iter()
            .map(|(spec, ms_ago)| Unspent {
                needs: needs(spec),
                taken_at: UnixMillis(now.0.saturating_sub(i64::from(*ms_ago))),
            })
            .collect(),
    }
}

pub(super) fn group(number: u8) -> LimitGroup {
    read(GROUPS[usize::from(number) % GROUPS.len()])
}

fn lease(number: u64) -> LeaseToken {
    LeaseToken(id(LEASES + number).0)
}
