//! Finding what a person names: by an id, by the beginning of one, or by a name.

use anyhow::Result;
use waitless_job::{AccountId, BucketKey, JobId, LimitGroup};
use waitless_store::{
    Reader,
    model::{LimitView, Run},
    ops::JobFilter,
};

use crate::{
    args::WhichRun,
    exit::{Exit, Failure},
    format::{cut, printable},
};

/// Candidates that an error lists at most.
const CANDIDATES_MAX: usize = 10;

/// The job whose id begins so.
pub(crate) async fn job(store: &dyn Reader, text: &str) -> Result<JobId> {
    let prefix = id_prefix("job", text)?;
    let filter =
        JobFilter { id_prefix: Some(prefix), limit: CANDIDATES_MAX + 1, ..JobFilter::default() };
    let jobs = store.jobs(filter).await?;
    match jobs.as_slice() {
        [job] => Ok(job.id),
        [] => Err(none("job", text, "waitless job list")),
        jobs => Err(ambiguous(
            "the id of a job begins",
            text,
            jobs.iter()
                .map(|job| format!("{}  {}  {}  {}", job.id, job.kind, job.account, job.state)),
        )),
    }
}

/// The run that the command line names.
pub(crate) async fn which_run(store: &dyn Reader, which: &WhichRun) -> Result<Run> {
    match &which.id {
        Some(id) => run(store, id).await,
        None => store.runs().await?.pop().ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                "there is no run in this store: `waitless import` starts one",
            )
        }),
    }
}

/// The run whose id begins so.
pub(crate) async fn run(store: &dyn Reader, text: &str) -> Result<Run> {
    let prefix = id_prefix("run", text)?;
    let mut runs = store.runs().await?;
    runs.retain(|run| run.id.to_string().starts_with(&prefix));
    if runs.len() > 1 {
        return Err(ambiguous(
            "the id of a run begins",
            text,
            runs.iter().map(|run| format!("{}  {}", run.id, printable(&run.name))),
        ));
    }
    runs.pop().ok_or_else(|| none("run", text, "waitless run list"))
}

/// The account with this id, or else with this name.
pub(crate) async fn account(store: &dyn Reader, text: &str) -> Result<AccountId> {
    let accounts = store.accounts().await?;
    if let Some(account) = accounts.iter().find(|account| account.id.as_str() == text) {
        return Ok(account.id.clone());
    }
    let mut named: Vec<_> = accounts.iter().filter(|account| &*account.name == text).collect();
    if named.len() > 1 {
        return Err(ambiguous(
            "the name of an account is",
            text,
            named.iter().map(|account| account.id.to_string()),
        ));
    }
    if let Some(account) = named.pop() {
        return Ok(account.id.clone());
    }
    // Whoever enqueues through the library need not say who an account is.
    if let Ok(id) = text.parse::<AccountId>() {
        let filter = JobFilter { account: Some(id.clone()), limit: 1, ..JobFilter::default() };
        if !store.limits(Some(id.clone())).await?.is_empty()
            || !store.jobs(filter).await?.is_empty()
        {
            return Ok(id);
        }
    }
    Err(none("account", text, "waitless account list"))
}

/// The same, or else the one account whose id or name begins so.
async fn account_beginning(store: &dyn Reader, text: &str) -> Result<AccountId> {
    let error = match account(store, text).await {
        Ok(account) => return Ok(account),
        Err(error) => error,
    };
    let is_unknown = Exit::of(&error) == Exit::NotFound && !text.is_empty();
    let mut found = store.accounts().await?;
    found.retain(|account| {
        is_unknown && (account.id.as_str().starts_with(text) || account.name.starts_with(text))
    });
    match found.as_slice() {
        [] => Err(error),
        [account] => Ok(account.id.clone()),
        accounts => Err(ambiguous(
            "the id or the name of an account begins",
            text,
            accounts.iter().map(|account| format!("{}  {}", account.id, printable(&account.name))),
        )),
    }
}

/// The limit of the bucket `ACCOUNT/GROUP`.
pub(crate) async fn limit(store: &dyn Reader, text: &str) -> Result<LimitView> {
    // At the last slash: a group has none, the name of an account may.
    let Some((account_text, group)) = text.rsplit_once('/') else {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "`{}` is not a bucket: write ACCOUNT/GROUP; `waitless limit list` lists them",
                cut(text, 100)
            ),
        ));
    };
    let group: LimitGroup =
        group.parse().map_err(|error| Failure::new(Exit::Usage, format!("{error}")))?;
    let account = account_beginning(store, account_text).await?;
    let bucket = BucketKey { account, group };
    let limits = store.limits(Some(bucket.account.clone())).await?;
    let known: Vec<String> = limits.iter().map(|view| view.bucket.group.to_string()).collect();
    limits.into_iter().find(|view| view.bucket == bucket).ok_or_else(|| {
        let groups = if known.is_empty() { "none".into() } else { known.join(", ") };
        Failure::new(
            Exit::NotFound,
            format!(
                "there is no limit for bucket {bucket}: the limit groups of this account are \
                 {groups}; `waitless limit list` lists all"
            ),
        )
    })
}

/// The beginning of an id as ids are written: in small letters, with hyphens in their places.
fn id_prefix(what: &str, text: &str) -> Result<String> {
    const HYPHENS_AFTER: [usize; 4] = [8, 12, 16, 20];
    const DIGITS_MAX: usize = 32;
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.iter().all(char::is_ascii_hexdigit)
    {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "`{}` is not the id of a {what} or its beginning: ids are up to {DIGITS_MAX} of \
                 the digits 0-9 a-f; `waitless {what} list` lists them",
                cut(text, 100)
            ),
        ));
    }
    let mut prefix = String::new();
    for (index, digit) in digits.into_iter().enumerate() {
        if HYPHENS_AFTER.contains(&index) {
            prefix.push('-');
        }
        prefix.push(digit.to_ascii_lowercase());
    }
    Ok(prefix)
}

fn none(what: &str, text: &str, list: &str) -> anyhow::Error {
    Failure::new(
        Exit::NotFound,
        format!("there is no {what} `{}` in this store: `{list}` lists them", cut(text, 100)),
    )
}

fn ambiguous(
    what: &str,
    text: &str,
    candidates: impl ExactSizeIterator<Item = String>,
) -> anyhow::Error {
    let more = candidates.len() > CANDIDATES_MAX;
    let mut lines: Vec<String> =
        candidates.take(CANDIDATES_MAX).map(|line| format!("  {line}")).collect();
    if more {
        lines.push("  and more".into());
    }
    Failure::new(
        Exit::Usage,
        format!(
            "more than one fits: {what} `{}`; name one of\n{}",
            cut(text, 100),
            lines.join("\n")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_may_be_written_in_any_way() {
        let prefix = |text: &str| id_prefix("job", text).ok();
        assert_eq!(prefix("0192F3"), Some("0192f3".into()));
        assert_eq!(prefix("0192f3c1-"), Some("0192f3c1".into()));
        assert_eq!(prefix("0192f3c1aaaa7"), Some("0192f3c1-aaaa-7".into()));
        let id = "0192f3c1-aaaa-7bbb-8ccc-ddddeeeeffff";
        assert_eq!(prefix(id), Some(id.into()));
        assert_eq!(prefix(&id.replace('-', "")), Some(id.into()));
        for bad in ["", "-", "xyz", "0192f3c1-aaaa-7bbb-8ccc-ddddeeeeffff0", "\u{1b}[2J"] {
            assert_eq!(prefix(bad), None, "{bad:?}");
        }
    }
}
