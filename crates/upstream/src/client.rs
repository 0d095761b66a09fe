use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::{
    StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::timeout;
use waitless_job::{Cost, Feedback, JobContext, LimitGroup, Needs, Permit, SentPermit};

use crate::{
    Answer, CallError, Catalogue, ClientConfig, Credential, Endpoint, Phase, Request,
    UpstreamError,
    body::Body,
    classify::{self, without_query},
    connecting::{TimedConnects, timed},
    excerpt,
};

const JOB_ID: HeaderName = HeaderName::from_static("x-job-id");

/// Shortest and longest wait that a 429 may name: 1 second and 7 days. Waits of hours are real; longer
/// ones are taken for a slip of the upstream's.
const HOLD_MS: (u64, u64) = (1_000, 7 * 86_400_000);

/// How often [`Client::call`] asks for another permit before it puts the job off. A permit that
/// always goes stale is a machine too slow for the margin of its policy.
const PERMITS_MAX: u32 = 16;

/// How long a job stays away whose permits all went stale, in milliseconds.
const STALE_SNOOZE_MS: u64 = 5_000;

/// Asks an upstream for what its catalogue describes. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    catalogue: Arc<Catalogue>,
    config: Arc<ClientConfig>,
    refused: Arc<AtomicU64>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let upstream = self.catalogue.upstream();
        f.debug_struct("Client").field("upstream", &upstream).finish_non_exhaustive()
    }
}

impl Client {
    /// A client for the upstream of a catalogue.
    ///
    /// # Errors
    /// [`UpstreamError::Setup`] if the HTTP client cannot be made.
    pub fn new(catalogue: Arc<Catalogue>, config: ClientConfig) -> Result<Self, UpstreamError> {
        let http = reqwest::Client::builder()
            .user_agent(&config.user_agent)
            // The credential is a header and would travel along.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // No request without a permit, and a permit is for one request.
            .retry(reqwest::retry::never())
            .connector_layer(TimedConnects)
            .build()
            .map_err(UpstreamError::Setup)?;
        Ok(Self { http, catalogue, config: Arc::new(config), refused: Arc::default() })
    }

    /// What it knows of the upstream.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Requests that the upstream has refused for their rate (429), to this client and its clones.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Asks for a permit, spends it, sends, and says what came. The way to make a request: a permit
    /// that has gone stale is replaced, and a 429 closes the bucket, so that asking for the next
    /// permit parks the job. A 401, 402 or 403 pauses the limits of the endpoint's category. None of
    /// these costs an attempt.
    ///
    /// # Errors
    /// [`CallError`]; pass it on with `?`. [`CallError::Leave`] if the job was parked.
    pub async fn call(&self, ctx: &JobContext, request: &Request) -> Result<Answer, CallError> {
        let call = self.prepare(request)?;
        let mut permits = 1;
        loop {
            let permit = ctx.permit_all(call.needs()).await?;
            match self.send_prepared(ctx, permit, &call).await {
                Err(
                    CallError::Stale(_) | CallError::Upstream(UpstreamError::RateLimited { .. }),
                ) if permits < PERMITS_MAX => permits += 1,
                // The store grants more slowly than permits live. That is nobody's failed attempt.
                Err(CallError::Stale(stale)) => {
                    tracing::warn!(%stale, "no permit could be spent in time; waits for the store");
                    return Err(CallError::Leave(ctx.snooze(STALE_SNOOZE_MS)));
                }
                answer => return answer,
            }
        }
    }

    /// Sends with a permit that the caller has. Spends it right before the request goes out,
    /// reports to the bucket what the answer says about it, and classifies the answer.
    ///
    /// # Errors
    /// [`CallError::Stale`] if the permit is too old: nothing was sent, ask for another.
    /// [`CallError::Upstream`] for everything that is no answer to work with, a 429 included; then
    /// the bucket is closed already.
    pub async fn send(
        &self,
        ctx: &JobContext,
        permit: Permit,
        request: &Request,
    ) -> Result<Answer, CallError> {
        self.send_prepared(ctx, permit, &self.prepare(request)?).await
    }

    /// Everything that can be refused without spending a permit.
    fn prepare<'a>(&'a self, request: &'a Request) -> Result<Call<'a>, UpstreamError> {
        let catalogue = &*self.catalogue;
        let endpoint = catalogue.endpoint(&request.endpoint).ok_or_else(|| {
            UpstreamError::UnknownEndpoint {
                name: request.endpoint.clone(),
                upstream: catalogue.upstream().to_owned(),
                known: catalogue.endpoints().map(Endpoint::name).collect::<Vec<_>>().join(", "),
            }
        })?;
        let family = &request.credential.family;
        if catalogue.policy_of(endpoint, family)?.is_none() {
            return Err(UpstreamError::Closed {
                upstream: catalogue.upstream().to_owned(),
                endpoint: request.endpoint.clone(),
                family: family.clone(),
            });
        }

        let places: Vec<(&str, &str)> =
            request.places.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = endpoint.path_with(&places)?;
        let mut url = request.base_url.as_ref().unwrap_or(endpoint.host()).join(&path);
        for (name, value) in &request.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        let mut headers = catalogue.credential().headers(&request.credential)?;
        let job = HeaderValue::from_str(&request.job.to_string()).expect("a UUID is plain text");
        headers.insert(JOB_ID, job);
        if request.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(Call {
            endpoint,
            family,
            shown: without_query(&url),
            url,
            headers,
            body: request.body.as_ref().map(ToString::to_string),
            credential: &request.credential,
        })
    }

    async fn send_prepared(
        &self,
        ctx: &JobContext,
        permit: Permit,
        call: &Call<'_>,
    ) -> Result<Answer, CallError> {
        let mut http = reqwest::Request::new(call.endpoint.method().clone(), call.url.clone());
        *http.headers_mut() = call.headers.clone();
        *http.body_mut() = call.body.clone().map(Into::into);
        // From here to the wire nothing waits.
        let sent = permit.spend(ctx.now()).map_err(CallError::Stale)?;
        let within = Duration::from_millis(self.config.answer_timeout_ms);
        let (response, late_ms) = timed(timeout(within, self.http.execute(http))).await;
        if late_ms > 0 {
            self.report(ctx, call, Feedback::Late { late_ms }).await;
        }
        let response = match response {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let (url, reason) = (call.shown.clone(), excerpt::causes(error, call.credential));
                return Err(UpstreamError::Unreachable { url, reason }.into());
            }
            Err(_) => {
                return Err(UpstreamError::TimedOut {
                    url: call.shown.clone(),
                    phase: Phase::Answer,
                    timeout_ms: self.config.answer_timeout_ms,
                }
                .into());
            }
        };

        let (status, headers) = (response.status(), response.headers().clone());
        tracing::debug!(url = call.shown, status = status.as_u16(), "the upstream answered");
        let body = Body::new(response, call.shown.clone(), call.credential.clone(), &self.config);
        if status == StatusCode::TOO_MANY_REQUESTS {
            self.refused.fetch_add(1, Ordering::Relaxed);
            // Told before its words are read: until then other jobs may run into the same wall.
            let group = self.report_rejection(ctx, call, &sent, &headers).await?;
            let message = classify::message(body, self.catalogue.hints()).await;
            tracing::warn!(url = call.shown, %group, message, "refused for its rate (429)");
            let (url, group) = (call.shown.clone(), group.clone());
            return Err(UpstreamError::RateLimited { url, group, message }.into());
        }
        self.report_acceptance(ctx, call, &sent, status, &headers).await;
        let hints = self.catalogue.hints();
        Ok(classify::classify(status, &headers, body, hints, || self.closed_with(call)).await?)
    }

    /// Tells the bucket what an answer says that is no 429. The answer is worth more than that: if the
    /// bucket cannot be told, the call goes on.
    ///
    /// One that does not show that the upstream's limiter let the request through is not reported: an
    /// hour of 503s would count as so many clean answers, and the published pace be tried again in the
    /// middle of the storm.
    ///
    /// What the answer costs comes first. The upstream has counted it in what it says is left, and
    /// taken off after that it would be taken off twice.
    async fn report_acceptance(
        &self,
        ctx: &JobContext,
        call: &Call<'_>,
        sent: &SentPermit,
        status: StatusCode,
        headers: &HeaderMap,
    ) {
        let endpoint = call.endpoint;
        let extra = endpoint
            .answer_cost()
            .and_then(|cost| Cost::new(cost.extra_tokens(status.as_u16(), endpoint.cost())));
        let charged = extra.map(|extra| Feedback::Charged { extra });
        let remaining = self.catalogue.hints().remaining(headers);
        let accepted = classify::was_let_through(status, headers, remaining)
            .then_some(Feedback::Accepted { remaining, in_flight: 0, sent_at: sent.sent_at });
        for feedback in charged.into_iter().chain(accepted) {
            self.report(ctx, call, feedback).await;
        }
    }

    /// Tells the bucket something that the call can go on without.
    async fn report(&self, ctx: &JobContext, call: &Call<'_>, feedback: Feedback) {
        if let Err(leave) = ctx.report(call.group(), feedback).await {
            let group = call.group();
            tracing::warn!(?leave, %group, ?feedback, "the bucket could not be told");
        }
    }

    /// Closes the bucket until the upstream takes requests again; answers with its group.
    async fn report_rejection<'a>(
        &self,
        ctx: &JobContext,
        call: &'a Call<'_>,
        sent: &SentPermit,
        headers: &HeaderMap,
    ) -> Result<&'a LimitGroup, CallError> {
        let (now, hints, endpoint) = (ctx.now(), self.catalogue.hints(), call.endpoint);
        let rejected = |until, cost, is_charged: bool| Feedback::Rejected {
            until,
            refund: (!is_charged).then_some(cost),
            sent_at: sent.sent_at,
        };
        let named_ms = hints.retry_ms(headers);
        if let (Some(cap), None) = (endpoint.daily_cap(), named_ms) {
            // The endpoint's own bucket would have said when to come back.
            let until = Some(cap.resets_at(now));
            let feedback = rejected(until, Cost::ONE, hints.refused_is_charged);
            ctx.report(cap.group(), feedback).await?;
            return Ok(cap.group());
        }
        let (shortest, longest) = HOLD_MS;
        let until = named_ms
            .map(|wait_ms| now.plus(wait_ms.clamp(shortest, longest).div_ceil(1_000) * 1_000));
        // If refusals are dear answers, too, they are not given back, and all that they cost is
        // charged on top of the hold: whether the upstream has counted it in the wait that it names is
        // not known, and if not, the request at its end would be refused as well. If it has, we are
        // slow for as many tokens, once.
        let charged = endpoint.answer_cost().filter(|cost| cost.status().contains(429));
        let is_charged = hints.refused_is_charged || charged.is_some();
        ctx.report(call.group(), rejected(until, endpoint.cost(), is_charged)).await?;
        if let Some(cost) = charged {
            ctx.report(call.group(), Feedback::Charged { extra: cost.requests() }).await?;
        }
        Ok(call.group())
    }

    /// The groups that stand still if the upstream does not let the credential in here: all that its
    /// family may ask of the category.
    fn closed_with(&self, call: &Call<'_>) -> Vec<LimitGroup> {
        match call.endpoint.category() {
            Some(category) => self.catalogue.groups_in(category, call.family).into_iter().collect(),
            None => call.endpoint.groups_of(call.family).cloned().collect(),
        }
    }
}

/// A request that is ready to go.
struct Call<'a> {
    endpoint: &'a Endpoint,
    family: &'a str,
    url: Url,
    /// The URL without its query, for logs and errors.
    shown: String,
    headers: HeaderMap,
    body: Option<String>,
    credential: &'a Credential,
}

impl Call<'_> {
    fn needs(&self) -> Needs {
        self.endpoint.needs_of(self.family)
    }

    fn group(&self) -> &LimitGroup {
        self.endpoint.group_of(self.family)
    }
}
