//! A run at one moment, as lines of text.

use std::collections::HashMap;

use waitless_bucket::peek;
use waitless_job::{AccountId, JobRecord, JobState, UnixMillis};
use waitless_scheduler::{Binding, RunProgress, run_progress};
use waitless_store::model::{Account, LimitView};
use waitless_worker::StatsSnapshot;

use crate::format::{span, thousands};

/// Failed attempts of every dataset after which an upstream that never answered is given up.
const TRIES_MAX: u32 = 3;

/// Time that a request is taken to hold its slot before the first has ended, for the ETA only.
const REQUEST_MS: u64 = 500;

/// Everything about a run at one moment.
pub(crate) struct Frame {
    pub(crate) now: UnixMillis,
    pub(crate) started_at: UnixMillis,
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) limits: Vec<LimitView>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) names: HashMap<AccountId, String>,
    pub(crate) slots: usize,
    pub(crate) stats: StatsSnapshot,
    /// Requests that the upstream answered with 429.
    pub(crate) refused: u64,
}

/// One bucket's line.
struct Line {
    left_ms: u64,
    text: String,
}

impl Frame {
    /// Whether every job has ended.
    pub(crate) fn is_finished(&self) -> bool {
        !self.jobs.is_empty() && self.jobs.iter().all(|job| job.state.is_final())
    }

    /// Why nothing is left that could go on without a person, if that is so: every job that has not
    /// ended is paused.
    pub(crate) fn all_paused(&self) -> Option<Vec<String>> {
        let mut reasons: Vec<String> = Vec::new();
        for job in self.jobs.iter().filter(|job| !job.state.is_final()) {
            let reason = self.paused(job)?;
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        (!reasons.is_empty()).then_some(reasons)
    }

    /// Why a job does not go on before somebody has acted.
    fn paused(&self, job: &JobRecord) -> Option<String> {
        if job.state != JobState::Waiting {
            return None;
        }
        let account = self.accounts.iter().find(|account| account.id == job.account);
        let limit = || {
            let mut limits = self.limits.iter().filter(|view| draws_on(job, view));
            limits.find_map(|view| view.paused.as_deref())
        };
        let reason = account.and_then(|account| account.paused.as_deref()).or_else(limit)?;
        Some(reason.to_owned())
    }

    pub(crate) fn progress(&self) -> RunProgress {
        run_progress(&self.jobs, &self.limits, self.slots as u64, self.request_ms(), self.now)
    }

    /// Time that a request has held its slot so far, on average.
    fn request_ms(&self) -> u64 {
        self.stats.slot_held_ms.checked_div(self.stats.requests).unwrap_or(REQUEST_MS)
    }

    /// A line per busy bucket, the one that takes longest first.
    pub(crate) fn bucket_lines(&self) -> Vec<String> {
        let progress = self.progress();
        let binding = progress.eta.as_ref().and_then(|eta| match &eta.binding {
            Binding::Bucket { bucket } => Some(bucket.clone()),
            Binding::Slots => None,
        });
        let mut lines: Vec<Line> = self
            .limits
            .iter()
            .filter_map(|view| {
                let jobs: Vec<&JobRecord> = self
                    .jobs
                    .iter()
                    .filter(|job| !job.state.is_final() && draws_on(job, view))
                    .collect();
                if jobs.is_empty() {
                    return None;
                }
                let needs = progress.eta.iter().flat_map(|eta| &eta.buckets);
                let left_ms = needs
                    .filter(|time| time.bucket == view.bucket)
                    .map(|time| time.needs_ms)
                    .max()
                    .unwrap_or(0);
                let is_binding = binding.as_ref() == Some(&view.bucket);
                Some(Line { left_ms, text: self.bucket_line(view, &jobs, left_ms, is_binding) })
            })
            .collect();
        lines.sort_by(|a, b| b.left_ms.cmp(&a.left_ms).then_with(|| a.text.cmp(&b.text)));
        lines.into_iter().map(|line| line.text).collect()
    }

    fn bucket_line(
        &self,
        view: &LimitView,
        jobs: &[&JobRecord],
        left_ms: u64,
        is_binding: bool,
    ) -> String {
        let quota = peek(view.state.as_ref(), &view.policy, self.now);
        let account = &view.bucket.account;
        let name = self.names.get(account).map_or(account.as_str(), String::as_str);
        let done: u64 = jobs.iter().map(|job| job.progress.requests_done).sum();
        let total: u64 =
            jobs.iter().map(|job| job.progress.requests_done + job.progress.requests_left()).sum();
        let token = match quota.held_until {
            _ if view.paused.is_some() => "paused".to_owned(),
            Some(until) => format!("held for {}", span(until.since(self.now))),
            None if quota.next_token_in_ms == 0 => "token there".to_owned(),
            None => format!("+1 in {}", span(quota.next_token_in_ms)),
        };
        // What matters most comes first: a narrow terminal cuts the end.
        format!(
            "{name:<18.18} {group:<20.20} {level:>2}/{cap:<2} {token:<14} ETA {eta:<7} \
             {done:>3}/{total:<3} {bar}{mark}",
            group = short_group(view.bucket.group.as_str()),
            level = quota.remaining,
            cap = quota.capacity,
            bar = bar(done, total),
            eta = span(left_ms),
            mark = if is_binding { " ◀ binding" } else { "" },
        )
    }

    /// The whole run in one line.
    pub(crate) fn total_line(&self) -> String {
        let progress = self.progress();
        let ended = self.jobs.iter().filter(|job| job.state.is_final()).count();
        let dead = self.jobs.iter().filter(|job| job.state == JobState::Dead).count();
        let running = self.jobs.iter().filter(|job| job.state == JobState::Running).count();
        let paused = self.jobs.iter().filter(|job| self.paused(job).is_some()).count();
        let dead = match (dead, paused) {
            (0, 0) => String::new(),
            (dead, 0) => format!(" ({dead} dead)"),
            (0, paused) => format!(" ({paused} paused)"),
            (dead, paused) => format!(" ({dead} dead, {paused} paused)"),
        };
        format!(
            "{eta}  429s {refused}  slot seconds spent waiting {waiting}  \
             datasets {ended}/{datasets}{dead}  requests {requests}  rows {rows}  \
             slots {running}/{slots}  {elapsed}",
            eta = self.eta(&progress),
            elapsed = span(self.now.since(self.started_at)),
            datasets = self.jobs.len(),
            requests = thousands(self.stats.requests),
            rows = thousands(progress.rows),
            refused = self.refused,
            slots = self.slots,
            waiting = seconds(self.stats.slot_wait_ms),
        )
    }

    /// When it all ends; `>=` while the upstream has not shown how many pages there are.
    fn eta(&self, progress: &RunProgress) -> String {
        let is_open =
            |job: &JobRecord| !job.state.is_final() && job.progress.requests_total.is_none();
        let is_known = !self.jobs.iter().any(is_open);
        match &progress.eta {
            _ if self.is_finished() => "done   ".to_owned(),
            None => "ETA -  ".to_owned(),
            Some(eta) if is_known => format!("ETA {}", span(eta.at.since(self.now))),
            Some(eta) => format!("ETA >= {}", span(eta.at.since(self.now))),
        }
    }

    /// Why there is no use in going on, if no dataset got a single answer in some tries.
    pub(crate) fn nothing_works(&self) -> Option<String> {
        let mut errors = Vec::new();
        for job in self.jobs.iter().filter(|job| !job.state.is_final()) {
            if job.progress.requests_done > 0 || job.attempts < TRIES_MAX {
                return None;
            }
            errors.push(job.error.as_deref()?.to_owned());
        }
        errors.into_iter().next()
    }
}

/// Milliseconds as seconds with one decimal, from whole numbers.
fn seconds(ms: u64) -> String {
    format!("{}.{}", ms / 1_000, ms % 1_000 / 100)
}

/// A group without its category where it has one: `sales-funnel.products` of
/// `analytics.sales-funnel.products`.
fn short_group(group: &str) -> &str {
    group.split_once('.').map_or(group, |(_, rest)| rest)
}

fn draws_on(job: &JobRecord, view: &LimitView) -> bool {
    job.account == view.bucket.account && job.lane().draws_on(&view.bucket.group)
}

fn bar(done: u64, total: u64) -> String {
    const WIDTH: u64 = 12;
    let filled = (done * WIDTH).checked_div(total).unwrap_or(0).min(WIDTH);
    (0..WIDTH).map(|cell| if cell < filled { '█' } else { '░' }).collect()
}
