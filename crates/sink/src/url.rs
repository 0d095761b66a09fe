use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::SinkError;

/// Where rows land, as a configuration says it: `sqlite:PATH` or `sqlite::memory:`.
///
/// ```
/// use waitless_sink::SinkUrl;
///
/// let url: SinkUrl = "sqlite:/var/lib/waitless/rows.db".parse()?;
/// assert_eq!(url, SinkUrl::File("/var/lib/waitless/rows.db".into()));
/// assert_eq!("sqlite::memory:".parse::<SinkUrl>()?, SinkUrl::Memory);
/// assert!("mysql://host/rows".parse::<SinkUrl>().is_err());
/// # Ok::<(), waitless_sink::SinkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkUrl {
    /// `sqlite::memory:`: rows live as long as the sink.
    Memory,
    /// `sqlite:PATH`: everything behind the colon is the path, taken literally. A path that is not
    /// absolute counts from the working directory. The file is made if it does not exist, its
    /// directory is not.
    File(PathBuf),
}

impl SinkUrl {
    /// The path as the text of an error or a log line.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Memory => Path::new(":memory:"),
            Self::File(path) => path,
        }
    }
}

impl FromStr for SinkUrl {
    type Err = SinkError;

    /// # Errors
    ///
    /// [`SinkError::PostgresLater`], [`SinkError::PathMissing`], [`SinkError::UrlSlashes`] or
    /// [`SinkError::UrlUnknown`]. None of them repeats more of the URL than its scheme, because
    /// the rest may hold a password.
    fn from_str(url: &str) -> Result<Self, SinkError> {
        let Some((scheme, rest)) = url.split_once(':') else {
            return Err(SinkError::UrlUnknown { scheme: String::new() });
        };
        match (scheme, rest) {
            ("sqlite", ":memory:") => Ok(Self::Memory),
            ("sqlite", "") => Err(SinkError::PathMissing),
            // Elsewhere `sqlite://rows.db` means a relative path, `sqlite:///rows.db` an absolute
            // one. Read literally both are absolute, and the first would surprise.
            ("sqlite", path) if path.starts_with("//") => Err(SinkError::UrlSlashes),
            ("sqlite", path) => Ok(Self::File(path.into())),
            ("postgres" | "postgresql", _) => Err(SinkError::PostgresLater),
            _ => Err(SinkError::UrlUnknown { scheme: scheme.into() }),
        }
    }
}

impl fmt::Display for SinkUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.path().display())
    }
}
