//! Why a mock does not start.

use std::io;

/// Why a mock does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// Another program listens on the port that was asked for.
    #[error("port {port} on 127.0.0.1 is in use; choose another, or 0 for a free one")]
    PortInUse {
        /// The port that was asked for.
        port: u16,
    },
    /// The operating system refused the port for another reason, such as a privileged number.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the operating system said.
        source: io::Error,
    },
    /// A value of the configuration makes no sense.
    #[error("mock configuration: {field} {problem}")]
    Config {
        /// The field of [`MockConfig`](crate::MockConfig).
        field: &'static str,
        /// What is wrong with its value.
        problem: &'static str,
    },
}
