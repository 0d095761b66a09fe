use anyhow::Result;
use waitless_job::{Clock, JobId, JobState, Kind};
use waitless_store::{Reader, ops::JobFilter};
use waitless_store_sqlite::SqliteStore;

use crate::{args::Global, find, output, surroundings::Surroundings, views::JobView};

/// Which jobs somebody wants to see.
pub(super) struct Wanted {
    pub(super) state: Option<JobState>,
    pub(super) account: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) run: Option<String>,
    pub(super) limit: usize,
    pub(super) after: Option<JobId>,
}

pub(super) async fn list(global: &Global, store: &SqliteStore, wanted: Wanted) -> Result<()> {
    let account = match wanted.account {
        Some(account) => Some(find::account(store, &account).await?),
        None => None,
    };
    let run = match wanted.run {
        Some(run) => Some(find::run(store, &run).await?.id),
        None => None,
    };
    let filter = JobFilter {
        state: wanted.state,
        account: account.clone(),
        kind: wanted.kind,
        run,
        id_prefix: None,
        after: wanted.after,
        // One more tells whether there are more.
        limit: wanted.limit + 1,
    };
    let mut jobs = store.jobs(filter).await?;
    let more = jobs.len() > wanted.limit;
    jobs.truncate(wanted.limit);

    let around = Surroundings::read(store, account).await?;
    let now = Clock::system().now();
    let mut views = Vec::with_capacity(jobs.len());
    for job in &jobs {
        let explanation = around.explain(store, job, now).await?;
        views.push(JobView::new(job, &explanation, &around, now));
    }
    JobView::tell_apart(&mut views, store.runs().await?.into_iter().map(|run| run.id));
    output::list(global.output(), &views)?;
    if let Some(last) = jobs.last().filter(|_| more) {
        say!("there are more: --after {} lists them", last.id);
    }
    Ok(())
}
