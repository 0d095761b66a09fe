//! Reading a script.

use std::num::NonZeroU64;

use axum::http::HeaderValue;
use serde::Deserialize;
use toml::Spanned;

use super::pattern::Pattern;
use super::{Fault, LowerLimit, Often, Rule, Whom};
use crate::{Dataset, METHODS};

/// What is wrong with a script of faults.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault script, line {line}: {problem}")]
pub struct FaultsError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    faults: Vec<Spanned<RuleText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    play: Fault,
    #[serde(default)]
    methods: Vec<Pattern>,
    #[serde(default)]
    sellers: Vec<usize>,
    #[serde(default)]
    datasets: Vec<Dataset>,
    every: Option<NonZeroU64>,
    chance: Option<f64>,
    requests: Option<(u64, u64)>,
    #[serde(default)]
    after_ms: u64,
    for_ms: Option<u64>,
}

pub(super) fn read(text: &str) -> Result<Vec<Rule>, FaultsError> {
    let at = |offset: usize, problem: String| FaultsError {
        line: text[..offset].matches('\n').count() + 1,
        problem,
    };
    let script: Script = toml::from_str(text).map_err(|error| {
        at(error.span().map_or(0, |span| span.start), error.message().to_owned())
    })?;
    let rule = |rule: Spanned<RuleText>| {
        let start = rule.span().start;
        Rule::try_from(rule.into_inner()).map_err(|problem| at(start, problem))
    };
    script.faults.into_iter().map(rule).collect()
}

impl TryFrom<RuleText> for Rule {
    type Error = String;

    fn try_from(text: RuleText) -> Result<Self, String> {
        let RuleText { play, methods, sellers, datasets, .. } = text;
        check(&play)?;
        for pattern in &methods {
            if !METHODS.iter().any(|method| pattern.is(method)) {
                return Err(format!("{pattern:?} is no method of the mock"));
            }
        }
        let often = match (text.every, text.chance, text.requests) {
            (None, None, None) => Often::Always,
            _ if !play.is_of_single_requests() => {
                return Err(format!("{} is played all the time", play.name()));
            }
            (Some(n), None, None) => Often::Every(n),
            (None, Some(chance), None) if (0.0..=1.0).contains(&chance) => {
                Often::Chance((chance * 1e6) as u64)
            }
            (None, Some(_), None) => return Err("chance must be from 0 to 1".to_owned()),
            (None, None, Some((first, last))) if 0 < first && first <= last => {
                Often::Numbers(first..=last)
            }
            (None, None, Some(_)) => {
                return Err("requests must be the first and the last number, from 1".to_owned());
            }
            _ => return Err("every, chance and requests exclude each other".to_owned()),
        };
        let after_us = text.after_ms.saturating_mul(1000);
        let for_us = text.for_ms.map_or(u64::MAX, |ms| ms.saturating_mul(1000));
        Ok(Self {
            fault: play,
            whom: Whom { methods, sellers, datasets },
            often,
            after_us,
            until_us: after_us.saturating_add(for_us),
        })
    }
}

fn check(fault: &Fault) -> Result<(), String> {
    match fault {
        Fault::Status(429) => Err("status 429 is played by \"limited\"".to_owned()),
        Fault::Status(status) if !(400..=599).contains(status) => {
            Err(format!("status {status} is no error; 400 to 599 are"))
        }
        Fault::Redirect { status, .. } if !(300..=399).contains(status) => {
            Err(format!("status {status} is no redirect"))
        }
        Fault::Redirect { location, .. } if HeaderValue::from_str(location).is_err() => {
            Err("location cannot be sent in a header".to_owned())
        }
        Fault::LowerLimit(LowerLimit { rate, .. }) if !(0.001..=1.0).contains(rate) => {
            Err("rate must be from 0.001 to 1".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        read(text).expect_err("the script is wrong").to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, expected) in [
            ("faults = 1", "line 1: invalid type"),
            ("\n[[fault]]", "line 2: unknown field `fault`"),
            ("[[faults]]\nplay = 'hang'\noften = 2", "line 3: unknown field `often`"),
            (
                "[[faults]]\nplay = { slow = { pace = 2 } }",
                "line 2: unexpected keys in table: pace",
            ),
            ("\n\n[[faults]]\nplay = { status = 200 }", "line 3: status 200 is no error"),
            ("[[faults]]\nplay = { status = 429 }", "line 1: status 429 is played by"),
            ("[[faults]]\nplay = 'hang'\ndatasets = ['incomes']", "line 3: unknown dataset"),
            (
                "[[faults]]\nplay = 'hang'\nmethods = ['/api/v9/*']",
                "line 1: Pattern(\"/api/v9/*\")",
            ),
            ("[[faults]]\nplay = 'hang'\nevery = 0", "line 3: invalid value"),
            ("[[faults]]\nplay = 'hang'\nchance = 2.0", "line 1: chance must be"),
            ("[[faults]]\nplay = 'hang'\nrequests = [0, 1]", "line 1: requests must be"),
            ("[[faults]]\nplay = 'hang'\nevery = 2\nchance = 0.5", "line 1: every, chance and"),
            (
                "[[faults]]\nplay = { lower-limit = { rate = 0.5 } }\nevery = 2",
                "line 1: lower-limit is played all the time",
            ),
            ("[[faults]]\nplay = { lower-limit = { rate = 0 } }", "line 1: rate must be"),
            (
                "[[faults]]\nplay = { redirect = { status = 200 } }",
                "line 1: status 200 is no redirect",
            ),
        ] {
            let problem = problem(text);
            assert!(problem.contains(expected), "{text:?} gave {problem:?}");
        }
    }

    #[test]
    fn every_fault_can_be_written() {
        let script = r#"
            faults = [
                { play = { limited = {} } },
                { play = { limited = { retry_s = 5, retry_after = { seconds = 7 }, body = "global" } } },
                { play = { limited = { retry_after = "past" } }, every = 2 },
                { play = { status = 503 }, chance = 0.25 },
                { play = "hang", requests = [3, 3] },
                { play = { slow = {} }, after_ms = 1000, for_ms = 500 },
                { play = { cut = { bytes = 7 } }, sellers = [0, 2] },
                { play = "bad-gzip", datasets = ["orders", "funnel-csv"] },
                { play = "html", methods = ["POST *"] },
                { play = { redirect = {} } },
                { play = { flood = {} } },
                { play = { task = "purged" } },
                { play = { lower-limit = { rate = 0.75, headers = false } } },
                { play = { hidden-client = { every_interval = 3 } } },
            ]
        "#;
        let rules = read(script).expect("a good script");
        assert_eq!(rules.len(), 14);
        assert_eq!((rules[5].after_us, rules[5].until_us), (1_000_000, 1_500_000));
        assert_eq!(rules[3].often, Often::Chance(250_000));
    }
}
