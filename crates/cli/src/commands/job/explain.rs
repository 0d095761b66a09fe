use std::fmt::Write;

use anyhow::Result;
use serde::Serialize;
use waitless_job::{BlockedBy, BucketKey, Clock, JobId, JobRecord, JobState, UnixMillis};
use waitless_scheduler::{Explanation, Reason};
use waitless_store::Reader;
use waitless_store_sqlite::SqliteStore;

use crate::{
    args::Global,
    exit::{Exit, Failure},
    find,
    format::{hundredths, moment, moment_and_relative, ordinal, printable, span, thousands, wait},
    output,
    surroundings::Surroundings,
};

/// Why a job is where it is, and what it has tried.
#[derive(Debug, Serialize)]
struct Explained {
    id: JobId,
    attempts: u32,
    attempts_max: u32,
    /// Whether a worker holds the store.
    worker: bool,
    #[serde(flatten)]
    explanation: Explanation,
}

pub(super) async fn explain(global: &Global, store: &SqliteStore, id: &str) -> Result<()> {
    let id = find::job(store, id).await?;
    let Some((job, _)) = store.job(id).await? else {
        let gone = format!("job {id} was removed from the store a moment ago");
        return Err(Failure::new(Exit::NotFound, gone));
    };
    let around = Surroundings::read(store, Some(job.account.clone())).await?;
    let now = Clock::system().now();
    let explanation = around.explain(store, &job, now).await?;
    let ready_at = explanation.ready_at.filter(|_| around.worker || job.state != JobState::Waiting);
    let explained = Explained {
        id,
        attempts: job.attempts,
        attempts_max: job.attempts_max,
        worker: around.worker,
        explanation: Explanation { ready_at, ..explanation },
    };
    output::one(global.output(), &explained, &id.to_string(), |explained| {
        let mut text = text(&job, &explained.explanation, &around, now);
        // The arithmetic holds only while somebody acts on it.
        if !job.state.is_final() && !around.worker {
            text.push_str("  no worker runs on this store: nothing starts before one does\n");
        }
        text
    })
}

/// A job's state and what there is to say about it, in one sentence.
pub(super) fn headline(
    job: &JobRecord,
    explanation: &Explanation,
    around: &Surroundings,
    now: UnixMillis,
) -> String {
    let when = |at| moment_and_relative(at, now);
    let error = job.error.as_deref().map(printable);
    let with_error = |text: String| match &error {
        Some(error) => format!("{text}: {error}"),
        None => text,
    };
    let says = match job.state {
        JobState::Waiting => {
            let ahead = explanation.reasons.iter().find_map(|reason| match reason {
                Reason::Ahead { jobs } => Some(*jobs),
                _ => None,
            });
            let place = ordinal(ahead.unwrap_or(0) + 1);
            match &explanation.blocked_by {
                Some(BlockedBy::Bucket { bucket }) => {
                    format!("{place} in line for bucket {}", around.bucket_text(bucket))
                }
                Some(BlockedBy::Hold { bucket, until }) => format!(
                    "{place} in line for bucket {}, which its upstream has closed until {}",
                    around.bucket_text(bucket),
                    when(*until)
                ),
                Some(BlockedBy::Paused { bucket, reason }) => {
                    let what = match bucket {
                        Some(bucket) => format!("limit {}", around.bucket_text(bucket)),
                        None => format!("account {}", around.account_text(&job.account)),
                    };
                    format!(
                        "{what} is paused: {}; when that is mended: {}",
                        printable(reason),
                        around.resume(&job.account)
                    )
                }
                Some(BlockedBy::Slots) | None => {
                    format!("{place} in line for a slot; its tokens are there")
                }
            }
        }
        JobState::Scheduled => format!("not before {}", when(job.run_at)),
        JobState::Retryable => with_error(format!(
            "attempt {} of {} failed, the next is made at {}",
            job.attempts,
            job.attempts_max,
            when(job.run_at)
        )),
        JobState::Running => match &job.lease {
            Some(lease) => {
                format!("with worker {}, lease until {}", lease.worker, when(lease.expires_at))
            }
            None => "without a lease; `waitless doctor` says more".into(),
        },
        JobState::Succeeded | JobState::Cancelled | JobState::Dead => {
            with_error(job.finished_at.map(when).unwrap_or_default())
        }
    };
    format!("{}  {says}", job.state)
}

fn text(
    job: &JobRecord,
    explanation: &Explanation,
    around: &Surroundings,
    now: UnixMillis,
) -> String {
    let mut text = headline(job, explanation, around, now);
    text.push('\n');
    for reason in &explanation.reasons {
        if let Some(line) = line(job, reason, around, now) {
            writeln!(text, "  {line}").expect("writing to a text does not fail");
        }
    }
    writeln!(
        text,
        "  attempts {} of {}   snoozes {} (to be put back costs no attempt)",
        job.attempts,
        job.attempts_max,
        thousands(job.snoozes)
    )
    .expect("as above");
    text
}

/// A reason with its numbers; none if the headline has said it.
fn line(
    job: &JobRecord,
    reason: &Reason,
    around: &Surroundings,
    now: UnixMillis,
) -> Option<String> {
    match reason {
        Reason::Bucket { bucket, limit, slower, quota, level_hundredths, wait_ms, limiting } => {
            let cost = cost(job, bucket);
            let means = match *wait_ms {
                _ if cost > quota.capacity => format!(
                    "a request takes {cost}: it can never go; lower its cost or raise the burst"
                ),
                0 => "not limiting".to_owned(),
                ms if *limiting => {
                    format!("token for this job in {} ({})", wait(ms), moment(now.plus(ms)))
                }
                ms => format!("not limiting: its token is there in {}", span(ms)),
            };
            let bucket = around.bucket_text(bucket);
            let limit = match slower {
                Some(slower) => format!("{slower}, slower than the published {limit}"),
                None => limit.clone(),
            };
            Some(format!(
                "{bucket}  level {} of {}, {limit} → {means}",
                hundredths(*level_hundredths),
                quota.capacity
            ))
        }
        Reason::UnknownLimit { bucket } => {
            let bucket = around.bucket_text(bucket);
            Some(format!("{bucket}  no limit is configured: no request on it can go"))
        }
        Reason::Ahead { jobs: 1 } => Some("1 job is ahead of it in its lane".into()),
        Reason::Ahead { jobs } => {
            Some(format!("{} jobs are ahead of it in its lane", thousands(*jobs)))
        }
        Reason::Paused { .. }
        | Reason::Slots
        | Reason::NotBefore { .. }
        | Reason::Running { .. }
        | Reason::Ended { .. } => None,
    }
}

/// Tokens that a job's next request takes from a bucket.
fn cost(job: &JobRecord, bucket: &BucketKey) -> u32 {
    let need = job.needs.as_slice().iter().find(|need| need.group == bucket.group);
    need.map_or(0, |need| need.cost.tokens())
}
