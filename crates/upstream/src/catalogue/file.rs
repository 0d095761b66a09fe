//! The keys of a catalogue file, as they stand there.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, value::Datetime};

use crate::RetryUnit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) upstream: Spanned<String>,
    pub(super) facts_as_of: Spanned<Datetime>,
    pub(super) families: Spanned<Vec<Spanned<String>>>,
    pub(super) credential: Credential,
    pub(super) answers: Answers,
    pub(super) hosts: BTreeMap<String, Host>,
    pub(super) groups: Vec<Group>,
    pub(super) endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Credential {
    pub(super) header: Spanned<String>,
    #[serde(default)]
    pub(super) prefix: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answers {
    pub(super) remaining: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) retry: Vec<Retry>,
    pub(super) refused_is_charged: bool,
    #[serde(default)]
    pub(super) message_fields: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    pub(super) header: Spanned<String>,
    pub(super) unit: RetryUnit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    pub(super) url: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: Spanned<String>,
    pub(super) limits: Spanned<Vec<Limit>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    /// None for every family.
    pub(super) families: Option<Vec<Spanned<String>>>,
    pub(super) policy: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub(super) name: Spanned<String>,
    pub(super) method: Spanned<String>,
    pub(super) host: Spanned<String>,
    pub(super) path: Spanned<String>,
    pub(super) group: Spanned<String>,
    pub(super) cost: Option<Spanned<u32>>,
    pub(super) page_rows: Option<Spanned<u32>>,
}
