mod plan;

use std::{collections::HashMap, sync::Arc};

use anyhow::Result;
use serde::Serialize;
use waitless_job::{AccountId, Clock, JobState, RunId, UnixMillis};
use waitless_store::{Store, model::Account};
use waitless_upstream::{BaseUrl, Client, ClientConfig};
use waitless_wb::{Connector, Dataset, SellerToken, Tokens};
use waitless_worker::WorkerConfig;

use crate::{
    args::{Global, Import, TokenArg},
    digitize::Digitization,
    exit::{Exit, Failure},
    format::{seconds, span, thousands},
    open, output,
};

/// Days before its end at which a token's expiry is warned about.
const EXPIRY_WARNING_MS: u64 = 14 * 86_400_000;

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
    // Before anything is written: a store with a worker is refused here.
    store.start_worker(WorkerConfig::default().name, now).await?;
    let sink = open::sink(&args.sink).await?;
    check_name(&*store, &args.account, &account).await?;
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
        token_family: None,
        categories: None,
        paused: None,
    };
    store.put_account(entered).await?;
    let endpoints = datasets.iter().map(|dataset| dataset.as_str());
    store.set_limits(catalogue.limits_of(&account, token.family(), endpoints)?, now).await?;
    let plan = plan::make(&*store, &*sink, args, &account, &datasets, now).await?;
    let run = plan.run;

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
        jobs: plan.jobs,
        names: HashMap::from([(account.clone(), args.account.clone())]),
        slots: args.slots,
        slots_per_account_max: args.slots,
        gives_up: true,
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
    for (job, dataset) in driven.jobs.iter().filter_map(|job| Some((job, plan::dataset_of(job)?))) {
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
    if driven.jobs.iter().any(|job| job.state != JobState::Succeeded) {
        return Err(Failure::new(Exit::WaitedForFailed, "not every dataset is complete"));
    }
    Ok(Exit::Ok)
}

fn datasets(names: &[String]) -> Result<Vec<Dataset>> {
    let one = |name: &String| name.trim().parse().map_err(|error| Failure::new(Exit::Usage, error));
    let asked: Vec<Dataset> = names.iter().map(one).collect::<Result<_>>()?;
    Ok(Dataset::ALL.into_iter().filter(|dataset| asked.contains(dataset)).collect())
}

/// A name stands for one account, so that it can be asked for by it.
async fn check_name(store: &dyn Store, name: &str, account: &AccountId) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "--account is empty: give the account a name"));
    }
    for known in store.accounts().await? {
        if known.id != *account && *known.name == *name {
            let text =
                format!("the name {name} belongs to account {} here: take another", known.id);
            return Err(Failure::new(Exit::Conflict, text));
        }
        if known.id == *account && *known.name != *name {
            eprintln!("note: this account was called {} here and is called {name} now", known.name);
        }
    }
    Ok(())
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
