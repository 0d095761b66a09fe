/// Rows of one dataset of one account that could not be keyed.
#[derive(Clone, Debug)]
pub struct Rejects {
    /// Whose rows: one tenant's identity on the upstream.
    pub account: String,
    /// What the rows should have been: `orders`, `stocks`.
    pub dataset: String,
    /// When the upstream answered, in milliseconds since the Unix epoch.
    pub fetched_at: i64,
    /// The rows, each with the reason why it could not be keyed.
    pub rows: Vec<Reject>,
}

/// One row that could not be keyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Why, in words for whoever will look at it: `no srid`.
    pub reason: String,
    /// The row as the upstream sent it. Any text; it need not be JSON.
    pub body: String,
}

/// What became of rejected rows. The two numbers add up to the rows that were given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quarantined {
    /// Bodies that were not known and are kept now.
    pub inserted: u64,
    /// Bodies that this account and dataset already had. They keep their first reason and moment.
    pub unchanged: u64,
}
