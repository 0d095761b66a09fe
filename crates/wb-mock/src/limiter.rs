//! The strict limiter: a bucket that starts full, in whole microseconds.

/// Admits requests of one seller to one method.
///
/// The rule, for a request at `a`: for every admitted request at `t`, the admitted ones from that
/// one on, this one included, number at most `burst + floor((a - t) / interval)`.
///
/// Of all those windows only one ever binds, so only one is kept. Let `k` and `j` be admitted
/// requests, `j` later by `m` places and `d` intervals. As `floor` of a sum exceeds `floor` of a
/// summand by `floor(d)` or `ceil(d)`, the window from `j` is never looser than that from `k` if
/// `m <= floor(d)`, and never tighter if `m >= ceil(d)`; and a whole `m` is one or the other. So
/// each new request either begins the window or changes nothing but its count. A test compares this
/// with the rule as written, over the whole list.
#[derive(Clone, Debug)]
pub(crate) struct Limiter {
    interval_us: u64,
    burst: u64,
    window: Option<Window>,
}

/// The window that binds: when it began and how many requests it has admitted, at least one.
#[derive(Clone, Copy, Debug)]
struct Window {
    start_us: u64,
    admitted: u64,
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
        Self { interval_us: interval_us.max(1), burst: u64::from(burst), window: None }
    }

    /// Judges a request that arrives now. Requests are judged in order of arrival.
    pub(crate) fn judge(&mut self, now_us: u64) -> Verdict {
        let Some(window) = self.window else {
            return self.begin_window(now_us);
        };
        let returned = now_us.saturating_sub(window.start_us) / self.interval_us;
        if returned >= window.admitted {
            return self.begin_window(now_us);
        }
        let allowed = self.burst + returned;
        if window.admitted < allowed {
            let admitted = window.admitted + 1;
            self.window = Some(Window { admitted, ..window });
            return Verdict::Admitted { remaining: allowed - admitted };
        }
        let until = |returned: u64| window.start_us + returned * self.interval_us - now_us;
        Verdict::Refused {
            retry_us: until(window.admitted + 1 - self.burst),
            reset_us: until(window.admitted),
        }
    }

    fn begin_window(&mut self, now_us: u64) -> Verdict {
        self.window = Some(Window { start_us: now_us, admitted: 1 });
        Verdict::Admitted { remaining: self.burst - 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule as written, over every admitted request there ever was.
    fn admits(admitted: &[u64], now_us: u64, interval_us: u64, burst: u32) -> bool {
        admitted.iter().enumerate().all(|(index, start_us)| {
            let with_this_one = (admitted.len() - index + 1) as u64;
            with_this_one <= u64::from(burst) + (now_us - start_us) / interval_us
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
            gaps in prop::collection::vec(0..120_u64, 1..400),
        ) {
            let mut limiter = Limiter::new(interval_us, burst);
            let mut admitted = Vec::new();
            let mut now_us = 0;
            for gap in gaps {
                // Gaps that are mostly shorter than the interval keep the bucket near empty.
                now_us += gap * interval_us / 60;
                let expected = admits(&admitted, now_us, interval_us, burst);
                prop_assert_eq!(passes(limiter.judge(now_us)), expected, "at {}", now_us);
                if expected {
                    admitted.push(now_us);
                }
            }
        }

        #[test]
        fn admits_at_the_time_it_names_and_refuses_one_microsecond_before(
            interval_us in 2..1_000_000_u64,
            burst in 1..20_u32,
            gaps in prop::collection::vec(0..2_000_000_u64, 0..60),
        ) {
            let mut limiter = Limiter::new(interval_us, burst);
            let mut now_us = 0;
            for gap in gaps {
                now_us += gap;
                limiter.judge(now_us);
            }
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
