use serde_json::Value;
use waitless_job::JobId;

use crate::{BaseUrl, Secret};

/// Who asks: a credential, and the family of credentials it belongs to, whose limits it has.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Goes into the header that the catalogue names.
    pub secret: Secret,
    /// Of whoever made the program that asks. Goes into a header of its own, for families whose
    /// credentials are only good with it: see [`CredentialHeader::client_secret`].
    ///
    /// [`CredentialHeader::client_secret`]: crate::CredentialHeader::client_secret
    pub client_secret: Option<Secret>,
    /// One of the catalogue's families.
    pub family: String,
}

impl Credential {
    /// A credential that is good by itself.
    #[must_use]
    pub fn new(secret: Secret, family: impl Into<String>) -> Self {
        Self { secret, client_secret: None, family: family.into() }
    }

    /// The text with every occurrence of its secrets blotted out, as [`Secret::redact`] does.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let text = self.secret.redact(text);
        match &self.client_secret {
            Some(secret) => secret.redact(&text),
            None => text,
        }
    }
}

/// One request to one endpoint of a catalogue.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) endpoint: String,
    pub(crate) credential: Credential,
    pub(crate) job: JobId,
    pub(crate) places: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<Value>,
    pub(crate) base_url: Option<BaseUrl>,
}

impl Request {
    /// A request to an endpoint on behalf of a job, whose id goes along in the header `X-Job-Id`.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, credential: Credential, job: JobId) -> Self {
        Self {
            endpoint: endpoint.into(),
            credential,
            job,
            places: Vec::new(),
            query: Vec::new(),
            body: None,
            base_url: None,
        }
    }

    /// With a value in a place of the endpoint's path: see [`Endpoint::path_with`].
    ///
    /// [`Endpoint::path_with`]: crate::Endpoint::path_with
    #[must_use]
    pub fn place(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.places.push((name.into(), value.into()));
        self
    }

    /// With another parameter in its query.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// With a body of JSON. Default none.
    #[must_use]
    pub fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
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
