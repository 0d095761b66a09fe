//! Permits: given, denied, stale, given back.

mod support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use support::{Bench, START, bucket};
use waitless_job::{Class, HandlerResult, Handlers, Job, JobContext, JobState, Leave};
use waitless_store::Reader;
use waitless_worker::WorkerConfig;

/// Makes `pages` requests of 100 ms on `orders`, one permit each, with a checkpoint after each.
async fn import(job: Job<u64>, ctx: JobContext) -> HandlerResult {
    let mut done: u64 = job.checkpoint()?.unwrap_or(0);
    while done < job.args {
        ctx.permit("orders").await?.spend(ctx.now())?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        done += 1;
        ctx.checkpoint(&done)?;
    }
    Ok(())
}

fn handlers() -> Handlers {
    Handlers::new().with("import", import).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_burst_runs_in_one_slot_and_the_rest_leaves_it_once_per_token() {
    let bench = Bench::new(&[("orders", "1/min burst 10 margin 0")]).await;
    let running = bench.start(handlers(), WorkerConfig::default());
    let job = bench.job("import", &14).needs_one("orders".parse().unwrap());
    let id = bench.enqueue(job).await;

    let record = bench.until(id, JobState::Succeeded).await;
    // Ten tokens at once; the bucket was full at the first take, so the eleventh exists a minute
    // after that, and the fourteenth four minutes after.
    assert_eq!(record.finished_at.unwrap().since(START), 4 * 60_000 + 100);
    assert_eq!((record.attempts, record.snoozes), (1, 4));
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.wakeups, stats.requests, stats.slot_wait_ms), (5, 14, 0));
    assert_eq!(stats.slot_held_ms, 14 * 100);
    bench.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_waits_for_its_token_holds_no_slot() {
    let bench = Bench::new(&[("orders", "1/min burst 1 margin 0")]).await;
    let running = bench.start(handlers(), WorkerConfig { slots: 1, ..WorkerConfig::default() });
    let import = bench.job("import", &10).needs_one("orders".parse().unwrap());
    let import = bench.enqueue(import).await;
    tokio::time::sleep(Duration::from_secs(30)).await;

    bench.limits("other", &[("orders", "1/min burst 1 margin 0")]).await;
    let other = waitless_job::NewJob::new("import", "other", &1, bench.clock.now()).unwrap();
    let other = bench.enqueue(other.needs_one("orders".parse().unwrap())).await;
    let other = bench.until(other, JobState::Succeeded).await;
    assert_eq!(other.finished_at.unwrap().since(START), 30_100);
    assert_eq!(bench.record(import).await.state, JobState::Waiting);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_interactive_job_takes_the_next_token_of_a_bucket_that_an_import_drains() {
    let bench = Bench::new(&[("orders", "1/min burst 5 margin 0")]).await;
    let running = bench.start(handlers(), WorkerConfig::default());
    let import = bench.job("import", &30).needs_one("orders".parse().unwrap()).class(Class::Bulk);
    let import = bench.enqueue(import).await;
    tokio::time::sleep(Duration::from_millis(250)).await;

    // In the middle of the burst, which the import rides in its slot.
    let quick =
        bench.job("import", &1).needs_one("orders".parse().unwrap()).class(Class::Interactive);
    let quick = bench.enqueue(quick).await;
    let quick = bench.until(quick, JobState::Succeeded).await;
    assert_eq!(quick.finished_at.unwrap().since(quick.created_at), 100);

    // Later, when the bucket is empty.
    tokio::time::sleep(Duration::from_secs(200)).await;
    let quick =
        bench.job("import", &1).needs_one("orders".parse().unwrap()).class(Class::Interactive);
    let quick = bench.enqueue(quick).await;
    let quick = bench.until(quick, JobState::Succeeded).await;
    assert!(quick.finished_at.unwrap().since(quick.created_at) <= 60_100);
    assert_eq!(bench.record(import).await.attempts, 0);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_is_not_spent_goes_back_to_its_bucket() {
    async fn unused(_: Job<()>, ctx: JobContext) -> HandlerResult {
        let permit = ctx.permit("orders").await?;
        drop(permit);
        Ok(())
    }
    let bench = Bench::new(&[("orders", "1/min burst 2 margin 0")]).await;
    let handlers = Handlers::new().with("unused", unused).unwrap();
    let running = bench.start(handlers, WorkerConfig::default());
    for needs_it in [true, false] {
        let job = bench.job("unused", &());
        let job = if needs_it { job.needs_one("orders".parse().unwrap()) } else { job };
        let id = bench.enqueue(job).await;
        bench.until(id, JobState::Succeeded).await;
    }
    let state = bench.store.limits(None).await.unwrap()[0].state.unwrap();
    assert_eq!(state.whole_tokens(), 2);
    assert_eq!(running.stop().await.snapshot().requests, 0);
}

#[tokio::test(start_paused = true)]
async fn a_permit_asked_for_too_late_is_given_back_and_taken_anew() {
    async fn dawdles(_: Job<()>, ctx: JobContext) -> HandlerResult {
        tokio::time::sleep(Duration::from_millis(61)).await;
        let permit = ctx.permit("orders").await?;
        tokio::time::sleep(Duration::from_millis(61)).await;
        assert!(permit.spend(ctx.now()).is_err());
        ctx.permit("orders").await?.spend(ctx.now())?;
        Ok(())
    }
    let bench = Bench::new(&[("orders", "1/min burst 3")]).await;
    let handlers = Handlers::new().with("dawdles", dawdles).unwrap();
    let running = bench.start(handlers, WorkerConfig::default());
    let id = bench.enqueue(bench.job("dawdles", &()).needs_one("orders".parse().unwrap())).await;
    bench.until(id, JobState::Succeeded).await;
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.requests, stats.stale_permits), (1, 1));
    let state = bench.store.limits(None).await.unwrap()[0].state.unwrap();
    assert_eq!(state.whole_tokens(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_in_the_slot_is_possible_and_counted() {
    async fn blocks(_: Job<()>, ctx: JobContext) -> HandlerResult {
        loop {
            match ctx.try_permit("orders").await? {
                Ok(permit) => break drop(permit.spend(ctx.now())?),
                Err(wait_ms) => tokio::time::sleep(Duration::from_millis(wait_ms)).await,
            }
        }
        Ok(())
    }
    let bench = Bench::new(&[("orders", "1/min burst 1 margin 0")]).await;
    let handlers = Handlers::new().with("blocks", blocks).unwrap();
    let running = bench.start(handlers, WorkerConfig::default());
    for _ in 0..3 {
        bench.enqueue(bench.job("blocks", &())).await;
    }
    tokio::time::sleep(Duration::from_secs(200)).await;
    let stats = running.stop().await.snapshot();
    assert_eq!((stats.requests, stats.slot_wait_ms), (3, 60_000 + 120_000));
}

#[tokio::test(start_paused = true)]
async fn peeking_spends_nothing_and_snoozing_costs_no_attempt() {
    async fn looks(_: Job<()>, ctx: JobContext) -> HandlerResult {
        let quota = ctx.peek("orders").await?;
        if quota.remaining == 0 {
            return Err(ctx.snooze(quota.next_token_in_ms));
        }
        ctx.permit("orders").await?.spend(ctx.now())?;
        Ok(())
    }
    let bench = Bench::new(&[("orders", "1/min burst 1 margin 0")]).await;
    let handlers = Handlers::new().with("looks", looks).unwrap();
    let running = bench.start(handlers, WorkerConfig::default());
    let first = bench.enqueue(bench.job("looks", &())).await;
    bench.until(first, JobState::Succeeded).await;
    let second = bench.enqueue(bench.job("looks", &())).await;
    let second = bench.until(second, JobState::Succeeded).await;
    assert_eq!((second.attempts, second.snoozes), (1, 1));
    assert_eq!(support::ended_after_ms(&second), 60_000);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_nobody_configured_is_a_dead_letter_that_names_it() {
    async fn asks(_: Job<()>, ctx: JobContext) -> HandlerResult {
        ctx.permit("nowhere").await?.spend(ctx.now())?;
        Ok(())
    }
    let bench = Bench::new(&[]).await;
    let running = bench.start(Handlers::new().with("asks", asks).unwrap(), WorkerConfig::default());
    let id = bench.enqueue(bench.job("asks", &())).await;
    let job = bench.until(id, JobState::Dead).await;
    assert!(job.error.unwrap().contains("acct/nowhere"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_hold_reported_by_a_handler_parks_the_job_until_it_opens() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let limited = move |_: Job<()>, ctx: JobContext| {
        let log = Arc::clone(&log);
        async move {
            ctx.permit("orders").await?.spend(ctx.now())?;
            let first = log.lock().unwrap().is_empty();
            log.lock().unwrap().push(ctx.now().since(START));
            if first {
                let until = Some(ctx.now().plus(12 * 3_600_000));
                let refund = Some(waitless_job::Cost::ONE);
                let sent_at = ctx.now();
                let rejected = waitless_job::Feedback::Rejected { until, refund, sent_at };
                ctx.report(&"orders".parse()?, rejected).await?;
                ctx.permit("orders").await?.spend(ctx.now())?;
            }
            Ok::<(), Leave>(())
        }
    };
    let bench = Bench::new(&[("orders", "1/min burst 10 margin 0")]).await;
    let handlers = Handlers::new().with("limited", limited).unwrap();
    let running = bench.start(handlers, WorkerConfig::default());
    let id = bench.enqueue(bench.job("limited", &()).needs_one("orders".parse().unwrap())).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.record(id).await.state, JobState::Waiting);
    let view = &bench.store.limits(None).await.unwrap()[0];
    assert_eq!(view.bucket, bucket("acct", "orders"));
    assert_eq!(view.state.unwrap().hold.unwrap().since(START), 12 * 3_600_000);
    tokio::time::sleep(Duration::from_secs(12 * 3_600)).await;
    let job = bench.record(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Succeeded, 1));
    assert_eq!(*seen.lock().unwrap(), [0, 12 * 3_600_000]);
    running.stop().await;
}
