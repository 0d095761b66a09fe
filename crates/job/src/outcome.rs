use std::error::Error;

use crate::LimitGroup;

/// How a handler leaves its slot without being done. The `Err` of a
/// [`HandlerResult`](crate::HandlerResult), so that `?` on [`JobContext::permit`] leaves the slot.
///
/// Any `std::error::Error` becomes a [`Leave::Retry`] by `?`.
///
/// [`JobContext::permit`]: crate::JobContext::permit
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// The job waits in its lane again: the step that denied its permit has put it there. Costs no
    /// attempt. Made by [`JobContext::permit`](crate::JobContext::permit) only.
    Parked,
    /// Put the job back until `wait_ms` milliseconds from now. Costs no attempt; counted apart.
    Snooze {
        /// Milliseconds.
        wait_ms: u64,
    },
    /// This attempt failed; try again after a backoff, or to the dead letters if it was the last.
    Retry {
        /// What went wrong, for whoever reads the job.
        error: String,
    },
    /// The work is no longer wanted. The job ends as `cancelled`.
    Cancel {
        /// Why.
        reason: String,
    },
    /// Trying again cannot help. The job goes to the dead letters at once.
    Dead {
        /// Why, and what to do.
        reason: String,
    },
    /// No request on these limits can be answered before somebody has acted: the token is dead, say,
    /// or is not let in there. Pauses the account's limits of these groups, and the job waits in its
    /// lane until they are resumed. Costs no attempt.
    Pause {
        /// Which limits; those that the account does not have are passed over.
        groups: Vec<LimitGroup>,
        /// Why, and what to do.
        reason: String,
    },
    /// The lease went to somebody else while the handler ran; nothing it reports counts any more.
    LeaseLost,
}

impl<E: Error> From<E> for Leave {
    fn from(error: E) -> Self {
        Self::Retry { error: with_causes(&error) }
    }
}

/// An error and its causes in one line.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Many errors already print their cause.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
