use std::fmt::Write;

use anyhow::Result;
use waitless_simulate::{Options, Report, Scenario, ScenarioError, Waits};

use crate::{
    args::{Global, Simulate},
    exit::{Exit, Failure},
    format::{millis, span, thousands},
    output,
};

pub(crate) fn run(global: &Global, args: &Simulate) -> Result<Exit> {
    let scenario = Scenario::load(&args.scenario).map_err(|error| match error {
        ScenarioError::Read { .. } => {
            let built_in = Scenario::BUILT_IN.map(|(name, _)| name).join(", ");
            Failure::new(Exit::NotFound, format!("{error}; built in are {built_in}"))
        }
        error => Failure::new(Exit::Usage, error),
    })?;
    let options = Options {
        strategy: args.strategy,
        slots: args.slots,
        jitter_ms: args.jitter_ms.clone(),
        margin_ms: args.margin_ms,
        seed: args.seed,
    };
    let report = waitless_simulate::run(&args.scenario, &scenario, &options)?;
    output::one(global.output(), &report, &report.scenario, text)?;
    Ok(Exit::Ok)
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<26} {value}").expect("writing to a text does not fail");
    };
    line("scenario", format!("{}, {} slots", report.scenario, report.slots));
    line("strategy", report.strategy.clone());
    line(
        "makespan",
        format!(
            "{} ({:.4} x the bound of {})",
            span(millis(report.makespan_seconds)),
            report.makespan_over_bound,
            span(millis(report.bound_seconds)),
        ),
    );
    line("requests", thousands(report.requests));
    line("wake-ups a request", format!("{:.2}", report.wakeups_per_request));
    line("429s", thousands(report.upstream_429));
    line("slot time spent waiting", span(millis(report.slot_wait_seconds)));
    line("slots busy", format!("{:.1} %", report.slot_busy_share * 100.0));
    line("interactive, busy bucket", waits(report.interactive_busy_wait_seconds));
    line("interactive, idle bucket", waits(report.interactive_idle_wait_seconds));
    text
}

fn waits(waits: Option<Waits>) -> String {
    waits.map_or_else(
        || "-".to_owned(),
        |waits| format!("p50 {:.1} s, p99 {:.1} s of {} jobs", waits.p50, waits.p99, waits.jobs),
    )
}
