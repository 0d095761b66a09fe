//! How many rows a second land durably: pages of 80,000 rows of 700 bytes in batches of 1,000.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use waitless_sink::{Batch, Landed, RawValue, Row, Sink, SinkUrl, SqliteSink};

const ROWS: usize = 80_000;
const BATCH_ROWS: usize = 1_000;
const BODY_BYTES: usize = 700;

/// A page as it comes from an upstream: keys in no order, bodies of equal length.
fn page() -> Vec<Batch> {
    let rows: Vec<Row> = (0..ROWS as u64)
        .map(|row| {
            // Scattered like hashes, so that the index is written at random places.
            let key = format!("{:032x}", u128::from(row.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 37);
            let head = format!(r#"{{"srid":"{key}","pad":""#);
            let body = format!(r#"{head}{}"}}"#, "x".repeat(BODY_BYTES - head.len() - 2));
            let body = RawValue::from_string(body).expect("the body is JSON");
            Row { key, version: "2026-11-30T12:00:00".into(), body }
        })
        .collect();
    rows.chunks(BATCH_ROWS)
        .map(|rows| Batch {
            account: "f3b3a2c8-8b58-4d7c-9f55-3d6b6a1f0c11".into(),
            dataset: "orders".into(),
            fetched_at: 1_755_900_000_000,
            rows: rows.to_vec(),
        })
        .collect()
}

async fn land(sink: &Arc<SqliteSink>, page: Vec<Batch>, in_flight: usize) -> Landed {
    let mut landed = Landed::default();
    let mut tasks = JoinSet::new();
    for batch in page {
        if tasks.len() == in_flight {
            landed += tasks.join_next().await.expect("one is in flight").expect("no panic");
        }
        let sink = Arc::clone(sink);
        tasks.spawn(async move { sink.land(batch).await.expect("it lands") });
    }
    while let Some(batch) = tasks.join_next().await {
        landed += batch.expect("no panic");
    }
    landed
}

/// A sink of its own for each run, in the build's directory: the usual place for temporary files
/// may be memory.
fn fresh(runtime: &Runtime) -> (Arc<SqliteSink>, TempDir) {
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let url = SinkUrl::File(directory.path().join("rows.db"));
    let sink = runtime.block_on(SqliteSink::open(url)).expect("it opens");
    (Arc::new(sink), directory)
}

fn landing(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let page = page();
    let mut group = criterion.benchmark_group("land 80,000 rows");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));

    for (name, in_flight) in [("new, one batch after the other", 1), ("new, 8 in flight", 8)] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || (fresh(&runtime), page.clone()),
                |((sink, directory), page)| {
                    let landed = runtime.block_on(land(&sink, page, in_flight));
                    assert_eq!(landed.inserted, ROWS as u64);
                    (sink, directory)
                },
                BatchSize::PerIteration,
            );
        });
    }

    let (sink, _directory) = fresh(&runtime);
    runtime.block_on(land(&sink, page.clone(), 8));
    group.bench_function("the same again, 8 in flight", |bencher| {
        bencher.iter_batched(
            || page.clone(),
            |page| {
                let landed = runtime.block_on(land(&sink, page, 8));
                assert!(black_box(landed).nothing_new());
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, landing);
criterion_main!(benches);
