use std::fmt::Write;

use anyhow::Result;
use waitless_job::{Clock, UnixMillis};
use waitless_store::Reader;
use waitless_store_sqlite::SqliteStore;

use super::explain::headline;
use crate::{
    args::Global,
    exit::{Exit, Failure},
    find,
    format::{moment_and_relative, printable, thousands},
    output,
    surroundings::Surroundings,
    views::{JobDetail, JobView},
};

pub(super) async fn show(
    global: &Global,
    store: &SqliteStore,
    id: &str,
    with_args: bool,
) -> Result<()> {
    let id = find::job(store, id).await?;
    let Some((job, args)) = store.job(id).await? else {
        let gone = format!("job {id} was removed from the store a moment ago");
        return Err(Failure::new(Exit::NotFound, gone));
    };
    let around = Surroundings::read(store, Some(job.account.clone())).await?;
    let now = Clock::system().now();
    let explanation = around.explain(store, &job, now).await?;
    let state = headline(&job, &explanation, &around, now);
    let view = JobView::new(&job, &explanation, &around, now);
    let detail = JobDetail::new(view, job.checkpoint.as_deref(), &args, with_args);
    let name = around.accounts.iter().find(|account| account.id == job.account);
    let name = name.map(|account| &*account.name);
    output::one(global.output(), &detail, &id.to_string(), |detail| text(detail, name, &state))
}

fn text(detail: &JobDetail, account_name: Option<&str>, state: &str) -> String {
    let job = &detail.job;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("writing to a text does not fail");
    };
    let when = |at: UnixMillis| moment_and_relative(at, job.now);
    line("job", &job.id.to_string());
    line("kind", job.kind.as_str());
    match account_name {
        Some(name) if name != job.account.as_str() => {
            line("account", &format!("{}  {}", job.account, printable(name)));
        }
        _ => line("account", job.account.as_str()),
    }
    if let Some(run) = job.run {
        line("run", &run.to_string());
    }
    line("state", state);
    line("class", job.class.as_str());
    let needs: Vec<String> = job
        .needs
        .as_slice()
        .iter()
        .map(|need| format!("{} of {}", need.cost.tokens(), need.group))
        .collect();
    line("needs", if needs.is_empty() { "no token".into() } else { needs.join(", ") }.as_str());
    line("attempts", &format!("{} of {}", job.attempts, job.attempts_max));
    line("snoozes", &thousands(job.snoozes));
    line("requests", &job.requests());
    line("rows", &thousands(job.progress.rows));
    if let Some(key) = &job.unique_key {
        line("unique key", &printable(key));
    }
    if let Some(error) = &job.error {
        line("error", &printable(error));
    }
    line("created", &when(job.created_at));
    if let Some(at) = job.started_at {
        line("started", &when(at));
    }
    if let Some(at) = job.finished_at {
        line("finished", &when(at));
    }
    if let Some(checkpoint) = &detail.checkpoint {
        line("checkpoint", &printable(checkpoint.get()));
    }
    let keys = match &detail.args_keys {
        Some(keys) if !keys.is_empty() => format!(": {}", printable(&keys.join(", "))),
        _ => String::new(),
    };
    line("args", &format!("{} bytes{keys}", thousands(detail.args_bytes as u64)));
    if let Some(args) = &detail.args {
        line("", &printable(args.get()));
    }
    text
}
