//! The datasets a seller has.

use std::fmt;

use serde::Serialize;

/// A kind of rows that every seller has, and that one method serves page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dataset {
    /// Orders, one row per `srid`.
    Orders,
    /// Sales and returns, one row per `saleID`.
    Sales,
}

impl Dataset {
    /// Every dataset.
    pub const ALL: [Self; 2] = [Self::Orders, Self::Sales];

    /// The name in paths under `/_mock/expected`.
    ///
    /// ```
    /// # use waitless_wb_mock::Dataset;
    /// assert_eq!(Dataset::Orders.name(), "orders");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Sales => "sales",
        }
    }

    /// The dataset of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dataset| dataset.name() == name)
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
