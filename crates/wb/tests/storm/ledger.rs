//! The figures of an import.

use std::{collections::BTreeMap, fmt};

use waitless_job::JobState;
use waitless_sink::Sink;
use waitless_wb::Dataset;
use waitless_wb_mock::Dataset as Served;

use crate::fleet::Ended;

/// What went over the wire and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) requests: u64,
    /// 0 is no answer at all.
    pub(crate) by_status: BTreeMap<u16, u64>,
    /// Faults that were played, by kind.
    pub(crate) faults: BTreeMap<&'static str, u64>,
    pub(crate) refused: u64,
    pub(crate) scripted: u64,
    pub(crate) hidden: u64,
    pub(crate) strangers: u64,
    pub(crate) strangers_with_credentials: u64,
    pub(crate) attempts: u64,
    pub(crate) failed: u64,
    pub(crate) pauses: u64,
    pub(crate) dead: u64,
    pub(crate) slot_wait_ms: u64,
    pub(crate) rows: u64,
    pub(crate) missing: u64,
    pub(crate) duplicated: u64,
    /// Rows with another version than their last.
    pub(crate) outdated: u64,
    pub(crate) quarantined: u64,
}

impl Ledger {
    /// Compares what has landed of all jobs that succeeded with what the stand-in holds.
    pub(crate) async fn of(ended: &Ended) -> Self {
        let summary = ended.mock.summary();
        let mut ledger = Self {
            requests: summary.requests,
            refused: summary.rejected_429,
            scripted: summary.scripted_429,
            hidden: summary.hidden,
            strangers: summary.stranger.requests,
            strangers_with_credentials: summary.stranger.with_credentials,
            attempts: ended.stats.succeeded + ended.stats.failed + ended.stats.dead,
            failed: ended.stats.failed,
            pauses: ended.stats.paused,
            dead: ended.stats.dead,
            slot_wait_ms: ended.stats.slot_wait_ms,
            ..Self::default()
        };
        for entry in ended.mock.audit() {
            if entry.fault != Some("hidden-client") {
                *ledger.by_status.entry(entry.status).or_default() += 1;
            }
            if let Some(fault) = entry.fault {
                *ledger.faults.entry(fault).or_default() += 1;
            }
        }
        for job in ended.jobs.iter().filter(|job| job.state == JobState::Succeeded) {
            let key = job.unique_key.as_deref().expect("imports have one");
            let dataset = key.rsplit('/').next().expect("its end names the dataset");
            ledger.compare(ended, job.account.as_str(), dataset).await;
        }
        ledger
    }

    async fn compare(&mut self, ended: &Ended, sid: &str, dataset: &str) {
        let seller = ended.mock.sellers().iter().position(|seller| seller.sid == sid);
        let served = Served::from_name(dataset).expect("the stand-in has every dataset");
        let mut missing: BTreeMap<String, String> = ended
            .mock
            .expected(seller.expect("one of the stand-in's"), served)
            .map(|row| (row.key, row.version))
            .collect();
        for (key, version) in ended.sink.rows(sid, dataset).await {
            self.rows += 1;
            match missing.remove(&key) {
                None => self.duplicated += 1,
                Some(last) => self.outdated += u64::from(last != version),
            }
        }
        self.missing += missing.len() as u64;
        let counts = ended.sink.count(sid, dataset).await.expect("the sink");
        self.quarantined += counts.quarantined;
    }

    /// Nothing is lost, nothing is there twice or in an old version, and nobody went elsewhere.
    pub(crate) fn check(&self, name: &str) {
        let wrong = [self.missing, self.duplicated, self.outdated, self.quarantined];
        assert_eq!(wrong, [0; 4], "{name}: missing, duplicated, outdated, quarantined");
        let strangers = (self.strangers, self.strangers_with_credentials);
        assert_eq!(strangers, (0, 0), "{name}: another host was asked");
        assert_eq!(self.slot_wait_ms, 0, "{name}: a job waited in its slot");
        assert_eq!(crate::panics(), 0, "{name}: something panicked");
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, by_status, faults, refused, scripted, hidden, .. } = self;
        let Self { attempts, failed, pauses, dead, rows, missing, duplicated, .. } = self;
        write!(
            f,
            "{requests} requests, by status {by_status:?}; faults {faults:?}; 429s {refused} of \
             buckets and {scripted} by script, {hidden} tokens stolen; {attempts} attempts, \
             {failed} failed, {pauses} pauses, {dead} dead; {rows} rows, {missing} missing, \
             {duplicated} duplicated; visits of the stranger {}, panics {}",
            self.strangers,
            crate::panics()
        )
    }
}

/// The dataset of a job.
pub(crate) fn dataset_of(job: &waitless_job::JobRecord) -> Dataset {
    let key = job.unique_key.as_deref().expect("imports have one");
    key.rsplit('/').next().expect("its end").parse().expect("a dataset")
}
