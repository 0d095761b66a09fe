use std::sync::Arc;

use waitless_job::{Handlers, Job, JobContext, Leave, LimitGroup, NameError};
use waitless_sink::Sink;
use waitless_upstream::{BaseUrl, Client, Endpoint};

use crate::{Dataset, ImportArgs, KIND, SellerToken, Tokens, import};

/// All that import jobs need: a client, tokens to ask with, and a sink to land rows in.
#[derive(Debug, Clone)]
pub struct Connector {
    pub(crate) client: Client,
    pub(crate) tokens: Tokens,
    pub(crate) sink: Arc<dyn Sink>,
    base_url: Option<BaseUrl>,
    allowed: Vec<BaseUrl>,
}

impl Connector {
    /// A connector that asks where the client's catalogue says.
    #[must_use]
    pub fn new(client: Client, tokens: Tokens, sink: Arc<dyn Sink>) -> Self {
        Self { client, tokens, sink, base_url: None, allowed: Vec::new() }
    }

    /// It asks there instead: a sandbox, or a stand-in for tests.
    #[must_use]
    pub fn base_url(self, base_url: BaseUrl) -> Self {
        Self { base_url: Some(base_url), ..self }
    }

    /// A job may say that it wants to be asked there. Without this, jobs choose no place: whoever
    /// may enqueue could have every seller's token sent to a place of his own.
    #[must_use]
    pub fn allow(mut self, base_url: BaseUrl) -> Self {
        self.allowed.push(base_url);
        self
    }

    /// Where a job asks; `None` for where the catalogue says.
    pub(crate) fn place(&self, asked: Option<&str>) -> Result<Option<BaseUrl>, Leave> {
        let Some(asked) = asked else { return Ok(self.base_url.clone()) };
        let dead = |reason: String| Leave::Dead { reason };
        let asked: BaseUrl = asked
            .parse()
            .map_err(|error: waitless_upstream::BaseUrlError| dead(error.to_string()))?;
        let mut allowed = self.allowed.iter().chain(&self.base_url);
        if allowed.any(|known| *known == asked) {
            return Ok(Some(asked));
        }
        Err(dead(format!(
            "the job wants the seller's token sent to {asked}, which this worker does not allow: \
             start the worker with that base URL, or enqueue the job without it"
        )))
    }

    /// The token to ask with. Without a good one no request is made, and the limits stand still
    /// until somebody has given one: as after a 401, and unlike a dead letter, that costs no job
    /// anything.
    pub(crate) fn token(
        &self,
        job: &Job<ImportArgs>,
        ctx: &JobContext,
    ) -> Result<SellerToken, Leave> {
        let account = job.account();
        let token = self.tokens.get(account).ok_or_else(|| Leave::Pause {
            // Of which family the token would be, and so which limits its category has, only it says.
            groups: job.record.needs.as_slice().iter().map(|need| need.group.clone()).collect(),
            reason: format!(
                "this worker has no token of seller {account}: give it one, then resume the account"
            ),
        })?;
        let checked = token.check(ctx.now()).map_err(|error| Leave::Pause {
            groups: self.groups_with(job.args.dataset, token.family()),
            reason: format!(
                "seller {account}: {error}, give it to the worker, then resume the account"
            ),
        });
        checked.map(|()| token)
    }

    /// The limits that a token of this family draws on in the category of a dataset.
    fn groups_with(&self, dataset: Dataset, family: &str) -> Vec<LimitGroup> {
        let catalogue = self.client.catalogue();
        let endpoints = || dataset.endpoints().iter().filter_map(|name| catalogue.endpoint(name));
        match endpoints().find_map(Endpoint::category) {
            Some(category) => catalogue.groups_in(category, family).into_iter().collect(),
            None => endpoints().flat_map(|endpoint| endpoint.groups_of(family)).cloned().collect(),
        }
    }
}

/// The handlers of all Wildberries jobs, for a worker to run.
///
/// # Errors
/// [`NameError`], never in fact: the kinds are names.
pub fn handlers(connector: Connector) -> Result<Handlers, NameError> {
    let connector = Arc::new(connector);
    Handlers::new().with(KIND, move |job: Job<ImportArgs>, ctx: JobContext| {
        let connector = Arc::clone(&connector);
        async move { import::import(&connector, job, ctx).await }
    })
}
