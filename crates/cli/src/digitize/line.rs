//! One dataset of an account at one moment, as a line of text.

use std::cmp::Reverse;

use waitless_bucket::{Quota, peek};
use waitless_job::{JobRecord, JobState, UnixMillis};
use waitless_scheduler::{Binding, Eta};
use waitless_store::model::LimitView;

use super::{
    dataset_of,
    frame::{Frame, draws_on},
};
use crate::format::{shorten, span};

/// Characters of an account's name.
const NAME_CHARS_MAX: usize = 18;

/// A job that has not ended, and of the buckets that its next request draws on the one that decides.
pub(super) struct Line<'a> {
    frame: &'a Frame,
    pub(super) job: &'a JobRecord,
    bucket: Option<&'a LimitView>,
    /// Time that the bucket needs for all that is known of its work.
    left_ms: u64,
    is_binding: bool,
}

impl<'a> Line<'a> {
    pub(super) fn new(frame: &'a Frame, job: &'a JobRecord, eta: Option<&Eta>) -> Self {
        let needs_ms = |view: &LimitView| {
            let mut buckets = eta.iter().flat_map(|eta| &eta.buckets);
            buckets.find(|time| time.bucket == view.bucket).map_or(0, |time| time.needs_ms)
        };
        let views = frame.limits.iter().filter(|view| draws_on(job, view));
        let bucket = views.max_by_key(|view| (needs_ms(view), next_token_ms(view, frame.now)));
        let is_binding = |view: &LimitView| {
            eta.is_some_and(|eta| eta.binding == Binding::Bucket { bucket: view.bucket.clone() })
        };
        Self {
            frame,
            job,
            bucket,
            left_ms: bucket.map_or(0, needs_ms),
            is_binding: bucket.is_some_and(is_binding),
        }
    }

    /// By what lines are ordered: what takes longest first, and of what is under way or does not yet
    /// know how much there is, what runs.
    pub(super) fn place(&self) -> impl Ord + use<> {
        let runs = self.job.state == JobState::Running;
        (Reverse(self.left_ms), Reverse(runs), self.job.id)
    }

    /// What matters most comes first: a narrow terminal cuts the end.
    pub(super) fn text(&self) -> String {
        let account = &self.job.account;
        let name = self.frame.names.get(account).map_or(account.as_str(), String::as_str);
        let what = match dataset_of(self.job) {
            Some(dataset) => dataset.to_string(),
            None => self.job.kind.to_string(),
        };
        let quota = self.bucket.map(|view| quota(view, self.frame.now));
        let level = quota.map(|quota| format!("{:>2}/{:<2}", quota.remaining, quota.capacity));
        let done = self.job.progress.requests_done;
        let total = done + self.job.progress.requests_left();
        format!(
            "{name:<18} {what:<14.14} {level:<5} {waits:<13} ETA {eta:<7} \
             {done:>3}/{total:<3} {mark} {bar}",
            name = shorten(name, NAME_CHARS_MAX),
            level = level.as_deref().unwrap_or("-"),
            waits = self.waits(quota),
            eta = if self.left_ms == 0 { "-".to_owned() } else { span(self.left_ms) },
            mark = if self.is_binding { '◀' } else { ' ' },
            bar = bar(done, total),
        )
    }

    /// What it waits for, if it does.
    fn waits(&self, quota: Option<Quota>) -> String {
        let now = self.frame.now;
        let until = |at: UnixMillis| span(at.since(now));
        match (self.job.state, quota) {
            (JobState::Running, _) => "running".to_owned(),
            _ if self.frame.paused(self.job).is_some() => "paused".to_owned(),
            (JobState::Retryable, _) => format!("retry {}", until(self.job.run_at)),
            (JobState::Scheduled, _) => format!("look in {}", until(self.job.run_at)),
            (_, None) => "no limit".to_owned(),
            (_, Some(Quota { held_until: Some(at), .. })) => format!("held {}", until(at)),
            (_, Some(Quota { next_token_in_ms: 0, .. })) => "token there".to_owned(),
            (_, Some(Quota { next_token_in_ms: ms, .. })) => format!("+1 in {}", span(ms)),
        }
    }
}

fn quota(view: &LimitView, now: UnixMillis) -> Quota {
    peek(view.state.as_ref(), &view.policy, now)
}

fn next_token_ms(view: &LimitView, now: UnixMillis) -> u64 {
    quota(view, now).next_token_in_ms
}

fn bar(done: u64, total: u64) -> String {
    const WIDTH: u64 = 12;
    let filled = (done * WIDTH).checked_div(total).unwrap_or(0).min(WIDTH);
    (0..WIDTH).map(|cell| if cell < filled { '█' } else { '░' }).collect()
}
