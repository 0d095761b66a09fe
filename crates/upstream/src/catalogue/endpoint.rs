use std::collections::BTreeMap;

use reqwest::{
    Method,
    header::{HeaderName, HeaderValue},
};
use waitless_job::{Cost, LimitGroup, Need, Needs, Policy};

use crate::{BaseUrl, Secret, UpstreamError};

/// The endpoints that draw on one bucket, and its policies.
#[derive(Debug, Clone)]
pub struct Group {
    pub(super) name: LimitGroup,
    pub(super) policies: BTreeMap<String, Policy>,
}

impl Group {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &LimitGroup {
        &self.name
    }

    /// Its policy for a family of credentials; `None` if it is closed to it.
    #[must_use]
    pub fn policy(&self, family: &str) -> Option<Policy> {
        self.policies.get(family).copied()
    }
}

/// Something an upstream can be asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) host: BaseUrl,
    pub(super) path: String,
    pub(super) group: LimitGroup,
    pub(super) cost: Cost,
    pub(super) page_rows: Option<u32>,
}

impl Endpoint {
    /// Its name in the catalogue.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The verb.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Where it is, unless a request says otherwise.
    #[must_use]
    pub fn host(&self) -> &BaseUrl {
        &self.host
    }

    /// Its path below the host.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The group whose bucket it draws on.
    #[must_use]
    pub fn group(&self) -> &LimitGroup {
        &self.group
    }

    /// Tokens that one request takes.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The tokens of one request, as a job says what it needs.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs::new([Need { group: self.group.clone(), cost: self.cost }])
    }

    /// About how many rows a full page has, if that is known.
    #[must_use]
    pub fn page_rows(&self) -> Option<u32> {
        self.page_rows
    }
}

/// The header that carries the credential.
#[derive(Debug, Clone)]
pub struct CredentialHeader {
    pub(super) name: HeaderName,
    pub(super) prefix: String,
}

impl CredentialHeader {
    pub(crate) fn header(
        &self,
        secret: &Secret,
    ) -> Result<(HeaderName, HeaderValue), UpstreamError> {
        let text = format!("{}{}", self.prefix, secret.reveal());
        let mut value = HeaderValue::from_str(&text).map_err(|_| UpstreamError::UnfitCredential)?;
        // Left out of the HTTP library's own Debug, and of the header compression of HTTP/2.
        value.set_sensitive(true);
        Ok((self.name.clone(), value))
    }
}
