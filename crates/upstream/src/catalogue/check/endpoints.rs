//! Endpoints: where they are, what they draw on, and whom they let in.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use waitless_job::{Cost, LimitGroup, Policy};

use super::{Families, Fields, Host, Value, answer_cost, category, limits, name, twice};
use crate::catalogue::{Category, DailyCap, Endpoint, Group, facts::utc_offset_ms, path};

const ENDPOINT: &[&str] = &[
    "name",
    "method",
    "host",
    "path",
    "category",
    "group",
    "limits",
    "families",
    "cost",
    "answer_cost",
    "daily_cap",
    "page_rows",
    "readonly",
    "sandbox",
    "deprecated",
    "removed",
    "replaced_by",
    "note",
];

/// The verbs that an endpoint may have.
const METHODS: [Method; 5] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// What endpoints may speak of.
pub(super) struct Known {
    pub(super) families: Families,
    pub(super) hosts: BTreeMap<String, Host>,
    pub(super) categories: BTreeMap<String, Category>,
    pub(super) groups: limits::Groups,
}

type Found = (BTreeMap<String, Endpoint>, BTreeMap<LimitGroup, Group>);

/// The endpoints, and all groups: those that are declared and those of one endpoint each.
pub(super) fn endpoints(file: &Fields<'_, '_, '_>, known: &Known) -> Found {
    let mut endpoints = BTreeMap::new();
    let mut groups = known.groups.good.clone();
    let mut caps = Vec::new();
    let mut seen = Seen::default();

    let raw_endpoints = file.tables("endpoints", "endpoint", ENDPOINT);
    if raw_endpoints.is_empty() {
        file.note("missing field `endpoints`");
    }
    for raw in raw_endpoints {
        let text = raw.need_text("name");
        let place = Place::read(&raw, known);
        seen.enter(&raw, text.as_ref(), &place);
        let name = text.as_ref().and_then(|text| name(&raw, text));
        let own_answer_cost = answer_cost(&raw);
        let cap = text.as_ref().and_then(|text| daily_cap(&raw, text));
        let facts = Facts::read(&raw);
        let draws = text.as_ref().and_then(|text| Draws::read(&raw, known, text));
        let (Some(name), Some(draws), Some((method, host, path))) = (name, draws, place.whole())
        else {
            continue;
        };
        let own = draws.own.as_ref().map(|own| own.name.clone());
        let shared = draws.shared.clone().or_else(|| own.clone());
        let group = shared.expect("an endpoint draws on one of the two");
        // A group's name and policies say nothing of the endpoint; what answers cost may.
        let answer_cost = own_answer_cost.or_else(|| groups.get(&group)?.answer_cost);
        let exception = match (draws.own, &draws.shared) {
            (None, _) => None,
            (Some(mut own), shared) => {
                own.answer_cost = answer_cost;
                own.note.clone_from(&facts.note);
                let families = own.policies.keys().cloned().collect();
                let exception = shared.as_ref().map(|_| (own.name.clone(), families));
                groups.insert(own.name.clone(), own);
                exception
            }
        };
        let daily_cap = cap.map(|(cap, policy)| {
            let families = draws.families.iter().cloned();
            caps.push(cap.with(Group {
                name: cap.is.group.clone(),
                policies: families.map(|family| (family, policy)).collect(),
                answer_cost: None,
                note: None,
                is_shared: false,
            }));
            cap.is
        });
        let endpoint = Endpoint {
            name: name.clone(),
            method,
            host,
            sandbox: place.sandbox,
            path,
            category: place.category,
            group,
            exception,
            families: draws.families,
            cost: draws.cost,
            answer_cost,
            daily_cap,
            page_rows: facts.page_rows,
            readonly: facts.readonly,
            deprecated: facts.deprecated,
            removed: facts.removed,
            replaced_by: facts.replaced_by,
            note: facts.note,
        };
        endpoints.insert(name, endpoint);
    }
    for cap in caps {
        if groups.contains_key(&cap.is.name) {
            let problem = format!("group `{}` is there already: it needs the name", cap.is.name);
            cap.wrong(file.problems, problem);
        }
        groups.insert(cap.is.name.clone(), cap.is);
    }
    known.groups.note_orphans(file, &seen.groups);
    seen.note_lost_replacements(file);
    (endpoints, groups)
}

/// What endpoints have named so far, whether they can be or not.
#[derive(Default)]
struct Seen {
    names: BTreeSet<String>,
    /// The endpoint of each method, host and shape of a path.
    operations: BTreeMap<(String, String, String), String>,
    groups: BTreeSet<String>,
    replacements: Vec<Value<String>>,
}

impl Seen {
    /// Notes what is there twice.
    fn enter(&mut self, raw: &Fields<'_, '_, '_>, name: Option<&Value<String>>, place: &Place) {
        self.groups.extend(raw.text("group").map(|group| group.is));
        self.replacements.extend(raw.text("replaced_by"));
        if let Some(name) = name.filter(|name| !self.names.insert(name.is.clone())) {
            twice(raw, name);
        }
        let (Some(operation), Some(path)) = (place.operation(), raw.text("path")) else { return };
        // Two groups for one call would mean two buckets for one quota.
        if let Some(other) = self.operations.get(&operation) {
            let (method, host, _) = operation;
            let path_shown = path.is.escape_debug();
            let problem = format!(
                "`{path_shown}` is there twice: {method} of it at {host} is endpoint `{other}` \
                 already"
            );
            path.wrong(raw.problems, problem);
        } else {
            let name = name.map_or_else(String::new, |name| name.is.clone());
            self.operations.insert(operation, name);
        }
    }

    fn note_lost_replacements(&self, file: &Fields<'_, '_, '_>) {
        for lost in self.replacements.iter().filter(|name| !self.names.contains(&name.is)) {
            let shown = lost.is.escape_debug();
            lost.wrong(file.problems, format!("there is no endpoint `{shown}`"));
        }
    }
}

/// Where an endpoint is; `None` for what was noted as missing or wrong.
struct Place {
    method: Option<Method>,
    host: Option<crate::BaseUrl>,
    sandbox: Option<crate::BaseUrl>,
    category: Option<String>,
    path: Option<String>,
}

impl Place {
    fn read(raw: &Fields<'_, '_, '_>, known: &Known) -> Self {
        let method = raw.need_text("method").and_then(|text| {
            let method = METHODS.into_iter().find(|method| method.as_str() == text.is);
            if method.is_none() {
                let all = METHODS.map(|method| method.to_string()).join(", ");
                let shown = text.is.escape_debug();
                text.wrong(raw.problems, format!("`{shown}` is none of {all}"));
            }
            method
        });
        let host_name = raw.need_text("host");
        let host = host_name.as_ref().and_then(|text| {
            let host = known.hosts.get(&text.is);
            if host.is_none() {
                let shown = text.is.escape_debug();
                text.wrong(raw.problems, format!("there is no [hosts] entry `{shown}`"));
            }
            host
        });
        let path = raw.need_text("path").and_then(|text| path_of(raw, &text));
        let category = category(raw, &known.categories);
        Self {
            method,
            host: host.and_then(|host| host.url.clone()),
            sandbox: sandbox(raw, host),
            category: category.or_else(|| host.and_then(|host| host.category.clone())),
            path,
        }
    }

    fn operation(&self) -> Option<(String, String, String)> {
        // The host by its URL: under two names it is still one.
        let (method, host) = (self.method.as_ref()?, self.host.as_ref()?);
        Some((method.to_string(), host.to_string(), path::shape(self.path.as_ref()?)))
    }

    fn whole(&self) -> Option<(Method, crate::BaseUrl, String)> {
        Some((self.method.clone()?, self.host.clone()?, self.path.clone()?))
    }
}

fn path_of(raw: &Fields<'_, '_, '_>, text: &Value<String>) -> Option<String> {
    let path = &text.is;
    let shown = path.escape_debug();
    let problem = if !path.starts_with('/') || path.contains(['?', '#', ' ']) {
        Some(format!("`{shown}` must begin with a slash and have no query"))
    } else {
        path::places(path).err()
    };
    if let Some(problem) = problem {
        text.wrong(raw.problems, problem);
        return None;
    }
    Some(path.clone())
}

fn sandbox(raw: &Fields<'_, '_, '_>, host: Option<&Host>) -> Option<crate::BaseUrl> {
    if raw.flag("sandbox") != Some(true) {
        return None;
    }
    let host = host?;
    if host.sandbox.is_none() {
        raw.note("its host has no `sandbox`");
    }
    host.sandbox.clone()
}

/// What an endpoint draws on, and for whom.
struct Draws {
    shared: Option<LimitGroup>,
    own: Option<Group>,
    families: BTreeSet<String>,
    cost: Cost,
}

impl Draws {
    fn read(raw: &Fields<'_, '_, '_>, known: &Known, name: &Value<String>) -> Option<Self> {
        let named = raw.text("group");
        let has_limits = raw.text_or_texts("limits").is_some();
        let own = limits::limits(raw, &known.families);
        let allowed = raw.texts("families").map(|named| {
            let families = named.is.iter().flat_map(|name| known.families.named(raw, name));
            named.with(families.collect::<BTreeSet<String>>())
        });
        let cost = raw.number("cost");
        let shared = match &named {
            None if !has_limits => {
                raw.note("missing field `group`, or `limits` of its own");
                return None;
            }
            None => None,
            Some(text) if !known.groups.is_declared(&text.is) => {
                let shown = text.is.escape_debug();
                text.wrong(raw.problems, format!("there is no group `{shown}`"));
                return None;
            }
            // If it is declared and not good, that was noted there.
            Some(text) => Some(known.groups.good.get(text.is.as_str())?),
        };
        // The reader of limits says what is wrong with them; the rest is about right ones.
        let mut own = if has_limits { Some(own?) } else { None };
        if own.is_some() && known.groups.is_declared(&name.is) {
            name.wrong(
                raw.problems,
                format!("group `{}` is there already: limits of its own need the name", name.is),
            );
            return None;
        }
        if let (Some(own), Some(allowed)) = (&mut own, &allowed) {
            own.retain(|family, _| allowed.is.contains(family));
        }
        let mut policies: BTreeMap<String, Policy> =
            shared.map(|group| group.policies.clone()).unwrap_or_default();
        policies.extend(own.clone().unwrap_or_default());
        if let Some(allowed) = &allowed {
            if let Some(family) = allowed.is.iter().find(|family| !policies.contains_key(*family)) {
                allowed.wrong(raw.problems, format!("there is no limit for family `{family}`"));
            }
            policies.retain(|family, _| allowed.is.contains(family));
        }
        if let (Some(_), Some(own)) = (shared, &own)
            && own.len() == policies.len()
        {
            raw.note("limits of its own leave nobody to draw on its group: take one of them out");
        }
        Some(Self {
            shared: shared.map(|group| group.name.clone()),
            own: own.map(|policies| Group {
                name: LimitGroup::new(&name.is).unwrap_or_else(|_| {
                    // Noted as no name; the endpoint will not be.
                    LimitGroup::new("none").expect("it is a name")
                }),
                policies,
                answer_cost: None,
                note: None,
                is_shared: false,
            }),
            cost: cost.map_or(Some(Cost::ONE), |cost| checked_cost(raw, &cost, &policies))?,
            families: policies.into_keys().collect(),
        })
    }
}

fn checked_cost(
    raw: &Fields<'_, '_, '_>,
    cost: &Value<u32>,
    policies: &BTreeMap<String, Policy>,
) -> Option<Cost> {
    if let Some((family, policy)) = policies.iter().find(|(_, policy)| policy.burst() < cost.is) {
        let tokens = cost.is;
        let problem =
            format!("no request of {tokens} tokens can ever go: `{policy}` (family `{family}`)");
        cost.wrong(raw.problems, problem);
        return None;
    }
    Cost::new(cost.is)
}

/// What else is told of an endpoint; all of it may be missing.
struct Facts {
    page_rows: Option<u32>,
    readonly: Option<bool>,
    deprecated: bool,
    removed: Option<String>,
    replaced_by: Option<String>,
    note: Option<String>,
}

impl Facts {
    fn read(raw: &Fields<'_, '_, '_>) -> Self {
        Self {
            page_rows: raw.number("page_rows").map(|rows| rows.is),
            readonly: raw.flag("readonly"),
            deprecated: raw.flag("deprecated").unwrap_or(false),
            removed: raw.day("removed").map(|day| day.is),
            replaced_by: raw.text("replaced_by").map(|name| name.is),
            note: raw.text("note").map(|note| note.is),
        }
    }
}

/// `daily_cap = { requests = 20, utc_offset = "+03:00" }` of the endpoint of this name, and the policy
/// that keeps it.
fn daily_cap(
    raw: &Fields<'_, '_, '_>,
    endpoint: &Value<String>,
) -> Option<(Value<DailyCap>, Policy)> {
    const DAY_MS: u64 = 86_400_000;
    let table = raw.table("daily_cap", &["requests", "utc_offset"])?;
    let requests = table.need_number("requests");
    let offset_ms = match table.text("utc_offset") {
        None => Some(0),
        Some(text) => {
            let offset_ms = utc_offset_ms(&text.is);
            if offset_ms.is_none() {
                let shown = text.is.escape_debug();
                text.wrong(table.problems, format!("`{shown}` is no offset such as +03:00"));
            }
            offset_ms
        }
    };
    let (requests, offset_ms) = (requests?, offset_ms?);
    let group = LimitGroup::new(format!("{}.day", endpoint.is));
    let group = group.map_err(|error| endpoint.wrong(raw.problems, error.to_string())).ok()?;
    let cap = DailyCap { group, requests: requests.is, day_ms: DAY_MS, offset_ms };
    let policy = cap.policy();
    let policy = policy.map_err(|error| requests.wrong(raw.problems, error.to_string())).ok()?;
    Some((requests.with(cap), policy))
}
