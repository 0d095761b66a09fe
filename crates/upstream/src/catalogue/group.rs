use std::collections::BTreeMap;

use waitless_job::{LimitGroup, Policy};

use super::AnswerCost;

/// The endpoints that draw on one bucket, and its policies.
#[derive(Debug, Clone)]
pub struct Group {
    pub(super) name: LimitGroup,
    pub(super) policies: BTreeMap<String, Policy>,
    pub(super) answer_cost: Option<AnswerCost>,
    pub(super) note: Option<String>,
    pub(super) is_shared: bool,
}

impl Group {
    /// Its name. A group that one endpoint has for itself has the name of the endpoint, with `.day`
    /// behind it if it keeps a daily cap.
    #[must_use]
    pub fn name(&self) -> &LimitGroup {
        &self.name
    }

    /// Its policy for a family of credentials; `None` if it is closed to it.
    #[must_use]
    pub fn policy(&self, family: &str) -> Option<Policy> {
        self.policies.get(family).copied()
    }

    /// The families that it is open to, each with its policy.
    pub fn policies(&self) -> impl Iterator<Item = (&str, Policy)> {
        self.policies.iter().map(|(family, policy)| (family.as_str(), *policy))
    }

    /// Whether it is declared for endpoints to share, and not one endpoint's own.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// What answers make dearer, unless its endpoint says otherwise.
    #[must_use]
    pub fn answer_cost(&self) -> Option<AnswerCost> {
        self.answer_cost
    }

    /// What is odd about its numbers.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
