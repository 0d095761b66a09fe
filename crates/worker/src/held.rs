use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering, fence},
};

use waitless_job::{Needs, Permit, Progress, UnixMillis};
use waitless_store::ops::{Saved, Unspent};

/// What an attempt holds: permits, and what its next step has to save.
#[derive(Default)]
pub(crate) struct Held {
    /// The permit that came with the slot, until the handler asks for it.
    pub(crate) first: Option<Taken>,
    /// Permits the handler was given.
    given: Vec<Taken>,
    checkpoint: Option<Arc<str>>,
    progress: Option<Progress>,
    /// Whether a checkpoint was ever staged in this attempt.
    pub(crate) moved: bool,
    /// When a permit was denied while the job kept its slot.
    pub(crate) denied_at: Option<UnixMillis>,
    /// The lease has ended in a step that this session made, or was lost.
    pub(crate) ended: Option<LeaseEnd>,
}

/// How a lease ended before its attempt did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseEnd {
    /// A denied permit has put the job into its lane, or the worker is stopping and has.
    Parked,
    /// Somebody else has the job.
    Lost,
}

/// Tokens that were taken for this attempt.
pub(crate) struct Taken {
    pub(crate) needs: Needs,
    granted_at: UnixMillis,
    ttl_ms: u64,
    spent: Arc<AtomicBool>,
}

impl Taken {
    pub(crate) fn new(needs: Needs, granted_at: UnixMillis, ttl_ms: u64) -> Self {
        Self { needs, granted_at, ttl_ms, spent: Arc::default() }
    }

    pub(crate) fn permit(&self) -> Permit {
        Permit::new(self.needs.clone(), self.granted_at, self.ttl_ms, Arc::clone(&self.spent))
    }

    fn unspent(&self) -> Unspent {
        Unspent { needs: self.needs.clone(), taken_at: self.granted_at }
    }

    /// Whether the permit is gone, so that nobody can spend it any more.
    fn is_gone(&self) -> bool {
        // The permit holds the other reference. The fence orders the look at `spent` that follows
        // after the drop of a permit that was spent on another thread.
        let is_gone = Arc::strong_count(&self.spent) == 1;
        fence(Ordering::Acquire);
        is_gone
    }

    fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Acquire)
    }
}

impl Held {
    pub(crate) fn with(first: Option<Taken>) -> Self {
        Self { first, ..Self::default() }
    }

    pub(crate) fn give(&mut self, taken: Taken) {
        self.given.push(taken);
    }

    pub(crate) fn stage_checkpoint(&mut self, json: Arc<str>) {
        self.moved = true;
        self.checkpoint = Some(json);
    }

    pub(crate) fn stage_progress(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    /// What the next step has to save, and how many requests were sent since the last one.
    ///
    /// Checkpoint and progress stay staged until [`Held::saved`] says that they were saved, so a
    /// step that is cut off loses none. Unspent permits leave here: a step whose answer is not known
    /// may have given them back, and they must not be given back twice.
    pub(crate) fn outgoing(&mut self) -> (Saved, u64) {
        let mut unspent = Vec::new();
        let mut requests = 0;
        self.given.retain(|taken| {
            let is_gone = taken.is_gone();
            if taken.is_spent() {
                requests += 1;
                return false;
            }
            if is_gone {
                unspent.push(taken.unspent());
            }
            !is_gone
        });
        let (checkpoint, progress) = (self.checkpoint.clone(), self.progress);
        (Saved { checkpoint, progress, unspent }, requests)
    }

    /// The same at the end of the attempt: permits that are still out come back, too.
    pub(crate) fn outgoing_all(&mut self) -> (Saved, u64) {
        let (mut saved, requests) = self.outgoing();
        let out = self.first.take().into_iter().chain(self.given.drain(..));
        saved.unspent.extend(out.map(|taken| taken.unspent()));
        (saved, requests)
    }

    /// A step has saved this. What was staged meanwhile is newer and stays.
    pub(crate) fn saved(&mut self, saved: &Saved) {
        let is_same = |staged: &Arc<str>| {
            saved.checkpoint.as_ref().is_some_and(|sent| Arc::ptr_eq(sent, staged))
        };
        if self.checkpoint.as_ref().is_some_and(is_same) {
            self.checkpoint = None;
        }
        if self.progress == saved.progress {
            self.progress = None;
        }
    }

    /// A step was refused as a whole: its unspent permits are still to be given back.
    pub(crate) fn put_back(&mut self, saved: Saved) {
        let unspent = saved.unspent.into_iter();
        self.given.extend(unspent.map(|one| Taken::new(one.needs, one.taken_at, 0)));
    }
}
