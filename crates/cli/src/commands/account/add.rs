use anyhow::Result;
use waitless_job::Clock;
use waitless_store::Reader;
use waitless_store_sqlite::SqliteStore;
use waitless_wb::{Dataset, SellerToken};

use super::{enter, show};
use crate::{
    args::{CatalogueArg, Global, TokenArg},
    commands::{catalogue, token},
    exit::{Exit, Failure},
    format::printable,
    open,
};

pub(super) async fn add(
    global: &Global,
    store: &str,
    name: &str,
    from: &TokenArg,
    limits: &CatalogueArg,
) -> Result<()> {
    let now = Clock::system().now();
    let token = token::read(from, now)?;
    let catalogue = catalogue::Source::new(limits.catalogue.clone(), 1).read()?;
    let store = open::sqlite_store(store).await?;
    enter::check_name(&store, name, token.account()).await?;
    check_family(&store, &token).await?;
    let plan = waitless_wb::plan(&token, &catalogue, &Dataset::ALL, None, now)?;
    for notice in &plan.notices {
        say!("note: {notice}");
    }
    enter::enter(&store, &catalogue, &token, name, &plan.datasets, now).await?;
    for pause in enter::resume_limits(&store, token.account(), now).await? {
        say!("note: goes on again with the new token: {pause}");
    }
    show::show(global, &store, token.account()).await
}

/// An account has the limits of one kind of tokens. A worker that is at work with another kind would
/// go by the wrong ones from now on.
async fn check_family(store: &SqliteStore, token: &SellerToken) -> Result<()> {
    let accounts = store.accounts().await?;
    let known = accounts.iter().find(|account| account.id == *token.account());
    let other = known.and_then(|account| account.token_family.as_deref());
    let Some(other) = other.filter(|family| *family != token.family()) else { return Ok(()) };
    if store.worker().is_none() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Conflict,
        format!(
            "this is a {} token, and an import is at work here with a {} one, whose limits are \
             others: wait for its end, or stop it",
            token.family(),
            printable(other)
        ),
    ))
}
