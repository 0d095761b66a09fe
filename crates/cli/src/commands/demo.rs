use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use anyhow::Result;
use serde::Serialize;
use waitless_job::{Clock, JobId, JobState, NewJob, RunId};
use waitless_sink::Sink;
use waitless_store::{Store, model::Run};
use waitless_upstream::{BaseUrl, Catalogue, Client, ClientConfig, Secret};
use waitless_wb::{Connector, Dataset, Notice, SellerToken, Tokens};
use waitless_wb_mock::{
    Dataset as Served, DatasetSize, Family, Mock, MockConfig, SellerSizes, TokenOptions,
};
use waitless_worker::WorkerConfig;

use crate::{
    args::{Demo, Global, TokenType},
    commands::{account::enter, mock, wall_time},
    digitize::{Digitization, Driven},
    exit::{Exit, Failure},
    format::{count, millis, printable, seconds, span, thousands},
    open, output,
    verify::{self, Landing},
    views::Skipped,
};

/// Rows of a page: small pages make many requests of little work, which is what there is to see.
const PAGE_ROWS: u32 = 200;

/// The most that `--speed` divides by: an hour passes in a second.
const SPEED_MAX: u32 = 3_600;

/// What a demo came to.
#[derive(Debug, Serialize)]
struct Summary {
    sellers: u32,
    datasets: u64,
    /// Those that tokens of this kind do not open.
    skipped: Vec<Skipped>,
    requests: u64,
    rows_expected: u64,
    rows_landed: u64,
    rows_missing: u64,
    rows_duplicated: u64,
    /// Of the strict limits, which there should be none of.
    upstream_429: u64,
    /// Of faults that were asked for.
    scripted_429: u64,
    /// Requests on which a fault was played.
    faults: u64,
    makespan_seconds: f64,
    bound_seconds: f64,
    makespan_over_bound: f64,
    wakeups_per_request: f64,
    slot_wait_seconds: f64,
    jobs_dead: u64,
    /// Why they were given up, each reason once.
    dead_letters: Vec<String>,
}

pub(crate) async fn run(global: &Global, args: &Demo) -> Result<Exit> {
    let clock = Clock::system();
    let wanted =
        Dataset::named(&args.datasets).map_err(|error| Failure::new(Exit::Usage, error))?;
    let family = family(args.token_type);
    let store = open::store(&args.store).await?;
    if store.job_counts(None).await?.iter().any(|(state, _)| !state.is_final()) {
        return Err(Failure::new(
            Exit::Conflict,
            format!(
                "{} holds unfinished jobs, and a demo makes up its marketplace anew: give it \
                 another store",
                args.store
            ),
        ));
    }
    // Before anything is written: a store with a worker is refused here.
    store.start_worker(WorkerConfig::default().name, clock.now()).await?;
    let spread_ms = args.jitter_ms.end() - args.jitter_ms.start();
    if u64::from(args.margin_ms) < spread_ms {
        say!(
            "note: requests arrive up to {spread_ms} ms closer together than they were granted, and \
             the margin is {} ms: expect 429s",
            args.margin_ms
        );
    }
    if args.token_type == TokenType::Base && args.speed < SPEED_MAX {
        say!("note: base tokens have limits of hours: --speed {SPEED_MAX} makes them seconds");
    }
    let sink = open::sink(args.sink.as_deref().unwrap_or("sqlite::memory:")).await?;
    let mock = mock::start(MockConfig {
        port: 0,
        speed: args.speed,
        sellers: args.sellers as usize,
        seed: args.seed,
        page_rows: PAGE_ROWS,
        sizes: SellerSizes {
            orders: DatasetSize::Pages(4..=36),
            sales: DatasetSize::Pages(2..=26),
        },
        jitter_ms: args.jitter_ms.clone(),
        faults: mock::faults(&args.faults)?,
        now: wall_time(clock.now()),
        late_updates: true,
        ..MockConfig::default()
    })
    .await?;
    let catalogue = Arc::new(waitless_wb::catalogue().scaled(args.speed, args.margin_ms)?);
    say!(
        "waitless {}  store={}  slots={}  upstream=built-in strict marketplace at {} ({} sellers, \
         {} x real time)",
        env!("CARGO_PKG_VERSION"),
        args.store,
        args.slots,
        mock.base_url(),
        args.sellers,
        args.speed,
    );

    let sellers = Sellers::enter(&*store, &mock, &catalogue, (family, &wanted), &clock).await?;
    let client = Client::new(catalogue, ClientConfig::default())?;
    let connector = Connector::new(client.clone(), sellers.tokens, Arc::clone(&sink))
        .base_url(mock.base_url().parse::<BaseUrl>()?);
    let started_at = clock.now();
    let digitization = Digitization {
        store,
        clock: clock.clone(),
        handlers: waitless_wb::handlers(connector)?,
        jobs: sellers.jobs,
        names: sellers.names,
        slots: args.slots,
        slots_per_account_max: args.slots,
        gives_up: false,
    };
    let refused = || client.refused();
    let driven = digitization.drive(global, refused).await?;
    if let Some(exit) = driven.interrupted {
        return Ok(exit);
    }
    let makespan_ms = driven
        .jobs
        .iter()
        .filter_map(|job| job.finished_at)
        .max()
        .map_or(0, |at| at.since(started_at));
    let landing = compare(&*sink, &mock, &sellers.datasets).await?;
    let bounds = mock.sellers().iter().map(|seller| {
        let served: Vec<Served> = sellers.datasets.iter().map(|dataset| served(*dataset)).collect();
        mock.bound_ms(seller.index, family, &served)
    });
    let times = Times { makespan_ms, bound_ms: bounds.max().unwrap_or(0) };
    let mut summary = summary(args.sellers, &driven, landing, times, &mock);
    summary.skipped = sellers.skipped;
    output::one(global.output(), &summary, "demo", text)?;
    mock.stop().await;
    if let Some(reason) = driven.paused.first() {
        let open = driven.jobs.iter().filter(|job| !job.state.is_final()).count() as u64;
        let open = count(open, "dataset");
        let text = format!("{open} left, which nobody can mend in a demo: {}", printable(reason));
        return Err(Failure::new(Exit::Failed, text));
    }
    if landing.is_whole() {
        return Ok(Exit::Ok);
    }
    Err(Failure::new(Exit::Failed, "not every row has landed exactly once"))
}

/// The mock's sellers, known to the store and with their work enqueued.
struct Sellers {
    tokens: Tokens,
    names: HashMap<waitless_job::AccountId, String>,
    jobs: Vec<JobId>,
    /// The datasets that their tokens open.
    datasets: Vec<Dataset>,
    /// And the others.
    skipped: Vec<Skipped>,
}

impl Sellers {
    async fn enter(
        store: &dyn Store,
        mock: &Mock,
        catalogue: &Catalogue,
        (family, wanted): (Family, &[Dataset]),
        clock: &Clock,
    ) -> Result<Self> {
        let now = clock.now();
        let run = Run { id: RunId::new(now), name: "demo".into(), started_at: now };
        store.put_run(run.clone()).await?;
        let mut sellers = Self {
            tokens: Tokens::new(),
            names: HashMap::new(),
            jobs: Vec::new(),
            datasets: Vec::new(),
            skipped: Vec::new(),
        };
        let mut jobs: Vec<NewJob> = Vec::new();
        let mut notices: Vec<Notice> = Vec::new();
        for seller in mock.sellers() {
            let options = TokenOptions { family, ..TokenOptions::default() };
            let mut token = SellerToken::parse(&mock.token_of(seller.index, &options), now)?;
            if family == Family::BaseWithSecret {
                token = token.with_client_secret(Secret::new(mock.client_secret(seller.index)));
            }
            let plan = waitless_wb::plan(&token, catalogue, wanted, None, now)?;
            // Made-up names repeat.
            let name = format!("{:02} {}", seller.index + 1, seller.name);
            enter::enter(store, catalogue, &token, &name, &plan.datasets, now).await?;
            jobs.extend(plan.jobs.into_iter().map(|job| job.run(run.id)));
            sellers.names.insert(token.account().clone(), name);
            sellers.tokens.put(token);
            // The tokens are alike, and so is what they open.
            sellers.datasets = plan.datasets;
            sellers.skipped = Skipped::of(&plan.notices);
            notices = plan.notices;
        }
        for notice in notices {
            say!("note: {notice}");
        }
        let enqueued = store.enqueue(jobs, now).await?;
        sellers.jobs = enqueued.into_iter().map(|job| job.id).collect();
        Ok(sellers)
    }
}

/// What the marketplace calls a kind of tokens.
fn family(token_type: TokenType) -> Family {
    match token_type {
        TokenType::Personal => Family::Personal,
        TokenType::Service => Family::Service,
        TokenType::Base => Family::Base,
        TokenType::BaseSecret => Family::BaseWithSecret,
    }
}

/// What the marketplace calls a dataset.
fn served(dataset: Dataset) -> Served {
    Served::from_name(dataset.as_str()).expect("the marketplace serves all datasets")
}

async fn compare(sink: &dyn Sink, mock: &Mock, datasets: &[Dataset]) -> Result<Landing> {
    let mut landing = Landing::default();
    for seller in mock.sellers() {
        for dataset in datasets {
            let expected = mock.expected(seller.index, served(*dataset));
            let expected = expected.map(|row| (row.key, row.version));
            let found = verify::compare(sink, &seller.sid, dataset.as_str(), expected).await?;
            if !found.is_whole() {
                let Landing { missing, duplicated, .. } = found;
                tracing::warn!(seller = %seller.name, %dataset, missing, duplicated, "rows differ");
            }
            landing += found;
        }
    }
    Ok(landing)
}

/// How long a demo took, and how long it had to.
#[derive(Debug, Clone, Copy)]
struct Times {
    makespan_ms: u64,
    /// What the slowest bucket needs by arithmetic alone.
    bound_ms: u64,
}

#[expect(clippy::cast_precision_loss, reason = "for people; the numbers are small")]
fn summary(sellers: u32, driven: &Driven, landing: Landing, times: Times, mock: &Mock) -> Summary {
    let Times { makespan_ms, bound_ms } = times;
    let counted = mock.summary();
    let dead = driven.jobs.iter().filter(|job| job.state == JobState::Dead);
    let dead_letters: BTreeSet<String> =
        dead.clone().filter_map(|job| job.error.as_deref().map(str::to_owned)).collect();
    Summary {
        sellers,
        datasets: driven.jobs.len() as u64,
        skipped: Vec::new(),
        requests: counted.accepted,
        rows_expected: landing.expected,
        rows_landed: landing.landed,
        rows_missing: landing.missing,
        rows_duplicated: landing.duplicated,
        upstream_429: counted.rejected_429,
        scripted_429: counted.scripted_429,
        faults: counted.faults,
        makespan_seconds: seconds(makespan_ms),
        bound_seconds: seconds(bound_ms),
        makespan_over_bound: makespan_ms as f64 / bound_ms.max(1) as f64,
        wakeups_per_request: driven.stats.wakeups as f64 / counted.accepted.max(1) as f64,
        slot_wait_seconds: seconds(driven.stats.slot_wait_ms),
        jobs_dead: dead.clone().count() as u64,
        dead_letters: dead_letters.into_iter().collect(),
    }
}

fn text(summary: &Summary) -> String {
    let all_landed = summary.rows_missing == 0 && summary.rows_duplicated == 0;
    let faults = match summary.faults {
        0 => String::new(),
        faults => format!("faults played: {}\n", thousands(faults)),
    };
    let dead_letters =
        summary.dead_letters.iter().take(3).map(|reason| format!("  {}\n", printable(reason)));
    format!(
        "\n{skipped}{verdict}: {landed} of {expected} rows landed, {missing} missing, {duplicated} twice or unknown\n\
         {sellers}, {datasets}, {requests} in {makespan} ({ratio:.3} x the \
         {bound} that the limits allow)\n\
         {faults}429s from the marketplace: {refused}{scripted}\n\
         slot seconds spent waiting: {waiting:.1}\n\
         wake-ups a request: {wakeups:.2}\n\
         dead jobs: {dead}\n{dead_letters}",
        verdict = if all_landed { "every row landed exactly once" } else { "ROWS ARE MISSING" },
        skipped = Skipped::text(&summary.skipped),
        landed = thousands(summary.rows_landed),
        expected = thousands(summary.rows_expected),
        missing = thousands(summary.rows_missing),
        duplicated = thousands(summary.rows_duplicated),
        sellers = count(u64::from(summary.sellers), "seller"),
        datasets = count(summary.datasets, "dataset"),
        requests = count(summary.requests, "request"),
        makespan = span(millis(summary.makespan_seconds)),
        ratio = summary.makespan_over_bound,
        bound = span(millis(summary.bound_seconds)),
        refused = summary.upstream_429,
        scripted = match summary.scripted_429 {
            0 => String::new(),
            scripted => format!(", and {} played on purpose", thousands(scripted)),
        },
        waiting = summary.slot_wait_seconds,
        wakeups = summary.wakeups_per_request,
        dead = summary.jobs_dead,
        dead_letters = dead_letters.collect::<String>(),
    )
}
