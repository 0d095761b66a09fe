use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use waitless_job::{
    AccountId, BlockedBy, Class, JobId, JobRecord, JobState, Kind, Needs, Progress, RunId,
    UnixMillis, WorkerName,
};
use waitless_scheduler::Explanation;

use crate::{
    format::{cut, moment, relative},
    output::Listed,
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
    /// The earliest moment at which it can start, while it has not.
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
    pub(crate) fn new(job: &JobRecord, explanation: &Explanation, now: UnixMillis) -> Self {
        Self {
            id: job.id,
            kind: job.kind.clone(),
            account: job.account.clone(),
            run: job.run,
            class: job.class,
            seq: job.seq,
            state: job.state,
            blocked_by: explanation.blocked_by.clone(),
            ready_at: explanation.ready_at,
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
            now,
        }
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

    /// What there is to say about its state, in a few words.
    pub(crate) fn note(&self) -> String {
        const ERROR_CHARS_MAX: usize = 60;
        let ready = || match self.ready_at {
            Some(at) if at > self.now => relative(at, self.now),
            _ => "now".into(),
        };
        let error = self.error.as_deref().map(|error| cut(error, ERROR_CHARS_MAX));
        let with_error = |text: String| match &error {
            Some(error) => format!("{text}: {error}"),
            None => text,
        };
        match self.state {
            JobState::Waiting => match &self.blocked_by {
                Some(BlockedBy::Bucket { bucket }) => format!("for {bucket}, {}", ready()),
                Some(BlockedBy::Hold { bucket, until }) => {
                    format!("{bucket} is closed until {}, {}", moment(*until), ready())
                }
                Some(BlockedBy::Paused { reason }) => {
                    format!("paused: {}", cut(reason, ERROR_CHARS_MAX))
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
        "id", "kind", "account", "state", "attempts", "requests", "note", "class", "rows",
        "snoozes", "created", "started", "finished", "run",
    ];
    const NARROW: usize = 7;

    fn cells(&self) -> Vec<String> {
        let when = |at: Option<UnixMillis>| at.map_or_else(|| "-".into(), moment);
        vec![
            self.id.to_string(),
            self.kind.to_string(),
            self.account.to_string(),
            self.state.to_string(),
            format!("{}/{}", self.attempts, self.attempts_max),
            self.requests(),
            self.note(),
            self.class.to_string(),
            self.progress.rows.to_string(),
            self.snoozes.to_string(),
            moment(self.created_at),
            when(self.started_at),
            when(self.finished_at),
            self.run.map_or_else(|| "-".into(), |run| run.to_string()),
        ]
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
