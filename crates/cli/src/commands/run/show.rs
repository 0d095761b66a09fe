use std::fmt::Write;

use anyhow::Result;
use waitless_job::Clock;
use waitless_store::model::Run;
use waitless_store_sqlite::SqliteStore;

use super::detail;
use crate::{
    args::Global,
    format::{
        JOB_ID_CHARS_MIN, count, hundredths, id_chars, moment_and_relative, printable, short_id,
        span, thousands, wait,
    },
    output::{self, Output},
    surroundings::Surroundings,
    views::{Paused, RunDetail, RunView, eta_text, limit_text},
};

/// Said of a run that has not ended while nobody works on it.
pub(super) const NO_WORKER: &str = "no worker runs on this store: nothing starts before one does";

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
    let is_wide = global.output() == Output::Wide;
    output::one(global.output(), &detail, &detail.run.id.to_string(), |detail| {
        let mut text = text(detail, is_wide);
        // The arithmetic holds only while somebody acts on it.
        if detail.run.is_stopped() {
            text.push_str(NO_WORKER);
            text.push('\n');
        }
        text
    })
}

/// A run for people, every line ended.
pub(super) fn text(detail: &RunDetail, is_wide: bool) -> String {
    let run = &detail.run;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("writing to a text does not fail");
    };
    line("run", &format!("{}  {}", run.id, printable(&run.name)));
    line("state", run.state_text());
    line("started", &moment_and_relative(run.started_at, run.now));
    let requests = run.progress.requests_done + run.progress.requests_left;
    line(
        "done",
        &format!(
            "{} of {}{}, {} of {}, {}",
            thousands(run.jobs.succeeded),
            count(run.jobs.total, "job"),
            failed_text(run),
            thousands(run.progress.requests_done),
            count(requests, "request"),
            count(run.progress.rows, "row"),
        ),
    );
    line("ETA", &format!("{}{}", eta_text(run), unless(detail)));
    for (what, reason) in paused(detail) {
        line("paused", &format!("{what}: {}", printable(reason)));
    }
    if let Some(paused) = detail.paused.first() {
        line("", &format!("when that is mended: {}", paused.resume));
    }
    if run.eta.is_some() || !detail.buckets.is_empty() {
        text.push('\n');
        text.push_str(&buckets(detail));
        text.push('\n');
    }
    if !detail.failures.is_empty() {
        text.push('\n');
        text.push_str(&failures(detail, is_wide));
    }
    text
}

/// What of the paused the ETA counts: an account may go on at any moment, while requests on a limit
/// that is paused are left out.
fn unless(detail: &RunDetail) -> &'static str {
    let has = |is_limit| detail.paused.iter().any(|paused| paused.bucket.is_some() == is_limit);
    match (detail.run.eta.is_some() && has(false), detail.run.eta.is_some() && has(true)) {
        (true, _) => ", counted as if no account were paused",
        (false, true) => ", counted without what is paused",
        (false, false) => "",
    }
}

/// What is paused and why. One refusal pauses all limits of a category, and is said once.
fn paused(detail: &RunDetail) -> Vec<(String, &str)> {
    let mut said: Vec<(String, &Paused)> = Vec::new();
    for paused in &detail.paused {
        let Some(bucket) = &paused.bucket else {
            said.push((format!("account {}", paused.account_text), paused));
            continue;
        };
        let is_alike = |first: &Paused| {
            first.bucket.is_some()
                && first.account == paused.account
                && first.reason == paused.reason
        };
        match said.iter_mut().find(|(_, first)| is_alike(first)) {
            Some((what, _)) => what.push_str(&format!(", {}", bucket.group)),
            None => said.push((format!("{}/{}", paused.account_text, bucket.group), paused)),
        }
    }
    said.into_iter().map(|(what, paused)| (what, &*paused.reason)).collect()
}

/// What each bucket needs, and what the slots do.
pub(super) fn buckets(detail: &RunDetail) -> String {
    let mark = |binding| if binding { "◀ binding" } else { "" }.to_owned();
    let headers = ["bucket", "limit", "calls left", "level", "alone needs", ""];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for bucket in &detail.buckets {
        let mut needs = wait(bucket.needs_ms);
        if let Some(until) = bucket.held_until {
            write!(needs, ", closed for {}", span(until.since(detail.run.now)))
                .expect("writing to a text does not fail");
        }
        rows.push(vec![
            bucket.bucket_text.clone(),
            limit_text(&bucket.policy, bucket.slower.as_ref()),
            thousands(bucket.requests_left),
            hundredths(bucket.level_hundredths),
            needs,
            mark(bucket.binding),
        ]);
    }
    let slots = &detail.slots;
    rows.push(vec![
        "slots".into(),
        format!("{} x {}", slots.slots, span(slots.request_ms)),
        thousands(slots.requests_left),
        String::new(),
        span(slots.needs_ms),
        mark(slots.binding),
    ]);
    output::table(&headers, rows)
}

/// How many jobs were given up, if any: `, 2 failed`.
pub(super) fn failed_text(run: &RunView) -> String {
    match run.jobs.failed {
        0 => String::new(),
        failed => format!(", {} failed", thousands(failed)),
    }
}

fn failures(detail: &RunDetail, is_wide: bool) -> String {
    let run = &detail.run;
    let mut text = format!("failed {}\n", thousands(run.jobs.failed));
    let shown = || detail.failures.iter().take(FAILURES_MAX);
    let chars = match is_wide {
        true => usize::MAX,
        false => id_chars(shown().map(|job| job.id.to_string()), JOB_ID_CHARS_MIN),
    };
    let rows = shown().map(|job| {
        vec![
            short_id(&job.id, chars),
            job.kind.to_string(),
            job.account_text.clone(),
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
