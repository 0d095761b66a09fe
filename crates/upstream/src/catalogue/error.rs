use std::{io, ops::Range, path::PathBuf, sync::Arc};

/// Why a data file is no catalogue.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CatalogueError {
    /// The file cannot be read.
    #[error("cannot read the catalogue {path}: {source}", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// Something in it is wrong.
    #[error("{file}:{line}: {field}: {problem}")]
    Invalid {
        /// Which file.
        file: String,
        /// Which line, from 1.
        line: usize,
        /// Which field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl CatalogueError {
    /// The line that is wrong, from 1; 0 if the file could not be read.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Read { .. } => 0,
            Self::Invalid { line, .. } => *line,
        }
    }
}

/// The catalogue knows no such family of credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{upstream} has no family of credentials `{family}`; it has {known}")]
pub struct UnknownFamily {
    /// The catalogue's upstream.
    pub upstream: String,
    /// The family asked for.
    pub family: String,
    /// All there are.
    pub known: String,
}

/// There are no limits for what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// No such family.
    #[error(transparent)]
    UnknownFamily(#[from] UnknownFamily),
    /// No such endpoint.
    #[error("{upstream} has no endpoint `{endpoint}`")]
    UnknownEndpoint {
        /// The catalogue's upstream.
        upstream: String,
        /// The endpoint asked for.
        endpoint: String,
    },
    /// The endpoint lets no credentials of the family in.
    #[error("{upstream} has closed endpoint `{endpoint}` to credentials of family `{family}`")]
    Closed {
        /// The catalogue's upstream.
        upstream: String,
        /// The endpoint asked for.
        endpoint: String,
        /// The family.
        family: String,
    },
}

/// The intervals of a catalogue cannot be scaled so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// Nothing can be divided by zero.
    #[error("a speed is at least 1")]
    NoSpeed,
    /// A policy would leave its bounds.
    #[error("the limit of group `{group}`: {source}")]
    Policy {
        /// Whose.
        group: waitless_job::LimitGroup,
        /// Why.
        source: waitless_bucket::PolicyError,
    },
}

/// A text with its name, to say where in it something is wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error about the field at this place.
    pub(super) fn error(
        &self,
        span: Range<usize>,
        field: impl Into<String>,
        problem: impl Into<String>,
    ) -> CatalogueError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        CatalogueError::Invalid {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// What the TOML reader found: bad syntax, an unknown key, a missing one, a wrong type.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> CatalogueError {
        let span = error.span().unwrap_or(0..0);
        let line_start = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        let key = line.split('=').next().unwrap_or("").trim();
        let field = if key.is_empty() { "the file" } else { key };
        self.error(span.clone(), field, error.message())
    }
}
