/// Why a [`Policy`](crate::Policy) cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The text is not of the form `1/min burst 10 margin 60ms`.
    #[error(
        "`{text}` is not a limit: {expected}; write it like `1/min`, `3/20s burst 3` or \
         `100/min burst 5 margin 60ms`"
    )]
    Syntax {
        /// The whole text as it came.
        text: String,
        /// What was expected where reading stopped.
        expected: &'static str,
    },
    /// A number is zero where that would mean a bucket which never grants.
    #[error("{field} must be at least 1")]
    Zero {
        /// Which number.
        field: &'static str,
    },
    /// The arithmetic of the bucket would leave the whole numbers which Lua's doubles hold.
    #[error(
        "burst {burst} x interval {interval_ms} ms is too large: the product (with the margin) \
         must stay below 2^51"
    )]
    TooLarge {
        /// Burst asked for.
        burst: u32,
        /// Interval asked for, in milliseconds.
        interval_ms: u64,
    },
}
