mod plan;
mod reload;

use std::{collections::HashMap, sync::Arc};

use anyhow::Result;
use serde::Serialize;
use waitless_job::{AccountId, Clock, JobState, RunId};
use waitless_store::Store;
use waitless_upstream::{BaseUrl, Client, ClientConfig};
use waitless_wb::{Connector, Dataset, Tokens};
use waitless_worker::WorkerConfig;

use crate::{
    args::{Global, Import},
    commands::{account::enter, catalogue, token},
    digitize::{Digitization, dataset_of},
    exit::{Exit, Failure},
    format::{printable, seconds, thousands},
    open, output,
    views::Skipped,
};

/// What an import came to.
#[derive(Debug, Serialize)]
struct Summary {
    account: String,
    account_id: String,
    run: RunId,
    datasets: Vec<DatasetSummary>,
    /// Those that the token does not open.
    skipped: Vec<Skipped>,
    requests: u64,
    upstream_429: u64,
    slot_wait_seconds: f64,
    makespan_seconds: f64,
    /// The signal that ended it early, as the exit code it stands for.
    interrupted: bool,
    /// Why what is left waits for a person, if it does.
    paused: Vec<String>,
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
    let token = token::read(&args.token, now)?;
    let account = token.account().clone();
    let source = catalogue::Source::new(args.catalogue.catalogue.clone(), args.speed);
    let (catalogue, limits) = reload::Watched::read(source)?;
    let (wanted, notices) = plan::reachable(&token, &catalogue, &datasets, args.since, now)?;

    let store = open::store(&args.store.store).await?;
    // Before anything is written: a store with a worker is refused here.
    store.start_worker(WorkerConfig::default().name, now).await?;
    let sink = open::sink(&args.sink).await?;
    enter::check_name(&*store, &args.account, &account).await?;
    check_not_paused(&*store, args, &account).await?;
    enter::enter(&*store, &catalogue, &token, &args.account, &wanted, now).await?;
    // The token was given anew: whatever was amiss with the last one may be mended.
    for pause in enter::resume_limits(&*store, &account, now).await? {
        say!("note: goes on again: {pause}");
    }
    let beginning = plan::Beginning { token: &token, catalogue: &catalogue, now };
    let plan = plan::make(&*store, &*sink, args, &beginning, &wanted).await?;
    let run = plan.run;

    let reloading = limits.start(Arc::clone(&store), &token, wanted);
    let client = Client::new(Arc::new(catalogue), ClientConfig::default())?;
    let tokens = Tokens::new();
    tokens.put(token);
    let mut connector = Connector::new(client.clone(), tokens, Arc::clone(&sink));
    if let Some(base_url) = base_url {
        connector = connector.base_url(base_url);
    }
    let digitization = Digitization {
        store: Arc::clone(&store),
        clock: clock.clone(),
        handlers: waitless_wb::handlers(connector)?,
        jobs: plan.jobs,
        names: HashMap::from([(account.clone(), args.account.clone())]),
        slots: args.slots,
        slots_per_account_max: args.slots,
        gives_up: true,
    };
    let driven = digitization.drive(global, || client.refused()).await?;
    drop(reloading);

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
        skipped: Skipped::of(&notices),
        paused: driven.paused.clone(),
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
    if let Some(error) = driven.gave_up {
        let text = format!(
            "gave up after some tries, without one answer; the same command tries again: {error}"
        );
        return Err(Failure::new(Exit::Unreachable, text));
    }
    if !driven.paused.is_empty() {
        check_not_paused(&*store, args, &account).await?;
        let reasons: Vec<String> = driven.paused.iter().map(|reason| printable(reason)).collect();
        let text = format!(
            "what is left waits for you; when this is mended, the same command goes on: {}",
            reasons.join("; ")
        );
        return Err(Failure::new(Exit::Auth, text));
    }
    if driven.jobs.iter().any(|job| job.state != JobState::Succeeded) {
        return Err(Failure::new(Exit::WaitedForFailed, "not every dataset is complete"));
    }
    Ok(Exit::Ok)
}

/// What a person has paused goes on when a person says so, and not because an import is due.
async fn check_not_paused(store: &dyn Store, args: &Import, account: &AccountId) -> Result<()> {
    let Some(reason) = enter::paused(store, account).await? else { return Ok(()) };
    let text = format!(
        "{} is paused: {reason}; `waitless account resume {account}` lets it go on",
        printable(&args.account)
    );
    Err(Failure::new(Exit::Conflict, text))
}

fn datasets(names: &[String]) -> Result<Vec<Dataset>> {
    Dataset::named(names).map_err(|error| Failure::new(Exit::Usage, error))
}

fn base_url(text: &str) -> Result<BaseUrl> {
    text.parse().map_err(|error| Failure::new(Exit::Usage, error))
}

fn text(summary: &Summary) -> String {
    let mut text = String::from("\n");
    for dataset in &summary.datasets {
        text.push_str(&format!(
            "{:<15} {:<10} {} requests, {} rows new or changed, {} in the sink",
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
            text.push_str(&format!("\n                {}", printable(error)));
        }
        text.push('\n');
    }
    text.push_str(&Skipped::text(&summary.skipped));
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
