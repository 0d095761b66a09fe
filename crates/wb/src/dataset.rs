use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use waitless_job::LimitGroup;

use crate::PlanError;

/// A kind of rows that every seller has. Both are pages of the statistics service, ordered by the
/// rows' last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dataset {
    /// Orders: one row per `srid`.
    Orders,
    /// Sales and returns: one row per `saleID`.
    Sales,
}

impl Dataset {
    /// Every dataset.
    pub const ALL: [Self; 2] = [Self::Orders, Self::Sales];

    /// Its name: in arguments, in the sink, and of its endpoint and limit group in the catalogue.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Sales => "sales",
        }
    }

    /// The limit group that its requests draw on.
    #[must_use]
    pub fn group(self) -> LimitGroup {
        LimitGroup::new(self.as_str()).expect("a test compares them with the catalogue's")
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Dataset {
    type Err = PlanError;

    /// # Errors
    /// [`PlanError::UnknownDataset`], which lists the known ones.
    fn from_str(text: &str) -> Result<Self, PlanError> {
        let known = Self::ALL.into_iter().find(|dataset| dataset.as_str() == text);
        known.ok_or_else(|| PlanError::UnknownDataset {
            name: text.chars().take(64).collect(),
            known: Self::ALL.map(Self::as_str).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_catalogues_endpoints_and_groups() {
        let catalogue = crate::catalogue();
        for dataset in Dataset::ALL {
            let endpoint = catalogue.endpoint(dataset.as_str()).expect("an endpoint");
            assert_eq!(endpoint.group(), &dataset.group());
            assert_eq!(endpoint.cost(), waitless_job::Cost::ONE);
            assert_eq!(endpoint.page_rows(), Some(80_000));
            assert_eq!(dataset.as_str().parse::<Dataset>().unwrap(), dataset);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "stocks".parse::<Dataset>().unwrap_err().to_string();
        assert_eq!(error, "there is no dataset `stocks`; there are orders, sales");
    }
}
