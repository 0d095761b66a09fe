use std::sync::Arc;

use serde::Serialize;
use waitless_job::{AccountId, LimitGroup, UnixMillis};
use waitless_store::model::{Account, LimitView};

use crate::{
    format::{count, moment, printable, relative, shorten},
    output::Listed,
};

/// Tokens that expire sooner than this are spoken of: two weeks, so that somebody who looks once
/// a week sees it in time.
pub(crate) const TOKEN_WARN_MS: u64 = 14 * DAY_MS;

const DAY_MS: u64 = 86_400_000;

/// Characters of the names of paused limits in a table.
const GROUPS_CHARS_MAX: usize = 40;

/// An account.
#[derive(Debug, Serialize)]
pub(crate) struct AccountView {
    pub(crate) id: AccountId,
    pub(crate) name: Arc<str>,
    pub(crate) upstream: Arc<str>,
    pub(crate) added_at: UnixMillis,
    pub(crate) token_expires_at: Option<UnixMillis>,
    /// Kind of its token.
    pub(crate) token_family: Option<Arc<str>>,
    /// What its token opens; none if the token does not say.
    pub(crate) categories: Option<Vec<Arc<str>>>,
    /// Why the whole of it is paused, if it is.
    pub(crate) paused: Option<Arc<str>>,
    /// Those of its limits that are paused by themselves.
    pub(crate) paused_limits: Vec<PausedLimit>,
    /// Jobs in its lanes.
    pub(crate) waiting: u64,
    /// Jobs under a lease.
    pub(crate) running: u64,
    #[serde(skip)]
    pub(crate) now: UnixMillis,
}

/// A limit that is paused.
#[derive(Debug, Serialize)]
pub(crate) struct PausedLimit {
    pub(crate) group: LimitGroup,
    pub(crate) reason: Arc<str>,
}

impl AccountView {
    /// `limits` may be those of any number of accounts.
    pub(crate) fn new(
        account: Account,
        limits: &[LimitView],
        waiting: u64,
        running: u64,
        now: UnixMillis,
    ) -> Self {
        let limits = limits.iter().filter(|view| view.bucket.account == account.id);
        let paused_limits = limits.filter_map(|view| {
            let reason = view.paused.clone()?;
            Some(PausedLimit { group: view.bucket.group.clone(), reason })
        });
        Self {
            paused_limits: paused_limits.collect(),
            id: account.id,
            name: account.name,
            upstream: account.upstream,
            added_at: account.added_at,
            token_expires_at: account.token_expires_at,
            token_family: account.token_family,
            categories: account.categories,
            paused: account.paused,
            waiting,
            running,
            now,
        }
    }

    /// Why it is paused, or which of its limits are.
    fn paused_text(&self) -> String {
        if let Some(reason) = &self.paused {
            return printable(reason);
        }
        if self.paused_limits.is_empty() {
            return "-".into();
        }
        // Their reasons are too long for a table.
        let groups: Vec<&str> =
            self.paused_limits.iter().map(|limit| limit.group.as_str()).collect();
        let limits = count(groups.len() as u64, "limit");
        format!("{limits}: {}", shorten(&groups.join(", "), GROUPS_CHARS_MAX))
    }
}

impl Listed for AccountView {
    const COLUMNS: &'static [&'static str] =
        &["id", "name", "upstream", "waiting", "running", "token", "paused", "added"];
    const NARROW: usize = 7;

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            printable(&self.name),
            printable(&self.upstream),
            self.waiting.to_string(),
            self.running.to_string(),
            self.token_expires_at.map_or_else(|| "-".into(), |at| token_text(at, self.now)),
            self.paused_text(),
            moment(self.added_at),
        ]
    }

    fn id(&self) -> String {
        self.id.to_string()
    }
}

/// How a token stands: `expired 3d ago`, `expires in 9d`, or a moment that is far ahead.
pub(crate) fn token_text(expires_at: UnixMillis, now: UnixMillis) -> String {
    if expires_at <= now {
        return format!("expired {}", days(expires_at, now));
    }
    match expires_at.since(now) {
        0..TOKEN_WARN_MS => format!("expires {}", days(expires_at, now)),
        _ => moment(expires_at),
    }
}

/// Whole days; hours and less where there is not one.
fn days(at: UnixMillis, now: UnixMillis) -> String {
    let ahead = at > now;
    match at.since(now).max(now.since(at)) / DAY_MS {
        0 => relative(at, now),
        days if ahead => format!("in {days}d"),
        days => format!("{days}d ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_soon_expires_says_in_how_many_days() {
        let now = UnixMillis(1_767_225_600_000);
        let text = |days: i64| token_text(UnixMillis(now.0 + days * 86_400_000 + 1), now);
        assert_eq!(text(9), "expires in 9d");
        assert_eq!(text(0), "expires in 0.0s");
        assert_eq!(text(-3), "expired 2d ago");
        assert_eq!(text(14), "2026-01-15T00:00:00Z");
    }
}
