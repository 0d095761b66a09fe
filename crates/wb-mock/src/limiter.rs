//! The strict limiter: a bucket that starts full, in whole microseconds.

/// Admits the requests of one seller to the methods of one bucket.
///
/// The rule, for a request at `a`: for everything spent at any `t`, what was spent from that one on,
/// this request included, is at most `burst + floor((a - t) / interval)`. What an answer costs
/// beside its request is spent whether the rule allows it or not, so a bucket may be in debt.
///
/// One moment holds all of it: when the bucket is whole again if nothing more is spent. Each
/// request moves it one interval on, from now if it has passed, and a request that would move it
/// further than `burst` intervals from now is refused. A test compares this with the rule as
/// written, over the whole list.
#[derive(Clone, Debug)]
pub(crate) struct Limiter {
    interval_us: u64,
    burst: u64,
    whole_at_us: u64,
}

/// What the limiter says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may pass.
    Admitted {
        /// How many more may pass without a pause.
        remaining: u64,
    },
    /// It may not, and has cost nothing.
    Refused {
        /// How long until a request may pass.
        retry_us: u64,
        /// How long until the burst is whole again.
        reset_us: u64,
    },
}

impl Limiter {
    /// `burst` is at least 1; an interval of 0 is taken for one microsecond.
    pub(crate) fn new(interval_us: u64, burst: u32) -> Self {
        Self { interval_us: interval_us.max(1), burst: u64::from(burst), whole_at_us: 0 }
    }

    /// The same bucket from now on at another interval. It lacks as many requests as it did.
    pub(crate) fn at_interval(&self, now_us: u64, interval_us: u64) -> Self {
        let interval_us = interval_us.max(1);
        let lacks_us = u128::from(self.whole_at_us.saturating_sub(now_us));
        let lacks_us = lacks_us * u128::from(interval_us) / u128::from(self.interval_us);
        let whole_at_us = now_us.saturating_add(u64::try_from(lacks_us).unwrap_or(u64::MAX));
        Self { interval_us, whole_at_us, ..*self }
    }

    /// Judges a request that arrives now. Requests are judged in order of arrival.
    pub(crate) fn judge(&mut self, now_us: u64) -> Verdict {
        let whole_at_us = self.whole_at_us.max(now_us) + self.interval_us;
        let latest_us = now_us + self.burst * self.interval_us;
        if whole_at_us > latest_us {
            return Verdict::Refused {
                retry_us: whole_at_us - latest_us,
                reset_us: self.whole_at_us - now_us,
            };
        }
        self.whole_at_us = whole_at_us;
        Verdict::Admitted { remaining: self.remaining(now_us) }
    }

    /// Spends what an answer costs beside its request, into debt if need be.
    pub(crate) fn charge(&mut self, now_us: u64, cost: u64) {
        self.whole_at_us = self.whole_at_us.max(now_us) + cost * self.interval_us;
    }

    /// How many requests may pass now without a pause.
    pub(crate) fn remaining(&self, now_us: u64) -> u64 {
        let whole_us = self.burst * self.interval_us;
        whole_us.saturating_sub(self.whole_at_us.saturating_sub(now_us)) / self.interval_us
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule as written, over everything that was ever spent: when, and how much.
    fn admits(spent: &[(u64, u64)], now_us: u64, interval_us: u64, burst: u32) -> bool {
        spent.iter().enumerate().all(|(index, (start_us, _))| {
            let since: u64 = spent[index..].iter().map(|(_, cost)| cost).sum();
            since < u64::from(burst) + (now_us - start_us) / interval_us
        })
    }

    fn passes(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Admitted { .. })
    }

    proptest! {
        #[test]
        fn agrees_with_every_window_of_the_whole_list(
            interval_us in 1..50_u64,
            burst in 1..12_u32,
            // Gaps that are mostly shorter than the interval keep the bucket near empty; now and
            // then an answer costs more than its request.
            steps in prop::collection::vec((0..120_u64, prop::option::weighted(0.05, 1..20_u64)), 1..400),
        ) {
            let mut limiter = Limiter::new(interval_us, burst);
            let mut spent = Vec::new();
            let mut now_us = 0;
            for (gap, extra) in steps {
                now_us += gap * interval_us / 60;
                let expected = admits(&spent, now_us, interval_us, burst);
                prop_assert_eq!(passes(limiter.judge(now_us)), expected, "at {}", now_us);
                if expected {
                    spent.push((now_us, 1));
                    if let Some(extra) = extra {
                        limiter.charge(now_us, extra);
                        spent.push((now_us, extra));
                    }
                }
            }
        }

        #[test]
        fn admits_at_the_time_it_names_and_refuses_one_microsecond_before(
            interval_us in 2..1_000_000_u64,
            burst in 1..20_u32,
            gaps in prop::collection::vec(0..2_000_000_u64, 0..60),
            debt in 0..30_u64,
        ) {
            let mut limiter = Limiter::new(interval_us, burst);
            let mut now_us = 0;
            for gap in gaps {
                now_us += gap;
                limiter.judge(now_us);
            }
            limiter.charge(now_us, debt);
            let retry_us = loop {
                if let Verdict::Refused { retry_us, .. } = limiter.judge(now_us) {
                    break retry_us;
                }
            };
            prop_assert!(!passes(limiter.clone().judge(now_us + retry_us - 1)));
            prop_assert!(passes(limiter.judge(now_us + retry_us)));
        }

        #[test]
        fn is_whole_again_at_the_reset_and_not_one_microsecond_before(
            interval_us in 2..1_000_000_u64,
            burst in 1..20_u32,
        ) {
            let remaining_at = |wait: fn(u64) -> u64| {
                let mut limiter = Limiter::new(interval_us, burst);
                let reset_us = loop {
                    if let Verdict::Refused { reset_us, .. } = limiter.judge(0) {
                        break reset_us;
                    }
                };
                limiter.judge(wait(reset_us))
            };
            let whole = u64::from(burst);
            prop_assert_eq!(remaining_at(|reset| reset), Verdict::Admitted { remaining: whole - 1 });
            prop_assert_ne!(
                remaining_at(|reset| reset - 1),
                Verdict::Admitted { remaining: whole - 1 }
            );
        }
    }

    #[test]
    fn a_burst_of_one_does_not_double_at_the_edge_of_a_window() {
        let mut limiter = Limiter::new(60_000_000, 1);
        let verdicts = [59_999_999, 60_000_000, 119_999_998, 119_999_999, 120_000_000]
            .map(|now_us| passes(limiter.judge(now_us)));
        assert_eq!(verdicts, [true, false, false, true, false]);
    }

    #[test]
    fn a_refusal_costs_nothing() {
        let mut limiter = Limiter::new(1_000, 1);
        assert!(passes(limiter.judge(0)));
        for now_us in 1..1_000 {
            assert!(!passes(limiter.judge(now_us)));
        }
        assert!(passes(limiter.judge(1_000)));
    }

    #[test]
    fn a_charge_goes_into_debt_and_is_waited_for() {
        let mut limiter = Limiter::new(1_000, 20);
        assert_eq!(limiter.judge(0), Verdict::Admitted { remaining: 19 });
        limiter.charge(0, 9);
        assert_eq!(limiter.remaining(0), 10);
        limiter.charge(0, 18);
        assert_eq!(limiter.remaining(0), 0);
        // Eight in debt, and one to spend.
        assert_eq!(limiter.judge(0), Verdict::Refused { retry_us: 9_000, reset_us: 28_000 });
    }

    #[test]
    fn a_change_of_the_interval_changes_waits_but_not_what_is_there() {
        let mut limiter = Limiter::new(1_000, 3);
        assert!(passes(limiter.judge(0)) && passes(limiter.judge(0)));
        let mut slower = limiter.at_interval(500, 4_000);
        assert_eq!((limiter.remaining(500), slower.remaining(500)), (1, 1));
        assert!(passes(slower.judge(500)));
        assert_eq!(slower.judge(500), Verdict::Refused { retry_us: 2_000, reset_us: 10_000 });
        let same = slower.at_interval(500, 4_000);
        assert_eq!(same.whole_at_us, slower.whole_at_us);
    }

    #[test]
    fn counts_down_while_the_burst_is_spent() {
        let mut limiter = Limiter::new(1_000, 3);
        let spent = [0, 0, 0, 0].map(|now_us| limiter.judge(now_us));
        assert_eq!(
            spent,
            [
                Verdict::Admitted { remaining: 2 },
                Verdict::Admitted { remaining: 1 },
                Verdict::Admitted { remaining: 0 },
                Verdict::Refused { retry_us: 1_000, reset_us: 3_000 },
            ]
        );
    }
}
