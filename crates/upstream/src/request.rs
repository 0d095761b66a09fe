use waitless_job::JobId;

use crate::{BaseUrl, Secret};

/// Who asks: a credential, and the family of credentials it belongs to, whose limits it has.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Goes into the header that the catalogue names.
    pub secret: Secret,
    /// One of the catalogue's families.
    pub family: String,
}

/// One request to one endpoint of a catalogue.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) endpoint: String,
    pub(crate) credential: Credential,
    pub(crate) job: JobId,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) base_url: Option<BaseUrl>,
}

impl Request {
    /// A request to an endpoint on behalf of a job, whose id goes along in the header `X-Job-Id`.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, credential: Credential, job: JobId) -> Self {
        Self { endpoint: endpoint.into(), credential, job, query: Vec::new(), base_url: None }
    }

    /// With another parameter in its query.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// To another place than the catalogue says: a sandbox, or a stand-in for tests.
    ///
    /// The credential goes there. Whoever calls this makes sure that the place was chosen by
    /// whoever owns the credential, and not by whoever enqueues jobs.
    #[must_use]
    pub fn base_url(self, base_url: Option<BaseUrl>) -> Self {
        Self { base_url, ..self }
    }
}
