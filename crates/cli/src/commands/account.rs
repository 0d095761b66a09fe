use anyhow::Result;
use waitless_job::Clock;
use waitless_store::{Reader, Store};

use crate::{
    args::{Account, Global},
    exit::{Exit, Failure},
    find,
    format::{count, printable},
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
            pause(&store.store, &account, Some(reason)).await?;
        }
        Account::Resume { store, account } => pause(&store.store, &account, None).await?,
    }
    Ok(Exit::Ok)
}

/// Pauses an account as a whole, or resumes it and each of its limits.
async fn pause(store: &str, account: &str, reason: Option<String>) -> Result<()> {
    let store = open::existing_store(store).await?;
    let id = find::account(&store, account).await?;
    let known = store.accounts().await?.into_iter().find(|known| known.id == id);
    let Some(known) = known else {
        return Err(Failure::new(
            Exit::NotFound,
            format!("account {id} was never entered here: `waitless account add` enters it"),
        ));
    };
    let name = printable(&known.name);
    let now = Clock::system().now();
    if let Some(reason) = reason {
        store.pause_account(id.clone(), Some(reason.clone()), now).await?;
        eprintln!("{name} is paused: {}", printable(&reason));
        return Ok(());
    }
    match enter::resume(&store, &id, now).await? {
        resumed if resumed.is_empty() => eprintln!("{name} was not paused"),
        resumed => {
            let pauses = count(resumed.len() as u64, "pause");
            eprintln!("{name} goes on; {pauses} ended:");
            for pause in resumed {
                eprintln!("  {pause}");
            }
        }
    }
    Ok(())
}
