//! The command line. Every flag has an environment variable; nouns come before verbs.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{
    Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, builder::Resettable,
    error::ErrorKind, parser::ValueSource,
};
use waitless_job::{JobId, JobState};
use waitless_simulate::Strategy;

use crate::output::Output;

/// A job queue for work against rate-limited third-party APIs.
///
/// Spends every token the moment it exists, holds no slot while waiting, and says why a job waits
/// and when a run ends.
#[derive(Debug, Parser)]
#[command(name = "waitless", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What the command line and the environment say; ends the process if it makes no sense.
    pub(crate) fn read() -> Self {
        let mut command = without_empty_variables(Self::command());
        let matches = command.get_matches_mut();
        // Not by `conflicts_with`: a variable that is always set, or `-o json`, contradicts nothing.
        let is_typed = matches.value_source("output") == Some(ValueSource::CommandLine);
        let output = matches.get_one::<Output>("output");
        if is_typed && matches.get_flag("json") && output != Some(&Output::Json) {
            let text = "--json is short for --output json: give one of both\n";
            command.error(ErrorKind::ArgumentConflict, text).exit();
        }
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Takes variables that are set to nothing for ones that are not set.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    command
        .mut_args(|arg| if is_empty(&arg) { arg.env(Resettable::Reset) } else { arg })
        .mut_subcommands(without_empty_variables)
}

/// Heading of the options that every command takes.
const GLOBAL: &str = "Global options";

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// How to print data
    #[arg(
        short,
        long,
        global = true,
        help_heading = GLOBAL,
        env = "WAITLESS_OUTPUT",
        default_value = "table"
    )]
    pub(crate) output: Output,
    /// Short for `--output json`
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// When to colour logs, and the states in tables
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        env = "WAITLESS_COLOR",
        default_value = "auto"
    )]
    pub(crate) color: Color,
    /// What to log to standard error: error, warn, info, debug, or a filter such as
    /// `warn,waitless_worker=debug`
    #[arg(long, global = true, help_heading = GLOBAL, env = "WAITLESS_LOG", default_value = "warn")]
    pub(crate) log: String,
}

impl Global {
    /// How to print data.
    pub(crate) fn output(&self) -> Output {
        if self.json { Output::Json } else { self.output }
    }
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Digitize made-up sellers from a built-in strict marketplace, and watch it
    Demo(Demo),
    /// Fetch an account's data page by page, as fast as its limits allow and no faster
    Import(Import),
    /// Serve the built-in strict marketplace alone, for any client
    Mock(Mock),
    /// When will this be done? The real scheduler under virtual time
    Simulate(Simulate),
    /// The jobs of one import
    #[command(subcommand)]
    Run(Run),
    /// Single jobs
    #[command(subcommand)]
    Job(Job),
    /// Limits and the buckets behind them
    #[command(subcommand)]
    Limit(Limit),
    /// Accounts
    #[command(subcommand)]
    Account(Account),
    /// What is known of upstreams: files of limits and endpoints
    #[command(subcommand)]
    Catalogue(Catalogue),
    /// Check a store and say what to do about what is found
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// Where the jobs are.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArg {
    /// The store: `sqlite:PATH`
    #[arg(long, env = "WAITLESS_STORE", default_value = "sqlite:waitless.db")]
    pub(crate) store: String,
}

/// Kinds of tokens that made-up sellers give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenType {
    /// Of the seller's own programs
    Personal,
    /// Of a service; its limits are those of a personal one
    Service,
    /// Of anybody's programs, with limits of hours: take `--speed 3600`
    Base,
    /// The same with its client's secret, which gives it the limits of a personal one
    BaseSecret,
}

/// What goes wrong on purpose, as the long help of `demo` and `mock` names it.
const FAULTS: &str = r#"Faults. A rule says what to play, and may say on what and how often:

play = { status = 503 }             an error from 400 to 599
play = { limited = {} }             a 429 that no bucket has given; in the {}:
                                      retry_s = 5
                                      retry_after = "past", "future", "malformed"
                                        or "huge"
                                      body = "old", "global", "new" or "daily-cap"
play = "hang"                       no answer
play = { slow = { pace_ms = 50 } }  the answer byte by byte
play = { cut = { bytes = 100 } }    the connection ends within the answer
play = "bad-gzip"                   200 with garbage
play = "html"                       200 with a page for people
play = { redirect = {} }            to another host
play = { flood = {} }               200 with 100 MB
play = { task = "expired" }         the task of a report is lost; or "purged",
                                    "canceled", "unknown"
play = { lower-limit = { rate = 0.75 } }           less than the published limit
play = { hidden-client = { every_interval = 3 } }  somebody else spends, too

methods = ["/api/v1/supplier/*"]   sellers = [0]   datasets = ["orders"]
every = 5   chance = 0.1   requests = [3, 8]   after_ms = 1000   for_ms = 5000

Example: waitless demo --fault 'play = { status = 503 }, every = 10' \
                       --fault 'play = "hang", requests = [7, 7]'

The same in a file for --faults, a [[faults]] for each rule:

[[faults]]
play = { status = 503 }
every = 10"#;

#[derive(Debug, Args)]
#[command(
    after_help = "Example: waitless demo --datasets all --sellers 3; --help names the faults",
    after_long_help = FAULTS
)]
pub(crate) struct Demo {
    /// How many sellers
    #[arg(long, env = "WAITLESS_SELLERS", default_value_t = 20, value_parser = number::<u32>(1..=1_000))]
    pub(crate) sellers: u32,
    /// Divides every interval, on both sides
    #[arg(long, env = "WAITLESS_SPEED", default_value_t = 60, value_parser = number::<u32>(1..=3_600))]
    pub(crate) speed: u32,
    /// Requests that run at the same time
    #[arg(long, env = "WAITLESS_SLOTS", default_value_t = 8, value_parser = slots)]
    pub(crate) slots: usize,
    /// The store: `memory` or `sqlite:PATH`
    #[arg(long, env = "WAITLESS_STORE", default_value = "memory")]
    pub(crate) store: String,
    /// Where rows land: `sqlite:PATH`; without it in memory
    #[arg(long, env = "WAITLESS_SINK")]
    pub(crate) sink: Option<String>,
    /// Everything made up follows from it
    #[arg(long, env = "WAITLESS_SEED", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Network delay before the marketplace counts a request, in milliseconds
    #[arg(long, env = "WAITLESS_JITTER_MS", default_value = "0..0", value_parser = milliseconds)]
    pub(crate) jitter_ms: RangeInclusive<u64>,
    /// Which datasets, separated by commas, or `all`
    #[arg(long, env = "WAITLESS_DATASETS", default_value = "orders,sales", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
    #[command(flatten)]
    pub(crate) faults: FaultsArg,
    /// The kind of tokens that the sellers give
    #[arg(long, env = "WAITLESS_TOKEN_TYPE", default_value = "personal")]
    pub(crate) token_type: TokenType,
    /// Guard margin of the limits in milliseconds
    #[arg(long, env = "WAITLESS_MARGIN_MS", default_value_t = 100, value_parser = number::<u32>(0..=u64::from(u32::MAX)))]
    pub(crate) margin_ms: u32,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: waitless import --account my-shop --token-file token --since 2026-01-01"
)]
pub(crate) struct Import {
    /// What to call the account here
    #[arg(long, env = "WAITLESS_ACCOUNT")]
    pub(crate) account: String,
    #[command(flatten)]
    pub(crate) token: TokenArg,
    /// Which datasets, separated by commas, or `all`
    #[arg(long, env = "WAITLESS_DATASETS", default_value = "orders,sales", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArg,
    /// From which day on, in the upstream's time zone; without it 90 days back, or as far as the
    /// upstream goes
    #[arg(long, env = "WAITLESS_SINCE", value_name = "YYYY-MM-DD", value_parser = day)]
    pub(crate) since: Option<chrono::NaiveDate>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Where rows land: `sqlite:PATH`
    #[arg(long, env = "WAITLESS_SINK", default_value = "sqlite:data.db")]
    pub(crate) sink: String,
    /// Another address in place of the upstream's own
    #[arg(long, env = "WAITLESS_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// Divides every interval, for an upstream that runs faster: `waitless mock --speed N`
    #[arg(long, env = "WAITLESS_SPEED", default_value_t = 1, value_parser = number::<u32>(1..=3_600), requires = "base_url")]
    pub(crate) speed: u32,
    /// Requests that run at the same time
    #[arg(long, env = "WAITLESS_SLOTS", default_value_t = 8, value_parser = slots)]
    pub(crate) slots: usize,
}

/// Where the upstream's token comes from. Never from the command line, where every process of the
/// machine can read it.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct TokenArg {
    /// A file that holds the token
    #[arg(
        long,
        env = "WAITLESS_TOKEN_FILE",
        required_unless_present = "token_env",
        conflicts_with = "token_env"
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable that holds the token
    #[arg(long, env = "WAITLESS_TOKEN_ENV")]
    pub(crate) token_env: Option<String>,
    /// The environment variable that holds the client secret which goes with a base token and gives
    /// it the limits of a personal one
    #[arg(long, env = "WAITLESS_CLIENT_SECRET_ENV")]
    pub(crate) client_secret_env: Option<String>,
}

/// Which limits and endpoints to go by.
#[derive(Debug, Clone, Args)]
pub(crate) struct CatalogueArg {
    /// A catalogue file in place of the one that is part of this program: newer or other limits. A
    /// running import reads it again when it changes
    #[arg(long, env = "WAITLESS_CATALOGUE", value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
}

/// Faults that the built-in marketplace plays on purpose.
#[derive(Debug, Clone, Args)]
pub(crate) struct FaultsArg {
    /// A fault to play, such as `play = { status = 503 }, every = 10`; may be given more than once
    #[arg(long, env = "WAITLESS_FAULT", value_name = "RULE", conflicts_with = "faults")]
    pub(crate) fault: Vec<String>,
    /// A script of faults in TOML, a `[[faults]]` each
    #[arg(long, env = "WAITLESS_FAULTS", value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: waitless mock --speed 60; --help names the faults",
    after_long_help = FAULTS
)]
pub(crate) struct Mock {
    /// The port; 0 takes a free one
    #[arg(long, env = "WAITLESS_PORT", default_value_t = 7718, value_parser = number::<u16>(0..=65_535))]
    pub(crate) port: u16,
    /// Divides every interval
    #[arg(long, env = "WAITLESS_SPEED", default_value_t = 1, value_parser = number::<u32>(1..=3_600))]
    pub(crate) speed: u32,
    /// How many sellers
    #[arg(long, env = "WAITLESS_SELLERS", default_value_t = 3, value_parser = number::<u32>(1..=1_000))]
    pub(crate) sellers: u32,
    /// Network delay before a request is counted, in milliseconds: `A..B`
    #[arg(long, env = "WAITLESS_JITTER_MS", default_value = "0..0", value_parser = milliseconds)]
    pub(crate) jitter_ms: RangeInclusive<u64>,
    #[command(flatten)]
    pub(crate) faults: FaultsArg,
    /// Everything made up follows from it
    #[arg(long, env = "WAITLESS_SEED", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
}

/// A scenario, as `--scenario` reads it from a file.
const SCENARIO: &str = r#"Example: waitless simulate --scenario mine.toml --slots 20

A scenario file, here 20 accounts with 60 requests each:

slots = 50
latency_ms = [300, 2000]

[[accounts]]
name = "shop"
count = 20

[[accounts.backlog]]
group = "orders"
limit = "1/min burst 10"
requests = 60"#;

#[derive(Debug, Args)]
#[command(
    after_help = "Example: waitless simulate --scenario sellers-200 --slots 20; --help shows a \
                  scenario file",
    after_long_help = SCENARIO
)]
pub(crate) struct Simulate {
    /// `sellers-200`, `import-1000`, or a TOML file
    #[arg(long, env = "WAITLESS_SCENARIO", default_value = "sellers-200")]
    pub(crate) scenario: String,
    /// How jobs wait: lanes, naive or blocking
    #[arg(long, env = "WAITLESS_STRATEGY", default_value = "lanes")]
    pub(crate) strategy: Strategy,
    /// Network delay before the upstream counts a request, in milliseconds: `A..B`
    #[arg(long, env = "WAITLESS_JITTER_MS", default_value = "0..0", value_parser = milliseconds)]
    pub(crate) jitter_ms: RangeInclusive<u64>,
    /// Guard margin of every limit in milliseconds, instead of its own
    #[arg(long, env = "WAITLESS_MARGIN_MS", value_parser = number::<u32>(0..=u64::from(u32::MAX)))]
    pub(crate) margin_ms: Option<u32>,
    /// Slots, instead of the scenario's
    #[arg(long, env = "WAITLESS_SLOTS", value_parser = slots)]
    pub(crate) slots: Option<usize>,
    /// Everything random follows from it
    #[arg(long, env = "WAITLESS_SEED", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Run {
    /// Every run, oldest first
    List {
        #[command(flatten)]
        store: StoreArg,
        #[command(flatten)]
        slots: SlotsArg,
    },
    /// How far a run has come, when it ends, and which limit decides it
    Show {
        #[command(flatten)]
        store: StoreArg,
        #[command(flatten)]
        which: WhichRun,
        #[command(flatten)]
        slots: SlotsArg,
    },
    /// Follow a run to its end; exits with 8 if one of its jobs is dead
    Watch {
        #[command(flatten)]
        store: StoreArg,
        #[command(flatten)]
        which: WhichRun,
        #[command(flatten)]
        slots: SlotsArg,
    },
}

/// What is reckoned with where the worker's own slots are not known.
#[derive(Debug, Clone, Args)]
pub(crate) struct SlotsArg {
    /// Slots that the worker has, for the ETA; a request is taken to hold one for 0.4 s
    #[arg(long, env = "WAITLESS_SLOTS", default_value_t = 8, value_parser = slots)]
    pub(crate) slots: usize,
}

/// Names a run.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WhichRun {
    /// The run's id, or enough of its beginning to be unique
    pub(crate) id: Option<String>,
    /// The run that was started last
    #[arg(long)]
    pub(crate) latest: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Job {
    /// Jobs, oldest first
    List {
        #[command(flatten)]
        store: StoreArg,
        /// Only in this state
        #[arg(long, env = "WAITLESS_STATE")]
        state: Option<JobState>,
        /// Only of this account: its id or its name
        #[arg(long, env = "WAITLESS_ACCOUNT")]
        account: Option<String>,
        /// Only of this kind
        #[arg(long, env = "WAITLESS_KIND")]
        kind: Option<waitless_job::Kind>,
        /// Only of this run
        #[arg(long, env = "WAITLESS_RUN")]
        run: Option<String>,
        /// Most jobs to list
        #[arg(long, env = "WAITLESS_LIMIT", default_value_t = 50, value_parser = number::<u32>(1..=500))]
        limit: u32,
        /// Only after this job: the last id of the page before
        #[arg(long, env = "WAITLESS_AFTER")]
        after: Option<JobId>,
    },
    /// Everything about one job
    Show {
        #[command(flatten)]
        store: StoreArg,
        /// The job's id, or enough of its beginning to be unique
        id: String,
        /// Print its arguments, too, and not only how large they are and what is in them
        #[arg(long, env = "WAITLESS_ARGS")]
        args: bool,
    },
    /// Put a dead or cancelled job back into its lane, with its checkpoint and all its attempts
    Retry {
        #[command(flatten)]
        store: StoreArg,
        /// The job's id, or enough of its beginning to be unique
        id: String,
    },
    /// Why a job waits, and until when
    #[command(after_help = "Example: waitless job explain 0192f3c1")]
    Explain {
        #[command(flatten)]
        store: StoreArg,
        /// The job's id, or enough of its beginning to be unique
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Limit {
    /// Every limit with its level, or the limits that an upstream publishes
    List {
        #[command(flatten)]
        store: StoreArg,
        /// Only of this account: its id or its name
        #[arg(long, env = "WAITLESS_ACCOUNT", conflicts_with = "upstream")]
        account: Option<String>,
        /// The published limits of this upstream, without a store: `wildberries`, `amazon-sp-api`,
        /// `shopify`, or a catalogue file
        #[arg(long, env = "WAITLESS_UPSTREAM")]
        upstream: Option<String>,
        /// Only those for this family of tokens, such as `base`, `personal` or `service`
        #[arg(long, env = "WAITLESS_TOKEN_TYPE", requires = "upstream")]
        token_type: Option<String>,
    },
    /// One limit and the jobs that wait for it
    #[command(after_help = "Example: waitless limit show my-shop/orders")]
    Show {
        #[command(flatten)]
        store: StoreArg,
        /// The bucket: `ACCOUNT/GROUP`, the account by its name, its id, or enough of the beginning
        /// of either to be unique
        bucket: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Account {
    /// Every account
    List {
        #[command(flatten)]
        store: StoreArg,
    },
    /// What an account's token opens, its limits, and why it waits, if it does
    #[command(after_help = "Example: waitless account show my-shop")]
    Show {
        #[command(flatten)]
        store: StoreArg,
        /// The account: its id or its name
        account: String,
    },
    /// Enter an account, or read its new token: what it opens, and the limits that it has. The token
    /// itself is not kept
    #[command(after_help = "Example: waitless account add my-shop --token-file token")]
    Add {
        #[command(flatten)]
        store: StoreArg,
        /// What to call the account here
        account: String,
        #[command(flatten)]
        token: TokenArg,
        #[command(flatten)]
        catalogue: CatalogueArg,
    },
    /// Start no more of an account's jobs; those that run make their request to its end
    Pause {
        #[command(flatten)]
        store: StoreArg,
        /// The account: its id or its name
        account: String,
        /// Why, for whoever asks
        #[arg(long, env = "WAITLESS_REASON", default_value = "paused by hand")]
        reason: String,
    },
    /// Let the jobs of a paused account go on, when what it was paused for is mended
    #[command(after_help = "Example: waitless account resume my-shop")]
    Resume {
        #[command(flatten)]
        store: StoreArg,
        /// The account: its id or its name
        account: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Catalogue {
    /// Find everything that is wrong with a catalogue file; exits with 1 if something is
    Check {
        /// The file
        #[arg(required_unless_present = "builtin", conflicts_with = "builtin")]
        file: Option<PathBuf>,
        /// Those that are part of this program
        #[arg(long)]
        builtin: bool,
    },
    /// Print a catalogue that is part of this program, to make another from
    #[command(after_help = "Example: waitless catalogue show wildberries > limits.toml")]
    Show {
        /// Its upstream: `wildberries`, `amazon-sp-api` or `shopify`
        upstream: String,
    },
    /// What changed from one catalogue to another
    Diff {
        /// A catalogue file, or the name of an upstream for the one that is part of this program
        old: String,
        /// The same
        new: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) store: StoreArg,
}

fn slots(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(slots @ 1..=10_000) => Ok(slots),
        _ => Err("slots are a number from 1 to 10000".into()),
    }
}

/// A whole number in a range.
fn number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            format!("it is not a whole number from {} to {}", range.start(), range.end())
        })
    }
}

/// A day.
fn day(text: &str) -> Result<chrono::NaiveDate, String> {
    text.parse().map_err(|_| "it is not a day: write YYYY-MM-DD, for example 2026-01-31".into())
}

/// A span of milliseconds: `A..B`, both ends included, or one number.
fn milliseconds(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|ms| *ms <= 600_000)
            .ok_or_else(|| format!("`{text}` is not a number of milliseconds up to 600000"))
    };
    match text.split_once("..") {
        None => number(text).map(|ms| ms..=ms),
        Some((from, to)) => {
            let (from, to) = (number(from)?, number(to)?);
            if from > to {
                return Err(format!("{from} comes after {to}: write the smaller one first"));
            }
            Ok(from..=to)
        }
    }
}
