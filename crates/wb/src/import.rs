//! The job that brings one dataset of one seller.

use waitless_job::{HandlerResult, Job, JobContext, Leave, Progress};
use waitless_upstream::Request;

use crate::{
    Connector, Cursor, ImportArgs, MoscowTime,
    cursor::Next,
    page::{Landing, Page},
    progress::requests_total,
};

/// The kind of import jobs.
pub const KIND: &str = "wb.import";

/// Rows on a full page, should the catalogue not say.
const PAGE_ROWS: u32 = 80_000;

/// Follows `lastChangeDate` from page to page until there is nothing more. Each page has landed
/// before the cursor moves beyond it; a page that breaks off is asked for again.
pub(crate) async fn import(
    connector: &Connector,
    job: Job<ImportArgs>,
    ctx: JobContext,
) -> HandlerResult {
    let dataset = job.args.dataset;
    let since = MoscowTime::midnight(job.args.since);
    let place = connector.place(job.args.base_url.as_deref())?;
    let endpoint = connector.client.catalogue().endpoint(dataset.as_str());
    let full_rows = endpoint.and_then(|endpoint| endpoint.page_rows()).unwrap_or(PAGE_ROWS);

    let mut cursor = saved_cursor(&job).unwrap_or(Cursor::at(since));
    let mut progress = job.record.progress;
    loop {
        // Each time: a job of many pages may outlive its token, or get a new one.
        let token = connector.token(&job, &ctx)?;
        let request = Request::new(dataset.as_str(), token.credential(), job.record.id)
            .query("dateFrom", cursor.date_from.to_string())
            .query("flag", "0")
            .base_url(place.clone());
        let answer = connector.client.call(&ctx, &request).await?;

        let landing = Landing {
            sink: connector.sink.clone(),
            account: job.account().clone(),
            dataset,
            fetched_at: ctx.now(),
        };
        let before = progress;
        let with_rows = |page: &Page| Progress { rows: before.rows + page.changed, ..before };
        let page = landing.land(answer.rows(), |page| ctx.progress(with_rows(page))).await?;

        let done = before.requests_done + 1;
        progress = Progress { requests_done: done, ..with_rows(&page) };
        match cursor.after(&page, u64::from(full_rows)) {
            Next::Ask(next) => {
                let now = MoscowTime::at(ctx.now());
                let total = requests_total(done, since, next.date_from, now);
                progress.requests_total = total.or(progress.requests_total);
                ctx.checkpoint(&next)?;
                ctx.progress(progress);
                cursor = next;
            }
            Next::End => {
                // Also if it never moved: the next import goes on from here.
                ctx.checkpoint(&cursor)?;
                ctx.progress(Progress { requests_total: Some(done), ..progress });
                return Ok(());
            }
            Next::Stuck(reason) => {
                ctx.progress(progress);
                return Err(Leave::Dead { reason: format!("{dataset}: {reason}") });
            }
        }
    }
}

/// The cursor that an earlier attempt has left. One that cannot be read is no reason to stop: from
/// the beginning on everything is landed again, which costs requests and loses nothing.
fn saved_cursor(job: &Job<ImportArgs>) -> Option<Cursor> {
    job.checkpoint().unwrap_or_else(|error| {
        tracing::warn!(%error, job = %job.record.id, "the import begins anew");
        None
    })
}
