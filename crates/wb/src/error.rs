use chrono::NaiveDate;

use crate::MoscowTime;

/// Why a text is no token that a seller's data can be had with. The texts repeat nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is nothing.
    #[error(
        "no token: make one in the seller's portal, with the categories of what you want to import"
    )]
    Missing,
    /// It does not have three parts.
    #[error("the token has {found} parts between dots and should have 3: was it copied whole?")]
    Parts {
        /// How many there are.
        found: usize,
    },
    /// A part cannot be read.
    #[error("the {part} of the token {problem}: was it copied whole?")]
    Part {
        /// Which.
        part: TokenPart,
        /// Why not.
        problem: &'static str,
    },
    /// A claim is missing, or not what it should be.
    #[error("the claim `{claim}` of the token should be {expected}")]
    Claim {
        /// Which.
        claim: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// It is a token for the sandbox.
    #[error("this is a test token: it opens the sandbox only; make a personal one")]
    Test,
    /// It was good until then.
    #[error("the token has expired on {since} (Moscow time): make a new one")]
    Expired {
        /// When it expired.
        since: MoscowTime,
    },
}

/// One of the three parts of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenPart {
    /// The first.
    Header,
    /// The second.
    Claims,
    /// The third.
    Signature,
}

impl std::fmt::Display for TokenPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Header => "header (part 1)",
            Self::Claims => "claims (part 2)",
            Self::Signature => "signature (part 3)",
        })
    }
}

/// Why an import cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No such dataset.
    #[error("there is no dataset `{name}`; there are {known}, and `all`")]
    UnknownDataset {
        /// The name as it came, cut to 64 characters.
        name: String,
        /// All there are.
        known: String,
    },
    /// Nothing has happened yet.
    #[error("there is nothing since {since}: today is {today} in Moscow")]
    Future {
        /// The day asked for.
        since: NaiveDate,
        /// The day it is.
        today: NaiveDate,
    },
    /// A job could not be made.
    #[error(transparent)]
    Job(#[from] waitless_job::NewJobError),
}
