use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use indicatif::MultiProgress;

use tracing_subscriber::EnvFilter;

use crate::args::{Color, Global};

/// Logs go to standard error, so that standard output holds data only.
pub(crate) fn init(global: &Global) {
    let filter = EnvFilter::try_new(&global.log).unwrap_or_else(|error| {
        say!("warning: --log `{}` is not a log filter ({error}); using `warn`", global.log);
        EnvFilter::new("warn")
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Line::default)
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

/// What draws on the screen that logs go to, if something does.
static SCREEN: OnceLock<MultiProgress> = OnceLock::new();

/// From now on a log line is printed above this picture instead of into it.
pub(crate) fn share_the_screen_with(picture: &MultiProgress) {
    // A second picture in one process would be drawn after the first has ended.
    let _ = SCREEN.set(picture.clone());
}

/// One log line on its way to standard error, written when it is whole.
#[derive(Default)]
struct Line(Vec<u8>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // A log line that cannot be written has nowhere to say so.
        let write = || drop(io::stderr().write_all(&self.0));
        match SCREEN.get() {
            Some(picture) => picture.suspend(write),
            None => write(),
        }
    }
}
