use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::{Color, Global};

/// Logs go to standard error, so that standard output holds data only.
pub(crate) fn init(global: &Global) {
    let filter = EnvFilter::try_new(&global.log).unwrap_or_else(|error| {
        eprintln!("warning: --log `{}` is not a log filter ({error}); using `warn`", global.log);
        EnvFilter::new("warn")
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(use_color(global.color))
        .with_target(false)
        .init();
}

/// Whether to colour what goes to standard error.
pub(crate) fn use_color(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal(),
    }
}
