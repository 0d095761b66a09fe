use waitless_bucket::{Cost, Policy, UnixMillis};

/// An upstream without any tolerance. It keeps the list of what it has accepted and nothing else,
/// so it shares no arithmetic with the bucket.
pub(crate) struct StrictUpstream {
    interval_ms: i128,
    tokens: i128,
    burst: i128,
    accepted: Vec<(UnixMillis, Cost)>,
}

/// What an upstream says about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) accepted: bool,
    /// Whole tokens left.
    pub(crate) remaining: u32,
}

impl StrictUpstream {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            interval_ms: i128::from(policy.interval_ms()),
            tokens: i128::from(policy.tokens()),
            burst: i128::from(policy.burst()),
            accepted: Vec::new(),
        }
    }

    /// What is left at a moment, in tokens x interval: in each window that ends now, burst + elapsed
    /// x rate less what was accepted in it, and the least of these.
    pub(crate) fn level(&self, at: UnixMillis) -> i128 {
        let full = self.burst * self.interval_ms;
        let mut spent = 0;
        let windows = self.accepted.iter().rev().map(|(start, cost)| {
            spent += i128::from(cost.tokens()) * self.interval_ms;
            full + i128::from(at.0 - start.0) * self.tokens - spent
        });
        windows.min().map_or(full, |least| least.min(full))
    }

    /// Takes a request. Requests are handed over in the order of their arrival.
    pub(crate) fn arrive(&mut self, at: UnixMillis, cost: Cost) -> Answer {
        let accepted = self.level(at) >= i128::from(cost.tokens()) * self.interval_ms;
        if accepted {
            self.accepted.push((at, cost));
        }
        let remaining = u32::try_from(self.level(at) / self.interval_ms).expect("at most burst");
        Answer { accepted, remaining }
    }
}
