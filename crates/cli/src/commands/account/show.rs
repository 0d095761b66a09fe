use std::{collections::BTreeMap, fmt::Write};

use anyhow::{Context, Result};
use serde::Serialize;
use waitless_job::{AccountId, Clock, JobState};
use waitless_store::ops::JobFilter;
use waitless_store_sqlite::SqliteStore;

use crate::{
    args::Global,
    format::{moment_and_relative, printable, thousands},
    output::{self, Listed, Output},
    surroundings::{Surroundings, each_job},
    views::{AccountView, LimitInfo},
};

/// An account with everything about it.
#[derive(Debug, Serialize)]
struct AccountDetail {
    #[serde(flatten)]
    account: AccountView,
    /// States with none are left out.
    jobs: BTreeMap<JobState, u64>,
    limits: Vec<LimitInfo>,
    /// What lets it go on.
    #[serde(skip)]
    resume: String,
}

pub(super) async fn show(global: &Global, store: &SqliteStore, id: &AccountId) -> Result<()> {
    let around = Surroundings::read(store, Some(id.clone())).await?;
    let mut jobs = BTreeMap::new();
    let filter = JobFilter { account: Some(id.clone()), limit: usize::MAX, ..JobFilter::default() };
    each_job(store, filter, |job| *jobs.entry(job.state).or_insert(0) += 1).await?;

    let now = Clock::system().now();
    let account = around.accounts.iter().find(|account| account.id == *id).cloned();
    let account =
        account.context("jobs of this account were enqueued, but it was never entered")?;
    let of_state = |state| jobs.get(&state).copied().unwrap_or(0);
    let (waiting, running) = (of_state(JobState::Waiting), of_state(JobState::Running));
    let detail = AccountDetail {
        account: AccountView::new(account, &around.limits, waiting, running, now),
        limits: around.limits.iter().map(|view| LimitInfo::new(view, &around, now)).collect(),
        resume: around.resume(id),
        jobs,
    };
    let is_wide = global.output() == Output::Wide;
    output::one(global.output(), &detail, id.as_str(), |detail| text(detail, is_wide))
}

fn text(detail: &AccountDetail, is_wide: bool) -> String {
    let account = &detail.account;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("writing to a text does not fail");
    };
    line("account", account.id.as_str());
    line("name", &printable(&account.name));
    line("upstream", &printable(&account.upstream));
    let family = account.token_family.as_deref().map_or_else(|| "unknown".into(), printable);
    let expires = account.token_expires_at.map(|at| moment_and_relative(at, account.now));
    line(
        "token",
        &format!("{family}, expires {}", expires.as_deref().unwrap_or("at no known time")),
    );
    match &account.categories {
        Some(opens) => line("opens", &printable(&opens.join(", "))),
        None => line("opens", "unknown: the token does not say"),
    }
    if let Some(reason) = &account.paused {
        line("paused", &printable(reason));
    }
    let mut reasons: Vec<&str> = Vec::new();
    for limit in &account.paused_limits {
        if !reasons.contains(&&*limit.reason) {
            reasons.push(&limit.reason);
        }
    }
    for reason in &reasons {
        let groups: Vec<&str> = account
            .paused_limits
            .iter()
            .filter(|limit| *limit.reason == **reason)
            .map(|limit| limit.group.as_str())
            .collect();
        line("paused", &format!("{}: {}", groups.join(", "), printable(reason)));
    }
    if account.paused.is_some() || !reasons.is_empty() {
        line("", &format!("when that is mended: {}", detail.resume));
    }
    let jobs: Vec<String> =
        detail.jobs.iter().map(|(state, jobs)| format!("{} {state}", thousands(*jobs))).collect();
    line("jobs", if jobs.is_empty() { "none".into() } else { jobs.join(", ") }.as_str());
    if !detail.limits.is_empty() {
        let columns = if is_wide { LimitInfo::COLUMNS.len() } else { LimitInfo::NARROW };
        let rows = detail.limits.iter().map(|limit| {
            let mut cells = if is_wide { limit.cells() } else { limit.narrow_cells() };
            cells[0] = limit.group.to_string();
            cells
        });
        write!(text, "\n{}", output::table(&LimitInfo::COLUMNS[..columns], rows))
            .expect("as above");
    }
    text
}
