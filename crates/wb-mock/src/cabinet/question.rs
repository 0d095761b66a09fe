//! Reading questions, strictly.

use std::str::FromStr;

use serde::Deserialize;

use super::owner::moscow_day;
use super::period::{self, Period, Reach};
use super::refusal::Refusal;
use crate::drawer::Question;

impl Question {
    /// The value of a place in the path.
    pub(crate) fn place(&self, name: &str) -> &str {
        self.places.get(name).expect("the method's path has this place")
    }

    /// Refuses parameters that the method does not have, and those that come twice. The upstream
    /// ignores them; here a misspelled one shall not go unnoticed.
    pub(crate) fn only(&self, names: &[&str]) -> Result<(), Refusal> {
        let mut seen = Vec::new();
        for (name, _) in self.query.iter() {
            if !names.contains(&name) {
                return Err(Refusal::bad(format!("{name}: no such parameter")));
            }
            if seen.contains(&name) {
                return Err(Refusal::bad(format!("{name}: given twice")));
            }
            seen.push(name);
        }
        Ok(())
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.query.get(name).ok_or_else(|| Refusal::bad(format!("{name}: field required")))
    }

    /// A parameter read by its type's `FromStr`: a number, or `true` or `false`.
    pub(crate) fn value<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        self.query.get(name).map(|text| parsed(name, text)).transpose()
    }

    pub(crate) fn required_value<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        parsed(name, self.required(name)?)
    }

    /// Two required dates.
    pub(crate) fn period(&self, [first, last]: [&str; 2], reach: Reach) -> Result<Period, Refusal> {
        let first = period::date(first, self.required(first)?)?;
        let last = period::date(last, self.required(last)?)?;
        Period { first, last }.within(reach, moscow_day(self.now))
    }

    /// The body. Types say which fields there are; one that a type does not know is refused rather
    /// than ignored, for a filter that is ignored gives rows that nobody asked for.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Refusal> {
        // A list would be read as an object's values.
        if !self.body.is_object() {
            return Err(Refusal::bad("the request body is no object"));
        }
        T::deserialize(&self.body).map_err(|problem| Refusal::bad(problem.to_string()))
    }
}

fn parsed<T: FromStr>(name: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| Refusal::bad(format!("{name}: {text:?} is not valid")))
}

/// `limit` if it is from 1 to `max`.
pub(crate) fn limit(limit: u64, max: u64) -> Result<usize, Refusal> {
    if (1..=max).contains(&limit) {
        Ok(usize::try_from(limit).unwrap_or(usize::MAX))
    } else {
        Err(Refusal::bad(format!("limit: {limit} is not from 1 to {max}")))
    }
}

/// An offset as an index. One beyond all memory is beyond all rows.
pub(crate) fn offset(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
