//! What is found of what a store holds. Values in, findings out.

use std::collections::{BTreeMap, HashMap};

use waitless_bucket::UnixMillis;
use waitless_job::{AccountId, BucketKey, JobRecord, JobState};
use waitless_store::{fsck, model::Audit};

use super::Finding;
use crate::{
    format::{moment, shorten, span, thousands},
    views::{TOKEN_WARN_MS, token_text},
};

/// Findings of one check that are listed at most.
const LISTED_MAX: usize = 20;

/// Reasons of dead letters that are told at most.
const REASONS_MAX: usize = 3;

/// Characters of a reason.
const REASON_CHARS_MAX: usize = 120;

/// Clocks of one machine, read by two processes, differ by less.
const AHEAD_WARN_MS: u64 = 1_000;
/// A bucket that stands still for longer is noticed by whoever waits for it.
const AHEAD_BAD_MS: u64 = 60_000;

/// What must always hold, and does not.
pub(super) fn rules(broken: &[fsck::Finding]) -> Vec<Finding> {
    const ACTION: &str = "report it with this output; the store goes on working, and the jobs it \
                          is about may wait for ever";
    let all: Vec<Finding> = broken
        .iter()
        .map(|found| {
            Finding::bad("rules", format!("broken: {}: {}", found.rule, found.what), ACTION)
        })
        .collect();
    some_of("rules", "the store keeps all its rules", all)
}

/// Whether somebody works on the store, and whether somebody should.
pub(super) fn worker(audit: &Audit, worker: Option<String>) -> Finding {
    if let Some(worker) = worker {
        return Finding::ok("worker", format!("{worker} works on it"));
    }
    let live = audit.jobs.iter().filter(|job| !job.state.is_final()).count() as u64;
    match live {
        0 => Finding::ok("worker", "no worker runs, and no job is left to do"),
        live => Finding::warn(
            "worker",
            format!("no worker runs; left to do: {}", jobs(live)),
            "start one: `waitless import` goes on where it was stopped",
        ),
    }
}

/// Everything else.
pub(super) fn check(audit: &Audit, now: UnixMillis) -> Vec<Finding> {
    let mut findings = clock(audit, now);
    findings.extend(impossible(audit));
    findings.push(dead_letters(audit));
    findings.extend(paused(audit));
    findings.extend(tokens(audit, now));
    findings
}

/// Buckets written at a moment that this machine's clock has not reached.
fn clock(audit: &Audit, now: UnixMillis) -> Vec<Finding> {
    const ACTION: &str = "the clock of this machine went back, or another machine's was ahead: \
                          set it right; until it has caught up the bucket gains no token";
    let ahead = audit.buckets.iter().filter_map(|(bucket, state)| {
        let ahead_ms = state.ts.since(now);
        let what = format!("bucket {bucket} was written {} from now", span(ahead_ms));
        match ahead_ms {
            0..AHEAD_WARN_MS => None,
            AHEAD_WARN_MS..AHEAD_BAD_MS => Some(Finding::warn("clock", what, ACTION)),
            AHEAD_BAD_MS.. => Some(Finding::bad("clock", what, ACTION)),
        }
    });
    some_of("clock", "no bucket is ahead of this machine's clock", ahead.collect())
}

/// Limits on which waiting jobs wait for ever.
fn impossible(audit: &Audit) -> Vec<Finding> {
    let limits: HashMap<&BucketKey, u32> =
        audit.limits.iter().map(|(bucket, limit)| (bucket, limit.policy.burst())).collect();
    let mut stuck: BTreeMap<(BucketKey, u32), u64> = BTreeMap::new();
    let waits = |job: &&JobRecord| !job.state.is_final() && job.state != JobState::Running;
    for job in audit.jobs.iter().filter(waits) {
        for need in job.needs.as_slice() {
            let bucket = BucketKey { account: job.account.clone(), group: need.group.clone() };
            let cost = need.cost.tokens();
            if limits.get(&bucket).is_none_or(|burst| cost > *burst) {
                *stuck.entry((bucket, cost)).or_insert(0) += 1;
            }
        }
    }
    let stuck = stuck.into_iter().map(|((bucket, cost), count)| match limits.get(&bucket) {
        Some(burst) => Finding::bad(
            "limits",
            format!(
                "{} of cost {cost} can never go: bucket {bucket} holds {burst} at most",
                jobs(count)
            ),
            "raise the burst of the limit to the cost, or cancel the jobs",
        ),
        None => Finding::bad(
            "limits",
            format!("{} can never go: bucket {bucket} has no limit", jobs(count)),
            "configure the limit",
        ),
    });
    some_of("limits", "every waiting job can go some day", stuck.collect())
}

/// Jobs that were given up, and why.
fn dead_letters(audit: &Audit) -> Finding {
    let mut dead: Vec<&JobRecord> =
        audit.jobs.iter().filter(|job| job.state == JobState::Dead).collect();
    if dead.is_empty() {
        return Finding::ok("dead letters", "none");
    }
    dead.sort_by_key(|job| std::cmp::Reverse((job.finished_at, job.id)));
    let mut reasons: Vec<(&str, u64)> = Vec::new();
    for job in &dead {
        let reason = job.error.as_deref().unwrap_or("no reason was given");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let told: Vec<String> = reasons
        .iter()
        .take(REASONS_MAX)
        .map(|(reason, count)| {
            format!("{} x {}", thousands(*count), shorten(reason, REASON_CHARS_MAX))
        })
        .collect();
    let more = if reasons.len() > REASONS_MAX { "; and other reasons" } else { "" };
    Finding::warn(
        "dead letters",
        format!("{} given up, newest first: {}{more}", jobs(dead.len() as u64), told.join("; ")),
        "`waitless job list --state dead` lists them; put the cause right, then `waitless job retry ID`",
    )
}

/// Accounts that wait for a person, and limits that do. One refusal pauses all limits of a category,
/// and is told once.
fn paused(audit: &Audit) -> Vec<Finding> {
    const ACTION: &str = "put the reason right, then `waitless account resume ACCOUNT`; the jobs \
                          keep their places";
    let accounts = audit.accounts.iter().filter_map(|account| {
        let reason = shorten(account.paused.as_deref()?, REASON_CHARS_MAX);
        let what = format!("account {} is paused: {reason}", account.id);
        Some(Finding::warn("accounts", what, ACTION))
    });
    let mut limits: BTreeMap<(&AccountId, &str), Vec<&str>> = BTreeMap::new();
    for (bucket, limit) in &audit.limits {
        if let Some(reason) = &limit.paused {
            limits.entry((&bucket.account, reason)).or_default().push(bucket.group.as_str());
        }
    }
    let limits = limits.into_iter().map(|((account, reason), groups)| {
        let (groups, reason) = (groups.join(", "), shorten(reason, REASON_CHARS_MAX));
        let what = format!("of account {account} these limits are paused: {groups}: {reason}");
        Finding::warn("accounts", what, ACTION)
    });
    some_of("accounts", "nothing is paused", accounts.chain(limits).collect())
}

fn tokens(audit: &Audit, now: UnixMillis) -> Vec<Finding> {
    const ACTION: &str = "make a new token in the upstream's settings, and import with it";
    let expiring = audit.accounts.iter().filter_map(|account| {
        let at = account.token_expires_at?;
        let what =
            format!("the token of account {} {} ({})", account.id, token_text(at, now), moment(at));
        if at <= now {
            Some(Finding::bad("tokens", what, ACTION))
        } else if at.since(now) < TOKEN_WARN_MS {
            Some(Finding::warn("tokens", what, ACTION))
        } else {
            None
        }
    });
    some_of("tokens", "no token expires within two weeks", expiring.collect())
}

/// The findings of a check, not too many of them; that all is well if there are none.
fn some_of(check: &'static str, well: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
    if findings.is_empty() {
        return vec![Finding::ok(check, well)];
    }
    if findings.len() > LISTED_MAX {
        // The worst stay.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.status));
        let more = findings.len() - LISTED_MAX;
        findings.truncate(LISTED_MAX);
        if let Some(last) = findings.last_mut() {
            last.what.push_str(&format!(", and {more} findings more"));
        }
    }
    findings
}

fn jobs(count: u64) -> String {
    match count {
        1 => "1 job".into(),
        count => format!("{} jobs", thousands(count)),
    }
}
