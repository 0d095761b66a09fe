//! What an import has to do for each dataset: go on, take up again, or begin.

use anyhow::Result;
use chrono::NaiveDate;
use waitless_job::{AccountId, JobId, JobRecord, JobState, RunId, UnixMillis};
use waitless_sink::Sink;
use waitless_store::{Store, model::Run, ops::JobFilter};
use waitless_upstream::Catalogue;
use waitless_wb::{Dataset, Notice, SellerToken};

use crate::{
    args::Import,
    digitize::dataset_of,
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

/// What jobs that begin are made from.
pub(crate) struct Beginning<'a> {
    pub(crate) token: &'a SellerToken,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) now: UnixMillis,
}

/// The datasets that the token opens, and what there is to say about the others, which is said
/// before anything is done.
pub(crate) fn reachable(
    token: &SellerToken,
    catalogue: &Catalogue,
    datasets: &[Dataset],
    since: Option<NaiveDate>,
    now: UnixMillis,
) -> Result<(Vec<Dataset>, Vec<Notice>)> {
    let plan = waitless_wb::plan(token, catalogue, datasets, since, now)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    // A day that is moved up is spoken of when a dataset begins there.
    let is_shortened = |notice: &Notice| matches!(notice, Notice::Shortened { .. });
    let notices: Vec<Notice> =
        plan.notices.into_iter().filter(|notice| !is_shortened(notice)).collect();
    if plan.datasets.is_empty() {
        let reasons: Vec<String> = notices.iter().map(Notice::to_string).collect();
        return Err(Failure::new(Exit::Auth, reasons.join("\n")));
    }
    for notice in &notices {
        say!("note: {notice}");
    }
    Ok((plan.datasets, notices))
}

/// Finds or enqueues a job for each dataset.
pub(crate) async fn make(
    store: &dyn Store,
    sink: &dyn Sink,
    args: &Import,
    beginning: &Beginning<'_>,
    datasets: &[Dataset],
) -> Result<Plan> {
    let (account, now) = (beginning.token.account(), beginning.now);
    let known = jobs_of(store, account).await?;
    let newest = |dataset| known.iter().rev().find(|job| dataset_of(job) == Some(dataset));
    let is_open = |job: &JobRecord| !matches!(job.state, JobState::Succeeded);
    let unfinished =
        datasets.iter().filter_map(|dataset| newest(*dataset)).find(|job| is_open(job));
    let run = match unfinished.and_then(|job| job.run) {
        Some(run) => {
            say!("goes on with run {run}, which is not finished");
            run
        }
        None => {
            let name = format!("import {}", args.account);
            let run = Run { id: RunId::new(now), name: name.into(), started_at: now };
            store.put_run(run.clone()).await?;
            run.id
        }
    };
    let is_of_this_run = |job: &JobRecord| {
        unfinished.is_some() && job.run == Some(run) && job.state == JobState::Succeeded
    };
    let mut jobs = Vec::new();
    for &dataset in datasets {
        let newest = newest(dataset);
        let has_rows = sink.count(account.as_str(), dataset.as_str()).await?.rows > 0;
        // Of a dataset without a single row an empty sink holds all there is.
        let lacks_rows = !has_rows
            && known.iter().any(|job| dataset_of(job) == Some(dataset) && job.progress.rows > 0);
        // Given up, and another beginning is asked for: its checkpoint may be what it died of.
        let begins_anew = |job: &JobRecord| job.state.is_final() && args.since.is_some();
        let job = match newest {
            Some(job) if is_open(job) && !begins_anew(job) => {
                go_on(store, args, dataset, job, has_rows, now).await?;
                job.id
            }
            Some(job) if is_of_this_run(job) && !lacks_rows => job.id,
            last => {
                let since = match (args.since, last) {
                    (Some(day), _) => Some(day),
                    (None, Some(last)) if has_rows => after(last, dataset, now),
                    (None, _) => None,
                };
                begin(store, beginning, dataset, since, run).await?
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
        say!("note: {dataset} is under way already, and goes on with the --since it began with");
    }
    if job.state.is_final() && store.requeue(job.id, now).await? {
        let error = job.error.as_deref().unwrap_or("it was given up");
        say!("{dataset}: tries again what ended with: {error}");
    }
    Ok(())
}

async fn begin(
    store: &dyn Store,
    beginning: &Beginning<'_>,
    dataset: Dataset,
    since: Option<NaiveDate>,
    run: RunId,
) -> Result<JobId> {
    let &Beginning { token, catalogue, now } = beginning;
    let plan = waitless_wb::plan(token, catalogue, &[dataset], since, now)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    for notice in &plan.notices {
        if matches!(notice, Notice::Shortened { .. }) {
            say!("note: {notice}");
        }
    }
    let jobs = plan.jobs.into_iter().map(|job| job.run(run)).collect();
    Ok(store.enqueue(jobs, now).await?[0].id)
}

/// The day from which a dataset goes on that was imported before; none if all of it is fetched
/// again.
fn after(last: &JobRecord, dataset: Dataset, now: UnixMillis) -> Option<NaiveDate> {
    let day = dataset.next_day(last.checkpoint.as_deref()?)?.max(dataset.deepest_day(now));
    say!("{dataset}: goes on from {day}, where the last import ended; --since fetches more again");
    Some(day)
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
