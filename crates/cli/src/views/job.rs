use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use waitless_job::{
    AccountId, BlockedBy, Class, JobId, JobRecord, JobState, Kind, Needs, Progress, RunId,
    UnixMillis, WorkerName,
};
use waitless_scheduler::Explanation;

use crate::{
    format::{self, JOB_ID_CHARS_MIN, RUN_ID_CHARS_MIN, cut, moment, relative, short_id},
    output::{Listed, Tone},
    surroundings::Surroundings,
};

/// A job.
#[derive(Debug, Serialize)]
pub(crate) struct JobView {
    pub(crate) id: JobId,
    pub(crate) kind: Kind,
    pub(crate) account: AccountId,
    pub(crate) run: Option<RunId>,
    pub(crate) class: Class,
    /// Order of arrival.
    pub(crate) seq: u64,
    pub(crate) state: JobState,
    /// What keeps it waiting, while it waits.
    pub(crate) blocked_by: Option<BlockedBy>,
    /// Whether a worker holds the store.
    pub(crate) worker: bool,
    /// The earliest moment at which it can start, while it has not; none while it waits and no
    /// worker holds the store.
    pub(crate) ready_at: Option<UnixMillis>,
    /// What its next request takes.
    pub(crate) needs: Needs,
    pub(crate) attempts: u32,
    pub(crate) attempts_max: u32,
    pub(crate) snoozes: u64,
    pub(crate) progress: Progress,
    pub(crate) error: Option<Arc<str>>,
    pub(crate) unique_key: Option<Arc<str>>,
    pub(crate) lease: Option<LeaseView>,
    pub(crate) run_at: UnixMillis,
    pub(crate) created_at: UnixMillis,
    pub(crate) started_at: Option<UnixMillis>,
    pub(crate) finished_at: Option<UnixMillis>,
    /// What people call the account.
    #[serde(skip)]
    pub(crate) account_text: String,
    /// Characters of its id, and of its run's, that a table shows.
    #[serde(skip)]
    pub(crate) id_chars: usize,
    #[serde(skip)]
    pub(crate) run_chars: usize,
    #[serde(skip)]
    pub(crate) now: UnixMillis,
}

/// Who runs a job. Without the token of its lease, which gives the right to report.
#[derive(Debug, Serialize)]
pub(crate) struct LeaseView {
    pub(crate) worker: WorkerName,
    pub(crate) expires_at: UnixMillis,
}

impl JobView {
    pub(crate) fn new(
        job: &JobRecord,
        explanation: &Explanation,
        around: &Surroundings,
        now: UnixMillis,
    ) -> Self {
        Self {
            id: job.id,
            kind: job.kind.clone(),
            account: job.account.clone(),
            run: job.run,
            class: job.class,
            seq: job.seq,
            state: job.state,
            blocked_by: explanation.blocked_by.clone(),
            worker: around.worker,
            ready_at: explanation
                .ready_at
                .filter(|_| around.worker || job.state != JobState::Waiting),
            needs: job.needs.clone(),
            attempts: job.attempts,
            attempts_max: job.attempts_max,
            snoozes: job.snoozes,
            progress: job.progress,
            error: job.error.clone(),
            unique_key: job.unique_key.clone(),
            lease: job.lease.as_ref().map(|lease| LeaseView {
                worker: lease.worker.clone(),
                expires_at: lease.expires_at,
            }),
            run_at: job.run_at,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            account_text: around.account_text(&job.account),
            id_chars: JOB_ID_CHARS_MIN,
            run_chars: RUN_ID_CHARS_MIN,
            now,
        }
    }

    /// Makes the ids that a table shows long enough to tell jobs and runs apart.
    pub(crate) fn tell_apart(jobs: &mut [Self], runs: impl IntoIterator<Item = RunId>) {
        let id_chars =
            format::id_chars(jobs.iter().map(|job| job.id.to_string()), JOB_ID_CHARS_MIN);
        let runs = runs.into_iter().map(|run| run.to_string());
        let run_chars = format::id_chars(runs, RUN_ID_CHARS_MIN);
        for job in jobs {
            (job.id_chars, job.run_chars) = (id_chars, run_chars);
        }
    }

    /// Limit groups that its next request draws on.
    fn groups(&self) -> String {
        let groups: Vec<&str> =
            self.needs.as_slice().iter().map(|need| need.group.as_str()).collect();
        if groups.is_empty() { "-".into() } else { groups.join(",") }
    }

    /// Requests made of those there are: `12/60`; `12/?` while nobody knows how many there are.
    pub(crate) fn requests(&self) -> String {
        let Progress { requests_done, requests_total, .. } = self.progress;
        match requests_total {
            Some(total) => format!("{requests_done}/{total}"),
            None if self.state.is_final() => requests_done.to_string(),
            None => format!("{requests_done}/?"),
        }
    }

    /// What there is to say about its state, in a few words: of an error not too many, and no
    /// bucket but in a wide table.
    pub(crate) fn note(&self, is_wide: bool) -> String {
        let error_chars_max = if is_wide { 60 } else { 40 };
        let ready = || match self.ready_at {
            Some(at) if at > self.now => relative(at, self.now),
            _ => "now".into(),
        };
        let error = self.error.as_deref().map(|error| cut(error, error_chars_max));
        let with_error = |text: String| match &error {
            Some(error) => format!("{text}: {error}"),
            None => text,
        };
        match self.state {
            JobState::Waiting => match &self.blocked_by {
                Some(BlockedBy::Bucket { .. } | BlockedBy::Hold { .. } | BlockedBy::Slots)
                | None
                    if !self.worker =>
                {
                    "no worker".into()
                }
                Some(BlockedBy::Bucket { bucket }) if is_wide => {
                    format!("for {bucket}, {}", ready())
                }
                Some(BlockedBy::Bucket { .. }) => format!("token {}", ready()),
                Some(BlockedBy::Hold { bucket, until }) if is_wide => {
                    format!("{bucket} is closed until {}, {}", moment(*until), ready())
                }
                Some(BlockedBy::Hold { .. }) => format!("closed, {}", ready()),
                Some(BlockedBy::Paused { reason, .. }) => {
                    format!("paused: {}", cut(reason, error_chars_max))
                }
                Some(BlockedBy::Slots) | None => "for a slot".into(),
            },
            JobState::Scheduled => ready(),
            JobState::Retryable => with_error(ready()),
            JobState::Running => match &self.lease {
                Some(lease) => format!("with {}", lease.worker),
                None => String::new(),
            },
            JobState::Succeeded | JobState::Cancelled | JobState::Dead => {
                let ended = self.finished_at.map(|at| relative(at, self.now));
                with_error(ended.unwrap_or_default())
            }
        }
    }
}

impl Listed for JobView {
    const COLUMNS: &'static [&'static str] = &[
        "id", "kind", "account", "group", "state", "attempts", "requests", "run", "note", "class",
        "rows", "snoozes", "created", "started", "finished",
    ];
    const NARROW: usize = 9;

    fn cells(&self) -> Vec<String> {
        let when = |at: Option<UnixMillis>| at.map_or_else(|| "-".into(), moment);
        vec![
            self.id.to_string(),
            self.kind.to_string(),
            self.account.to_string(),
            self.groups(),
            self.state.to_string(),
            format!("{}/{}", self.attempts, self.attempts_max),
            self.requests(),
            self.run.map_or_else(|| "-".into(), |run| run.to_string()),
            self.note(true),
            self.class.to_string(),
            self.progress.rows.to_string(),
            self.snoozes.to_string(),
            moment(self.created_at),
            when(self.started_at),
            when(self.finished_at),
        ]
    }

    fn narrow_cells(&self) -> Vec<String> {
        vec![
            short_id(&self.id, self.id_chars),
            self.kind.to_string(),
            self.account_text.clone(),
            self.groups(),
            self.state.to_string(),
            format!("{}/{}", self.attempts, self.attempts_max),
            self.requests(),
            self.run.map_or_else(|| "-".into(), |run| short_id(&run, self.run_chars)),
            self.note(false),
        ]
    }

    fn tone(&self) -> Tone {
        match (self.state, &self.blocked_by) {
            (JobState::Succeeded, _) => Tone::Good,
            (JobState::Dead, _) => Tone::Bad,
            (JobState::Cancelled | JobState::Retryable, _)
            | (JobState::Waiting, Some(BlockedBy::Hold { .. } | BlockedBy::Paused { .. })) => {
                Tone::Held
            }
            _ => Tone::Plain,
        }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }
}

/// Everything about one job.
#[derive(Debug, Serialize)]
pub(crate) struct JobDetail {
    #[serde(flatten)]
    pub(crate) job: JobView,
    /// Its own cursor.
    pub(crate) checkpoint: Option<Box<RawValue>>,
    pub(crate) args_bytes: usize,
    /// Names of the arguments, if they are an object.
    pub(crate) args_keys: Option<Vec<String>>,
    /// The arguments, byte for byte, if they were asked for: they may hold anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<Box<RawValue>>,
}

impl JobDetail {
    pub(crate) fn new(job: JobView, checkpoint: Option<&str>, args: &str, with_args: bool) -> Self {
        let keys = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(args);
        Self {
            job,
            checkpoint: checkpoint.map(json),
            args_bytes: args.len(),
            args_keys: keys.ok().map(|object| object.into_iter().map(|(key, _)| key).collect()),
            args: with_args.then(|| json(args)),
        }
    }
}

/// A JSON text as it is; as a JSON string if it is none.
fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned())
        .or_else(|_| serde_json::value::to_raw_value(text))
        .expect("a text can be written as a JSON string")
}
