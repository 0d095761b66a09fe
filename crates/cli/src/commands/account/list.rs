use std::collections::HashMap;

use anyhow::Result;
use waitless_job::{AccountId, Clock, JobState};
use waitless_store::{Reader, ops::JobFilter};

use crate::{args::Global, output, surroundings::each_job, views::AccountView};

pub(super) async fn list(global: &Global, store: &dyn Reader) -> Result<()> {
    let mut waiting = jobs_of_accounts(store, JobState::Waiting).await?;
    let mut running = jobs_of_accounts(store, JobState::Running).await?;
    let limits = store.limits(None).await?;
    let now = Clock::system().now();
    let accounts: Vec<AccountView> = store
        .accounts()
        .await?
        .into_iter()
        .map(|account| {
            let waiting = waiting.remove(&account.id).unwrap_or(0);
            let running = running.remove(&account.id).unwrap_or(0);
            AccountView::new(account, &limits, waiting, running, now)
        })
        .collect();
    output::list(global.output(), &accounts)
}

/// How many jobs of each account are in a state. Counted one by one: adding up the limits would
/// count a job that draws on two of them twice, and one that draws on none not at all.
async fn jobs_of_accounts(store: &dyn Reader, state: JobState) -> Result<HashMap<AccountId, u64>> {
    let mut counts = HashMap::new();
    let filter = JobFilter { state: Some(state), limit: usize::MAX, ..JobFilter::default() };
    each_job(store, filter, |job| *counts.entry(job.account).or_insert(0) += 1).await?;
    Ok(counts)
}
