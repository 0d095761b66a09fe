//! From the keys of a file to a catalogue that can be.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, header::HeaderName};
use toml::Spanned;
use waitless_job::{Cost, LimitGroup, Policy};

use super::{Catalogue, CatalogueError, CredentialHeader, Endpoint, Group, error::Source, file};
use crate::{BaseUrl, Hints, RetryHint};

type Result<T> = std::result::Result<T, CatalogueError>;

/// The verbs that an endpoint may have.
const METHODS: [Method; 5] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

pub(super) fn check(source: Source<'_>, file: file::File) -> Result<Catalogue> {
    let upstream = name(source, "upstream", &file.upstream)?;
    let facts_as_of = file.facts_as_of.get_ref();
    if facts_as_of.date.is_none() || facts_as_of.time.is_some() {
        let problem = "a day such as 2026-10-01 is expected";
        return Err(source.error(file.facts_as_of.span(), "facts_as_of", problem));
    }
    let families = families(source, &file.families)?;
    let hosts = hosts(source, &file.hosts)?;
    let groups = groups(source, &file.groups, &families)?;
    let endpoints = endpoints(source, &file.endpoints, &hosts, &groups)?;
    Ok(Catalogue {
        upstream,
        facts_as_of: facts_as_of.to_string(),
        credential: CredentialHeader {
            name: header(source, "credential.header", &file.credential.header)?,
            prefix: file.credential.prefix,
        },
        hints: hints(source, file.answers)?,
        families,
        groups,
        endpoints,
    })
}

fn name(source: Source<'_>, field: &str, text: &Spanned<String>) -> Result<String> {
    // The alphabet of limit groups, accounts and lanes, of which names become parts.
    let checked = LimitGroup::new(text.get_ref()).map_err(|_| {
        let problem = format!(
            "`{}` is no name: use 1 to 64 of the characters A-Z a-z 0-9 . _ -",
            text.get_ref().escape_debug()
        );
        source.error(text.span(), field, problem)
    })?;
    Ok(checked.as_str().to_owned())
}

fn header(source: Source<'_>, field: &str, text: &Spanned<String>) -> Result<HeaderName> {
    text.get_ref().parse().map_err(|_| {
        let problem = format!("`{}` is no name of a header", text.get_ref());
        source.error(text.span(), field, problem)
    })
}

fn families(source: Source<'_>, file: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>> {
    let mut families: Vec<String> = Vec::new();
    for family in file.get_ref() {
        let new = name(source, "families", family)?;
        if families.contains(&new) {
            return Err(twice(source, "families", family));
        }
        families.push(new);
    }
    if families.is_empty() {
        let problem = "at least one is needed; call it `any` if all credentials are alike";
        return Err(source.error(file.span(), "families", problem));
    }
    Ok(families)
}

fn hints(source: Source<'_>, answers: file::Answers) -> Result<Hints> {
    let remaining = answers.remaining.as_ref();
    let retry = answers.retry.iter().map(|hint| {
        let header = header(source, "answers.retry.header", &hint.header)?;
        Ok(RetryHint { header, unit: hint.unit })
    });
    Ok(Hints {
        remaining: remaining.map(|name| header(source, "answers.remaining", name)).transpose()?,
        retry: retry.collect::<Result<_>>()?,
        refused_is_charged: answers.refused_is_charged,
        message_fields: answers.message_fields,
    })
}

fn hosts(
    source: Source<'_>,
    file: &BTreeMap<String, file::Host>,
) -> Result<BTreeMap<String, BaseUrl>> {
    let host = |(name, host): (&String, &file::Host)| {
        let url: BaseUrl = host.url.get_ref().parse().map_err(|error: crate::BaseUrlError| {
            source.error(host.url.span(), format!("hosts.{name}.url"), error.to_string())
        })?;
        Ok((name.clone(), url))
    };
    file.iter().map(host).collect()
}

fn groups(
    source: Source<'_>,
    file: &[file::Group],
    families: &[String],
) -> Result<BTreeMap<LimitGroup, Group>> {
    let mut groups = BTreeMap::new();
    for raw in file {
        let text = name(source, "groups.name", &raw.name)?;
        let name = LimitGroup::new(text).expect("it was checked one line above");
        let policies = policies(source, raw, families)?;
        if groups.insert(name.clone(), Group { name, policies }).is_some() {
            return Err(twice(source, "groups.name", &raw.name));
        }
    }
    Ok(groups)
}

fn policies(
    source: Source<'_>,
    group: &file::Group,
    families: &[String],
) -> Result<BTreeMap<String, Policy>> {
    let field = |key: &str| format!("limits.{key} of group `{}`", group.name.get_ref());
    let mut policies = BTreeMap::new();
    for limit in group.limits.get_ref() {
        let (text, span) = (limit.policy.get_ref(), limit.policy.span());
        let policy: Policy = text.parse().map_err(|error: waitless_bucket::PolicyError| {
            source.error(span.clone(), field("policy"), error.to_string())
        })?;
        let named = limit.families.iter().flatten();
        for family in named {
            if !families.contains(family.get_ref()) {
                let problem =
                    format!("no family `{}`; there are {}", family.get_ref(), families.join(", "));
                return Err(source.error(family.span(), field("families"), problem));
            }
        }
        let whose: Vec<String> = match &limit.families {
            None => families.to_vec(),
            Some(named) => named.iter().map(|family| family.get_ref().clone()).collect(),
        };
        for family in whose {
            if policies.insert(family.clone(), policy).is_some() {
                let problem = format!("family `{family}` has another policy already");
                return Err(source.error(span.clone(), field("families"), problem));
            }
        }
    }
    if policies.is_empty() {
        let problem = "at least one policy is needed";
        return Err(source.error(group.limits.span(), field("policy"), problem));
    }
    Ok(policies)
}

fn endpoints(
    source: Source<'_>,
    file: &[file::Endpoint],
    hosts: &BTreeMap<String, BaseUrl>,
    groups: &BTreeMap<LimitGroup, Group>,
) -> Result<BTreeMap<String, Endpoint>> {
    let mut endpoints = BTreeMap::new();
    let mut calls = BTreeSet::new();
    for raw in file {
        let name = name(source, "endpoints.name", &raw.name)?;
        let endpoint = endpoint(source, &name, raw, hosts, groups)?;
        if endpoints.insert(name, endpoint).is_some() {
            return Err(twice(source, "endpoints.name", &raw.name));
        }
        // Two groups for one call would mean two buckets for one quota.
        if !calls.insert((raw.method.get_ref(), raw.host.get_ref(), raw.path.get_ref())) {
            return Err(twice(source, "endpoints.path", &raw.path));
        }
    }
    Ok(endpoints)
}

fn endpoint(
    source: Source<'_>,
    name: &str,
    raw: &file::Endpoint,
    hosts: &BTreeMap<String, BaseUrl>,
    groups: &BTreeMap<LimitGroup, Group>,
) -> Result<Endpoint> {
    let wrong = |text: &Spanned<String>, key: &str, problem: String| {
        source.error(text.span(), format!("{key} of endpoint `{name}`"), problem)
    };
    let method = METHODS.into_iter().find(|method| method.as_str() == raw.method.get_ref());
    let method = method.ok_or_else(|| {
        let all = METHODS.map(|method| method.to_string()).join(", ");
        wrong(&raw.method, "method", format!("`{}` is none of {all}", raw.method.get_ref()))
    })?;
    let host = hosts.get(raw.host.get_ref()).ok_or_else(|| {
        wrong(&raw.host, "host", format!("there is no [hosts] entry `{}`", raw.host.get_ref()))
    })?;
    let path = raw.path.get_ref();
    if !path.starts_with('/') || path.contains(['?', '#', ' ']) {
        let problem = format!("`{path}` must begin with a slash and have no query");
        return Err(wrong(&raw.path, "path", problem));
    }
    let group = groups.get(raw.group.get_ref().as_str()).ok_or_else(|| {
        wrong(&raw.group, "group", format!("there is no group `{}`", raw.group.get_ref()))
    })?;
    let at_least_one = |number: &Spanned<u32>, key: &str| {
        let field = format!("{key} of endpoint `{name}`");
        source.error(number.span(), field, "must be at least 1")
    };
    let cost = match &raw.cost {
        None => Cost::ONE,
        Some(cost) => {
            let tokens = *cost.get_ref();
            let checked = Cost::new(tokens).ok_or_else(|| at_least_one(cost, "cost"))?;
            if let Some((family, policy)) =
                group.policies.iter().find(|(_, policy)| policy.burst() < tokens)
            {
                let problem = format!(
                    "no request of {tokens} tokens can ever go: `{policy}` (family `{family}`)"
                );
                let field = format!("cost of endpoint `{name}`");
                return Err(source.error(cost.span(), field, problem));
            }
            checked
        }
    };
    if let Some(rows) = raw.page_rows.as_ref().filter(|rows| *rows.get_ref() == 0) {
        return Err(at_least_one(rows, "page_rows"));
    }
    Ok(Endpoint {
        name: name.to_owned(),
        method,
        host: host.clone(),
        path: path.clone(),
        group: group.name.clone(),
        cost,
        page_rows: raw.page_rows.as_ref().map(|rows| *rows.get_ref()),
    })
}

fn twice(source: Source<'_>, field: &str, text: &Spanned<String>) -> CatalogueError {
    source.error(text.span(), field, format!("`{}` is there twice", text.get_ref()))
}
