use std::sync::Arc;

use serde::Serialize;
use waitless_bucket::{Policy, Quota, UnixMillis, peek, wait_for_requests_ms};
use waitless_job::{AccountId, BucketKey, LimitGroup};
use waitless_scheduler::{level_hundredths, slower_policy};
use waitless_store::model::LimitView;

use crate::{
    format::{cut, hundredths, moment, printable, relative, span},
    output::Listed,
    surroundings::Surroundings,
};

/// A limit and its bucket.
#[derive(Debug, Serialize)]
pub(crate) struct LimitInfo {
    pub(crate) bucket: BucketKey,
    pub(crate) account: AccountId,
    pub(crate) group: LimitGroup,
    /// As published; text.
    pub(crate) policy: Policy,
    /// What is kept to instead while refusals have made it slower; text.
    pub(crate) slower: Option<Policy>,
    /// Hundredths of a token; below zero in debt.
    pub(crate) level_hundredths: i64,
    pub(crate) quota: Quota,
    /// Jobs in the lanes that draw on it.
    pub(crate) waiting: u64,
    /// Jobs under a lease that draw on it.
    pub(crate) running: u64,
    /// When the last of the waiting jobs has made one request; none if nobody waits, or if no end
    /// of their waiting is in sight.
    pub(crate) eta_at: Option<UnixMillis>,
    /// Why it or its account is paused, if that is so.
    pub(crate) paused: Option<String>,
    /// What people call the bucket.
    #[serde(skip)]
    pub(crate) bucket_text: String,
    /// What people call the account.
    #[serde(skip)]
    pub(crate) account_name: Option<Arc<str>>,
    #[serde(skip)]
    pub(crate) now: UnixMillis,
}

impl LimitInfo {
    pub(crate) fn new(view: &LimitView, around: &Surroundings, now: UnixMillis) -> Self {
        let paused = view.paused.as_deref().or_else(|| around.paused(&view.bucket.account));
        let state = view.state.as_ref();
        let goes_on = view.waiting > 0 && paused.is_none();
        Self {
            bucket: view.bucket.clone(),
            account: view.bucket.account.clone(),
            group: view.bucket.group.clone(),
            policy: view.policy,
            slower: slower_policy(view),
            level_hundredths: level_hundredths(view, now),
            quota: peek(state, &view.policy, now),
            waiting: view.waiting,
            running: view.running,
            eta_at: goes_on
                .then(|| now.plus(wait_for_requests_ms(state, &view.policy, view.waiting, now))),
            paused: paused.map(str::to_owned),
            bucket_text: around.bucket_text(&view.bucket),
            account_name: around.name(&view.bucket.account),
            now,
        }
    }

    /// When its waiting jobs are through, in a few words.
    pub(crate) fn eta(&self) -> String {
        match (&self.paused, self.eta_at) {
            (Some(_), _) => "paused".into(),
            (None, Some(at)) if at > self.now => relative(at, self.now),
            (None, Some(_)) => "now".into(),
            (None, None) => "-".into(),
        }
    }

    /// Until when it is closed, and for how long.
    pub(crate) fn hold(&self) -> Option<String> {
        let until = self.quota.held_until?;
        Some(format!("{}, until {}", span(until.since(self.now)), moment(until)))
    }

    /// When its next token is there.
    pub(crate) fn next_token(&self) -> String {
        match self.quota.next_token_in_ms {
            0 => "now".into(),
            ms => format!("in {}", span(ms)),
        }
    }
}

/// What is kept to, for a column of a table: `1/min burst 10 margin 60ms`, or `1/75s, published
/// 1/min` while it is slower than that.
pub(crate) fn limit_text(policy: &Policy, slower: Option<&Policy>) -> String {
    let rate = |policy: &Policy| {
        let text = policy.to_string();
        text.split_once(' ').map_or_else(|| text.clone(), |(rate, _)| rate.to_owned())
    };
    match slower {
        Some(slower) => format!("{}, published {}", rate(slower), rate(policy)),
        None => policy.to_string(),
    }
}

impl Listed for LimitInfo {
    const COLUMNS: &'static [&'static str] = &[
        "bucket",
        "limit",
        "left",
        "next token",
        "waiting",
        "eta",
        "hold",
        "running",
        "level",
        "full",
        "account",
        "paused",
    ];
    const NARROW: usize = 7;

    fn cells(&self) -> Vec<String> {
        let none = || "-".to_owned();
        vec![
            self.bucket.to_string(),
            limit_text(&self.policy, self.slower.as_ref()),
            format!("{}/{}", self.quota.remaining, self.quota.capacity),
            self.next_token(),
            self.waiting.to_string(),
            self.eta(),
            self.hold().unwrap_or_else(none),
            self.running.to_string(),
            hundredths(self.level_hundredths),
            match self.quota.resets_in_ms {
                0 => "now".into(),
                ms => format!("in {}", span(ms)),
            },
            self.account_name.as_deref().map_or_else(none, printable),
            self.paused.as_deref().map_or_else(none, |reason| cut(reason, 60)),
        ]
    }

    fn narrow_cells(&self) -> Vec<String> {
        let mut cells = self.cells();
        cells[0].clone_from(&self.bucket_text);
        if let Some(until) = self.quota.held_until {
            cells[6] = span(until.since(self.now));
        }
        cells
    }

    fn id(&self) -> String {
        self.bucket.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_limit_says_what_was_published() {
        let read = |text: &str| text.parse::<Policy>().expect("it is written right");
        let (published, slower) = (read("1/min burst 10"), read("1/75s burst 10"));
        assert_eq!(limit_text(&published, None), "1/min burst 10 margin 60ms");
        assert_eq!(limit_text(&published, Some(&slower)), "1/75s, published 1/min");
    }
}
