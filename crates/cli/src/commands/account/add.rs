use anyhow::Result;
use waitless_job::Clock;
use waitless_wb::Dataset;

use super::{enter, show};
use crate::{
    args::{CatalogueArg, Global, TokenArg},
    commands::{catalogue, token},
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
    let plan = waitless_wb::plan(&token, &catalogue, &Dataset::ALL, None, now)?;
    for notice in &plan.notices {
        eprintln!("note: {notice}");
    }
    enter::enter(&store, &catalogue, &token, name, &plan.datasets, now).await?;
    for pause in enter::resume_limits(&store, token.account(), now).await? {
        eprintln!("note: goes on again with the new token: {pause}");
    }
    show::show(global, &store, token.account()).await
}
