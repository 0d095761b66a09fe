//! Plays a source against an upstream that is a function.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};
use waitless_job::UnixMillis;
use waitless_upstream::Catalogue;

use crate::{
    scope::Scope,
    source::{Ask, Next, Page, Source},
};

/// Noon of 2026-10-01 in UTC.
pub(crate) const NOON: UnixMillis = UnixMillis(1_790_856_000_000);

/// Requests after which paging counts as endless.
const REQUESTS_MAX: usize = 5_000;

/// What the upstream says to a request.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// Rows, and what stands around them.
    Rows(Vec<Value>, Value),
    Json(Value),
    Refused(u16, &'static str),
}

/// How an import has ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    Complete,
    Stuck(String),
    Failed(String),
}

/// What has happened.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) asks: Vec<Ask>,
    /// The rows that have landed, by key: version and body.
    pub(crate) rows: BTreeMap<String, (String, Value)>,
    /// Why rows went to the quarantine.
    pub(crate) rejects: Vec<String>,
    /// Waits in milliseconds.
    pub(crate) waits: Vec<u64>,
    /// The totals that were told before each request but the first.
    pub(crate) totals: Vec<Option<u64>>,
    /// The last checkpoint.
    pub(crate) checkpoint: String,
    pub(crate) ended: Ended,
}

impl Played {
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.rows.keys().map(String::as_str).collect()
    }

    /// The values of a parameter, request by request.
    pub(crate) fn query(&self, name: &str) -> Vec<&str> {
        let value = |ask: &'_ Ask| -> Option<usize> {
            ask.query.iter().position(|(known, _)| *known == name)
        };
        let of = |ask| value(ask).map_or("", |place| ask.query[place].1.as_str());
        self.asks.iter().map(of).collect()
    }

    /// The values of a field of the bodies, request by request.
    pub(crate) fn body(&self, pointer: &str) -> Vec<Value> {
        let of = |ask: &Ask| {
            let value = ask.body.as_ref().and_then(|body| body.pointer(pointer));
            value.cloned().unwrap_or_default()
        };
        self.asks.iter().map(of).collect()
    }

    pub(crate) fn stuck(&self) -> &str {
        match &self.ended {
            Ended::Stuck(reason) => reason,
            other => panic!("not stuck: {other:?}"),
        }
    }
}

/// A scope of an import since a day, on 2026-10-01.
pub(crate) fn scoped<S>(since: &str, make: impl FnOnce(&Scope<'_>) -> S) -> S {
    let catalogue = crate::catalogue();
    let scope = Scope {
        since: since.parse().expect("a day"),
        today: "2026-10-01".parse().expect("a day"),
        catalogue: &catalogue,
    };
    make(&scope)
}

/// A scope with so small pages of an endpoint.
pub(crate) fn small_pages<S>(
    endpoint: &str,
    rows: u32,
    since: &str,
    make: impl FnOnce(&Scope<'_>) -> S,
) -> S {
    let catalogue = catalogue_with(&[(endpoint, rows)]);
    let [since, today] = [since, "2026-10-01"].map(|day| day.parse().expect("a day"));
    make(&Scope { since, today, catalogue: &catalogue })
}

/// The built-in catalogue with pages of so many rows at these endpoints.
pub(crate) fn catalogue_with(page_rows: &[(&str, u32)]) -> Catalogue {
    let lines = crate::CATALOGUE_FILE.text.lines().map(|line| {
        let named = page_rows.iter().find(|(name, _)| line.contains(&format!("name = \"{name}\"")));
        let Some((_, rows)) = named else { return line.to_owned() };
        let known = line.split(", ").find(|fact| fact.starts_with("page_rows"));
        let line = known.map_or(line.to_owned(), |known| line.replace(&format!("{known}, "), ""));
        line.replace(", host", &format!(", page_rows = {rows}, host"))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    Catalogue::parse("test.toml", &text).expect("a catalogue")
}

/// Imports everything, from the beginning or from a checkpoint.
pub(crate) fn play<S: Source>(
    source: &S,
    checkpoint: Option<&str>,
    upstream: impl FnMut(&Ask, usize) -> Told,
) -> Played {
    play_at(NOON, source, checkpoint, upstream)
}

/// Imports everything at a moment. Each cursor is saved and read, and
/// time stands still but for the waits.
pub(crate) fn play_at<S: Source>(
    mut now: UnixMillis,
    source: &S,
    checkpoint: Option<&str>,
    mut upstream: impl FnMut(&Ask, usize) -> Told,
) -> Played {
    let mut played = Played {
        asks: Vec::new(),
        rows: BTreeMap::new(),
        rejects: Vec::new(),
        waits: Vec::new(),
        totals: Vec::new(),
        checkpoint: checkpoint.unwrap_or_default().to_owned(),
        ended: Ended::Complete,
    };
    let mut next = match checkpoint {
        Some(saved) => source.resume(serde_json::from_str(saved).expect("a cursor"), now),
        None => source.begin(now),
    };
    loop {
        let cursor = match next {
            Next::Ask(cursor) => cursor,
            Next::Wait { cursor, wait_ms } => {
                played.waits.push(wait_ms);
                now = now.plus(wait_ms);
                cursor
            }
            Next::End => return played,
            Next::Stuck { reason, cursor } => {
                if let Some(cursor) = cursor {
                    played.checkpoint = serde_json::to_string(&cursor).expect("it serializes");
                }
                return Played { ended: Ended::Stuck(reason), ..played };
            }
            Next::Failed(error) => return Played { ended: Ended::Failed(error), ..played },
        };
        played.checkpoint = serde_json::to_string(&cursor).expect("it serializes");
        let cursor: S::Cursor = serde_json::from_str(&played.checkpoint).expect("it can be read");
        let cursor = source.within_reach(cursor, now);
        let done = played.asks.len();
        if done > 0 {
            played.totals.push(source.requests_total(&cursor, done as u64, now));
        }
        assert!(done < REQUESTS_MAX, "it never ends");
        let ask = source.ask(&cursor);
        let page = match upstream(&ask, done) {
            Told::Rows(rows, envelope) => {
                land(source, &cursor, rows, Page { envelope, ..Page::default() }, &mut played)
            }
            Told::Json(envelope) => Page { envelope, ..Page::default() },
            Told::Refused(status, words) if ask.refusals_tell => {
                Page { refusal: Some((status, words.to_owned())), ..Page::default() }
            }
            Told::Refused(status, words) => {
                let reason = format!("{} was refused ({status}): {words}", ask.endpoint);
                played.asks.push(ask);
                return Played { ended: Ended::Stuck(reason), ..played };
            }
        };
        played.asks.push(ask);
        next = source.next(&cursor, &page, now);
    }
}

fn land<S: Source>(
    source: &S,
    cursor: &S::Cursor,
    rows: Vec<Value>,
    mut page: Page<S::Seen>,
    played: &mut Played,
) -> Page<S::Seen> {
    for row in rows {
        page.rows += 1;
        let raw = RawValue::from_string(row.to_string()).expect("it is JSON");
        for read in source.read(cursor, &raw, &mut page.seen) {
            match read {
                Ok(keyed) => {
                    let body = keyed.body.map_or(row.clone(), |body| {
                        serde_json::from_str(body.get()).expect("it is JSON")
                    });
                    // As a sink does: an older row changes nothing, and neither does the same one.
                    let row = (keyed.version, body);
                    match played.rows.get(&keyed.key) {
                        Some(known) if known.0 > row.0 || *known == row => {}
                        _ => {
                            page.changed += 1;
                            played.rows.insert(keyed.key, row);
                        }
                    }
                }
                Err(reason) => played.rejects.push(reason),
            }
        }
    }
    page
}
