use anyhow::Result;
use waitless_job::{Clock, UnixMillis};
use waitless_store::{Reader, model, ops::JobFilter};

use crate::{
    args::{Global, Run},
    exit::Exit,
    find, open, output,
    surroundings::Surroundings,
    views::{RunDetail, RunView},
};

mod show;
mod watch;

pub(crate) async fn run(global: &Global, command: Run) -> Result<Exit> {
    match command {
        Run::List { store, slots } => {
            let store = open::existing_store(&store.store).await?;
            let around = Surroundings::read(&store, None).await?;
            let now = Clock::system().now();
            let mut runs: Vec<RunView> = Vec::new();
            for run in store.runs().await? {
                runs.push(detail(&store, &around, run, slots.slots, now).await?.run);
            }
            RunView::tell_apart(&mut runs);
            output::list(global.output(), &runs)?;
            Ok(Exit::Ok)
        }
        Run::Show { store, which, slots } => {
            let store = open::existing_store(&store.store).await?;
            let run = find::which_run(&store, &which).await?;
            show::show(global, &store, run, slots.slots).await?;
            Ok(Exit::Ok)
        }
        Run::Watch { store, which, slots } => {
            let store = open::existing_store(&store.store).await?;
            let run = find::which_run(&store, &which).await?;
            watch::watch(global, &store, &run, slots.slots).await
        }
    }
}

/// A run as it is now.
async fn detail(
    store: &dyn Reader,
    around: &Surroundings,
    run: model::Run,
    slots: usize,
    now: UnixMillis,
) -> Result<RunDetail> {
    // At once and not in pages: their sums are to be those of one moment.
    let filter = JobFilter { run: Some(run.id), limit: usize::MAX, ..JobFilter::default() };
    let jobs = store.jobs(filter).await?;
    Ok(RunDetail::new(run, &jobs, around, slots as u64, now))
}
