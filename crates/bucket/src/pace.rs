//! How fast a bucket may really go, learnt from refusals and forgotten again.
//!
//! Some upstreams give less than they publish, and some quotas are spent by somebody else as well.
//! One refusal is weather. Refusals that keep coming at one pace say that it is too fast, and each
//! makes the bucket's interval a little longer, until none comes. Then the published pace is tried
//! again: a quota that others have spent comes back, and an upstream that still refuses it costs one
//! refusal in so many requests and sends the bucket back to the pace that has proven itself.

use serde::{Deserialize, Serialize};

use crate::{Policy, UnixMillis};

/// Accepted answers without a refusal between them after which a pace has proven itself: so many
/// that a bucket which keeps trying a pace that is too fast is refused less than once in 50 requests.
pub const CLEAN_ANSWERS: u8 = 56;

/// Longest interval: four times the published one, in permille on top of it.
pub const SLOWER_MAX: u16 = 3_000;

/// Longest wait after a refusal that names none, in milliseconds, where the interval is not longer.
const UNNAMED_WAIT_MS_MAX: u64 = 3_600_000;

/// What the refusals of a bucket have taught. A bucket without it goes at the published pace and
/// knows of no refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pace {
    /// By how many permille the interval is longer than published, at most [`SLOWER_MAX`]; 0 at the
    /// published pace.
    pub slower: u16,
    /// While the published pace is tried again: the one that has proven itself before, to which a
    /// refusal returns. 0 otherwise.
    pub proven: u16,
    /// Accepted answers since the last refusal, fewer than [`CLEAN_ANSWERS`].
    pub streak: u8,
    /// Refusals in a row, without an accepted answer between them.
    pub refusals: u8,
    /// When the last refusal was heard of that was an incident of its own.
    pub refused_at: UnixMillis,
}

impl Pace {
    /// What a refusal of a request that was sent at `sent_at` teaches.
    ///
    /// The first one is weather and slows nothing down. One of a request that was under way when the
    /// last was heard of belongs to the same incident: however many are in flight, one counts. And
    /// one that follows another without an accepted answer between them says that the upstream is
    /// still closed, and nothing of its rate: it only makes the next wait longer.
    pub(crate) fn refused(
        known: Option<Self>,
        policy: &Policy,
        sent_at: UnixMillis,
        now: UnixMillis,
    ) -> Self {
        let Some(known) = known else {
            return Self { slower: 0, proven: 0, streak: 0, refusals: 1, refused_at: now };
        };
        if known.was_under_way(policy, sent_at) {
            return known;
        }
        let slower = match known {
            Self { slower: 0, proven: 1.., .. } => known.proven,
            Self { streak: 0, .. } => known.slower,
            _ => wider(known.slower),
        };
        let refusals = known.refusals.saturating_add(1);
        Self { slower, proven: 0, streak: 0, refusals, refused_at: now }
    }

    /// What an accepted answer to a request that was sent at `sent_at` teaches: nothing if it was
    /// sent before the last refusal was heard of. `None` when there is no more to remember.
    pub(crate) fn accepted(self, policy: &Policy, sent_at: UnixMillis) -> Option<Self> {
        if self.was_under_way(policy, sent_at) {
            return Some(self);
        }
        let streak = self.streak.saturating_add(1);
        match self.slower {
            _ if streak < CLEAN_ANSWERS => Some(Self { streak, refusals: 0, ..self }),
            0 => None,
            proven => Some(Self { slower: 0, proven, streak: 0, refusals: 0, ..self }),
        }
    }

    /// Whether a request was sent on a permit that was given before the last refusal was heard of.
    fn was_under_way(&self, policy: &Policy, sent_at: UnixMillis) -> bool {
        sent_at <= self.refused_at.plus(policy.grant_ttl_ms())
    }

    /// The policy with its interval as much longer as this pace says.
    pub(crate) fn stretch(&self, policy: &Policy) -> Policy {
        if self.slower == 0 {
            return *policy;
        }
        let permille = 1_000 + u128::from(self.slower.min(SLOWER_MAX));
        let interval_ms = (u128::from(policy.interval_ms()) * permille).div_ceil(1_000);
        let interval_ms = u64::try_from(interval_ms).unwrap_or(u64::MAX);
        let stretched =
            Policy::from_parts(policy.tokens(), interval_ms, policy.burst(), policy.margin_ms());
        // One at the end of the whole numbers (centuries to fill) stays as it is published.
        stretched.unwrap_or(*policy)
    }

    /// How long to wait after a refusal that names no wait, in milliseconds: one interval, doubled
    /// for each further refusal in a row, up to an hour, but never less than one interval.
    pub(crate) fn unnamed_wait_ms(&self, policy: &Policy) -> u64 {
        let interval_ms = self.stretch(policy).interval_ms();
        let doublings = u32::from(self.refusals.saturating_sub(1)).min(32);
        let doubled_ms = interval_ms.saturating_mul(1 << doublings);
        doubled_ms.min(UNNAMED_WAIT_MS_MAX).max(interval_ms)
    }
}

/// The next pace down: an interval longer by a sixteenth. A larger step finds the pace sooner, and
/// gives away more than it has to at every request thereafter.
fn wider(slower: u16) -> u16 {
    let permille = (1_000 + u32::from(slower)) * 17;
    let wider = permille.div_ceil(16) - 1_000;
    u16::try_from(wider).map_or(SLOWER_MAX, |wider| wider.min(SLOWER_MAX))
}
