use std::sync::Arc;

use waitless_job::{Handlers, Job, JobContext, Leave, NameError};
use waitless_sink::Sink;
use waitless_upstream::{BaseUrl, Client};

use crate::{ImportArgs, KIND, SellerToken, Tokens, import};

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

    /// The token to ask with. A job without one is a dead letter, and no request is made.
    pub(crate) fn token(
        &self,
        job: &Job<ImportArgs>,
        ctx: &JobContext,
    ) -> Result<SellerToken, Leave> {
        let account = job.account();
        let token = self.tokens.get(account).ok_or_else(|| Leave::Dead {
            reason: format!(
                "this worker has no token of seller {account}: give it one, then retry the job"
            ),
        })?;
        let checked = token.check(ctx.now()).map_err(|error| Leave::Dead {
            reason: format!("seller {account}: {error}, give it to the worker, then retry the job"),
        });
        checked.map(|()| token)
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
