//! Waitless as a library, on an upstream that is not Wildberries: a weather archive that allows
//! five requests a second, three at once. `cargo run --example weather`
//!
//! The archive itself is a stand-in on a loopback port, so that this program runs anywhere.

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use waitless_job::{Clock, HandlerResult, Handlers, Job, JobContext, JobState, NewJob};
use waitless_store::{MemoryStore, Reader, Store};
use waitless_upstream::{BaseUrl, Catalogue, Client, ClientConfig, Credential, Request, Secret};
use waitless_worker::{Worker, WorkerConfig};

/// All that Waitless must know of the archive.
const ARCHIVE: &str = r#"
upstream = "weather-archive"
facts_as_of = 2026-12-01
families = ["key"]
credential = { header = "X-Api-Key" }
answers = { retry = [{ header = "Retry-After", unit = "s" }], refused_is_charged = false }
hosts = { archive = { url = "https://archive.example" } }
groups = [{ name = "history", limits = "5/s burst 3" }]
endpoints = [
  { name = "history", method = "GET", host = "archive", path = "/history", group = "history" },
]
"#;

/// What to fetch: the arguments of one job.
#[derive(Debug, Serialize, Deserialize)]
struct Station {
    name: String,
    months: u32,
}

/// One job fetches a station's history month by month. Where it stopped is its checkpoint.
async fn fetch(
    client: Client,
    place: BaseUrl,
    job: Job<Station>,
    ctx: JobContext,
) -> HandlerResult {
    let key = Credential::new(Secret::new("demo-key"), "key");
    let first = job.checkpoint::<u32>()?.unwrap_or(0);
    for month in first..job.args.months {
        let request = Request::new("history", key.clone(), job.record.id)
            .query("station", &job.args.name)
            .query("month", month.to_string())
            .base_url(Some(place.clone()));
        // Asks for a permit first. Without a token this job leaves its slot here, and is called
        // again when its token exists.
        let mut rows = client.call(&ctx, &request).await?.rows();
        while let Some(chunk) = rows.next_chunk().await? {
            println!("{:>8} month {month:>2}: {} readings", job.args.name, chunk.len());
        }
        ctx.checkpoint(&(month + 1))?;
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let jobs = run().await?;
    println!("done: {jobs:?}");
    Ok(())
}

async fn run() -> Result<BTreeMap<JobState, u64>, Box<dyn Error>> {
    let place: BaseUrl = serve_archive().await?.parse()?;
    let clock = Clock::system();
    let store = Arc::new(MemoryStore::new());
    let catalogue = Arc::new(Catalogue::parse("archive", ARCHIVE)?);
    let account = "me".parse()?;
    store.set_limits(catalogue.limits(&account, "key")?, clock.now()).await?;

    let mut jobs = Vec::new();
    for name in ["Bergen", "Quito", "Tromso"] {
        let station = Station { name: name.into(), months: 4 };
        let job = NewJob::new("fetch", &account, &station, clock.now())?;
        jobs.push(job.needs_one("history".parse()?));
    }
    store.enqueue(jobs, clock.now()).await?;

    let client = Client::new(catalogue, ClientConfig::default())?;
    let handlers = Handlers::new().with("fetch", move |job: Job<Station>, ctx: JobContext| {
        fetch(client.clone(), place.clone(), job, ctx)
    })?;
    let worker = Worker::new(Arc::clone(&store) as _, clock, handlers)
        .config(WorkerConfig { slots: 2, ..WorkerConfig::default() });
    let watched = Arc::clone(&store);
    worker
        .run_until(async move {
            let live =
                |counts: Vec<(JobState, u64)>| counts.iter().any(|(state, _)| !state.is_final());
            while watched.job_counts(None).await.is_ok_and(live) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await?;
    Ok(store.job_counts(None).await?.into_iter().collect())
}

/// The stand-in: two readings for every month of every station.
async fn serve_archive() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let body = r#"[{"celsius":4.5},{"celsius":6.0}]"#;
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
                     Connection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.read(&mut [0; 4_096]).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    Ok(format!("http://{address}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_station_is_fetched() {
    let jobs = run().await.expect("the example runs");
    assert_eq!(jobs, BTreeMap::from([(JobState::Succeeded, 3)]));
}
