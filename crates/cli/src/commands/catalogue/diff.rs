use anyhow::Result;
use serde::Serialize;
use waitless_job::Policy;
use waitless_upstream::{Catalogue, Change, PolicyChange, changes};

use crate::{
    args::Global,
    format::printable,
    output::{self, Listed},
};

/// A change, as a line of a list.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Line(Change);

pub(super) fn diff(global: &Global, old: &Catalogue, new: &Catalogue) -> Result<()> {
    let lines: Vec<Line> = changes(old, new).into_iter().map(Line).collect();
    if lines.is_empty() && global.output().is_for_people() {
        return output::print("no difference");
    }
    output::list(global.output(), &lines)
}

impl Line {
    /// What the change is about.
    fn subject(&self) -> String {
        match &self.0 {
            Change::Upstream { .. } => "-".to_owned(),
            Change::Policy { group, .. } => group.to_string(),
            Change::Added { operation, .. }
            | Change::Removed { operation, .. }
            | Change::Moved { operation, .. }
            | Change::Endpoint { operation, .. } => printable(operation),
        }
    }
}

impl Listed for Line {
    const COLUMNS: &'static [&'static str] = &["change", "what", "from", "to", "for"];
    const NARROW: usize = 5;

    fn cells(&self) -> Vec<String> {
        let none = || "-".to_owned();
        let given = |text: &str| if text.is_empty() { none() } else { printable(text) };
        let (change, from, to, whose) = match &self.0 {
            Change::Upstream { field, from, to } | Change::Endpoint { field, from, to, .. } => {
                (*field, given(from), given(to), none())
            }
            Change::Added { endpoint, .. } => ("added", none(), endpoint.clone(), none()),
            Change::Removed { endpoint, .. } => ("removed", endpoint.clone(), none(), none()),
            Change::Policy { policy, .. } => {
                ("policy", shown(policy.from), shown(policy.to), policy.family.clone())
            }
            Change::Moved { from, to, families, policies, .. } => {
                let from = with_policies(from.as_str(), policies, |policy| policy.from);
                let to = with_policies(to.as_str(), policies, |policy| policy.to);
                ("moved", from, to, families.join(","))
            }
        };
        vec![change.to_owned(), self.subject(), from, to, whose]
    }

    fn id(&self) -> String {
        self.subject()
    }
}

/// A group, and what it allows to the families for whom that has changed.
fn with_policies(
    group: &str,
    policies: &[PolicyChange],
    policy: fn(&PolicyChange) -> Option<Policy>,
) -> String {
    if policies.is_empty() {
        return group.to_owned();
    }
    let policies = policies.iter();
    let policies = policies.map(|one| format!("{}: {}", one.family, shown(policy(one))));
    format!("{group} ({})", policies.collect::<Vec<_>>().join(", "))
}

fn shown(policy: Option<Policy>) -> String {
    policy.map_or_else(|| "closed".to_owned(), |policy| policy.to_string())
}
