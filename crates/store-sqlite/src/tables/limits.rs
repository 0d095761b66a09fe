//! Limits, buckets, accounts and runs.

use rusqlite::{Connection, Result, named_params};
use waitless_bucket::BucketState;
use waitless_job::{AccountId, BucketKey};
use waitless_store::model::{Account, Limit, Run};

use crate::{
    queries,
    rows::{self, all, execute, optional},
};

pub(super) fn limit(connection: &Connection, bucket: &BucketKey) -> Result<Option<Limit>> {
    let which = named_params! {
        ":account": bucket.account.as_str(), ":limit_group": bucket.group.as_str(),
    };
    optional(connection, queries::LIMIT, which, |row| rows::limit(row, 0))
}

pub(super) fn limits_of(
    connection: &Connection,
    account: &AccountId,
) -> Result<Vec<(BucketKey, Limit)>> {
    let which = named_params! { ":account": account.as_str() };
    all(connection, queries::LIMITS_OF, which, |row| {
        Ok((rows::bucket_key(row, 0)?, rows::limit(row, 2)?))
    })
}

pub(super) fn put_limit(connection: &Connection, bucket: &BucketKey, limit: &Limit) -> Result<()> {
    let Limit { policy, paused } = limit;
    let limit = named_params! {
        ":account": bucket.account.as_str(),
        ":limit_group": bucket.group.as_str(),
        ":tokens": policy.tokens(),
        ":interval_ms": policy.interval_ms().cast_signed(),
        ":burst": policy.burst(),
        ":margin_ms": policy.margin_ms(),
        ":paused": paused,
    };
    execute(connection, queries::PUT_LIMIT, limit).map(drop)
}

pub(super) fn bucket(connection: &Connection, bucket: &BucketKey) -> Result<Option<BucketState>> {
    let which = named_params! {
        ":account": bucket.account.as_str(), ":limit_group": bucket.group.as_str(),
    };
    optional(connection, queries::BUCKET, which, |row| rows::bucket(row, 0))
}

pub(super) fn put_bucket(
    connection: &Connection,
    bucket: &BucketKey,
    state: &BucketState,
) -> Result<()> {
    let state = named_params! {
        ":account": bucket.account.as_str(),
        ":limit_group": bucket.group.as_str(),
        ":t": state.t,
        ":ts": state.ts.0,
        ":iv": state.iv,
        ":hold": state.hold.map(|hold| hold.0),
        ":slower": state.pace.map(|pace| pace.slower),
        ":proven": state.pace.map(|pace| pace.proven),
        ":streak": state.pace.map(|pace| pace.streak),
        ":refusals": state.pace.map(|pace| pace.refusals),
        ":refused_at": state.pace.map(|pace| pace.refused_at.0),
    };
    execute(connection, queries::PUT_BUCKET, state).map(drop)
}

pub(super) fn account(connection: &Connection, id: &AccountId) -> Result<Option<Account>> {
    optional(connection, queries::ACCOUNT, named_params! { ":id": id.as_str() }, rows::account)
}

pub(super) fn put_account(connection: &Connection, account: &Account) -> Result<()> {
    let account = named_params! {
        ":id": account.id.as_str(),
        ":name": account.name,
        ":upstream": account.upstream,
        ":added_at": account.added_at.0,
        ":token_expires_at": account.token_expires_at.map(|at| at.0),
        ":token_family": account.token_family,
        ":categories": account.categories.as_ref().map(|categories| rows::json_of(categories)),
        ":paused": account.paused,
    };
    execute(connection, queries::PUT_ACCOUNT, account).map(drop)
}

pub(super) fn put_run(connection: &Connection, run: &Run) -> Result<()> {
    let run = named_params! {
        ":id": run.id.0.as_bytes(), ":name": run.name, ":started_at": run.started_at.0,
    };
    execute(connection, queries::PUT_RUN, run).map(drop)
}
