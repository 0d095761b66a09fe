use chrono::NaiveDate;
use waitless_upstream::Catalogue;

/// What the sources are made for: the wishes of a job, and what is known of the upstream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// The first day asked for, in Moscow.
    pub(crate) since: NaiveDate,
    /// The day it is in Moscow.
    pub(crate) today: NaiveDate,
    pub(crate) catalogue: &'a Catalogue,
}

impl Scope<'_> {
    /// Rows on a full page, which is what requests ask for.
    pub(crate) fn page_rows(&self, endpoint: &str, otherwise: u32) -> u64 {
        let rows = self.catalogue.endpoint(endpoint).and_then(|endpoint| endpoint.page_rows());
        u64::from(rows.unwrap_or(otherwise).max(1))
    }

    /// How often the upstream lets those ask an endpoint that it lets ask most often: its own
    /// notion of a short while. Credentials with less have a bucket that makes them wait longer.
    pub(crate) fn interval_ms(&self, endpoint: &str) -> u64 {
        let Some(endpoint) = self.catalogue.endpoint(endpoint) else { return 0 };
        let policies = endpoint
            .families()
            .filter_map(|family| self.catalogue.policy_of(endpoint, family).ok().flatten());
        policies.map(|policy| policy.interval_ms()).min().unwrap_or(0)
    }
}
