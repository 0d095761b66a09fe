use std::fmt::Write;

use anyhow::Result;
use serde::Serialize;
use waitless_job::{Clock, JobRecord, JobState};
use waitless_store::ops::JobFilter;
use waitless_store_sqlite::SqliteStore;

use crate::{
    args::Global,
    find,
    format::{hundredths, moment_and_relative, printable, short_id, span, thousands},
    output::{self, Output},
    surroundings::{Surroundings, each_job},
    views::{JobView, LimitInfo},
};

/// Waiting jobs that are shown.
const SHOWN_MAX: usize = 20;

/// Waiting jobs that are looked through for the first of them.
const LOOKED_AT_MAX: usize = 100_000;

/// A limit and the jobs that wait for it.
#[derive(Debug, Serialize)]
struct LimitDetail {
    #[serde(flatten)]
    limit: LimitInfo,
    /// The first of them in the order in which they are served, as far as they wait in one lane.
    waiting_jobs: Vec<JobView>,
    /// What lets its account go on.
    #[serde(skip)]
    resume: String,
}

pub(super) async fn show(global: &Global, store: &SqliteStore, bucket: &str) -> Result<()> {
    let view = find::limit(store, bucket).await?;
    let around = Surroundings::read(store, Some(view.bucket.account.clone())).await?;
    let filter = JobFilter {
        state: Some(JobState::Waiting),
        account: Some(view.bucket.account.clone()),
        limit: LOOKED_AT_MAX,
        ..JobFilter::default()
    };
    let mut first: Vec<JobRecord> = Vec::new();
    each_job(store, filter, |job| {
        if job.lane().draws_on(&view.bucket.group) {
            first.push(job);
        }
        // Cut from time to time, so that few are kept of many.
        if first.len() > 50 * SHOWN_MAX {
            keep_first(&mut first);
        }
    })
    .await?;
    keep_first(&mut first);

    let now = Clock::system().now();
    let mut waiting_jobs = Vec::with_capacity(first.len());
    for job in first {
        let explanation = around.explain(store, &job, now).await?;
        waiting_jobs.push(JobView::new(&job, &explanation, &around, now));
    }
    JobView::tell_apart(&mut waiting_jobs, []);
    let is_wide = global.output() == Output::Wide;
    let limit = LimitInfo::new(&view, &around, now);
    let detail = LimitDetail { limit, waiting_jobs, resume: around.resume(&view.bucket.account) };
    output::one(global.output(), &detail, &view.bucket.to_string(), |detail| text(detail, is_wide))
}

fn keep_first(jobs: &mut Vec<JobRecord>) {
    jobs.sort_by_key(|job| (job.class, job.seq));
    jobs.truncate(SHOWN_MAX);
}

fn text(detail: &LimitDetail, is_wide: bool) -> String {
    let limit = &detail.limit;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("writing to a text does not fail");
    };
    line("bucket", &limit.bucket.to_string());
    if let Some(name) = &limit.account_name {
        line("account", &printable(name));
    }
    line("limit", &limit.policy.to_string());
    if let Some(slower) = &limit.slower {
        line("slower", &format!("{slower}: refusals have taught it so, until it goes well again"));
    }
    line(
        "level",
        &format!(
            "{} of {}, {}/{} left",
            hundredths(limit.level_hundredths),
            limit.quota.capacity,
            limit.quota.remaining,
            limit.quota.capacity,
        ),
    );
    line("next token", &limit.next_token());
    match limit.quota.resets_in_ms {
        0 => line("full", "now"),
        ms => line("full", &format!("in {}", span(ms))),
    }
    if let Some(hold) = limit.hold() {
        line("hold", &format!("{hold}: its upstream has closed it"));
    }
    if let Some(reason) = &limit.paused {
        line("paused", &printable(reason));
        line("", &format!("when that is mended: {}", detail.resume));
    }
    line("running", &thousands(limit.running));
    line("waiting", &thousands(limit.waiting));
    if let Some(at) = limit.eta_at {
        line("eta", &format!("{}, one request each", moment_and_relative(at, limit.now)));
    }
    if !detail.waiting_jobs.is_empty() {
        let headers = ["job", "kind", "class", "attempts", "requests", "note"];
        let rows = detail.waiting_jobs.iter().map(|job| {
            vec![
                short_id(&job.id, if is_wide { usize::MAX } else { job.id_chars }),
                job.kind.to_string(),
                job.class.to_string(),
                format!("{}/{}", job.attempts, job.attempts_max),
                job.requests(),
                job.note(is_wide),
            ]
        });
        write!(text, "\n{}", output::table(&headers, rows)).expect("as above");
        let more = limit.waiting.saturating_sub(detail.waiting_jobs.len() as u64);
        if more > 0 {
            write!(
                text,
                "\nand {} more: waitless job list --state waiting --account {}",
                thousands(more),
                limit.account
            )
            .expect("as above");
        }
    }
    text
}
