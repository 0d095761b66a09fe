use anyhow::Result;
use serde::Serialize;
use waitless_job::Clock;
use waitless_wb_mock::{Dataset, Faults, Mock, MockConfig, MockError, Summary};

use crate::{
    args::{FaultsArg, Global, Mock as Args},
    commands::wall_time,
    exit::{Exit, Failure},
    format::{count, printable},
    output,
    signals::Signals,
};

/// What a client of the mock needs to know.
#[derive(Debug, Serialize)]
struct Serving {
    base_url: String,
    speed: u32,
    datasets: Vec<&'static str>,
    sellers: Vec<Seller>,
}

#[derive(Debug, Serialize)]
struct Seller {
    name: String,
    sid: String,
    /// Made up, like everything here.
    token: String,
}

pub(crate) async fn run(global: &Global, args: &Args) -> Result<Exit> {
    let config = MockConfig {
        port: args.port,
        speed: args.speed,
        sellers: args.sellers as usize,
        seed: args.seed,
        jitter_ms: args.jitter_ms.clone(),
        faults: faults(&args.faults)?,
        now: wall_time(Clock::system().now()),
        late_updates: true,
        ..MockConfig::default()
    };
    let mut signals = Signals::listen()?;
    let mock = start(config).await?;
    let sellers = mock.sellers().iter().map(|seller| Seller {
        name: seller.name.clone(),
        sid: seller.sid.clone(),
        token: mock.token(seller.index),
    });
    let serving = Serving {
        base_url: mock.base_url(),
        speed: args.speed,
        datasets: Dataset::ALL.iter().map(|dataset| dataset.name()).collect(),
        sellers: sellers.collect(),
    };
    output::one(global.output(), &serving, &serving.base_url, text)?;
    let exit = signals.next().await;
    let Summary { requests, accepted, rejected_429, .. } = mock.stop().await;
    let requests = count(requests, "request");
    say!("answered {requests}, {accepted} with rows, {rejected_429} with 429");
    Ok(exit)
}

/// The faults that the command line asks for.
pub(crate) fn faults(from: &FaultsArg) -> Result<Faults> {
    let usage = |problem: String| Failure::new(Exit::Usage, problem);
    let Some(file) = &from.faults else {
        let script = |rules: &str| format!("faults = [{rules}]");
        let rules: Vec<String> = from.fault.iter().map(|rule| format!("{{ {rule} }}")).collect();
        // Each alone first, to say which one is wrong.
        for (rule, given) in rules.iter().zip(&from.fault) {
            Faults::read(&script(rule)).map_err(|error| {
                usage(format!("--fault '{}': {}", printable(given), error.problem))
            })?;
        }
        return Faults::read(&script(&rules.join(", "))).map_err(|error| usage(error.problem));
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| usage(format!("cannot read {}: {error}", file.display())))?;
    Faults::read(&text)
        .map_err(|error| usage(format!("{}:{}: {}", file.display(), error.line, error.problem)))
}

/// Starts a mock; a port in use says which flag to change.
pub(crate) async fn start(config: MockConfig) -> Result<Mock> {
    Mock::start(config).await.map_err(|error| match error {
        MockError::PortInUse { .. } => Failure::new(Exit::Conflict, format!("{error} (--port)")),
        error => error.into(),
    })
}

fn text(serving: &Serving) -> String {
    let Serving { base_url, sellers, .. } = serving;
    let mut text = format!(
        "a strict marketplace at {base_url} with {}; Ctrl-C ends it\n\n\
         a seller's token   curl -s {base_url}/_mock/token/0 > token\n\
         of another kind    curl -s '{base_url}/_mock/token/0?family=base&categories=statistics,content&expires_in_s=60' > token\n\
         its orders         curl -i -H \"Authorization: $(cat token)\" '{base_url}/api/v1/supplier/orders?dateFrom=2020-01-01'\n\
         what it counted    curl -s {base_url}/_mock/summary\n\
         import it          waitless import --account demo --token-file token --base-url {base_url}{speed} --datasets all\n\
         what must land     curl -s {base_url}/_mock/expected/0/orders\n\
         datasets           {datasets}\n\n",
        count(sellers.len() as u64, "seller"),
        datasets = serving.datasets.join(", "),
        speed =
            if serving.speed == 1 { String::new() } else { format!(" --speed {}", serving.speed) },
    );
    for seller in sellers.iter().take(20) {
        text.push_str(&format!("{:<12} {}\n", seller.name, seller.sid));
    }
    if sellers.len() > 20 {
        text.push_str(&format!("... and {} more\n", sellers.len() - 20));
    }
    text
}
