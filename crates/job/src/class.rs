use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How urgent a job is. Within a lane, and among lanes that are due, a better class goes first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Somebody is looking at the screen.
    Interactive,
    /// The default: periodic sync.
    #[default]
    Normal,
    /// An import that takes hours anyway.
    Bulk,
}

impl Class {
    /// Every class, most urgent first.
    pub const ALL: [Self; 3] = [Self::Interactive, Self::Normal, Self::Bulk];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Normal => "normal",
            Self::Bulk => "bulk",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Class {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a class: use interactive, normal or bulk"))
    }
}
