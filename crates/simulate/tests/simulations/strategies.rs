//! What lanes are worth: the same work, worker and upstream, another way to wait.

use waitless_simulate::{Options, Report, Scenario, Strategy};

use crate::report::{assert_at_most, interactive_p99, scaled, simulate};

/// A tenth of the sellers with as many of them to a slot: what a strategy costs shows as well.
fn twenty_sellers() -> Scenario {
    scaled("sellers-200", 20, 5)
}

fn with(strategy: Strategy) -> Report {
    let options = Options { strategy, ..Options::default() };
    let report = simulate("sellers-20", &twenty_sellers(), &options);
    assert_eq!(report.strategy, strategy.as_str());
    // Each makes every request in the end, and none too early.
    assert_eq!((report.requests, report.upstream_429), (20 * 155 + 40, 0), "{report:#?}");
    report
}

#[test]
fn jobs_that_look_and_reschedule_themselves_wake_up_twenty_times_a_request() {
    let naive = with(Strategy::Naive);
    assert!(naive.wakeups_per_request >= 20.0, "{naive:#?}");
}

#[test]
fn jobs_that_sleep_in_their_slots_take_many_times_as_long() {
    let lanes = with(Strategy::Lanes);
    let blocking = with(Strategy::Blocking);
    let (_, idle_p99) = interactive_p99(&lanes);
    let (_, idle_p99_blocking) = interactive_p99(&blocking);
    assert_at_most(
        &blocking,
        &[
            (
                "makespan of lanes, ten times",
                10.0 * lanes.makespan_seconds,
                blocking.makespan_seconds,
            ),
            // Most of the time that slots had was spent asleep.
            (
                "half of the slots' time",
                0.5 * 5.0 * blocking.makespan_seconds,
                blocking.slot_wait_seconds,
            ),
            // A bucket that nobody else uses is no help if no slot is free.
            ("idle p99 of lanes, ten times", 10.0 * idle_p99, idle_p99_blocking),
            ("one second", 1.0, idle_p99_blocking),
        ],
    );
}

#[test]
fn a_strategy_is_read_as_it_is_written() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }
    let refused = "eager".parse::<Strategy>().expect_err("it is none");
    assert_eq!(refused, "`eager` is not a strategy: use lanes, naive or blocking");
}
