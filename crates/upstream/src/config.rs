/// What a client is given. Times are in milliseconds.
///
/// ```
/// let config = waitless_upstream::ClientConfig::default();
/// assert_eq!((config.answer_timeout_ms, config.idle_timeout_ms), (60_000, 30_000));
/// assert_eq!(config.body_bytes_max, 256 << 20);
/// ```
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// From the start of a request to the head of its answer, connecting included. Default 60,000.
    pub answer_timeout_ms: u64,
    /// Longest wait for the next 16 KiB of a body, or for its end. Default 30,000. A limit on the
    /// whole body would cut a page of 60 MB on a slow line; one on each read would let an upstream
    /// that sends a byte a second keep the slot for ever.
    pub idle_timeout_ms: u64,
    /// Largest body in bytes, after decompression. Default 256 MiB.
    pub body_bytes_max: u64,
    /// The header `User-Agent`. Default `waitless/` and the version.
    pub user_agent: String,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            answer_timeout_ms: 60_000,
            idle_timeout_ms: 30_000,
            body_bytes_max: 256 << 20,
            user_agent: concat!("waitless/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}
