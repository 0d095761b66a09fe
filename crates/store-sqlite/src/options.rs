/// How a store is opened.
///
/// ```
/// use waitless_store_sqlite::{Durability, Options};
///
/// let options = Options::default();
/// assert!(options.create);
/// assert_eq!(options.durability, Durability::Full);
/// assert_eq!(options.bytes_max, None);
/// assert_eq!(options.busy_ms_max, 30_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether a file that does not exist is made, and one without a store made into one; by
    /// default it is.
    pub create: bool,
    /// What a power cut may cost; by default nothing.
    pub durability: Durability,
    /// Largest size of the file in bytes, rounded down to whole pages. At it the store
    /// is [full](waitless_store::StoreError::Full). By default only the disk limits it.
    pub bytes_max: Option<u64>,
    /// Longest wait in milliseconds for another process that writes to the file; by default 30 s.
    /// After it steps fail with [`Unavailable`](waitless_store::StoreError::Unavailable).
    pub busy_ms_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { create: true, durability: Durability::Full, bytes_max: None, busy_ms_max: 30_000 }
    }
}

/// What a power cut may cost. A killed process loses nothing either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing that was acknowledged: a commit is on the disk before it is reported.
    #[default]
    Full,
    /// The last commits, or the file. For tests that throw it away anyway.
    Off,
}
