use waitless_simulate::{Options, Strategy};

use crate::report::{scaled, simulate};

#[test]
fn the_same_seed_gives_the_same_report_and_another_seed_another() {
    let scenario = scaled("sellers-200", 4, 2);
    for strategy in Strategy::ALL {
        let with_seed = |seed| {
            let options = Options { strategy, seed, jitter_ms: 5..=60, ..Options::default() };
            simulate("sellers-4", &scenario, &options)
        };
        let first = with_seed(1);
        assert_eq!(first, with_seed(1), "{strategy}");
        assert_ne!(first, with_seed(2), "{strategy}");
    }
}

#[test]
fn more_slots_than_the_scenario_has_are_an_option() {
    let scenario = scaled("sellers-200", 10, 3);
    let options = Options { slots: Some(7), ..Options::default() };
    let report = simulate("sellers-10", &scenario, &options);
    assert_eq!(report.slots, 7);
    let as_written = simulate("sellers-10", &scenario, &Options::default());
    assert_eq!(as_written.slots, 3);
    assert!(report.slot_busy_share < as_written.slot_busy_share);
}

#[test]
fn a_margin_that_no_limit_can_have_is_an_error() {
    let mut scenario = scaled("sellers-200", 1, 1);
    let policy = "1000000000/min burst 1".parse().expect("a limit");
    scenario.accounts[0].backlog[0].limit = policy;
    let options = Options { margin_ms: Some(u32::MAX), ..Options::default() };
    let error = waitless_simulate::run("mine", &scenario, &options).expect_err("it is too large");
    assert!(error.to_string().contains("too large"), "{error}");
}
