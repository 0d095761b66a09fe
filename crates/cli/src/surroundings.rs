//! What stands around a job and decides why it waits.

use std::sync::Arc;

use anyhow::Result;
use waitless_job::{AccountId, BucketKey, JobRecord, JobState, UnixMillis};
use waitless_scheduler::{Explanation, Situation, explain};
use waitless_store::{
    Reader,
    model::{Account, LimitView},
    ops::JobFilter,
};
use waitless_store_sqlite::SqliteStore;

use crate::format::printable;

/// Limits and accounts, read once for any number of jobs.
pub(crate) struct Surroundings {
    pub(crate) limits: Vec<LimitView>,
    pub(crate) accounts: Vec<Account>,
    /// Whether a worker holds the store: without one nothing starts, whatever the arithmetic says.
    pub(crate) worker: bool,
}

impl Surroundings {
    /// Those of one account, or of all.
    pub(crate) async fn read(store: &SqliteStore, account: Option<AccountId>) -> Result<Self> {
        Ok(Self {
            limits: store.limits(account).await?,
            accounts: store.accounts().await?,
            worker: store.worker().is_some(),
        })
    }

    /// Why an account is paused, if it is.
    pub(crate) fn paused(&self, account: &AccountId) -> Option<&str> {
        let account = self.accounts.iter().find(|known| known.id == *account)?;
        account.paused.as_deref()
    }

    /// What people call an account, if it is not its id.
    pub(crate) fn name(&self, account: &AccountId) -> Option<Arc<str>> {
        let account = self.accounts.iter().find(|known| known.id == *account)?;
        Some(Arc::clone(&account.name)).filter(|name| **name != *account.id.as_str())
    }

    /// What people call an account: its name if no other has it, or else its id.
    pub(crate) fn account_text(&self, account: &AccountId) -> String {
        match self.name(account) {
            Some(name) if self.accounts.iter().filter(|other| other.name == name).count() == 1 => {
                printable(&name)
            }
            _ => account.to_string(),
        }
    }

    /// The command that lets a paused account go on, with its id if a shell would misread its name.
    pub(crate) fn resume(&self, account: &AccountId) -> String {
        let text = self.account_text(account);
        let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        let account = if is_word(&text) { text } else { account.to_string() };
        format!("waitless account resume {account}")
    }

    /// What people call a bucket: `shop/orders`.
    pub(crate) fn bucket_text(&self, bucket: &BucketKey) -> String {
        format!("{}/{}", self.account_text(&bucket.account), bucket.group)
    }

    /// Why a job is where it is.
    pub(crate) async fn explain(
        &self,
        store: &dyn Reader,
        job: &JobRecord,
        now: UnixMillis,
    ) -> Result<Explanation> {
        let ahead = match job.state {
            // None if it has gone on since it was read.
            JobState::Waiting => store.position(job.id).await?.unwrap_or(0),
            _ => 0,
        };
        let paused = self.paused(&job.account);
        Ok(explain(&Situation { job, ahead, limits: &self.limits, paused }, now))
    }
}

/// Shows every job that a filter lets through to `see`, in pages, so that a million of them need
/// not fit into memory. The filter's own limit says how many are seen at most.
pub(crate) async fn each_job(
    store: &dyn Reader,
    filter: JobFilter,
    mut see: impl FnMut(JobRecord),
) -> Result<()> {
    const PAGE: usize = 5_000;
    let mut left = filter.limit;
    let mut page = JobFilter { limit: left.min(PAGE), ..filter };
    loop {
        let jobs = store.jobs(page.clone()).await?;
        let is_last = jobs.len() < page.limit;
        left -= jobs.len();
        page.after = jobs.last().map(|job| job.id);
        page.limit = left.min(PAGE);
        jobs.into_iter().for_each(&mut see);
        if is_last || left == 0 {
            return Ok(());
        }
    }
}
