use std::{io::IsTerminal, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::time::Instant;

use super::Frame;
use crate::{args::Global, logging};

/// Most datasets shown at once.
const LINES_MAX: usize = 14;

/// Time between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(2);

/// Shows a run on standard error: redrawn on a terminal, plain lines elsewhere.
pub(crate) enum Live {
    Terminal { all: MultiProgress, lines: Vec<ProgressBar> },
    Plain { last: Option<(Instant, String)> },
}

impl Live {
    pub(crate) fn new(global: &Global) -> Self {
        let is_terminal = std::io::stderr().is_terminal() && global.output().is_for_people();
        if is_terminal {
            let all = MultiProgress::new();
            logging::share_the_screen_with(&all);
            Self::Terminal { all, lines: Vec::new() }
        } else {
            Self::Plain { last: None }
        }
    }

    pub(crate) fn show(&mut self, frame: Frame) {
        match self {
            Self::Plain { last } => {
                let (now, line) = (Instant::now(), frame.total().join("  "));
                let is_due = last.as_ref().is_none_or(|(at, _)| now - *at >= PLAIN_EVERY);
                let is_news = last.as_ref().is_none_or(|(_, shown)| *shown != line);
                if is_news && (is_due || frame.is_finished()) {
                    say!("{line}");
                    *last = Some((now, line));
                }
            }
            Self::Terminal { all, lines } => {
                let mut texts = frame.lines(LINES_MAX);
                texts.extend(frame.total());
                while lines.len() < texts.len() {
                    let line = all.add(ProgressBar::no_length());
                    line.set_style(ProgressStyle::with_template("{wide_msg}").expect("it is one"));
                    lines.push(line);
                }
                for unused in lines.drain(texts.len()..) {
                    all.remove(&unused);
                }
                for (line, text) in lines.iter().zip(texts) {
                    line.set_message(text);
                }
            }
        }
    }

    /// Says something beside the picture.
    pub(crate) fn note(&self, text: &str) {
        match self {
            Self::Plain { .. } => say!("{text}"),
            Self::Terminal { all, .. } => {
                // A line that cannot be drawn is not worth ending for.
                let _ = all.println(text);
            }
        }
    }

    /// Leaves the last picture standing.
    pub(crate) fn end(self) {
        if let Self::Terminal { lines, .. } = self {
            for line in lines {
                line.abandon();
            }
        }
    }
}
