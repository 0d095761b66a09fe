//! From the text of a file to a catalogue that can be, or to everything that is wrong with it.

mod endpoints;
mod limits;

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use reqwest::header::HeaderName;
use toml::de::DeTable;
use waitless_job::{Cost, LimitGroup};

use super::{
    AnswerCost, Catalogue, CatalogueError, Category, ClientSecretHeader, CredentialHeader,
    error::Source,
    fields::{Fields, Problems, Value},
};
use crate::{BaseUrl, Hints, RetryHint, RetryUnit};

/// The keys of the file itself, and of the tables in it.
const FILE: &[&str] = &[
    "upstream",
    "facts_as_of",
    "families",
    "family_sets",
    "credential",
    "answers",
    "hosts",
    "categories",
    "groups",
    "endpoints",
];
const CREDENTIAL: &[&str] = &["header", "prefix", "client_secret", "read_only_bit"];
const CLIENT_SECRET: &[&str] = &["header", "families"];
const ANSWERS: &[&str] = &["remaining", "retry", "refused_is_charged", "message_fields"];
const RETRY: &[&str] = &["header", "unit"];
const HOST: &[&str] = &["url", "sandbox", "category"];
const CATEGORY: &[&str] = &["title", "token_bit"];

/// Reads a catalogue. The errors are in the order in which they were found, unknown keys first.
pub(super) fn check(source: Source<'_>) -> Result<Catalogue, Vec<CatalogueError>> {
    let problems = Problems::new(source);
    let (table, syntax) = DeTable::parse_recoverable(source.text);
    if !syntax.is_empty() {
        // What follows a slip of syntax is read wrongly: its errors would be about nothing.
        return Err(syntax.iter().map(|error| source.toml_error(error)).collect());
    }
    let file = Fields::new(&problems, table.get_ref(), 0..0, String::new(), FILE);
    let catalogue = catalogue(&file);
    let found = problems.into_found();
    match catalogue {
        Some(catalogue) if found.is_empty() => Ok(catalogue),
        _ => Err(found),
    }
}

/// `None` only if something was noted.
fn catalogue(file: &Fields<'_, '_, '_>) -> Option<Catalogue> {
    let upstream = file.need_text("upstream").and_then(|text| name(file, &text));
    let facts_as_of = file.need_day("facts_as_of");
    let families = families(file);
    let credential = file.need_table("credential", CREDENTIAL);
    let (header, read_only_bit) = credential.as_ref().map_or((None, None), |credential| {
        let name = credential.need_text("header").and_then(|text| header(credential, &text));
        let prefix = credential.text("prefix").map(|text| text.is).unwrap_or_default();
        let bit = credential.number("read_only_bit").filter(|bit| is_bit(credential, bit));
        let client_secret = client_secret(credential, &families);
        let header = name.map(|name| CredentialHeader { name, prefix, client_secret });
        (header, bit.map(|bit| bit.is))
    });
    let hints = file.need_table("answers", ANSWERS).and_then(|answers| hints(&answers));
    let categories = categories(file);
    let hosts = hosts(file, &categories);
    let groups = limits::groups(file, &families);
    let known = endpoints::Known { families, hosts, categories, groups };
    let (endpoints, groups) = endpoints::endpoints(file, &known);
    Some(Catalogue {
        upstream: upstream?,
        facts_as_of: facts_as_of?.is,
        families: known.families.all,
        credential: header?,
        read_only_bit,
        hints: hints?,
        categories: known.categories,
        groups,
        endpoints,
    })
}

/// A text of the alphabet of limit groups, accounts and lanes, of which names become parts.
fn name(fields: &Fields<'_, '_, '_>, text: &Value<String>) -> Option<String> {
    if LimitGroup::new(&text.is).is_ok() {
        return Some(text.is.clone());
    }
    let shown = text.is.escape_debug();
    let problem = format!("`{shown}` is no name: use 1 to 64 of the characters A-Z a-z 0-9 . _ -");
    text.wrong(fields.problems, problem);
    None
}

fn header(fields: &Fields<'_, '_, '_>, text: &Value<String>) -> Option<HeaderName> {
    let header = text.is.parse().ok();
    if header.is_none() {
        let shown = text.is.escape_debug();
        text.wrong(fields.problems, format!("`{shown}` is no name of a header"));
    }
    header
}

/// `client_secret = { header = "X-Client-Secret", families = ["partner"] }`
fn client_secret(fields: &Fields<'_, '_, '_>, families: &Families) -> Option<ClientSecretHeader> {
    let table = fields.table("client_secret", CLIENT_SECRET)?;
    let name = table.need_text("header").and_then(|text| header(&table, &text));
    let named = table.need_texts("families")?;
    let families = named.is.iter().flat_map(|name| families.named(&table, name)).collect();
    Some(ClientSecretHeader { name: name?, families })
}

fn is_bit(fields: &Fields<'_, '_, '_>, bit: &Value<u32>) -> bool {
    let fits = bit.is <= 64;
    if !fits {
        bit.wrong(fields.problems, "a mask has the bits 1 to 64");
    }
    fits
}

fn twice(fields: &Fields<'_, '_, '_>, text: &Value<String>) {
    text.wrong(fields.problems, format!("`{}` is there twice", text.is.escape_debug()));
}

/// The families of credentials, and the names for several at once.
pub(super) struct Families {
    all: Vec<String>,
    sets: BTreeMap<String, Vec<String>>,
    /// Not if the list of families itself is missing: then nothing can be said of those named.
    are_known: bool,
}

impl Families {
    /// The families that a name stands for: itself, or those of its set.
    fn named(&self, fields: &Fields<'_, '_, '_>, name: &Value<String>) -> Vec<String> {
        if let Some(set) = self.sets.get(&name.is) {
            return set.clone();
        }
        if self.all.contains(&name.is) {
            return vec![name.is.clone()];
        }
        if self.are_known {
            let known: Vec<&str> =
                self.all.iter().chain(self.sets.keys()).map(String::as_str).collect();
            let shown = name.is.escape_debug();
            let problem = format!("no family `{shown}`; there are {}", known.join(", "));
            name.wrong(fields.problems, problem);
        }
        Vec::new()
    }
}

fn families(file: &Fields<'_, '_, '_>) -> Families {
    let mut families = Families { all: Vec::new(), sets: BTreeMap::new(), are_known: false };
    let Some(named) = file.need_texts("families") else { return families };
    families.are_known = true;
    for family in &named.is {
        match name(file, family) {
            Some(new) if families.all.contains(&new) => twice(file, family),
            Some(new) => families.all.push(new),
            None => {}
        }
    }
    if named.is.is_empty() {
        named.wrong(
            file.problems,
            "at least one is needed; call it `any` if all credentials are alike",
        );
    }
    let sets = file.open("family_sets");
    for key in file.keys("family_sets") {
        let Some(members) = sets.as_ref().and_then(|sets| sets.texts(&key.is)) else { continue };
        if families.all.contains(&key.is) {
            key.wrong(file.problems, format!("`{}` is a family", key.is));
            continue;
        }
        let Some(name) = name(file, &key) else { continue };
        let mut set = Vec::new();
        for member in &members.is {
            for family in families.named(file, member) {
                if set.contains(&family) {
                    twice(file, member);
                } else {
                    set.push(family);
                }
            }
        }
        if members.is.is_empty() {
            members.wrong(file.problems, "at least one family is needed");
        }
        families.sets.insert(name, set);
    }
    families
}

fn hints(answers: &Fields<'_, '_, '_>) -> Option<Hints> {
    let remaining = answers.text("remaining").map(|text| header(answers, &text));
    let mut retry = Vec::new();
    for hint in answers.tables("retry", "answers.retry", RETRY) {
        let header = hint.need_text("header").and_then(|text| header(&hint, &text));
        let unit = hint.need_text("unit").and_then(|text| match text.is.as_str() {
            "s" => Some(RetryUnit::Seconds),
            "ms" => Some(RetryUnit::Milliseconds),
            other => {
                let shown = other.escape_debug();
                text.wrong(hint.problems, format!("`{shown}` is neither `s` nor `ms`"));
                None
            }
        });
        if let (Some(header), Some(unit)) = (header, unit) {
            retry.push(RetryHint { header, unit });
        }
    }
    let message_fields = answers.texts("message_fields").map(|texts| texts.is).unwrap_or_default();
    let refused_is_charged = answers.need_flag("refused_is_charged");
    Some(Hints {
        remaining: match remaining {
            Some(header) => Some(header?),
            None => None,
        },
        retry,
        refused_is_charged: refused_is_charged?,
        message_fields: message_fields.into_iter().map(|text| text.is).collect(),
    })
}

fn categories(file: &Fields<'_, '_, '_>) -> BTreeMap<String, Category> {
    let mut categories = BTreeMap::new();
    let mut bits = BTreeSet::new();
    for (key, entry) in file.entries("categories", CATEGORY) {
        let Some(name) = name(file, &key) else { continue };
        let bit = entry.number("token_bit").filter(|bit| is_bit(&entry, bit));
        if let Some(bit) = bit.as_ref().filter(|bit| !bits.insert(bit.is)) {
            bit.wrong(file.problems, format!("bit {} opens another category already", bit.is));
        }
        let title = entry.text("title").map(|title| title.is);
        let token_bit = bit.map(|bit| bit.is);
        categories.insert(name.clone(), Category { name, title, token_bit });
    }
    categories
}

/// A host: where it is, where it can be tried out, and the category of its endpoints. `None` for
/// what was noted as wrong, so that nobody calls the host unknown.
struct Host {
    url: Option<BaseUrl>,
    sandbox: Option<BaseUrl>,
    category: Option<String>,
}

fn hosts(
    file: &Fields<'_, '_, '_>,
    categories: &BTreeMap<String, Category>,
) -> BTreeMap<String, Host> {
    let mut hosts = BTreeMap::new();
    if file.keys("hosts").is_empty() {
        file.note("missing field `hosts`");
    }
    for (key, entry) in file.entries("hosts", HOST) {
        let url = |text: Value<String>| {
            let url = BaseUrl::from_str(&text.is);
            url.map_err(|error| text.wrong(file.problems, error.to_string())).ok()
        };
        let host = Host {
            url: entry.need_text("url").and_then(url),
            sandbox: entry.text("sandbox").and_then(url),
            category: category(&entry, categories),
        };
        if let Some(name) = name(file, &key) {
            hosts.insert(name, host);
        }
    }
    hosts
}

fn category(
    fields: &Fields<'_, '_, '_>,
    categories: &BTreeMap<String, Category>,
) -> Option<String> {
    let category = fields.text("category")?;
    if !categories.contains_key(&category.is) {
        let shown = category.is.escape_debug();
        category.wrong(fields.problems, format!("there is no [categories] entry `{shown}`"));
        return None;
    }
    Some(category.is)
}

/// `answer_cost = { status = "4xx", requests = 10 }`
fn answer_cost(fields: &Fields<'_, '_, '_>) -> Option<AnswerCost> {
    let table = fields.table("answer_cost", &["status", "requests"])?;
    let status = table.need_text("status").and_then(|text| {
        text.is.parse().map_err(|problem: String| text.wrong(table.problems, problem)).ok()
    });
    let requests = table.need_number("requests").and_then(|requests| Cost::new(requests.is));
    Some(AnswerCost { status: status?, requests: requests? })
}
