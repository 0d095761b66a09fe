//! Readers: connections that only read, beside the one that writes.

mod audit;
mod jobs;
mod limits;
mod pool;

use std::sync::Arc;

use async_trait::async_trait;
use waitless_job::{AccountId, JobId, JobRecord, JobState, LaneKey, RunId};
use waitless_store::{
    Reader, StoreError,
    model::{Account, Audit, Lane, LimitView, Run},
    ops::JobFilter,
};

use crate::{
    SqliteStore, queries,
    rows::{self, all},
    tables,
};

pub(crate) use pool::Readers;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Reader for SqliteStore {
    async fn job(&self, id: JobId) -> Result<Option<(JobRecord, Arc<str>)>> {
        self.readers().read(move |connection| jobs::with_args(connection, id)).await
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobRecord>> {
        self.readers().read(move |connection| jobs::jobs(connection, &filter)).await
    }

    async fn job_counts(&self, run: Option<RunId>) -> Result<Vec<(JobState, u64)>> {
        self.readers().read(move |connection| jobs::counts(connection, run)).await
    }

    async fn position(&self, id: JobId) -> Result<Option<u64>> {
        self.readers().read(move |connection| jobs::position(connection, id)).await
    }

    async fn lane(&self, key: LaneKey) -> Result<Lane> {
        self.readers().read(move |connection| tables::lane(connection, &key)).await
    }

    async fn limits(&self, account: Option<AccountId>) -> Result<Vec<LimitView>> {
        self.readers().read(move |connection| limits::limits(connection, account.as_ref())).await
    }

    async fn accounts(&self) -> Result<Vec<Account>> {
        self.readers()
            .read(|connection| all(connection, queries::ACCOUNTS, &[], rows::account))
            .await
    }

    async fn runs(&self) -> Result<Vec<Run>> {
        self.readers().read(|connection| all(connection, queries::RUNS, &[], rows::run)).await
    }

    async fn audit(&self) -> Result<Audit> {
        self.readers().read(audit::audit).await
    }
}
