use std::sync::Arc;

use waitless_job::{JobContext, JobRecord};

use crate::{session::Session, slots::Slot};

/// A claimed job on its way through the tower stack: the arguments of an apalis task.
#[derive(Clone)]
pub struct Granted {
    pub(crate) session: Arc<Session>,
    pub(crate) args: Arc<str>,
    /// Free again when the last clone of this is gone.
    pub(crate) _slot: Arc<Slot>,
}

impl Granted {
    /// The job.
    #[must_use]
    pub fn record(&self) -> &Arc<JobRecord> {
        &self.session.record
    }

    /// Its arguments, as JSON.
    #[must_use]
    pub fn args(&self) -> &str {
        &self.args
    }

    /// Its way to the queue.
    #[must_use]
    pub fn context(&self) -> JobContext {
        JobContext::new(self.session.record.account.clone(), Arc::clone(&self.session) as _)
    }
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granted").field("job", &self.session.record.id).finish_non_exhaustive()
    }
}
