//! What an import has to do for each dataset: go on, take up again, or begin.

use anyhow::Result;
use chrono::NaiveDate;
use waitless_job::{AccountId, JobId, JobRecord, JobState, RunId, UnixMillis};
use waitless_sink::Sink;
use waitless_store::{Store, model::Run, ops::JobFilter};
use waitless_wb::Dataset;

use crate::{
    args::Import,
    exit::{Exit, Failure},
};

/// Jobs read from the store at a time.
const CHUNK: usize = 500;

/// The jobs that bring what was asked for.
pub(crate) struct Plan {
    /// The run they belong to.
    pub(crate) run: RunId,
    /// The jobs, one for each dataset.
    pub(crate) jobs: Vec<JobId>,
}

/// Finds or enqueues a job for each dataset.
pub(crate) async fn make(
    store: &dyn Store,
    sink: &dyn Sink,
    args: &Import,
    account: &AccountId,
    datasets: &[Dataset],
    now: UnixMillis,
) -> Result<Plan> {
    let known = jobs_of(store, account).await?;
    let newest = |dataset| known.iter().rev().find(|job| dataset_of(job) == Some(dataset));
    let is_open = |job: &JobRecord| !matches!(job.state, JobState::Succeeded);
    let unfinished =
        datasets.iter().filter_map(|dataset| newest(*dataset)).find(|job| is_open(job));
    let run = match unfinished.and_then(|job| job.run) {
        Some(run) => {
            eprintln!("goes on with run {run}, which is not finished");
            run
        }
        None => {
            let name = format!("import {}", args.account);
            let run = Run { id: RunId::new(now), name: name.into(), started_at: now };
            store.put_run(run.clone()).await?;
            run.id
        }
    };
    let mut jobs = Vec::new();
    for &dataset in datasets {
        let newest = newest(dataset);
        let has_rows = sink.count(account.as_str(), dataset.as_str()).await?.rows > 0;
        let job = match newest {
            Some(job) if is_open(job) => {
                go_on(store, args, dataset, job, has_rows, now).await?;
                job.id
            }
            Some(job) if unfinished.is_some() && job.run == Some(run) && has_rows => job.id,
            last => {
                let since = match (args.since, last) {
                    (Some(day), _) => day,
                    (None, Some(last)) if has_rows => after(last, dataset, now),
                    (None, _) => waitless_wb::deepest_day(now),
                };
                begin(store, account, dataset, since, run, now).await?
            }
        };
        jobs.push(job);
    }
    Ok(Plan { run, jobs })
}

/// A job that is under way or was given up goes on at its checkpoint.
async fn go_on(
    store: &dyn Store,
    args: &Import,
    dataset: Dataset,
    job: &JobRecord,
    has_rows: bool,
    now: UnixMillis,
) -> Result<()> {
    if job.progress.rows > 0 && !has_rows {
        let text = format!(
            "{dataset}: this import has landed {} rows, and {} holds none of them: name the sink that \
             it began with",
            job.progress.rows, args.sink
        );
        return Err(Failure::new(Exit::Conflict, text));
    }
    if args.since.is_some() {
        eprintln!(
            "note: {dataset} is under way already, and goes on with the --since it began with"
        );
    }
    if job.state.is_final() && store.requeue(job.id, now).await? {
        let error = job.error.as_deref().unwrap_or("it was given up");
        eprintln!("{dataset}: tries again what ended with: {error}");
    }
    Ok(())
}

async fn begin(
    store: &dyn Store,
    account: &AccountId,
    dataset: Dataset,
    since: NaiveDate,
    run: RunId,
    now: UnixMillis,
) -> Result<JobId> {
    let plan = waitless_wb::plan(account, &[dataset], since, now)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    for notice in &plan.notices {
        eprintln!("note: {notice}");
    }
    let jobs = plan.jobs.into_iter().map(|job| job.run(run)).collect();
    Ok(store.enqueue(jobs, now).await?[0].id)
}

/// The day up to which the last import of a dataset came.
fn after(last: &JobRecord, dataset: Dataset, now: UnixMillis) -> NaiveDate {
    let deepest = waitless_wb::deepest_day(now);
    let cursor = last.checkpoint.as_deref();
    let cursor = cursor.and_then(|json| serde_json::from_str::<waitless_wb::Cursor>(json).ok());
    let Some(cursor) = cursor else { return deepest };
    let day = cursor.date_from.day().max(deepest);
    eprintln!(
        "{dataset}: goes on from {day}, where the last import ended; --since fetches more again"
    );
    day
}

/// Every job of an account, oldest first.
async fn jobs_of(store: &dyn Store, account: &AccountId) -> Result<Vec<JobRecord>> {
    let mut jobs: Vec<JobRecord> = Vec::new();
    loop {
        let filter = JobFilter {
            account: Some(account.clone()),
            after: jobs.last().map(|job| job.id),
            limit: CHUNK,
            ..JobFilter::default()
        };
        let chunk = store.jobs(filter).await?;
        if chunk.is_empty() {
            return Ok(jobs);
        }
        jobs.extend(chunk);
    }
}

/// The dataset that a job imports.
pub(crate) fn dataset_of(job: &JobRecord) -> Option<Dataset> {
    let group = job.needs.as_slice().first()?.group.as_str();
    Dataset::ALL.into_iter().find(|dataset| dataset.group().as_str() == group)
}
