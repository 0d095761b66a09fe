use std::fmt::Write;

use serde::Serialize;

use crate::{format::printable, output::Listed};

/// How good something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// Worth a look.
    Warn,
    /// To be put right.
    Bad,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) status: Status,
    pub(super) what: String,
    /// What to do about it; nothing where all is well.
    #[serde(rename = "do")]
    pub(super) action: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, status: Status::Ok, what: what.into(), action: None }
    }

    pub(super) fn warn(
        check: &'static str,
        what: impl Into<String>,
        action: impl Into<String>,
    ) -> Self {
        let action = Some(action.into());
        Self { check, status: Status::Warn, what: what.into(), action }
    }

    pub(super) fn bad(
        check: &'static str,
        what: impl Into<String>,
        action: impl Into<String>,
    ) -> Self {
        Self { status: Status::Bad, ..Self::warn(check, what, action) }
    }
}

impl Listed for Finding {
    const COLUMNS: &'static [&'static str] = &["status", "check", "what", "do"];
    const NARROW: usize = 4;

    fn cells(&self) -> Vec<String> {
        vec![
            self.status.as_str().into(),
            self.check.into(),
            printable(&self.what),
            self.action.as_deref().map(printable).unwrap_or_default(),
        ]
    }

    fn id(&self) -> String {
        self.check.into()
    }
}

/// Findings for people: sentences, which would make a table too wide to read.
pub(super) fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut line = |status: &str, check: &str, what: &str| {
        writeln!(text, "{status:<6}{check:<14}{what}").expect("writing to a text does not fail");
    };
    for finding in findings {
        line(finding.status.as_str(), finding.check, &printable(&finding.what));
        if let Some(action) = &finding.action {
            line("", "", &format!("→ {}", printable(action)));
        }
    }
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let verdict = match (count(Status::Bad), count(Status::Warn)) {
        (0, 0) => "all is well".into(),
        (0, warnings) => format!("nothing is bad, {warnings} worth a look"),
        (bad, 0) => format!("{bad} to be put right"),
        (bad, warnings) => format!("{bad} to be put right, {warnings} worth a look"),
    };
    writeln!(text, "\n{verdict}").expect("as above");
    text
}
