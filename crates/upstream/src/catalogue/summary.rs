use serde::Serialize;

use super::Catalogue;

/// How much is in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Endpoints: pairs of method and URL.
    pub operations: usize,
    /// Limit groups, that is, buckets of an account that may do everything.
    pub groups: usize,
    /// Those of them that are declared for endpoints to share.
    pub shared_groups: usize,
    /// Families of credentials.
    pub families: usize,
    /// Categories of endpoints.
    pub categories: usize,
    /// Endpoints that the upstream advises against.
    pub deprecated: usize,
    /// Endpoints that were switched off by the day of the facts.
    pub removed: usize,
    /// Endpoints whose end is announced for a later day.
    pub ending: usize,
    /// Endpoints with a daily cap.
    pub daily_caps: usize,
}

impl Catalogue {
    /// How much is in it.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let count = |keep: &dyn Fn(&super::Endpoint) -> bool| {
            self.endpoints().filter(|endpoint| keep(endpoint)).count()
        };
        let removed = count(&|endpoint| endpoint.is_removed_on(&self.facts_as_of));
        Summary {
            operations: self.endpoints.len(),
            groups: self.groups.len(),
            shared_groups: self.groups().filter(|group| group.is_shared()).count(),
            families: self.families.len(),
            categories: self.categories.len(),
            deprecated: count(&super::Endpoint::is_deprecated),
            removed,
            ending: count(&|endpoint| endpoint.removed().is_some()) - removed,
            daily_caps: count(&|endpoint| endpoint.daily_cap().is_some()),
        }
    }
}
