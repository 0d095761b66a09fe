use std::{
    io::{IsTerminal, stderr, stdout},
    time::Duration,
};

use anyhow::Result;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};
use waitless_job::Clock;
use waitless_store::model::Run;
use waitless_store_sqlite::SqliteStore;

use super::{detail, show};
use crate::{
    args::Global,
    exit::Exit,
    format::{count, moment, relative, thousands},
    output::{self, Output},
    signals::Signals,
    surroundings::Surroundings,
    views::{RunDetail, RunState, RunView},
};

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Without a terminal a line is printed at the latest after so many looks that found no change.
const QUIET_LOOKS_MAX: u32 = 10;

/// A run without jobs is waited for so long after its start: whoever starts one enqueues its jobs
/// a moment later.
const EMPTY_MS_MAX: u64 = 60_000;

pub(super) async fn watch(
    global: &Global,
    store: &SqliteStore,
    run: &Run,
    slots: usize,
) -> Result<Exit> {
    let clock = Clock::system();
    // Before the first look: a signal that comes during it ends the watch and not the process.
    let mut signals = Signals::listen()?;
    let mut progress = Progress::new(global.output());
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_said = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            exit = signals.next() => {
                progress.leave();
                return Ok(exit);
            }
        }
        let around = Surroundings::read(store, None).await?;
        let detail = detail(store, &around, run.clone(), slots, clock.now()).await?;
        if detail.run.is_stopped() && !is_said {
            is_said = true;
            progress.say(show::NO_WORKER);
        }
        progress.show(&detail)?;
        let exit = match detail.run.state {
            RunState::Running => continue,
            RunState::Empty if detail.run.now.since(run.started_at) < EMPTY_MS_MAX => continue,
            RunState::Empty | RunState::Finished => Exit::Ok,
            RunState::Failed => Exit::WaitedForFailed,
        };
        progress.end();
        // A line of JSON was printed when it changed, which it did when it ended.
        if global.output() != Output::Jsonl {
            let id = detail.run.id.to_string();
            let is_wide = global.output() == Output::Wide;
            output::one(global.output(), &detail, &id, |detail| show::text(detail, is_wide))?;
        }
        return Ok(exit);
    }
}

/// How the run is shown until it ends.
enum Progress {
    /// On a terminal: a few lines that are drawn again and again.
    Live(Live),
    /// Elsewhere: a line on change, and now and then.
    Lines { last: Option<RunView>, quiet: u32, output: Output },
}

impl Progress {
    fn new(output: Output) -> Self {
        // Where either is not a terminal somebody keeps what is printed.
        if output.is_for_people() && stdout().is_terminal() && stderr().is_terminal() {
            Self::Live(Live::new())
        } else {
            Self::Lines { last: None, quiet: 0, output }
        }
    }

    fn show(&mut self, detail: &RunDetail) -> Result<()> {
        match self {
            Self::Live(live) => live.show(detail),
            Self::Lines { last, quiet, output } => {
                let run = &detail.run;
                let changed = last.as_ref().is_none_or(|last| {
                    last.state != run.state
                        || last.worker != run.worker
                        || last.jobs != run.jobs
                        || last.progress != run.progress
                });
                *quiet += 1;
                match output {
                    Output::Jsonl if changed => output::print(&serde_json::to_string(detail)?)?,
                    Output::Table | Output::Wide if changed || *quiet >= QUIET_LOOKS_MAX => {
                        output::print(&line(run))?;
                    }
                    _ => return Ok(()),
                }
                *last = Some(run.clone());
                *quiet = 0;
            }
        }
        Ok(())
    }

    /// Says something beside it.
    fn say(&self, text: &str) {
        match self {
            Self::Live(live) => live.all.suspend(|| say!("{text}")),
            Self::Lines { .. } => say!("{text}"),
        }
    }

    /// Makes room for what is printed of a run that has ended.
    fn end(&self) {
        if let Self::Live(live) = self {
            live.end();
        }
    }

    /// Lets what was shown last stand.
    fn leave(&self) {
        if let Self::Live(live) = self {
            live.leave();
        }
    }
}

fn line(run: &RunView) -> String {
    let requests = run.progress.requests_done + run.progress.requests_left;
    let mut text = format!(
        "{}  {}  {}/{}{}  {}/{}  {}",
        moment(run.now),
        run.state_text(),
        thousands(run.jobs.succeeded),
        count(run.jobs.total, "job"),
        show::failed_text(run),
        thousands(run.progress.requests_done),
        count(requests, "request"),
        count(run.progress.rows, "row"),
    );
    if let (Some(eta), Some(binding)) = (&run.eta, &run.binding_text) {
        text.push_str(&format!("  ETA {}, binding: {binding}", relative(eta.at, run.now)));
    }
    if run.is_stopped() {
        text.push_str("  no worker");
    }
    text
}

/// Lines on a terminal.
struct Live {
    all: MultiProgress,
    bar: ProgressBar,
    lines: Vec<ProgressBar>,
}

impl Live {
    /// Lines below the bar: the headers, some buckets, the slots.
    const LINES: usize = 8;

    fn new() -> Self {
        // Drawn when it is told to, which is once a second.
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = |template| ProgressStyle::with_template(template).expect("it is a template");
        let bar = all.add(ProgressBar::new(0));
        bar.set_style(style("{bar:30} {wide_msg}"));
        let lines = (0..Self::LINES)
            .map(|_| {
                let line = all.add(ProgressBar::new(0));
                line.set_style(style("{wide_msg}"));
                line
            })
            .collect();
        Self { all, bar, lines }
    }

    fn show(&self, detail: &RunDetail) {
        let run = &detail.run;
        self.bar.set_length(run.progress.requests_done + run.progress.requests_left);
        self.bar.set_position(run.progress.requests_done);
        let text = line(run);
        self.bar.set_message(text.split_once("  ").map_or("", |(_, rest)| rest).to_owned());
        let buckets = show::buckets(detail);
        let mut rows: Vec<&str> = buckets.lines().collect();
        // The slots stand last and stay.
        let slots = rows.pop();
        let cut = rows.len() > Self::LINES - 1;
        rows.truncate(Self::LINES - 1 - usize::from(cut));
        if cut {
            rows.push("...");
        }
        rows.extend(slots);
        for (index, line) in self.lines.iter().enumerate() {
            let row = rows.get(index).copied().unwrap_or_default();
            // Each message draws all lines again.
            if line.message() != row {
                line.set_message(row.to_owned());
            }
        }
    }

    fn leave(&self) {
        self.bar.abandon();
        self.lines.iter().for_each(ProgressBar::abandon);
    }

    fn end(&self) {
        // What they said is said again by whatever is printed next. A terminal that is gone is no
        // reason to fail.
        let _ = self.all.clear();
    }
}
