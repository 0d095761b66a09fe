//! Patience with what an upstream makes in its own time.

use serde::{Deserialize, Serialize};
use waitless_job::UnixMillis;

/// Polls after which a status that nobody knows is no longer waited for.
const UNKNOWN_POLLS_MAX: u32 = 30;

/// The longest wait between two polls, in intervals of the status's limit.
const INTERVALS_MAX: u64 = 12;

/// Tasks in a row that came to nothing, after which no more are created.
pub(crate) const LOST_MAX: u32 = 5;

/// A task under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watch {
    pub(crate) created_at: UnixMillis,
    /// How often its status was asked for.
    #[serde(default)]
    polls: u32,
    /// How often the status was none that we know.
    #[serde(default)]
    unknown: u32,
}

/// What a task's status means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    /// It can be downloaded.
    Done,
    /// It is being made.
    UnderWay,
    /// Nothing will come of it.
    Lost,
    /// Not documented.
    Unknown(&'a str),
}

/// What to do after a poll.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    Download,
    /// Ask again after so many milliseconds.
    Wait(Watch, u64),
    /// Nothing will come of it, for this reason: create another.
    Lost(String),
}

impl Watch {
    pub(crate) fn new(now: UnixMillis) -> Self {
        Self { created_at: now, polls: 0, unknown: 0 }
    }

    /// Whether the upstream has forgotten it by now.
    pub(crate) fn is_older_than(&self, lifetime_ms: u64, now: UnixMillis) -> bool {
        now.since(self.created_at) >= lifetime_ms
    }

    /// What to do after another poll; the wait grows by an interval each time.
    pub(crate) fn polled(
        &self,
        status: Status<'_>,
        interval_ms: u64,
        lifetime_ms: u64,
        now: UnixMillis,
    ) -> Polled {
        let mut next = Self { polls: self.polls.saturating_add(1), ..self.clone() };
        match status {
            Status::Done => return Polled::Download,
            Status::Lost => return Polled::Lost("the upstream has given it up".to_owned()),
            Status::UnderWay => {}
            Status::Unknown(name) => {
                let name: String = name.chars().take(40).collect();
                if next.unknown == 0 {
                    tracing::warn!(status = name, "a task has a status that is not documented");
                }
                next.unknown += 1;
                if next.unknown >= UNKNOWN_POLLS_MAX {
                    return Polled::Lost(format!("its status stayed `{}`", name.escape_debug()));
                }
            }
        }
        if self.is_older_than(lifetime_ms, now) {
            return Polled::Lost("it was not done within the time that tasks are kept".to_owned());
        }
        let intervals = (u64::from(next.polls) + 1).min(INTERVALS_MAX);
        Polled::Wait(next, interval_ms.saturating_mul(intervals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: UnixMillis = UnixMillis(1_000_000);
    const HOUR_MS: u64 = 3_600_000;

    fn polled(watch: &Watch, status: Status<'_>, after_ms: u64) -> Polled {
        watch.polled(status, 5_000, 2 * HOUR_MS, START.plus(after_ms))
    }

    #[test]
    fn waits_grow_to_a_minute_where_five_seconds_are_the_interval() {
        let (mut watch, mut waits) = (Watch::new(START), Vec::new());
        for _ in 0..14 {
            match polled(&watch, Status::UnderWay, 0) {
                Polled::Wait(next, wait_ms) => {
                    waits.push(wait_ms / 1_000);
                    watch = next;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(waits, [10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 60, 60, 60]);
    }

    #[test]
    fn a_status_that_nobody_knows_is_polled_thirty_times() {
        let (mut watch, mut polls) = (Watch::new(START), 1);
        let reason = loop {
            match polled(&watch, Status::Unknown("thinking\n"), 0) {
                Polled::Wait(next, _) => (watch, polls) = (next, polls + 1),
                Polled::Lost(reason) => break reason,
                Polled::Download => panic!("it is not done"),
            }
        };
        assert_eq!((polls, reason.as_str()), (30, "its status stayed `thinking\\n`"));
    }

    #[test]
    fn a_task_ends_done_given_up_or_too_old() {
        let watch = Watch::new(START);
        assert_eq!(polled(&watch, Status::Done, 9 * HOUR_MS), Polled::Download);
        assert!(matches!(polled(&watch, Status::Lost, 0), Polled::Lost(_)));
        assert!(matches!(polled(&watch, Status::UnderWay, 2 * HOUR_MS - 1), Polled::Wait(..)));
        assert!(matches!(polled(&watch, Status::UnderWay, 2 * HOUR_MS), Polled::Lost(_)));
        assert!(matches!(polled(&watch, Status::Unknown("x"), 2 * HOUR_MS), Polled::Lost(_)));
    }
}
