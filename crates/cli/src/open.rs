//! Opening what the command line names.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use waitless_sink::{Sink, SinkError};
use waitless_store::{MemoryStore, Store};
use waitless_store_sqlite::SqliteStore;

use crate::exit::{Exit, Failure};

/// What a store's address means.
enum Address<'a> {
    Memory,
    Sqlite(&'a Path),
}

fn address(url: &str) -> Result<Address<'_>> {
    match url.split_once(':') {
        None if url == "memory" => Ok(Address::Memory),
        Some(("sqlite", path)) if !path.is_empty() => Ok(Address::Sqlite(Path::new(path))),
        Some(("redis" | "rediss" | "redis-cluster", _)) => Err(Failure::new(
            Exit::Usage,
            "stores on Redis are not built into this version: use `sqlite:PATH`",
        )),
        _ => Err(Failure::new(
            Exit::Usage,
            format!("`{url}` is not a store: use `sqlite:PATH`, for example sqlite:waitless.db"),
        )),
    }
}

/// Opens a store to work in, and makes its file if there is none.
pub(crate) async fn store(url: &str) -> Result<Arc<dyn Store>> {
    match address(url)? {
        Address::Memory => Ok(Arc::new(MemoryStore::new())),
        Address::Sqlite(path) => Ok(Arc::new(SqliteStore::open(path).await?)),
    }
}

/// Opens a store file for a command that needs no worker, and makes it if there is none.
pub(crate) async fn sqlite_store(url: &str) -> Result<SqliteStore> {
    match address(url)? {
        Address::Memory => Err(Failure::new(
            Exit::Usage,
            "a store in memory ends with its process, so there is no use in writing to it",
        )),
        Address::Sqlite(path) => Ok(SqliteStore::open(path).await?),
    }
}

/// Opens a store to look into: it must be there already.
pub(crate) async fn existing_store(url: &str) -> Result<SqliteStore> {
    match address(url)? {
        Address::Memory => Err(Failure::new(
            Exit::Usage,
            "a store in memory ends with its process, so there is nothing to look into",
        )),
        Address::Sqlite(path) if !path.exists() => Err(Failure::new(
            Exit::NotFound,
            format!(
                "there is no store {url}: `waitless import` makes one, or name another with --store"
            ),
        )),
        Address::Sqlite(path) => Ok(SqliteStore::open_existing(path).await?),
    }
}

/// Opens where rows land, and makes its file if there is none.
pub(crate) async fn sink(url: &str) -> Result<Arc<dyn Sink>> {
    waitless_sink::open(url).await.map_err(|error| match error {
        SinkError::UrlUnknown { .. }
        | SinkError::PostgresLater
        | SinkError::PathMissing
        | SinkError::UrlSlashes => Failure::new(Exit::Usage, error),
        error => error.into(),
    })
}
