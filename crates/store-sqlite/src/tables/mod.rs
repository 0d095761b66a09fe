//! The rows as the engine sees them while it carries out one step.

mod jobs;
mod lanes;
mod limits;

use std::sync::Arc;

use rusqlite::Connection;
use waitless_bucket::{BucketState, UnixMillis};
use waitless_job::{AccountId, BucketKey, JobId, JobRecord, LaneKey, LeaseToken};
use waitless_store::{
    StoreError, Tables,
    model::{Account, Lane, Limit, Rank, Run},
    ops::Accounts,
};

use crate::error::named;

pub(crate) use jobs::{args, job};
pub(crate) use lanes::lane;

type Result<T> = std::result::Result<T, StoreError>;

/// The tables inside the transaction that the connection is in.
pub(crate) struct SqliteTables<'a> {
    connection: &'a Connection,
    store: &'a str,
}

impl<'a> SqliteTables<'a> {
    pub(crate) fn new(connection: &'a Connection, store: &'a str) -> Self {
        Self { connection, store }
    }

    /// Asks or changes something, and names what goes wrong.
    fn with<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        ask(self.connection).map_err(|error| named(self.store, &error))
    }
}

impl Tables for SqliteTables<'_> {
    fn limit(&mut self, bucket: &BucketKey) -> Result<Option<Limit>> {
        self.with(|connection| limits::limit(connection, bucket))
    }

    fn put_limit(&mut self, bucket: &BucketKey, limit: &Limit) -> Result<()> {
        self.with(|connection| limits::put_limit(connection, bucket, limit))
    }

    fn limits_of(&mut self, account: &AccountId) -> Result<Vec<(BucketKey, Limit)>> {
        self.with(|connection| limits::limits_of(connection, account))
    }

    fn bucket(&mut self, bucket: &BucketKey) -> Result<Option<BucketState>> {
        self.with(|connection| limits::bucket(connection, bucket))
    }

    fn put_bucket(&mut self, bucket: &BucketKey, state: &BucketState) -> Result<()> {
        self.with(|connection| limits::put_bucket(connection, bucket, state))
    }

    fn account(&mut self, id: &AccountId) -> Result<Option<Account>> {
        self.with(|connection| limits::account(connection, id))
    }

    fn put_account(&mut self, account: &Account) -> Result<()> {
        self.with(|connection| limits::put_account(connection, account))
    }

    fn put_run(&mut self, run: &Run) -> Result<()> {
        self.with(|connection| limits::put_run(connection, run))
    }

    fn job(&mut self, id: &JobId) -> Result<Option<JobRecord>> {
        self.with(|connection| jobs::job(connection, id))
    }

    fn args(&mut self, id: &JobId) -> Result<Arc<str>> {
        let args = self.with(|connection| jobs::args(connection, id))?;
        args.ok_or_else(|| StoreError::Damaged { what: format!("job {id} has no arguments") })
    }

    fn live_job_with_key(&mut self, unique_key: &str) -> Result<Option<JobId>> {
        self.with(|connection| jobs::live_job_with_key(connection, unique_key))
    }

    fn leased_as(&mut self, token: &LeaseToken) -> Result<Option<JobRecord>> {
        self.with(|connection| jobs::leased_as(connection, token))
    }

    fn next_seq(&mut self) -> Result<u64> {
        self.with(jobs::next_seq)
    }

    fn insert_job(&mut self, job: &JobRecord, args: &Arc<str>) -> Result<()> {
        self.with(|connection| jobs::insert_job(connection, job, args))
    }

    fn update_job(&mut self, before: &JobRecord, after: &JobRecord) -> Result<()> {
        if before == after {
            return Ok(());
        }
        match self.with(|connection| jobs::update_job(connection, after))? {
            1 => Ok(()),
            _ => Err(StoreError::Damaged { what: format!("job {} is gone", after.id) }),
        }
    }

    fn prune(&mut self, ended_before: UnixMillis, limit: usize) -> Result<usize> {
        self.with(|connection| jobs::prune(connection, ended_before, limit))
    }

    fn lane(&mut self, key: &LaneKey) -> Result<Lane> {
        self.with(|connection| lanes::lane(connection, key))
    }

    fn put_lane(&mut self, key: &LaneKey, lane: &Lane) -> Result<()> {
        self.with(|connection| lanes::put_lane(connection, key, lane))
    }

    fn lane_head(&mut self, key: &LaneKey) -> Result<Option<JobRecord>> {
        self.with(|connection| jobs::lane_head(connection, key))
    }

    fn lanes_on(&mut self, bucket: &BucketKey) -> Result<Vec<LaneKey>> {
        let mut lanes = self.lanes_of(&bucket.account)?;
        lanes.retain(|key| key.draws_on(&bucket.group));
        Ok(lanes)
    }

    fn lanes_of(&mut self, account: &AccountId) -> Result<Vec<LaneKey>> {
        self.with(|connection| lanes::lanes_of(connection, account))
    }

    fn parked_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<LaneKey>> {
        self.with(|connection| lanes::parked_until(connection, now, limit))
    }

    fn next_parked(&mut self) -> Result<Option<UnixMillis>> {
        self.with(lanes::next_parked)
    }

    fn ready(&mut self, limit: usize, accounts: &Accounts) -> Result<Vec<(LaneKey, Rank)>> {
        self.with(|connection| lanes::ready(connection, limit, accounts))
    }

    fn delayed_until(&mut self, now: UnixMillis, limit: usize) -> Result<Vec<JobRecord>> {
        self.with(|connection| jobs::delayed_until(connection, now, limit))
    }

    fn next_delayed(&mut self) -> Result<Option<UnixMillis>> {
        self.with(jobs::next_delayed)
    }

    fn leased_until(&mut self, until: UnixMillis, limit: usize) -> Result<Vec<JobRecord>> {
        self.with(|connection| jobs::leased_until(connection, until, limit))
    }
}
