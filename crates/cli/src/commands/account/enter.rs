//! Entering an account with what its token says, which `add`, `import` and `demo` do alike.

use std::collections::BTreeMap;

use anyhow::Result;
use waitless_job::{AccountId, UnixMillis};
use waitless_store::{Store, model};
use waitless_upstream::Catalogue;
use waitless_wb::{Dataset, SellerToken};

use crate::{
    exit::{Exit, Failure},
    format::{count, printable},
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
        return Err(Failure::new(Exit::Usage, "the account's name is empty: give it one"));
    }
    for known in store.accounts().await? {
        if known.id != *account && *known.name == *name {
            let text =
                format!("the name {name} belongs to account {} here: take another", known.id);
            return Err(Failure::new(Exit::Conflict, text));
        }
        if known.id == *account && *known.name != *name {
            say!("note: this account was called {} here and is called {name} now", known.name);
        }
    }
    Ok(())
}

/// Why an account as a whole is paused, if it is. Only people do that; what an upstream refuses
/// pauses limits.
pub(crate) async fn paused(store: &dyn Store, id: &AccountId) -> Result<Option<String>> {
    let accounts = store.accounts().await?;
    let account = accounts.iter().find(|account| account.id == *id);
    Ok(account.and_then(|account| account.paused.as_deref()).map(printable))
}

/// Lets every limit of an account go on, and says which were paused for what: a new token may open
/// what the last one did not.
pub(crate) async fn resume_limits(
    store: &dyn Store,
    id: &AccountId,
    now: UnixMillis,
) -> Result<Vec<String>> {
    let views = store.limits(Some(id.clone())).await?;
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    // One refusal pauses all limits of a category, and is said once.
    for reason in views.iter().filter_map(|view| view.paused.as_deref()) {
        *reasons.entry(reason).or_insert(0) += 1;
    }
    if !reasons.is_empty() {
        store.pause_limits(id.clone(), None, None, now).await?;
    }
    let text = |(reason, limits)| format!("{}: {}", count(limits, "limit"), printable(reason));
    Ok(reasons.into_iter().map(text).collect())
}
