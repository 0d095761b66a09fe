use anyhow::Result;
use waitless_job::Clock;

use crate::{
    args::{Global, Limit},
    exit::Exit,
    find, open, output,
    surroundings::Surroundings,
    views::LimitInfo,
};

mod published;
mod show;

pub(crate) async fn run(global: &Global, command: Limit) -> Result<Exit> {
    match command {
        Limit::List { upstream: Some(upstream), token_type, .. } => {
            published::list(global, &upstream, token_type.as_deref())?;
        }
        Limit::List { store, account, .. } => {
            let store = open::existing_store(&store.store).await?;
            let account = match account {
                Some(account) => Some(find::account(&store, &account).await?),
                None => None,
            };
            let around = Surroundings::read(&store, account).await?;
            let now = Clock::system().now();
            let limits: Vec<LimitInfo> =
                around.limits.iter().map(|view| LimitInfo::new(view, &around, now)).collect();
            output::list(global.output(), &limits)?;
        }
        Limit::Show { store, bucket } => {
            let store = open::existing_store(&store.store).await?;
            show::show(global, &store, &bucket).await?;
        }
    }
    Ok(Exit::Ok)
}
