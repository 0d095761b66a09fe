use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use apalis_core::{error::BoxDynError, task::Task};
use futures::future::BoxFuture;
use tokio::task::JoinError;
use tower_layer::Layer;
use tower_service::Service;
use tracing::{Instrument, debug, error, info, info_span, warn};
use waitless_job::{Clock, JobState, Leave};
use waitless_scheduler::Backoff;
use waitless_store::ops::{Outcome, Settled};

use crate::{
    granted::Granted,
    held::LeaseEnd,
    service::leave_of,
    session::Session,
    shutdown::{Phase, Shutdown},
    stats::{Ended, Stats},
};

/// The outermost layer: runs each attempt as a task of its own and takes down how it ended.
#[derive(Debug, Clone)]
pub struct AcknowledgeLayer {
    pub(crate) clock: Clock,
    pub(crate) shutdown: Shutdown,
    pub(crate) stats: Arc<Stats>,
    pub(crate) handler_timeout: Duration,
    pub(crate) backoff: Backoff,
}

impl<S> Layer<S> for AcknowledgeLayer {
    type Service = Acknowledge<S>;

    fn layer(&self, inner: S) -> Acknowledge<S> {
        Acknowledge { inner, layer: self.clone() }
    }
}

/// The service of [`AcknowledgeLayer`]. Its answer is always `Ok`: what went wrong is taken down
/// with the job, and the worker goes on.
#[derive(Debug, Clone)]
pub struct Acknowledge<S> {
    inner: S,
    layer: AcknowledgeLayer,
}

impl<S> Service<Task<Granted>> for Acknowledge<S>
where
    S: Service<Task<Granted>, Error = BoxDynError>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
{
    type Response = ();
    type Error = BoxDynError;
    type Future = BoxFuture<'static, Result<(), BoxDynError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxDynError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, task: Task<Granted>) -> Self::Future {
        let granted = task.args.clone();
        let record = granted.record();
        let span = info_span!(
            "job",
            job = %record.id,
            kind = %record.kind,
            account = %record.account,
            attempt = record.attempts + 1,
        );
        let attempt = self.inner.call(task).instrument(span.clone());
        let layer = self.layer.clone();
        Box::pin(
            async move {
                let end = layer.run(&granted.session, attempt).await;
                layer.take_down(&granted.session, end).await;
                drop(granted); // the slot is free only now
                Ok(())
            }
            .instrument(span),
        )
    }
}

/// How an attempt ended, before it is taken down.
enum End {
    Done,
    Left(Leave),
    /// The worker wants its slots back and the job did not leave by itself.
    CutShort,
}

impl AcknowledgeLayer {
    /// Runs an attempt in a task of its own, so that a panic ends only it, and other attempts run
    /// on other threads.
    async fn run<T: Send + 'static>(
        &self,
        session: &Session,
        attempt: impl Future<Output = Result<T, BoxDynError>> + Send + 'static,
    ) -> End {
        let mut running = tokio::spawn(attempt);
        let end = tokio::select! {
            joined = &mut running => return self.joined(joined),
            () = tokio::time::sleep(self.handler_timeout) => End::Left(Leave::Retry {
                error: format!("the handler took longer than {:?}", self.handler_timeout),
            }),
            () = session.lost() => End::Left(Leave::LeaseLost),
            () = self.shutdown.reached(Phase::HandingBack) => End::CutShort,
        };
        running.abort();
        // The task is gone when this resolves, so nothing of it runs once the job is settled.
        match running.await {
            Err(_) => end,
            // It ended just before the abort: what it says counts.
            joined => self.joined(joined),
        }
    }

    fn joined<T>(&self, joined: Result<Result<T, BoxDynError>, JoinError>) -> End {
        match joined {
            Ok(Ok(_)) => End::Done,
            Ok(Err(error)) => End::Left(leave_of(error)),
            Err(error) if error.is_panic() => {
                End::Left(Leave::Retry { error: panic_text(error.into_panic().as_ref()) })
            }
            // The runtime is shutting down under us.
            Err(_) => End::CutShort,
        }
    }

    async fn take_down(&self, session: &Session, end: End) {
        let now = self.clock.now();
        let (outcome, how) = match (session.ended(), end) {
            (Some(LeaseEnd::Parked), _) => {
                debug!("left its slot; waits for a token");
                self.stats.ended(Ended::Parked);
                return;
            }
            (Some(LeaseEnd::Lost), _) | (None, End::Left(Leave::LeaseLost)) => {
                warn!("the lease went to another worker; nothing of this attempt counts");
                self.stats.ended(Ended::Stale);
                return;
            }
            (None, End::Done) => (Outcome::Done, Ended::Succeeded),
            (None, End::CutShort | End::Left(Leave::Parked)) => {
                (Outcome::HandBack, Ended::HandedBack)
            }
            (None, End::Left(Leave::Snooze { wait_ms })) => {
                (Outcome::Snooze { until: now.plus(wait_ms) }, Ended::Snoozed)
            }
            (None, End::Left(Leave::Retry { error })) => {
                let failed_before = session.failed_before();
                let at = self.backoff.retry_at(session.record.id, failed_before, now);
                warn!(error, retry_in_ms = at.since(now), "the attempt failed");
                (Outcome::Retry { at, error: error.into() }, Ended::Failed)
            }
            (None, End::Left(Leave::Cancel { reason })) => {
                info!(reason, "the job was cancelled");
                (Outcome::Cancel { reason: reason.into() }, Ended::Cancelled)
            }
            (None, End::Left(Leave::Pause { groups, reason })) => {
                warn!(reason, ?groups, "the limits of this job were paused; it waits for them");
                (Outcome::Pause { groups, reason: reason.into() }, Ended::Paused)
            }
            (None, End::Left(Leave::Dead { reason })) => {
                (Outcome::Dead { reason: reason.into() }, Ended::Dead)
            }
        };
        match session.settle(outcome).await {
            Ok(Settled::Now(JobState::Dead)) => {
                error!("the job is a dead letter now");
                self.stats.ended(Ended::Dead);
            }
            Ok(Settled::Now(_)) => self.stats.ended(how),
            Ok(Settled::Stale) => {
                warn!("the lease went to another worker before the outcome was taken down");
                self.stats.ended(Ended::Stale);
            }
            // The lease runs out by itself, and the job is made again.
            Err(error) => error!(%error, "the outcome could not be taken down"),
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("(no text)"))
}
