use anyhow::Result;

use crate::{
    args::{Global, Job},
    exit::Exit,
    open,
};

mod explain;
mod list;
mod retry;
mod show;

pub(crate) async fn run(global: &Global, command: Job) -> Result<Exit> {
    match command {
        Job::List { store, state, account, kind, run, limit, after } => {
            let store = open::existing_store(&store.store).await?;
            let wanted = list::Wanted { state, account, kind, run, limit: limit as usize, after };
            list::list(global, &store, wanted).await?;
        }
        Job::Show { store, id, args } => {
            let store = open::existing_store(&store.store).await?;
            show::show(global, &store, &id, args).await?;
        }
        Job::Retry { store, id } => {
            let store = open::existing_store(&store.store).await?;
            retry::retry(global, &store, &id).await?;
        }
        Job::Explain { store, id } => {
            let store = open::existing_store(&store.store).await?;
            explain::explain(global, &store, &id).await?;
        }
    }
    Ok(Exit::Ok)
}
