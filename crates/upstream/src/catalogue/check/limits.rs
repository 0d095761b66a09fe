//! Policies by family, and the groups that endpoints share.

use std::collections::{BTreeMap, BTreeSet};

use waitless_job::{LimitGroup, Policy};

use super::{Families, Fields, Value, answer_cost, name, twice};
use crate::catalogue::{Group, fields::Texts};

const GROUP: &[&str] = &["name", "limits", "answer_cost", "note"];

/// The groups that are declared, with the places of their names.
#[derive(Default)]
pub(in crate::catalogue) struct Groups {
    /// Those that can be.
    pub(super) good: BTreeMap<LimitGroup, Group>,
    /// The names of all, so that nobody calls one unknown that is merely wrong.
    pub(super) names: Vec<Value<String>>,
}

impl Groups {
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.names.iter().any(|declared| declared.is == name)
    }

    /// Notes those that nobody draws on.
    pub(super) fn note_orphans(&self, fields: &Fields<'_, '_, '_>, used: &BTreeSet<String>) {
        for orphan in self.names.iter().filter(|declared| !used.contains(&declared.is)) {
            let problem = format!("no endpoint draws on group `{}`", orphan.is.escape_debug());
            orphan.wrong(fields.problems, problem);
        }
    }
}

pub(super) fn groups(file: &Fields<'_, '_, '_>, families: &Families) -> Groups {
    let mut groups = Groups::default();
    for raw in file.tables("groups", "group", GROUP) {
        let policies = limits(&raw, families);
        if policies.is_none() && raw.text_or_texts("limits").is_none() {
            raw.note("missing field `limits`");
        }
        let answer_cost = answer_cost(&raw);
        let note = raw.text("note").map(|note| note.is);
        let Some(text) = raw.need_text("name") else { continue };
        if groups.is_declared(&text.is) {
            twice(&raw, &text);
            continue;
        }
        groups.names.push(text.clone());
        let name = name(&raw, &text).and_then(|name| LimitGroup::new(name).ok());
        if let (Some(name), Some(policies)) = (name, policies) {
            let group = Group { name: name.clone(), policies, answer_cost, note, is_shared: true };
            groups.good.insert(name, group);
        }
    }
    groups
}

/// `limits = "3/30s"` for all families, or by family: `limits = { full = "3/30s" }`. `None` if
/// there are none, or if something was noted.
pub(super) fn limits(
    fields: &Fields<'_, '_, '_>,
    families: &Families,
) -> Option<BTreeMap<String, Policy>> {
    match fields.text_or_texts("limits")? {
        Texts::One(text) => {
            let policy = policy(fields, &text)?;
            Some(families.all.iter().map(|family| (family.clone(), policy)).collect())
        }
        Texts::Named(named) => {
            let mut policies = BTreeMap::new();
            let mut is_whole = true;
            for (whose, text) in &named.is {
                let policy = policy(fields, text);
                let whose_families = families.named(fields, whose);
                is_whole &= policy.is_some() && !whose_families.is_empty();
                for family in whose_families {
                    if policy
                        .is_some_and(|policy| policies.insert(family.clone(), policy).is_some())
                    {
                        let problem = format!("family `{family}` has another policy already");
                        whose.wrong(fields.problems, problem);
                    }
                }
            }
            if named.is.is_empty() {
                named.wrong(fields.problems, "at least one policy is needed");
                return None;
            }
            is_whole.then_some(policies)
        }
    }
}

fn policy(fields: &Fields<'_, '_, '_>, text: &Value<String>) -> Option<Policy> {
    let policy = text.is.parse();
    policy
        .map_err(|error: waitless_bucket::PolicyError| {
            text.wrong(fields.problems, error.to_string());
        })
        .ok()
}
