use std::{collections::HashMap, sync::Arc};

use anyhow::Result;
use chrono::NaiveDate;
use serde::Serialize;
use waitless_job::{AccountId, Clock, JobRecord, JobState, RunId, UnixMillis};
use waitless_store::{
    Store,
    model::{Account, Run},
    ops::JobFilter,
};
use waitless_upstream::{BaseUrl, Client, ClientConfig};
use waitless_wb::{Connector, Dataset, SellerToken, Tokens};

use crate::{
    args::{Global, Import, TokenArg},
    digitize::Digitization,
    exit::{Exit, Failure},
    format::{span, thousands},
    open, output,
};

/// Days before its end at which a token's expiry is warned about.
const EXPIRY_WARNING_MS: u64 = 14 * 86_400_000;

/// Most ended jobs that are looked through for where the last import stopped.
const ENDED_MAX: usize = 1_000;

/// What an import came to.
#[derive(Debug, Serialize)]
struct Summary {
    account: String,
    account_id: String,
    run: RunId,
    datasets: Vec<DatasetSummary>,
    requests: u64,
    upstream_429: u64,
    slot_wait_seconds: f64,
    makespan_seconds: f64,
    /// The signal that ended it early, as the exit code it stands for.
    interrupted: bool,
}

#[derive(Debug, Serialize)]
struct DatasetSummary {
    dataset: String,
    state: JobState,
    requests: u64,
    rows_changed: u64,
    rows_in_sink: u64,
    rows_quarantined: u64,
    error: Option<String>,
}

pub(crate) async fn run(global: &Global, args: &Import) -> Result<Exit> {
    let clock = Clock::system();
    let now = clock.now();
    let datasets = datasets(&args.datasets)?;
    let base_url = args.base_url.as_deref().map(base_url).transpose()?;
    let token = token(&args.token, now)?;
    let account = token.account().clone();
    let days_left_ms = token.expires_at().since(now);
    if days_left_ms < EXPIRY_WARNING_MS {
        eprintln!("warning: this token expires in {}: make a new one soon", span(days_left_ms));
    }

    let store = open::store(&args.store.store).await?;
    let sink = open::sink(&args.sink).await?;
    let catalogue = match args.speed {
        1 => waitless_wb::catalogue(),
        speed => waitless_wb::catalogue().scaled(speed, waitless_bucket::DEFAULT_MARGIN_MS)?,
    };
    let entered = Account {
        id: account.clone(),
        name: args.account.as_str().into(),
        upstream: catalogue.upstream().into(),
        added_at: now,
        token_expires_at: Some(token.expires_at()),
        paused: None,
    };
    store.put_account(entered).await?;
    store.set_limits(catalogue.limits(&account, token.family())?, now).await?;
    let run = enqueue(&*store, args, &account, &datasets, now).await?;

    let others = store.accounts().await?.into_iter().map(|other| other.id);
    let leave_alone = others.filter(|other| *other != account).collect();
    let client = Client::new(Arc::new(catalogue), ClientConfig::default())?;
    let tokens = Tokens::new();
    tokens.put(token);
    let mut connector = Connector::new(client.clone(), tokens, Arc::clone(&sink));
    if let Some(base_url) = base_url {
        connector = connector.base_url(base_url);
    }
    let digitization = Digitization {
        store,
        clock: clock.clone(),
        handlers: waitless_wb::handlers(connector)?,
        run,
        names: HashMap::from([(account.clone(), args.account.clone())]),
        slots: args.slots,
        slots_per_account_max: args.slots,
        leave_alone,
    };
    let driven = digitization.drive(global, || client.refused()).await?;

    let mut summary = Summary {
        account: args.account.clone(),
        account_id: account.to_string(),
        run,
        datasets: Vec::new(),
        requests: driven.stats.requests,
        upstream_429: client.refused(),
        slot_wait_seconds: seconds(driven.stats.slot_wait_ms),
        makespan_seconds: seconds(clock.now().since(now)),
        interrupted: driven.interrupted.is_some(),
    };
    for (job, dataset) in driven.jobs.iter().filter_map(|job| Some((job, dataset_of(job)?))) {
        let counts = sink.count(account.as_str(), dataset.as_str()).await?;
        summary.datasets.push(DatasetSummary {
            dataset: dataset.to_string(),
            state: job.state,
            requests: job.progress.requests_done,
            rows_changed: job.progress.rows,
            rows_in_sink: counts.rows,
            rows_quarantined: counts.quarantined,
            error: job.error.as_deref().map(str::to_owned),
        });
    }
    output::one(global.output(), &summary, &run.to_string(), text)?;
    if let Some(exit) = driven.interrupted {
        return Ok(exit);
    }
    if driven.jobs.iter().any(|job| job.state != JobState::Succeeded) {
        return Err(Failure::new(Exit::WaitedForFailed, "not every dataset is complete"));
    }
    Ok(Exit::Ok)
}

/// Enqueues what is not under way already, and answers with the run that it all belongs to.
async fn enqueue(
    store: &dyn Store,
    args: &Import,
    account: &AccountId,
    datasets: &[Dataset],
    now: UnixMillis,
) -> Result<RunId> {
    let filter =
        JobFilter { account: Some(account.clone()), limit: ENDED_MAX, ..JobFilter::default() };
    let known = store.jobs(filter).await?;
    let live: Vec<&JobRecord> = known.iter().filter(|job| !job.state.is_final()).collect();
    let unfinished = live.iter().find_map(|job| job.run);
    let run = match unfinished {
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
    let done_in_this_run = |dataset| {
        known.iter().any(|job| {
            unfinished.is_some()
                && job.run == unfinished
                && job.state == JobState::Succeeded
                && dataset_of(job) == Some(dataset)
        })
    };
    for &dataset in datasets {
        if done_in_this_run(dataset) {
            eprintln!("{dataset}: complete");
            continue;
        }
        let since = match args.since {
            Some(day) => day,
            None => since(&known, dataset, now),
        };
        let plan = waitless_wb::plan(account, &[dataset], since, now)
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        for notice in &plan.notices {
            eprintln!("note: {notice}");
        }
        store.enqueue(plan.jobs.into_iter().map(|job| job.run(run)).collect(), now).await?;
    }
    Ok(run)
}

/// Where an import without `--since` begins: on the day up to which the last one of this dataset
/// came, or as far back as the upstream goes.
fn since(known: &[JobRecord], dataset: Dataset, now: UnixMillis) -> NaiveDate {
    let deepest = waitless_wb::deepest_day(now);
    let last = known
        .iter()
        .rev()
        .find(|job| job.state == JobState::Succeeded && dataset_of(job) == Some(dataset));
    let cursor = last.and_then(|job| job.checkpoint.as_deref());
    let cursor = cursor.and_then(|json| serde_json::from_str::<waitless_wb::Cursor>(json).ok());
    match cursor {
        Some(cursor) => {
            let day = cursor.date_from.day().max(deepest);
            eprintln!(
                "{dataset}: goes on from {day}, where the last import ended; --since fetches more again"
            );
            day
        }
        None => deepest,
    }
}

fn dataset_of(job: &JobRecord) -> Option<Dataset> {
    let group = job.needs.as_slice().first()?.group.as_str();
    Dataset::ALL.into_iter().find(|dataset| dataset.group().as_str() == group)
}

fn datasets(names: &[String]) -> Result<Vec<Dataset>> {
    let one = |name: &String| name.trim().parse().map_err(|error| Failure::new(Exit::Usage, error));
    names.iter().map(one).collect()
}

fn base_url(text: &str) -> Result<BaseUrl> {
    text.parse().map_err(|error| Failure::new(Exit::Usage, error))
}

fn token(from: &TokenArg, now: UnixMillis) -> Result<SellerToken> {
    let auth = |what: String| Failure::new(Exit::Auth, what);
    let (text, place) = match (&from.token_file, &from.token_env) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                auth(format!("cannot read the token file {}: {error}", path.display()))
            })?;
            (text, format!("the file {}", path.display()))
        }
        (None, Some(name)) => {
            let text = std::env::var(name).map_err(|_| {
                auth(format!("the environment variable {name} holds no token: set it"))
            })?;
            (text, format!("the environment variable {name}"))
        }
        (None, None) => return Err(Failure::new(Exit::Usage, "give --token-file or --token-env")),
    };
    SellerToken::parse(text.trim(), now).map_err(|error| auth(format!("in {place}: {error}")))
}

#[expect(clippy::cast_precision_loss, reason = "for people; 2^53 ms are 285,000 years")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

fn text(summary: &Summary) -> String {
    let mut text = String::from("\n");
    for dataset in &summary.datasets {
        text.push_str(&format!(
            "{:<8} {:<10} {} requests, {} rows new or changed, {} in the sink",
            dataset.dataset,
            dataset.state,
            thousands(dataset.requests),
            thousands(dataset.rows_changed),
            thousands(dataset.rows_in_sink),
        ));
        if dataset.rows_quarantined > 0 {
            text.push_str(&format!(", {} in quarantine", thousands(dataset.rows_quarantined)));
        }
        if let Some(error) = &dataset.error {
            text.push_str(&format!("\n         {error}"));
        }
        text.push('\n');
    }
    text.push_str(&format!(
        "{} requests, 429s {}, slot seconds spent waiting {:.1}\n",
        thousands(summary.requests),
        summary.upstream_429,
        summary.slot_wait_seconds,
    ));
    if summary.interrupted {
        text.push_str("stopped before the end; the same command goes on where this one stopped\n");
    }
    text
}
