use std::{fmt, process::ExitCode};

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// Not done.
    Failed = 1,
    /// The command line makes no sense. clap answers with the same number.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// A token is missing, malformed, expired, or not accepted.
    Auth = 4,
    /// Something else has it already.
    Conflict = 5,
    /// Somebody did not answer.
    Unreachable = 6,
    /// The verdict of `doctor` is not good.
    Unhealthy = 7,
    /// The run that was waited for failed.
    WaitedForFailed = 8,
    /// Ctrl-C.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that says how the program ends. Others end it with [`Exit::Failed`].
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    #[expect(clippy::new_ret_no_self, reason = "nobody wants it but as an error")]
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> anyhow::Error {
        anyhow::Error::new(Self { exit, message: message.to_string() })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Exit {
    /// The exit code that an error stands for.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        use waitless_store::StoreError;
        error
            .chain()
            .find_map(|cause| {
                if let Some(failure) = cause.downcast_ref::<Failure>() {
                    return Some(failure.exit);
                }
                match cause.downcast_ref::<StoreError>()? {
                    StoreError::Owned { .. } => Some(Self::Conflict),
                    StoreError::Unavailable { .. } => Some(Self::Unreachable),
                    _ => None,
                }
            })
            .unwrap_or(Self::Failed)
    }
}
