use proptest::prelude::*;
use waitless_job::{JobId, UnixMillis};
use waitless_scheduler::Backoff;

use crate::scene::{NOW, job_id};

/// The longest pause.
const MS_MAX: u64 = 3_600_000;

fn retry_at(job: JobId, attempts: u32, now: UnixMillis) -> UnixMillis {
    Backoff::default().retry_at(job, attempts, now)
}

/// The shortest pause after so many failures, by doubling.
fn pause_ms_min(attempts: u32) -> u64 {
    let mut pause_ms = 2_000;
    for _ in 0..attempts {
        if pause_ms >= MS_MAX {
            break;
        }
        pause_ms *= 2;
    }
    pause_ms.min(MS_MAX)
}

fn any_attempts() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..16_u32, 1 => 16..70_u32, 1 => any::<u32>()]
}

proptest! {
    #[test]
    fn a_pause_doubles_up_to_an_hour_and_is_at_most_a_quarter_longer(
        job in any::<u64>(),
        attempts in any_attempts(),
    ) {
        let pause_ms = retry_at(job_id(job), attempts, NOW).since(NOW);
        let least_ms = pause_ms_min(attempts);
        prop_assert!(
            (least_ms..=least_ms + least_ms / 4).contains(&pause_ms),
            "{pause_ms} ms after {attempts} failures"
        );
    }

    #[test]
    fn a_pause_follows_from_job_and_attempt_alone(
        job in any::<u64>(),
        attempts in any_attempts(),
        now in 0..4_000_000_000_000_i64,
    ) {
        let now = UnixMillis(now);
        prop_assert_eq!(
            retry_at(job_id(job), attempts, now).since(now),
            retry_at(job_id(job), attempts, NOW).since(NOW)
        );
    }
}

#[test]
fn every_pause_up_to_the_longest_is_within_its_bounds() {
    let least: Vec<u64> = (0..13).map(|attempts| pause_ms_min(attempts) / 1_000).collect();
    assert_eq!(least, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
}

#[test]
fn jobs_that_failed_together_come_back_apart() {
    for attempts in 0..12 {
        let least_ms = pause_ms_min(attempts);
        let mut in_tenths = [0; 10];
        for job in 0..1_000 {
            let extra_ms = retry_at(job_id(job), attempts, NOW).since(NOW) - least_ms;
            let tenth = extra_ms * 10 / (least_ms / 4 + 1);
            in_tenths[usize::try_from(tenth).expect("below 10")] += 1;
        }
        assert!(
            in_tenths.iter().all(|jobs| (50..150).contains(jobs)),
            "after {attempts} failures 1,000 jobs come in the tenths of the extra: {in_tenths:?}"
        );
    }
}

#[test]
fn jobs_that_met_once_do_not_meet_at_every_attempt() {
    let pauses = |job| (0..8).map(move |attempts| retry_at(job_id(job), attempts, NOW));
    for job in 1..1_000 {
        assert!(pauses(0).ne(pauses(job)), "jobs 0 and {job} come back together each time");
    }
}

proptest! {
    #[test]
    fn any_first_and_longest_pause_is_kept_to(
        first_ms in any::<u64>(),
        ms_max in any::<u64>(),
        job in any::<u64>(),
        attempts in any_attempts(),
    ) {
        let backoff = Backoff { first_ms, ms_max };
        let pause_ms = backoff.retry_at(job_id(job), attempts, UnixMillis(0)).since(UnixMillis(0));
        let least_ms = first_ms.saturating_mul(1 << attempts.min(32)).min(ms_max);
        // The calendar ends before the whole numbers do.
        prop_assert!(pause_ms >= least_ms.min(i64::MAX as u64));
        prop_assert!(pause_ms <= least_ms.saturating_add(least_ms / 4));
    }
}
