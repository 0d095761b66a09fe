//! What one catalogue has that another has not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use waitless_job::{LimitGroup, Policy};

use super::{Catalogue, Endpoint};

/// A difference between two catalogues. Endpoints are the same if their method and URL are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A fact about the whole upstream.
    Upstream {
        /// Which.
        field: &'static str,
        /// What it was.
        from: String,
        /// What it is.
        to: String,
    },
    /// An endpoint is new.
    Added {
        /// Method and URL.
        operation: String,
        /// Its name.
        endpoint: String,
    },
    /// An endpoint is gone.
    Removed {
        /// Method and URL.
        operation: String,
        /// Its name.
        endpoint: String,
    },
    /// A bucket that both have allows something else.
    Policy {
        /// The group.
        group: LimitGroup,
        /// What changed for whom.
        #[serde(flatten)]
        policy: PolicyChange,
    },
    /// An endpoint draws on another bucket.
    Moved {
        /// Method and URL.
        operation: String,
        /// The bucket it drew on.
        from: LimitGroup,
        /// The bucket it draws on.
        to: LimitGroup,
        /// For which families, and what that changed for them if it did.
        families: Vec<String>,
        /// For whom it allows something else.
        policies: Vec<PolicyChange>,
    },
    /// Another fact about an endpoint.
    Endpoint {
        /// Method and URL.
        operation: String,
        /// Which.
        field: &'static str,
        /// What it was; empty if it was not there.
        from: String,
        /// What it is; empty if it is not there.
        to: String,
    },
}

/// What is allowed now to a family, and what was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyChange {
    /// The family.
    pub family: String,
    /// What was allowed; none if it was closed.
    pub from: Option<Policy>,
    /// What is allowed; none if it is closed.
    pub to: Option<Policy>,
}

/// What has to be done to one catalogue to make another of it: first what was added and removed,
/// then buckets, then endpoints.
#[must_use]
pub fn changes(old: &Catalogue, new: &Catalogue) -> Vec<Change> {
    let mut changes = upstream(old, new);
    let operations = |catalogue| -> BTreeMap<String, &Endpoint> {
        let endpoints = Catalogue::endpoints(catalogue);
        endpoints.map(|endpoint| (endpoint.operation(), endpoint)).collect()
    };
    let (before, after) = (operations(old), operations(new));
    for (operation, endpoint) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        let (operation, endpoint) = (operation.clone(), endpoint.name().to_owned());
        changes.push(Change::Added { operation, endpoint });
    }
    for (operation, endpoint) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
        let (operation, endpoint) = (operation.clone(), endpoint.name().to_owned());
        changes.push(Change::Removed { operation, endpoint });
    }
    let families: BTreeSet<&String> = old.families.iter().chain(&new.families).collect();
    for (name, was) in &old.groups {
        let Some(is) = new.groups.get(name) else { continue };
        for family in &families {
            let (from, to) = (was.policy(family), is.policy(family));
            if from != to {
                let policy = PolicyChange { family: (*family).clone(), from, to };
                changes.push(Change::Policy { group: name.clone(), policy });
            }
        }
    }
    for (operation, was) in &before {
        if let Some(is) = after.get(operation) {
            changes.extend(moves(operation, (old, was), (new, is), &families));
            changes.extend(facts(operation, was, is));
        }
    }
    changes
}

fn upstream(old: &Catalogue, new: &Catalogue) -> Vec<Change> {
    let fields = |catalogue: &Catalogue| {
        [
            ("upstream", catalogue.upstream.clone()),
            ("facts_as_of", catalogue.facts_as_of.clone()),
            ("families", catalogue.families.join(", ")),
        ]
    };
    let pairs = fields(old).into_iter().zip(fields(new));
    let changed = pairs.filter(|((_, from), (_, to))| from != to);
    changed.map(|((field, from), (_, to))| Change::Upstream { field, from, to }).collect()
}

/// One change for each pair of buckets that families have moved between.
fn moves(
    operation: &str,
    (old, was): (&Catalogue, &Endpoint),
    (new, is): (&Catalogue, &Endpoint),
    families: &BTreeSet<&String>,
) -> Vec<Change> {
    let mut moves: BTreeMap<_, (Vec<String>, Vec<PolicyChange>)> = BTreeMap::new();
    for family in families {
        let (from, to) = (was.group_of(family), is.group_of(family));
        if from == to || !(was.is_open_to(family) && is.is_open_to(family)) {
            continue;
        }
        let (moved, policies) = moves.entry((from.clone(), to.clone())).or_default();
        moved.push((*family).clone());
        let policy = |catalogue: &Catalogue, endpoint| {
            catalogue.policy_of(endpoint, family).expect("the endpoint is open to the family")
        };
        let (from, to) = (policy(old, was), policy(new, is));
        if from != to {
            policies.push(PolicyChange { family: (*family).clone(), from, to });
        }
    }
    let change = |((from, to), (families, policies))| Change::Moved {
        operation: operation.to_owned(),
        from,
        to,
        families,
        policies,
    };
    moves.into_iter().map(change).collect()
}

fn facts(operation: &str, was: &Endpoint, is: &Endpoint) -> Vec<Change> {
    let pairs = fields(was).into_iter().zip(fields(is));
    let changed = pairs.filter(|((_, from), (_, to))| from != to);
    let change = |((field, from), (_, to))| Change::Endpoint {
        operation: operation.to_owned(),
        field,
        from,
        to,
    };
    changed.map(change).collect()
}

fn fields(endpoint: &Endpoint) -> [(&'static str, String); 12] {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let cap = endpoint.daily_cap();
    [
        ("name", endpoint.name().to_owned()),
        ("category", text(endpoint.category())),
        ("families", endpoint.families().collect::<Vec<_>>().join(", ")),
        ("cost", endpoint.cost().tokens().to_string()),
        ("answer_cost", text(endpoint.answer_cost())),
        ("daily_cap", text(cap.map(|cap| cap.requests()))),
        ("page_rows", text(endpoint.page_rows())),
        ("readonly", text(endpoint.readonly())),
        ("sandbox", text(endpoint.sandbox())),
        ("deprecated", endpoint.is_deprecated().to_string()),
        ("removed", text(endpoint.removed())),
        ("replaced_by", text(endpoint.replaced_by())),
    ]
}
