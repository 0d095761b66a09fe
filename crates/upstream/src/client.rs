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
    header::{HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::timeout;
use waitless_job::{
    Feedback, JobContext, LimitGroup, Needs, Permit, Policy, SentPermit, UnixMillis,
};

use crate::{
    Answer, CallError, Catalogue, ClientConfig, Endpoint, Phase, Request, Secret, UpstreamError,
    body::Body,
    classify::{classify, without_query},
    excerpt,
};

const JOB_ID: HeaderName = HeaderName::from_static("x-job-id");

/// Shortest and longest time for which one 429 closes a bucket: 1 second and 7 days. Waits of hours
/// are real; longer ones are taken for a slip of the upstream's.
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
    /// permit parks the job. Neither costs an attempt.
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
        let policy = catalogue.policy_of(endpoint, family)?;
        let policy = policy.ok_or_else(|| UpstreamError::Closed {
            upstream: catalogue.upstream().to_owned(),
            endpoint: request.endpoint.clone(),
            family: family.clone(),
        })?;

        let mut url = request.base_url.as_ref().unwrap_or(endpoint.host()).join(endpoint.path());
        for (name, value) in &request.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        let mut headers = HeaderMap::new();
        let (name, value) = catalogue.credential().header(&request.credential.secret)?;
        headers.insert(name, value);
        let job = HeaderValue::from_str(&request.job.to_string()).expect("a UUID is plain text");
        headers.insert(JOB_ID, job);
        Ok(Call {
            endpoint,
            family,
            shown: without_query(&url),
            url,
            headers,
            secret: request.credential.secret.clone(),
            policy,
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
        // From here to the wire nothing waits.
        let sent = permit.spend(ctx.now()).map_err(CallError::Stale)?;
        let within = Duration::from_millis(self.config.answer_timeout_ms);
        let response = match timeout(within, self.http.execute(http)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let (url, reason) = (call.shown.clone(), excerpt::causes(error, &call.secret));
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
        if status == StatusCode::TOO_MANY_REQUESTS {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let until = self.report_rejection(ctx, call, &sent, &headers).await?;
            return Err(UpstreamError::RateLimited { url: call.shown.clone(), until }.into());
        }
        self.report_remaining(ctx, call, &sent, &headers).await;
        let body = Body::new(response, call.shown.clone(), call.secret.clone(), &self.config);
        Ok(classify(status, &headers, body, self.catalogue.hints()).await?)
    }

    /// The answer is worth more than the hint in its head: that the bucket could not be told is
    /// logged, and the call goes on.
    async fn report_remaining(
        &self,
        ctx: &JobContext,
        call: &Call<'_>,
        sent: &SentPermit,
        headers: &HeaderMap,
    ) {
        let remaining = self.catalogue.hints().remaining(headers);
        let feedback = Feedback::Accepted { remaining, in_flight: 0, sent_at: sent.sent_at };
        if let Err(leave) = ctx.report(call.group(), feedback).await {
            tracing::warn!(?leave, group = %call.group(), "the bucket could not be told its level");
        }
    }

    /// Closes the bucket until the upstream takes requests again.
    async fn report_rejection(
        &self,
        ctx: &JobContext,
        call: &Call<'_>,
        sent: &SentPermit,
        headers: &HeaderMap,
    ) -> Result<UnixMillis, CallError> {
        let hints = self.catalogue.hints();
        let named_ms = hints.retry_ms(headers);
        let (shortest, longest) = HOLD_MS;
        let wait_ms = named_ms.unwrap_or(call.policy.interval_ms()).clamp(shortest, longest);
        let until = ctx.now().plus(wait_ms.div_ceil(1_000) * 1_000);
        tracing::warn!(
            url = call.shown,
            wait_ms,
            named = named_ms.is_some(),
            "the upstream refused a request for its rate; its bucket is closed"
        );
        let refund = (!hints.refused_is_charged).then(|| call.endpoint.cost());
        let rejected = Feedback::Rejected {
            // Where the answer names no wait, the bucket knows better how long it has to be.
            until: named_ms.map(|_| until),
            refund,
            sent_at: sent.sent_at,
        };
        ctx.report(call.group(), rejected).await?;
        Ok(until)
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
    secret: Secret,
    policy: Policy,
}

impl Call<'_> {
    fn needs(&self) -> Needs {
        self.endpoint.needs_of(self.family)
    }

    fn group(&self) -> &LimitGroup {
        self.endpoint.group_of(self.family)
    }
}
