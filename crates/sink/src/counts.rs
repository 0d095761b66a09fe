/// How many rows one account has in one dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that landed, one for each natural key.
    pub rows: u64,
    /// Rows that could not be keyed, one for each different body.
    pub quarantined: u64,
}
