use std::{sync::Arc, time::SystemTime};

use tokio::time::Instant;
use waitless_bucket::UnixMillis;

/// The time of this process.
///
/// Reads the wall clock once and counts on from it with the monotonic clock, so a wall clock that
/// is stepped while the process runs grants nothing early and starves nobody. Counting uses tokio's
/// clock: where a test or a simulation pauses time, this clock moves with it.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Anchor>);

#[derive(Debug)]
struct Anchor {
    wall: UnixMillis,
    instant: Instant,
}

impl Clock {
    /// A clock anchored at the wall clock of this machine.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn system() -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("the wall clock of this machine shows a time after 1970");
        Self::starting_at(UnixMillis(
            i64::try_from(since_epoch.as_millis()).expect("the year is below 292 million"),
        ))
    }

    /// A clock that shows `wall` now, for simulations and tests.
    #[must_use]
    pub fn starting_at(wall: UnixMillis) -> Self {
        Self(Arc::new(Anchor { wall, instant: Instant::now() }))
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> UnixMillis {
        let elapsed = self.0.instant.elapsed().as_millis();
        self.0.wall.plus(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }

    /// Sleeps until this clock shows `moment`; returns at once if it is past.
    pub async fn sleep_until(&self, moment: UnixMillis) {
        let after = std::time::Duration::from_millis(moment.since(self.0.wall));
        tokio::time::sleep_until(self.0.instant + after).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleeping_until_a_moment_shows_exactly_that_moment() {
        let clock = Clock::starting_at(UnixMillis(1_000));
        clock.sleep_until(UnixMillis(61_001)).await;
        assert_eq!(clock.now(), UnixMillis(61_001));
        clock.sleep_until(UnixMillis(5)).await;
        assert_eq!(clock.now(), UnixMillis(61_001));
    }
}
