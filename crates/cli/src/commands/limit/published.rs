//! The limits that an upstream publishes, from its catalogue: no store is needed.

use anyhow::Result;
use serde::Serialize;
use waitless_job::LimitGroup;
use waitless_upstream::{Catalogue, Endpoint, Group};

use crate::{
    args::Global,
    commands::catalogue,
    exit::{Exit, Failure},
    format::printable,
    output::{self, Listed, Output},
};

/// What one bucket allows to families that are alike in that.
#[derive(Debug, Serialize)]
struct Published {
    group: LimitGroup,
    /// Kinds of tokens.
    families: Vec<String>,
    /// As text.
    policy: waitless_bucket::Policy,
    /// Whether several endpoints may draw on it.
    shared: bool,
    /// Those that do, by name.
    endpoints: Vec<String>,
    /// What answers make dearer: `4xx=10`.
    answer_cost: Option<String>,
    /// The most requests of a day.
    daily_cap: Option<u32>,
    /// `deprecated`, or the day on which the last of its endpoints is switched off.
    state: Option<String>,
    /// What is odd about it.
    note: Option<String>,
}

pub(super) fn list(global: &Global, upstream: &str, token_type: Option<&str>) -> Result<()> {
    let catalogue = catalogue::open(upstream)?;
    if let Some(family) = token_type
        && !catalogue.families().iter().any(|known| known == family)
    {
        let problem = format!(
            "{} has no tokens of type `{}`; it has {}",
            catalogue.upstream(),
            printable(family),
            catalogue.families().join(", ")
        );
        return Err(Failure::new(Exit::NotFound, problem));
    }
    let mut limits: Vec<Published> =
        catalogue.groups().flat_map(|group| published(&catalogue, group, token_type)).collect();
    if global.output() == Output::Id {
        limits.dedup_by(|a, b| a.group == b.group);
    }
    output::list(global.output(), &limits)
}

/// One for each policy that a group has for somebody. Families that no endpoint lets in have none.
fn published(catalogue: &Catalogue, group: &Group, token_type: Option<&str>) -> Vec<Published> {
    let mut limits: Vec<Published> = Vec::new();
    let families = catalogue.families().iter();
    for family in families.filter(|family| token_type.is_none_or(|only| only == *family)) {
        let Some(policy) = group.policy(family) else { continue };
        let drawing: Vec<&Endpoint> = catalogue
            .endpoints()
            .filter(|endpoint| endpoint.is_open_to(family))
            .filter(|endpoint| endpoint.groups_of(family).any(|drawn| drawn == group.name()))
            .collect();
        if drawing.is_empty() {
            continue;
        }
        let endpoints: Vec<String> =
            drawing.iter().map(|endpoint| endpoint.name().to_owned()).collect();
        let alike =
            limits.iter_mut().find(|known| known.policy == policy && known.endpoints == endpoints);
        if let Some(alike) = alike {
            alike.families.push(family.clone());
            continue;
        }
        let answer_cost = group.answer_cost().map(|cost| cost.to_string());
        limits.push(Published {
            group: group.name().clone(),
            families: vec![family.clone()],
            policy,
            shared: group.is_shared(),
            endpoints,
            answer_cost,
            daily_cap: drawing
                .iter()
                .filter_map(|endpoint| endpoint.daily_cap())
                .map(|cap| cap.requests())
                .min(),
            state: state(&drawing),
            note: group.note().map(str::to_owned),
        });
    }
    limits
}

fn state(endpoints: &[&Endpoint]) -> Option<String> {
    let last = endpoints.iter().map(|endpoint| endpoint.removed()).collect::<Option<Vec<_>>>();
    match last.and_then(|days| days.into_iter().max()) {
        Some(day) => Some(format!("off {day}")),
        None if endpoints.iter().all(|endpoint| endpoint.is_deprecated()) => {
            Some("deprecated".to_owned())
        }
        None => None,
    }
}

impl Listed for Published {
    const COLUMNS: &'static [&'static str] = &[
        "group",
        "limit",
        "tokens",
        "endpoints",
        "answers",
        "a day",
        "state",
        "which endpoints",
        "note",
    ];
    const NARROW: usize = 7;

    fn cells(&self) -> Vec<String> {
        let none = || "-".to_owned();
        vec![
            self.group.to_string(),
            self.policy.to_string(),
            self.families.join(","),
            self.endpoints.len().to_string(),
            self.answer_cost.clone().unwrap_or_else(none),
            self.daily_cap.map_or_else(none, |cap| cap.to_string()),
            self.state.clone().unwrap_or_else(none),
            self.endpoints.join(","),
            self.note.as_deref().map_or_else(none, printable),
        ]
    }

    fn id(&self) -> String {
        self.group.to_string()
    }
}
