use std::collections::BTreeSet;

use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use waitless_job::{Cost, LimitGroup, Need, Needs};

use super::{AnswerCost, DailyCap, PathError, path};
use crate::{BaseUrl, Credential, UpstreamError};

/// Something an upstream can be asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) host: BaseUrl,
    pub(super) sandbox: Option<BaseUrl>,
    pub(super) path: String,
    pub(super) category: Option<String>,
    pub(super) group: LimitGroup,
    /// The group of its own, and the families that draw on it instead of on `group`.
    pub(super) exception: Option<(LimitGroup, BTreeSet<String>)>,
    pub(super) families: BTreeSet<String>,
    pub(super) cost: Cost,
    pub(super) answer_cost: Option<AnswerCost>,
    pub(super) daily_cap: Option<DailyCap>,
    pub(super) page_rows: Option<u32>,
    pub(super) readonly: Option<bool>,
    pub(super) deprecated: bool,
    pub(super) removed: Option<String>,
    pub(super) replaced_by: Option<String>,
    pub(super) note: Option<String>,
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

    /// Where it can be tried out, if it can be.
    #[must_use]
    pub fn sandbox(&self) -> Option<&BaseUrl> {
        self.sandbox.as_ref()
    }

    /// Its path below the host, perhaps with places to fill in: `/tasks/{task_id}/status`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path with values in its places. A value stays one segment whatever is in it.
    ///
    /// # Errors
    /// [`PathError`] for a place without a value, a value without a place, or one that is empty,
    /// `.` or `..`.
    pub fn path_with(&self, values: &[(&str, &str)]) -> Result<String, PathError> {
        path::fill(&self.path, values)
    }

    /// Method, URL and path in one, which no other endpoint of the catalogue has.
    #[must_use]
    pub fn operation(&self) -> String {
        format!("{} {}{}", self.method, self.host, self.path)
    }

    /// The category that a credential must hold.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref()
    }

    /// The group whose bucket it draws on, unless a family has an exception: see
    /// [`Endpoint::group_of`].
    #[must_use]
    pub fn group(&self) -> &LimitGroup {
        &self.group
    }

    /// The group whose bucket it draws on for a family.
    #[must_use]
    pub fn group_of(&self, family: &str) -> &LimitGroup {
        match &self.exception {
            Some((group, families)) if families.contains(family) => group,
            _ => &self.group,
        }
    }

    /// Whether credentials of a family are let in.
    #[must_use]
    pub fn is_open_to(&self, family: &str) -> bool {
        self.families.contains(family)
    }

    /// The families that are let in.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.families.iter().map(String::as_str)
    }

    /// Tokens that one request takes.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// What answers make of that.
    #[must_use]
    pub fn answer_cost(&self) -> Option<AnswerCost> {
        self.answer_cost
    }

    /// The most requests of a day, beside what the bucket allows.
    #[must_use]
    pub fn daily_cap(&self) -> Option<&DailyCap> {
        self.daily_cap.as_ref()
    }

    /// The groups whose buckets it draws on for a family: [`Endpoint::group_of`], and the one that
    /// keeps its daily cap.
    pub fn groups_of(&self, family: &str) -> impl Iterator<Item = &LimitGroup> {
        std::iter::once(self.group_of(family)).chain(self.daily_cap().map(DailyCap::group))
    }

    /// The tokens of one request, as a job says what it needs: [`Endpoint::cost`] of its group, and
    /// one of its daily cap.
    #[must_use]
    pub fn needs_of(&self, family: &str) -> Needs {
        let one = Need { group: self.group_of(family).clone(), cost: self.cost };
        let cap = self.daily_cap().map(|cap| Need { group: cap.group().clone(), cost: Cost::ONE });
        Needs::new(std::iter::once(one).chain(cap))
    }

    /// About how many rows a full page has, if that is known.
    #[must_use]
    pub fn page_rows(&self) -> Option<u32> {
        self.page_rows
    }

    /// Whether a credential that may only read may ask it; `None` if that is not known. For readers of
    /// the catalogue and of what differs between two: no request is refused for it.
    #[must_use]
    pub fn readonly(&self) -> Option<bool> {
        self.readonly
    }

    /// Whether its upstream advises against it.
    #[must_use]
    pub fn is_deprecated(&self) -> bool {
        self.deprecated
    }

    /// The day since which it is switched off, or will be, as `2026-10-01`.
    #[must_use]
    pub fn removed(&self) -> Option<&str> {
        self.removed.as_deref()
    }

    /// Whether it is switched off on a day such as `2026-10-01`.
    #[must_use]
    pub fn is_removed_on(&self, day: &str) -> bool {
        // Days in this form are in the order of their text.
        self.removed.as_deref().is_some_and(|removed| removed <= day)
    }

    /// The endpoint to ask instead.
    #[must_use]
    pub fn replaced_by(&self) -> Option<&str> {
        self.replaced_by.as_deref()
    }

    /// What is odd about it.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

/// The headers that carry a credential.
#[derive(Debug, Clone)]
pub struct CredentialHeader {
    pub(super) name: HeaderName,
    pub(super) prefix: String,
    pub(super) client_secret: Option<ClientSecretHeader>,
}

/// The header that carries the secret of whoever made the program that asks.
#[derive(Debug, Clone)]
pub struct ClientSecretHeader {
    pub(super) name: HeaderName,
    pub(super) families: BTreeSet<String>,
}

impl ClientSecretHeader {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Whether a family's credentials are only good with it. Others go without.
    #[must_use]
    pub fn is_needed_by(&self, family: &str) -> bool {
        self.families.contains(family)
    }
}

impl CredentialHeader {
    /// What some families need beside their credential.
    #[must_use]
    pub fn client_secret(&self) -> Option<&ClientSecretHeader> {
        self.client_secret.as_ref()
    }

    pub(crate) fn headers(&self, credential: &Credential) -> Result<HeaderMap, UpstreamError> {
        let mut headers = HeaderMap::new();
        let text = format!("{}{}", self.prefix, credential.secret.reveal());
        headers.insert(self.name.clone(), sensitive(&text)?);
        let needed = self.client_secret.as_ref();
        if let Some(header) = needed.filter(|header| header.is_needed_by(&credential.family)) {
            let secret = credential.client_secret.as_ref();
            let secret = secret.ok_or_else(|| UpstreamError::NoClientSecret {
                family: credential.family.clone(),
                header: header.name.to_string(),
            })?;
            headers.insert(header.name.clone(), sensitive(secret.reveal())?);
        }
        Ok(headers)
    }
}

/// Left out of the HTTP library's own Debug, and of the header compression of HTTP/2.
fn sensitive(text: &str) -> Result<HeaderValue, UpstreamError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| UpstreamError::UnfitCredential)?;
    value.set_sensitive(true);
    Ok(value)
}
