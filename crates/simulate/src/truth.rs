use serde::Deserialize;

/// What an upstream does on a limit, where that is not what it publishes. Everything has a default,
/// under which it does what it publishes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Truth {
    /// Its rate, in percent of the published one. Default 100.
    pub rate_percent: u32,
    /// Whether answers say how many requests are left, and refusals how many seconds to wait.
    /// Default true.
    pub headers: bool,
    /// Another client of the same account. Default none.
    pub hidden: Option<Hidden>,
    /// A time for which it takes no request at all. Default none.
    pub closed: Option<Closed>,
}

impl Default for Truth {
    fn default() -> Self {
        Self { rate_percent: 100, headers: true, hidden: None, closed: None }
    }
}

/// A client that we know nothing of. It takes a token every third interval, and is always first: a
/// token that is not there yet is the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// From then on, in seconds from the start.
    pub from_seconds: u64,
    /// Up to then, in seconds from the start.
    pub until_seconds: u64,
}

/// A time in which every request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// It begins with the first request after this, in seconds from the start.
    pub after_seconds: u64,
    /// How long it is, in seconds.
    pub for_seconds: u64,
}
