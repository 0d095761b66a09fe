use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use waitless_bucket::{Policy, peek};
use waitless_job::{AccountId, BucketKey, JobId, JobRecord, JobState, Kind, RunId, UnixMillis};
use waitless_scheduler::{Binding, RunProgress, level_hundredths, run_progress, slower_policy};
use waitless_store::model::Run;

use crate::{
    format::{self, JOB_ID_CHARS_MIN, moment, printable, relative, short_id, thousands},
    output::{Listed, Tone},
    surroundings::Surroundings,
};

/// Time that a request is taken to hold its slot, in milliseconds: what the upstream's own time
/// and the landing of a page come to. It matters only where slots decide.
pub(crate) const REQUEST_MS: u64 = 400;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunState {
    /// The store has no job of it: none was enqueued yet, or they ended long ago.
    Empty,
    /// A job of it has not ended.
    Running,
    /// Every job has succeeded.
    Finished,
    /// Every job has ended, and one at least is dead or was cancelled.
    Failed,
}

impl RunState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RunView {
    pub(crate) id: RunId,
    pub(crate) name: Arc<str>,
    pub(crate) state: RunState,
    /// Whether a worker holds the store.
    pub(crate) worker: bool,
    pub(crate) started_at: UnixMillis,
    pub(crate) finished_at: Option<UnixMillis>,
    pub(crate) jobs: Jobs,
    pub(crate) progress: Requests,
    /// None while no worker holds the store: it would move with the clock.
    pub(crate) eta: Option<EtaView>,
    /// What people call that which decides.
    #[serde(skip)]
    pub(crate) binding_text: Option<String>,
    /// Characters of its id that a table shows.
    #[serde(skip)]
    pub(crate) id_chars: usize,
    #[serde(skip)]
    pub(crate) now: UnixMillis,
}

/// Jobs of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Jobs {
    pub(crate) total: u64,
    /// Ended, whichever way.
    pub(crate) done: u64,
    pub(crate) succeeded: u64,
    /// Dead or cancelled.
    pub(crate) failed: u64,
    /// States with none are left out.
    pub(crate) by_state: BTreeMap<JobState, u64>,
}

/// Requests of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Requests {
    pub(crate) requests_done: u64,
    pub(crate) requests_left: u64,
    pub(crate) rows: u64,
}

/// When a run ends, and what decides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EtaView {
    pub(crate) at: UnixMillis,
    pub(crate) binding: Binding,
}

impl RunView {
    fn new(
        run: Run,
        jobs: &[JobRecord],
        progress: &RunProgress,
        around: &Surroundings,
        now: UnixMillis,
    ) -> Self {
        let count = |wanted: fn(JobState) -> bool| -> u64 {
            progress.jobs.iter().filter(|(state, _)| wanted(**state)).map(|(_, jobs)| jobs).sum()
        };
        let failed = count(|state| matches!(state, JobState::Dead | JobState::Cancelled));
        let state = match failed {
            _ if jobs.is_empty() => RunState::Empty,
            _ if !progress.is_finished() => RunState::Running,
            0 => RunState::Finished,
            _ => RunState::Failed,
        };
        let eta = progress.eta.as_ref().filter(|_| around.worker);
        let ended = jobs.iter().filter_map(|job| job.finished_at).max();
        Self {
            id: run.id,
            name: run.name,
            state,
            worker: around.worker,
            started_at: run.started_at,
            finished_at: ended.filter(|_| progress.is_finished()),
            jobs: Jobs {
                total: jobs.len() as u64,
                done: count(JobState::is_final),
                succeeded: count(|state| state == JobState::Succeeded),
                failed,
                by_state: progress.jobs.clone(),
            },
            progress: Requests {
                requests_done: progress.requests_done,
                requests_left: progress.requests_left,
                rows: progress.rows,
            },
            eta: eta.map(|eta| EtaView { at: eta.at, binding: eta.binding.clone() }),
            binding_text: eta.map(|eta| match &eta.binding {
                Binding::Bucket { bucket } => around.bucket_text(bucket),
                Binding::Slots => "slots".into(),
            }),
            id_chars: JOB_ID_CHARS_MIN,
            now,
        }
    }

    /// Makes the ids that a table shows long enough to tell runs apart.
    pub(crate) fn tell_apart(runs: &mut [Self]) {
        let id_chars =
            format::id_chars(runs.iter().map(|run| run.id.to_string()), JOB_ID_CHARS_MIN);
        for run in runs {
            run.id_chars = id_chars;
        }
    }

    /// Whether it would go on if there were a worker.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state == RunState::Running && !self.worker
    }

    /// Its state for people.
    pub(crate) fn state_text(&self) -> &'static str {
        if self.is_stopped() { "stopped" } else { self.state.as_str() }
    }

    /// Requests made of those there are.
    fn requests(&self) -> String {
        let Requests { requests_done: done, requests_left: left, .. } = self.progress;
        format!("{}/{}", thousands(done), thousands(done + left))
    }
}

impl Listed for RunView {
    const COLUMNS: &'static [&'static str] = &[
        "id", "name", "started", "state", "jobs", "failed", "requests", "rows", "eta", "binding",
        "finished",
    ];
    const NARROW: usize = 9;

    fn cells(&self) -> Vec<String> {
        let none = || "-".to_owned();
        vec![
            self.id.to_string(),
            printable(&self.name),
            moment(self.started_at),
            self.state_text().into(),
            format!("{}/{}", self.jobs.succeeded, self.jobs.total),
            self.jobs.failed.to_string(),
            self.requests(),
            thousands(self.progress.rows),
            self.eta.as_ref().map_or_else(none, |eta| relative(eta.at, self.now)),
            self.binding_text.clone().unwrap_or_else(none),
            self.finished_at.map_or_else(none, moment),
        ]
    }

    fn narrow_cells(&self) -> Vec<String> {
        let mut cells = self.cells();
        cells[0] = short_id(&self.id, self.id_chars);
        cells[2] = relative(self.started_at, self.now);
        cells
    }

    fn tone(&self) -> Tone {
        match self.state {
            RunState::Finished => Tone::Good,
            RunState::Failed => Tone::Bad,
            RunState::Running if self.is_stopped() => Tone::Held,
            RunState::Running | RunState::Empty => Tone::Plain,
        }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }
}

/// A run, and why it takes as long as it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RunDetail {
    #[serde(flatten)]
    pub(crate) run: RunView,
    /// The slowest first.
    pub(crate) buckets: Vec<RunBucket>,
    pub(crate) slots: Slots,
    pub(crate) paused: Vec<Paused>,
    /// Dead and cancelled jobs, oldest first.
    pub(crate) failures: Vec<Failed>,
}

/// What is left to do on one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RunBucket {
    pub(crate) bucket: BucketKey,
    /// What people call it.
    #[serde(skip)]
    pub(crate) bucket_text: String,
    /// As published; text.
    pub(crate) policy: Policy,
    /// What is kept to instead while refusals have made it slower; text.
    pub(crate) slower: Option<Policy>,
    pub(crate) requests_left: u64,
    pub(crate) level_hundredths: i64,
    pub(crate) held_until: Option<UnixMillis>,
    /// What it needs if nothing else holds it up.
    pub(crate) needs_ms: u64,
    /// Whether it decides when the run ends.
    pub(crate) binding: bool,
}

/// What the slots need if no bucket holds them up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Slots {
    pub(crate) slots: u64,
    pub(crate) request_ms: u64,
    pub(crate) requests_left: u64,
    pub(crate) needs_ms: u64,
    pub(crate) binding: bool,
}

/// An account of the run on which nothing goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Paused {
    pub(crate) account: AccountId,
    /// The limit; none if it is the whole account.
    pub(crate) bucket: Option<BucketKey>,
    /// What people call it.
    #[serde(skip)]
    pub(crate) account_text: String,
    pub(crate) reason: String,
    /// The command that lets it go on.
    #[serde(skip)]
    pub(crate) resume: String,
}

/// A job that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    pub(crate) id: JobId,
    pub(crate) kind: Kind,
    pub(crate) account: AccountId,
    /// What people call it.
    #[serde(skip)]
    pub(crate) account_text: String,
    pub(crate) state: JobState,
    pub(crate) finished_at: Option<UnixMillis>,
    pub(crate) error: Option<Arc<str>>,
}

impl RunDetail {
    pub(crate) fn new(
        run: Run,
        jobs: &[JobRecord],
        around: &Surroundings,
        slots: u64,
        now: UnixMillis,
    ) -> Self {
        let progress = run_progress(jobs, &around.limits, slots, REQUEST_MS, now);
        let eta = progress.eta.as_ref();
        let is_binding = |wanted: &Binding| eta.is_some_and(|eta| eta.binding == *wanted);
        let buckets = eta.map_or(&[][..], |eta| &eta.buckets).iter().filter_map(|time| {
            let view = around.limits.iter().find(|view| view.bucket == time.bucket)?;
            Some(RunBucket {
                bucket: time.bucket.clone(),
                bucket_text: around.bucket_text(&time.bucket),
                policy: view.policy,
                slower: slower_policy(view),
                requests_left: time.requests_left,
                level_hundredths: level_hundredths(view, now),
                held_until: peek(view.state.as_ref(), &view.policy, now).held_until,
                needs_ms: time.needs_ms,
                binding: is_binding(&Binding::Bucket { bucket: time.bucket.clone() }),
            })
        });
        let mut live: Vec<&AccountId> =
            jobs.iter().filter(|job| !job.state.is_final()).map(|job| &job.account).collect();
        live.sort_unstable();
        live.dedup();
        let paused = live.into_iter().filter_map(|account| {
            let reason = around.paused(account)?.to_owned();
            Some(Paused {
                account: account.clone(),
                bucket: None,
                account_text: around.account_text(account),
                reason,
                resume: around.resume(account),
            })
        });
        let paused_limits = progress.paused.iter().map(|limit| Paused {
            account: limit.bucket.account.clone(),
            bucket: Some(limit.bucket.clone()),
            account_text: around.account_text(&limit.bucket.account),
            reason: limit.reason.to_string(),
            resume: around.resume(&limit.bucket.account),
        });
        let paused = paused.chain(paused_limits);
        let failures = jobs
            .iter()
            .filter(|job| matches!(job.state, JobState::Dead | JobState::Cancelled))
            .map(|job| Failed {
                id: job.id,
                kind: job.kind.clone(),
                account: job.account.clone(),
                account_text: around.account_text(&job.account),
                state: job.state,
                finished_at: job.finished_at,
                error: job.error.clone(),
            });
        Self {
            buckets: buckets.collect(),
            slots: Slots {
                slots,
                request_ms: REQUEST_MS,
                requests_left: progress.requests_left,
                needs_ms: progress.requests_left.saturating_mul(REQUEST_MS) / slots.max(1),
                binding: is_binding(&Binding::Slots),
            },
            paused: paused.collect(),
            failures: failures.collect(),
            run: RunView::new(run, jobs, &progress, around, now),
        }
    }
}

/// When a run ends, for people.
pub(crate) fn eta_text(run: &RunView) -> String {
    match (&run.eta, run.finished_at) {
        (Some(eta), _) => format!("{} ({})", moment(eta.at), relative(eta.at, run.now)),
        (None, Some(at)) => format!("ended {}", moment(at)),
        (None, None) => "-".into(),
    }
}
