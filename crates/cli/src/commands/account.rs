use anyhow::Result;
use waitless_job::Clock;
use waitless_store::{Reader, Store, model};
use waitless_store_sqlite::SqliteStore;

use crate::{
    args::{Account, Global},
    exit::{Exit, Failure},
    find,
    format::printable,
    open,
};

mod add;
pub(crate) mod enter;
mod list;
mod show;

pub(crate) async fn run(global: &Global, command: Account) -> Result<Exit> {
    match command {
        Account::List { store } => {
            let store = open::existing_store(&store.store).await?;
            list::list(global, &store).await?;
        }
        Account::Show { store, account } => {
            let store = open::existing_store(&store.store).await?;
            let account = find::account(&store, &account).await?;
            show::show(global, &store, &account).await?;
        }
        Account::Add { store, account, token, catalogue } => {
            add::add(global, &store.store, &account, &token, &catalogue).await?;
        }
        Account::Pause { store, account, reason } => {
            pause(&store.store, &account, reason).await?;
        }
        Account::Resume { store, account } => resume(&store.store, &account).await?,
    }
    Ok(Exit::Ok)
}

/// Pauses an account as a whole.
async fn pause(store: &str, account: &str, reason: String) -> Result<()> {
    let (store, account) = entered(store, account).await?;
    let text = format!("{} is paused: {}", printable(&account.name), printable(&reason));
    store.pause_account(account.id, Some(reason), Clock::system().now()).await?;
    say!("{text}");
    Ok(())
}

/// Resumes an account and each of its limits.
async fn resume(store: &str, account: &str) -> Result<()> {
    let (store, account) = entered(store, account).await?;
    let (name, now) = (printable(&account.name), Clock::system().now());
    let mut pauses = Vec::new();
    if let Some(reason) = enter::paused(&store, &account.id).await? {
        store.pause_account(account.id.clone(), None, now).await?;
        pauses.push(format!("the account: {reason}"));
    }
    pauses.extend(enter::resume_limits(&store, &account.id, now).await?);
    if pauses.is_empty() {
        say!("{name} was not paused");
    } else {
        say!("{name} goes on; what was paused:");
    }
    for pause in pauses {
        say!("  {pause}");
    }
    Ok(())
}

/// The account that a person names, which must have been entered, in a store to write to.
async fn entered(store: &str, account: &str) -> Result<(SqliteStore, model::Account)> {
    let store = open::existing_store(store).await?;
    let id = find::account(&store, account).await?;
    match store.accounts().await?.into_iter().find(|known| known.id == id) {
        Some(account) => Ok((store, account)),
        None => Err(Failure::new(
            Exit::NotFound,
            format!("account {id} was never entered here: `waitless account add` enters it"),
        )),
    }
}
