//! Entering an account with what its token says, which `add`, `import` and `demo` do alike.

use anyhow::Result;
use waitless_job::{AccountId, UnixMillis};
use waitless_store::{Store, model};
use waitless_upstream::Catalogue;
use waitless_wb::{Dataset, SellerToken};

use crate::{
    exit::{Exit, Failure},
    format::printable,
};

/// Enters the token's account under a name, with the limits of what these datasets ask.
pub(crate) async fn enter(
    store: &dyn Store,
    catalogue: &Catalogue,
    token: &SellerToken,
    name: &str,
    datasets: &[Dataset],
    now: UnixMillis,
) -> Result<()> {
    let categories = catalogue.open_categories(token.categories());
    let categories = categories.map(|category| category.title().unwrap_or(category.name()).into());
    let account = model::Account {
        id: token.account().clone(),
        name: name.into(),
        upstream: catalogue.upstream().into(),
        added_at: now,
        token_expires_at: Some(token.expires_at()),
        token_family: Some(token.family().into()),
        // A token that says nothing of it may open everything.
        categories: (token.categories() != 0).then(|| categories.collect()),
        paused: None,
    };
    let id = account.id.clone();
    store.put_account(account).await?;
    let endpoints = datasets.iter().flat_map(|dataset| dataset.endpoints()).copied();
    Ok(store.set_limits(catalogue.limits_of(&id, token.family(), endpoints)?, now).await?)
}

/// A name stands for one account, so that it can be asked for by it.
pub(crate) async fn check_name(store: &dyn Store, name: &str, account: &AccountId) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "--account is empty: give the account a name"));
    }
    for known in store.accounts().await? {
        if known.id != *account && *known.name == *name {
            let text =
                format!("the name {name} belongs to account {} here: take another", known.id);
            return Err(Failure::new(Exit::Conflict, text));
        }
        if known.id == *account && *known.name != *name {
            eprintln!("note: this account was called {} here and is called {name} now", known.name);
        }
    }
    Ok(())
}

/// Lets an account go on, the whole of it and each of its limits. Answers what it was paused for.
pub(crate) async fn resume(
    store: &dyn Store,
    id: &AccountId,
    now: UnixMillis,
) -> Result<Vec<String>> {
    let accounts = store.accounts().await?;
    let account = accounts.iter().find(|account| account.id == *id);
    let whole = account.and_then(|account| account.paused.as_deref());
    let mut reasons: Vec<String> = whole.map(printable).into_iter().collect();
    for view in store.limits(Some(id.clone())).await? {
        // One refusal pauses all limits of a category, and is said once.
        let reason = view.paused.as_deref().map(printable);
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    if !reasons.is_empty() {
        store.pause_account(id.clone(), None, now).await?;
        store.pause_limits(id.clone(), None, None, now).await?;
    }
    Ok(reasons)
}
