use waitless_simulate::{Options, Report, Scenario, run};

/// Runs a scenario; no simulation of a test fails.
pub(crate) fn simulate(name: &str, scenario: &Scenario, options: &Options) -> Report {
    run(name, scenario, options).expect("it comes to its end")
}

pub(crate) fn built_in(name: &str) -> Scenario {
    Scenario::load(name).expect("it is built in")
}

/// A built-in scenario with so many accounts and slots.
pub(crate) fn scaled(name: &str, accounts: usize, slots: usize) -> Scenario {
    let mut scenario = built_in(name);
    scenario.accounts[0].count = accounts;
    scenario.slots = slots;
    scenario
}

/// That none of these figures is above its bound; all that are, in one message.
pub(crate) fn assert_at_most(report: &Report, figures: &[(&str, f64, f64)]) {
    let above: Vec<String> = figures
        .iter()
        // A figure that is no number is above any bound, too.
        .filter(|(_, value, bound)| value.partial_cmp(bound).is_none_or(|order| order.is_gt()))
        .map(|(name, value, bound)| format!("{name} is {value}, bound {bound}"))
        .collect();
    assert!(above.is_empty(), "{above:?} in {report:#?}");
}

/// The longest that all but one of a hundred interactive jobs waited, on busy and on idle buckets.
pub(crate) fn interactive_p99(report: &Report) -> (f64, f64) {
    let busy = report.interactive_busy_wait_seconds.expect("busy buckets were probed");
    let idle = report.interactive_idle_wait_seconds.expect("idle buckets were probed");
    assert_eq!(busy.jobs, idle.jobs, "each account is probed on both");
    (busy.p99, idle.p99)
}
