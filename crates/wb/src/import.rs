//! The job that brings one dataset of one seller: ask, land, save how far it has come, go on.

use serde_json::Value;
use waitless_job::{HandlerResult, Job, JobContext, Leave, Progress};
use waitless_upstream::{Answer, BaseUrl, CallError, Request, UpstreamError};

use crate::{
    Connector, Dataset, ImportArgs, MoscowTime,
    datasets::{
        campaign_stats::CampaignStats,
        campaigns::Campaigns,
        cards::Cards,
        changes::Changes,
        fbs_orders::FbsOrders,
        feedbacks::Feedbacks,
        finance::Finance,
        funnel_csv::{self, FunnelCsv},
        funnel_history::FunnelHistory,
        pages::Pages,
        tariffs::Tariffs,
        tasks::Tasks,
    },
    envelope::{check_envelope, check_no_error},
    landing::Landing,
    scope::Scope,
    source::{Ask, Expect, Next, Page, Source},
};

/// The kind of import jobs.
pub const KIND: &str = "wb.import";

/// The largest answer that is read whole: a list of reports, a task.
const JSON_BYTES_MAX: u64 = 4 << 20;

/// The largest report, packed.
const REPORT_BYTES_MAX: u64 = 64 << 20;

/// Imports the dataset of a job.
pub(crate) async fn import(
    connector: &Connector,
    job: Job<ImportArgs>,
    ctx: JobContext,
) -> HandlerResult {
    let now = ctx.now();
    let scope = Scope {
        // A job may run days after it was planned, when its first day is too far back.
        since: job.args.since.max(job.args.dataset.deepest_day(now)),
        today: MoscowTime::at(now).day(),
        catalogue: connector.client.catalogue(),
    };
    let place = connector.place(job.args.base_url.as_deref())?;
    let import = Import { connector, job: &job, ctx: &ctx, place };
    match job.args.dataset {
        Dataset::Orders => import.run(&Changes::orders(&scope)).await,
        Dataset::Sales => import.run(&Changes::sales(&scope)).await,
        Dataset::Stocks => import.run(&Pages::stocks(&scope)).await,
        Dataset::Remains => import.run(&Tasks::remains(&scope)).await,
        Dataset::Acceptance => import.run(&Tasks::acceptance(&scope)).await,
        Dataset::Storage => import.run(&Tasks::storage(&scope)).await,
        Dataset::Funnel => import.run(&Pages::funnel(&scope)).await,
        Dataset::FunnelHistory => import.run(&FunnelHistory::of(&scope)).await,
        Dataset::FunnelCsv => import.run(&FunnelCsv::of(&scope, funnel_csv::new_id(now))).await,
        Dataset::Cards => import.run(&Cards::of(&scope)).await,
        Dataset::Finance => import.run(&Finance::of(&scope)).await,
        Dataset::Prices => import.run(&Pages::prices(&scope)).await,
        Dataset::FbsOrders => import.run(&FbsOrders::of(&scope)).await,
        Dataset::Campaigns => import.run(&Campaigns).await,
        Dataset::CampaignStats => import.run(&CampaignStats::of(&scope)).await,
        Dataset::Feedbacks => import.run(&Feedbacks::of(&scope)).await,
        Dataset::Tariffs => import.run(&Tariffs::of(&scope)).await,
    }
}

/// One attempt.
struct Import<'a> {
    connector: &'a Connector,
    job: &'a Job<ImportArgs>,
    ctx: &'a JobContext,
    place: Option<BaseUrl>,
}

impl Import<'_> {
    /// Asks until a source has everything. Each page has landed before the cursor moves beyond it;
    /// a page that breaks off is asked for again.
    async fn run<S: Source>(&self, source: &S) -> HandlerResult {
        let begun = match saved_cursor::<S::Cursor>(self.job) {
            Some(cursor) => source.resume(cursor, self.ctx.now()),
            None => source.begin(self.ctx.now()),
        };
        let mut cursor = match begun {
            Next::Ask(cursor) => cursor,
            other => return self.leave(source, None, other).await,
        };
        let mut progress = self.job.record.progress;
        loop {
            cursor = source.within_reach(cursor, self.ctx.now());
            let ask = source.ask(&cursor);
            let page = self.page(source, &cursor, &ask, progress).await?;
            let now = self.ctx.now();
            let next = source.next(&cursor, &page, now);
            let done = progress.requests_done + 1;
            let total = match &next {
                Next::Ask(next) | Next::Wait { cursor: next, .. } => {
                    source.requests_total(next, done, now).or(progress.requests_total)
                }
                Next::End => Some(done),
                Next::Stuck { .. } | Next::Failed(_) => progress.requests_total,
            };
            let rows = progress.rows + page.changed;
            progress = Progress { requests_done: done, requests_total: total, rows };
            self.ctx.progress(progress);
            match next {
                Next::Ask(next) => {
                    self.ctx.checkpoint(&next)?;
                    cursor = next;
                }
                Next::End => {
                    // Also if it never moved: the next import goes on from here.
                    self.ctx.checkpoint(&cursor)?;
                    return Ok(());
                }
                other => return self.leave(source, Some(ask.endpoint), other).await,
            }
        }
    }

    /// One request, and all rows of its answer landed.
    async fn page<S: Source>(
        &self,
        source: &S,
        cursor: &S::Cursor,
        ask: &Ask,
        progress: Progress,
    ) -> Result<Page<S::Seen>, Leave> {
        let answer = match self.connector.client.call(self.ctx, &self.request(ask)?).await {
            Ok(answer) => answer,
            Err(CallError::Upstream(UpstreamError::BadRequest { status, message, .. }))
                if ask.refusals_tell =>
            {
                return Ok(Page { refusal: Some((status, message)), ..Page::default() });
            }
            Err(error) => return Err(error.into()),
        };
        let landing = Landing {
            sink: self.connector.sink.clone(),
            account: self.job.account().clone(),
            dataset: self.job.args.dataset,
            fetched_at: self.ctx.now(),
            source,
            cursor,
        };
        let landed = |changed| {
            self.ctx.progress(Progress { rows: progress.rows + changed, ..progress });
        };
        let page = match ask.expect {
            Expect::Rows(path) => {
                let has_content = answer.status() != 204;
                if !has_content && !ask.no_content_tells {
                    let endpoint = ask.endpoint;
                    let error = format!("{endpoint} answered without content (204)");
                    return Err(Leave::Retry { error });
                }
                let page = landing.stream(answer.rows_at(path), landed).await?;
                if has_content {
                    check_envelope(ask.endpoint, path, &page.envelope)?;
                }
                page
            }
            Expect::Json => Page { envelope: json(answer).await?, ..Page::default() },
            Expect::Report => {
                let zip = answer.bytes(REPORT_BYTES_MAX).await.map_err(UpstreamError::leave)?;
                landing.report(zip, landed).await?
            }
        };
        Ok(page)
    }

    fn request(&self, ask: &Ask) -> Result<Request, Leave> {
        // Each time: a job of many pages may outlive its token, or get a new one.
        let token = self.connector.token(self.job, self.ctx)?;
        let mut request = Request::new(ask.endpoint, token.credential(), self.job.record.id);
        for (name, value) in &ask.places {
            request = request.place(*name, value);
        }
        for (name, value) in &ask.query {
            request = request.query(*name, value);
        }
        if let Some(body) = &ask.body {
            request = request.body(body.clone());
        }
        Ok(request.base_url(self.place.clone()))
    }

    /// Ends the attempt. `asked` is the endpoint of its last request.
    async fn leave<S: Source>(
        &self,
        source: &S,
        asked: Option<&str>,
        next: Next<S::Cursor>,
    ) -> HandlerResult {
        let dataset = self.job.args.dataset;
        match next {
            Next::Ask(_) | Next::End => Ok(()),
            Next::Wait { cursor, wait_ms } => {
                self.ctx.checkpoint(&cursor)?;
                let endpoint = source.ask(&cursor).endpoint;
                if asked.is_some_and(|asked| asked != endpoint) {
                    self.move_to_lane_of(endpoint).await?;
                }
                Err(self.ctx.snooze(wait_ms))
            }
            Next::Stuck { reason, cursor } => {
                if let Some(cursor) = cursor {
                    self.ctx.checkpoint(&cursor)?;
                }
                Err(Leave::Dead { reason: format!("{dataset}: {reason}") })
            }
            Next::Failed(error) => Err(Leave::Retry { error: format!("{dataset}: {error}") }),
        }
    }

    /// A job that was put off waits in the lane of the permit that it last had. Where the next
    /// request is another one, that lane could keep it for hours: so it takes a permit of the right
    /// one, which is given back unspent with the outcome.
    async fn move_to_lane_of(&self, endpoint: &str) -> Result<(), Leave> {
        let token = self.connector.token(self.job, self.ctx)?;
        let endpoint = self.connector.client.catalogue().endpoint(endpoint);
        if let Some(endpoint) = endpoint {
            drop(self.ctx.permit_all(endpoint.needs_of(token.family())).await?);
        }
        Ok(())
    }
}

async fn json(answer: Answer) -> Result<Value, Leave> {
    let json: Value = answer.json(JSON_BYTES_MAX).await.map_err(UpstreamError::leave)?;
    check_no_error(&json)?;
    Ok(json)
}

/// The cursor that an earlier attempt has left. One that cannot be read is no reason to stop: from
/// the beginning on everything is landed again, which costs requests and loses nothing.
fn saved_cursor<C: serde::de::DeserializeOwned>(job: &Job<ImportArgs>) -> Option<C> {
    job.checkpoint().unwrap_or_else(|error| {
        tracing::warn!(%error, job = %job.record.id, "the import begins anew");
        None
    })
}
