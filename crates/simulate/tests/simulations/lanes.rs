//! What lanes promise, on a strict upstream that counts for itself.

use waitless_simulate::{Options, Report};

use crate::report::{assert_at_most, built_in, interactive_p99, scaled, simulate};

/// The promises that hold whatever the network does. `idle_p99_max` is what an interactive job may
/// wait for a slot in seconds.
fn assert_keeps_its_promises(
    report: &Report,
    requests: u64,
    over_bound_max: f64,
    idle_p99_max: f64,
) {
    let (busy_p99, idle_p99) = interactive_p99(report);
    assert_eq!((report.requests, report.upstream_429), (requests, 0), "{report:#?}");
    assert_at_most(
        report,
        &[
            ("makespan_over_bound", report.makespan_over_bound, over_bound_max),
            ("wakeups_per_request", report.wakeups_per_request, 1.01),
            ("slot_wait_seconds", report.slot_wait_seconds, 0.0),
            // One token of the busiest bucket comes a minute, and the next one is the probe's.
            ("interactive_busy p99", busy_p99, 61.0),
            ("interactive_idle p99", idle_p99, idle_p99_max),
            // Nothing is faster than the arithmetic of the limits: were it, the bound were wrong.
            ("bound over makespan", 1.0 / report.makespan_over_bound, 1.0),
        ],
    );
}

/// With 50 slots and more one is free within a tenth of a second.
const MANY_SLOTS: f64 = 0.1;

/// With few slots all are taken now and then, each for one request of 2 s at most.
const FEW_SLOTS: f64 = 2.0;

#[test]
fn sellers_200_are_done_within_half_a_percent_of_the_bound() {
    let report = simulate("sellers-200", &built_in("sellers-200"), &Options::default());
    // The backlog and 200 interactive jobs of either sort.
    assert_keeps_its_promises(&report, 200 * 155 + 400, 1.005, MANY_SLOTS);
}

#[test]
fn with_jitter_and_a_margin_a_strict_upstream_refuses_nothing() {
    let options = Options { jitter_ms: 5..=60, margin_ms: Some(60), ..Options::default() };
    let report = simulate("sellers-200", &built_in("sellers-200"), &options);
    assert_keeps_its_promises(&report, 200 * 155 + 400, 1.010, MANY_SLOTS);
}

#[test]
fn with_jitter_and_no_margin_a_strict_upstream_refuses_requests_and_each_is_made_again() {
    let options = Options { jitter_ms: 5..=60, margin_ms: Some(0), ..Options::default() };
    let report = simulate("sellers-200", &scaled("sellers-200", 20, 5), &options);
    assert_eq!(report.requests, 20 * 155 + 40);
    // After a few of them a bucket goes slower, which does for jitter what a margin does.
    assert!(report.upstream_429 > 50, "{report:#?}");
}

#[test]
fn without_jitter_no_margin_is_needed() {
    let options = Options { margin_ms: Some(0), ..Options::default() };
    let report = simulate("sellers-200", &scaled("sellers-200", 20, 5), &options);
    assert_keeps_its_promises(&report, 20 * 155 + 40, 1.005, FEW_SLOTS);
}

#[test]
fn an_import_of_300_pages_an_account_is_done_within_half_a_percent_of_the_bound() {
    // A twentieth of the built-in import, with as many accounts to a slot.
    let report = simulate("import-50", &scaled("import-1000", 50, 5), &Options::default());
    assert_keeps_its_promises(&report, 50 * 600 + 100, 1.005, FEW_SLOTS);
}
