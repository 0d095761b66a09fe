use anyhow::Result;
use waitless_job::{Clock, JobState};
use waitless_store::{Reader, Store};
use waitless_store_sqlite::SqliteStore;

use super::show;
use crate::{
    args::Global,
    exit::{Exit, Failure},
    find,
    format::printable,
};

/// Puts a job that was given up back into its lane, and prints it.
pub(super) async fn retry(global: &Global, store: &SqliteStore, id: &str) -> Result<()> {
    let id = find::job(store, id).await?;
    if !store.requeue(id, Clock::system().now()).await? {
        let Some((job, _)) = store.job(id).await? else {
            let gone = format!("job {id} was removed from the store a moment ago");
            return Err(Failure::new(Exit::NotFound, gone));
        };
        let why = match (job.state, &job.unique_key) {
            (JobState::Dead | JobState::Cancelled, Some(key)) => format!(
                "job {id} is {} and cannot be retried: another job that has not ended has its \
                 unique key `{}`",
                job.state,
                printable(key)
            ),
            (state, _) => {
                format!("job {id} is {state}: only dead and cancelled jobs can be retried")
            }
        };
        return Err(Failure::new(Exit::Conflict, why));
    }
    show::show(global, store, &id.to_string(), false).await
}
