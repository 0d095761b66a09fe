//! A run at one moment, as lines of text.

use std::collections::{BTreeMap, HashMap};

use waitless_job::{AccountId, JobRecord, JobState, UnixMillis};
use waitless_scheduler::{RunProgress, run_progress};
use waitless_store::model::{Account, LimitView};
use waitless_worker::StatsSnapshot;

use super::line::Line;
use crate::format::{plural, span, thousands};

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

    /// Why a job does not go on before somebody has acted. One that waits for its next attempt, or to
    /// look again, would find the same.
    pub(super) fn paused(&self, job: &JobRecord) -> Option<String> {
        if job.state.is_final() || job.state == JobState::Running {
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

    /// A line for each dataset of an account that has not ended, the one that takes longest first:
    /// `lines_max` of them, and one that counts the others.
    pub(super) fn lines(&self, lines_max: usize) -> Vec<String> {
        let progress = self.progress();
        let live = self.jobs.iter().filter(|job| !job.state.is_final());
        let mut lines: Vec<Line<'_>> =
            live.map(|job| Line::new(self, job, progress.eta.as_ref())).collect();
        lines.sort_by(|one, other| one.place().cmp(&other.place()));
        let shown = lines.iter().take(lines_max).map(Line::text);
        shown.chain(self.others(lines.get(lines_max..).unwrap_or_default())).collect()
    }

    /// The lines for which there is no room, counted: `... and 37 datasets more: 4 paused, 33 waiting`.
    fn others(&self, lines: &[Line<'_>]) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in lines {
            let is_paused = self.paused(line.job).is_some();
            let stands = if is_paused { "paused" } else { line.job.state.as_str() };
            *counts.entry(stands).or_insert(0) += 1;
        }
        if counts.is_empty() {
            return None;
        }
        let datasets = plural(lines.len() as u64, "dataset");
        let counts: Vec<String> =
            counts.iter().map(|(stands, count)| format!("{count} {stands}")).collect();
        Some(format!("... and {} {datasets} more: {}", lines.len(), counts.join(", ")))
    }

    /// The whole run in two halves of a line, which fit on a narrow terminal one below the other.
    pub(super) fn total(&self) -> [String; 2] {
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
        let end = format!(
            "{eta}  429s {refused}  slot seconds spent waiting {waiting}",
            eta = self.eta(&progress),
            refused = self.refused,
            waiting = seconds(self.stats.slot_wait_ms),
        );
        let done = format!(
            "datasets {ended}/{datasets}{dead}  requests {requests}  rows {rows}  \
             slots {running}/{slots}  {elapsed}",
            elapsed = span(self.now.since(self.started_at)),
            datasets = self.jobs.len(),
            requests = thousands(self.stats.requests),
            rows = thousands(progress.rows),
            slots = self.slots,
        );
        [end, done]
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

pub(super) fn draws_on(job: &JobRecord, view: &LimitView) -> bool {
    job.account == view.bucket.account && job.lane().draws_on(&view.bucket.group)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use waitless_job::{Clock, LimitGroup, NewJob};
    use waitless_store::{MemoryStore, Store};

    use super::*;

    /// An account with waiting jobs of these datasets, all on a bucket that gives a token a day.
    async fn frame(datasets: &[&str]) -> (Frame, Arc<dyn Store>) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let now = Clock::system().now();
        let account: AccountId = "seller-1".parse().expect("an id");
        let bucket = "seller-1/orders".parse().expect("a bucket");
        let policy = "1/d burst 10 margin 0".parse().expect("a policy");
        store.set_limits(vec![(bucket, policy)], now).await.expect("the limit is set");
        let group: LimitGroup = "orders".parse().expect("a group");
        let job = |dataset: &&str| {
            let job = NewJob::new("wb.import", "seller-1", &(), now).expect("a job");
            job.needs_one(group.clone()).unique_key(format!("wb/seller-1/{dataset}"))
        };
        let jobs = datasets.iter().map(job).collect();
        let ids = store.enqueue(jobs, now).await.expect("they are enqueued");
        let mut jobs = Vec::new();
        for enqueued in ids {
            jobs.extend(store.job(enqueued.id).await.expect("it is read").map(|(job, _)| job));
        }
        let frame = Frame {
            now,
            started_at: now,
            jobs,
            limits: store.limits(None).await.expect("they are read"),
            accounts: Vec::new(),
            names: HashMap::from([(account, "01 ООО «Северный ветер»".to_owned())]),
            slots: 8,
            stats: StatsSnapshot::default(),
            refused: 0,
        };
        (frame, store)
    }

    #[tokio::test]
    async fn a_line_names_the_dataset_and_fits_a_narrow_terminal_without_its_bar() {
        let (mut frame, _store) = frame(&["campaign-stats"]).await;
        frame.jobs[0].progress.requests_done = 123;
        frame.jobs[0].progress.requests_total = Some(456);
        let line = frame.lines(14).concat();
        let shown: String = line.chars().take(80).collect();
        assert!(
            shown.starts_with("01 ООО «Северный … campaign-stats 10/10 token there"),
            "{shown}"
        );
        assert!(shown.contains(" 123/456 "), "{shown}");
        assert!(frame.total().iter().all(|half| half.chars().count() <= 80));
    }

    #[tokio::test]
    async fn datasets_without_room_are_counted_by_their_state() {
        let (mut frame, store) = frame(&["orders", "sales", "cards", "prices"]).await;
        frame.jobs[0].state = JobState::Running;
        assert_eq!(frame.lines(1)[1], "... and 3 datasets more: 3 waiting");
        assert_eq!(frame.lines(4).len(), 4);

        let account: AccountId = "seller-1".parse().expect("an id");
        let reason = Some("no token".into());
        store.pause_limits(account, None, reason, frame.now).await.expect("they are paused");
        frame.limits = store.limits(None).await.expect("they are read");
        assert_eq!(frame.lines(1)[1], "... and 3 datasets more: 3 paused");
        assert!(frame.lines(4)[1].contains(" paused "), "{:?}", frame.lines(4));
        assert_eq!(frame.all_paused(), None, "one is running");
        frame.jobs[0].state = JobState::Waiting;
        assert_eq!(frame.all_paused(), Some(vec!["no token".to_owned()]));
    }
}
