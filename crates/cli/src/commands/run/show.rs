use std::fmt::Write;

use anyhow::Result;
use waitless_job::Clock;
use waitless_store::model::Run;
use waitless_store_sqlite::SqliteStore;

use super::detail;
use crate::{
    args::Global,
    format::{hundredths, moment_and_relative, printable, span, thousands, wait},
    output,
    surroundings::Surroundings,
    views::{RunDetail, RunState, eta_text},
};

/// Failed jobs that are shown.
const FAILURES_MAX: usize = 10;

pub(super) async fn show(
    global: &Global,
    store: &SqliteStore,
    run: Run,
    slots: usize,
) -> Result<()> {
    let around = Surroundings::read(store, None).await?;
    let detail = detail(store, &around, run, slots, Clock::system().now()).await?;
    output::one(global.output(), &detail, &detail.run.id.to_string(), |detail| {
        let mut text = text(detail);
        // The arithmetic holds only while somebody acts on it.
        if detail.run.state == RunState::Running && store.worker().is_none() {
            text.push_str("no worker runs on this store: nothing starts before one does\n");
        }
        text
    })
}

/// A run for people, every line ended.
pub(super) fn text(detail: &RunDetail) -> String {
    let run = &detail.run;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("writing to a text does not fail");
    };
    line("run", &format!("{}  {}", run.id, printable(&run.name)));
    line("state", run.state.as_str());
    line("started", &moment_and_relative(run.started_at, run.now));
    let requests = run.progress.requests_done + run.progress.requests_left;
    line(
        "done",
        &format!(
            "{} of {} jobs, {} of {} requests, {} rows",
            thousands(run.jobs.done),
            thousands(run.jobs.total),
            thousands(run.progress.requests_done),
            thousands(requests),
            thousands(run.progress.rows),
        ),
    );
    let unless = if detail.paused.is_empty() || run.eta.is_none() {
        ""
    } else {
        ", counted as if no account were paused"
    };
    line("ETA", &format!("{}{unless}", eta_text(run)));
    for paused in &detail.paused {
        line("paused", &format!("account {}: {}", paused.account, printable(&paused.reason)));
    }
    if run.eta.is_some() {
        text.push('\n');
        text.push_str(&buckets(detail));
        text.push('\n');
    }
    if !detail.failures.is_empty() {
        text.push('\n');
        text.push_str(&failures(detail));
    }
    text
}

/// What each bucket needs, and what the slots do.
pub(super) fn buckets(detail: &RunDetail) -> String {
    let mark = |binding| if binding { "◀ binding" } else { "" }.to_owned();
    let headers = ["bucket", "account", "limit", "calls left", "level", "alone needs", ""];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for bucket in &detail.buckets {
        let mut needs = wait(bucket.needs_ms);
        if let Some(until) = bucket.held_until {
            write!(needs, ", closed for {}", span(until.since(detail.run.now)))
                .expect("writing to a text does not fail");
        }
        rows.push(vec![
            bucket.bucket.to_string(),
            bucket.account_name.as_deref().map(printable).unwrap_or_default(),
            bucket.policy.to_string(),
            thousands(bucket.requests_left),
            hundredths(bucket.level_hundredths),
            needs,
            mark(bucket.binding),
        ]);
    }
    let slots = &detail.slots;
    rows.push(vec![
        "slots".into(),
        String::new(),
        format!("{} x {}", slots.slots, span(slots.request_ms)),
        thousands(slots.requests_left),
        String::new(),
        span(slots.needs_ms),
        mark(slots.binding),
    ]);
    output::table(&headers, rows)
}

fn failures(detail: &RunDetail) -> String {
    let run = &detail.run;
    let mut text = format!("failed {}\n", thousands(run.jobs.failed));
    let rows = detail.failures.iter().take(FAILURES_MAX).map(|job| {
        vec![
            job.id.to_string(),
            job.kind.to_string(),
            job.account.to_string(),
            job.state.to_string(),
            job.error.as_deref().map(printable).unwrap_or_default(),
        ]
    });
    text.push_str(&output::table(&["job", "kind", "account", "state", "why"], rows));
    text.push('\n');
    if detail.failures.len() > FAILURES_MAX {
        let more = detail.failures.len() - FAILURES_MAX;
        writeln!(text, "and {more} more: waitless job list --run {} --state dead", run.id)
            .expect("writing to a text does not fail");
    }
    text
}
