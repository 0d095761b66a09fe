//! A worker's side of a job, as a notebook.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use waitless_job::{
    BucketKey, Feedback, JobContext, JobOps, Leave, LimitGroup, Needs, Permit, Progress, Quota,
    UnixMillis,
};

/// The time, as far as these jobs know.
pub(crate) const NOW: UnixMillis = UnixMillis(1_790_000_000_250);

/// Gives the permits it was told to, parks after the last, and writes down every report.
#[derive(Default)]
pub(crate) struct Notebook {
    /// Ages in milliseconds of the permits to give; each is good for 60 ms.
    permits: Mutex<VecDeque<u64>>,
    reports: Mutex<Vec<(LimitGroup, Feedback)>>,
    pub(crate) asked: Mutex<Vec<Needs>>,
}

impl Notebook {
    pub(crate) fn with_permits(ages: impl IntoIterator<Item = u64>) -> (Arc<Self>, JobContext) {
        let permits = Mutex::new(ages.into_iter().collect());
        let notebook = Arc::new(Self { permits, ..Self::default() });
        let ctx = JobContext::new("acct-1".parse().expect("a name"), notebook.clone());
        (notebook, ctx)
    }

    /// All reports so far, with the names of their groups; not that a connection took its time,
    /// which on a busy machine it may or may not.
    pub(crate) fn reports(&self) -> Vec<(String, Feedback)> {
        let reports = self.reports.lock().expect("no test panics under it");
        let reports = reports.iter().filter(|(_, report)| !matches!(report, Feedback::Late { .. }));
        reports.map(|(group, feedback)| (group.to_string(), *feedback)).collect()
    }
}

#[async_trait]
impl JobOps for Notebook {
    async fn permit(&self, needs: Needs) -> Result<Permit, Leave> {
        self.asked.lock().expect("no test panics under it").push(needs.clone());
        let age = self.permits.lock().expect("no test panics under it").pop_front();
        let age = i64::try_from(age.ok_or(Leave::Parked)?).expect("a small number");
        Ok(Permit::new(needs, UnixMillis(NOW.0 - age), 60, Arc::default()))
    }

    async fn try_permit(&self, _: Needs) -> Result<Result<Permit, u64>, Leave> {
        unimplemented_here()
    }

    async fn peek(&self, _: BucketKey) -> Result<Quota, Leave> {
        unimplemented_here()
    }

    async fn report(&self, bucket: BucketKey, feedback: Feedback) -> Result<(), Leave> {
        assert_eq!(bucket.account.to_string(), "acct-1");
        self.reports.lock().expect("no test panics under it").push((bucket.group, feedback));
        Ok(())
    }

    fn stage_checkpoint(&self, _: Arc<str>) {}

    fn stage_progress(&self, _: Progress) {}

    fn now(&self) -> UnixMillis {
        NOW
    }

    async fn stopping(&self) {}
}

fn unimplemented_here<T>() -> T {
    panic!("the client has no use for this")
}
