//! What a client should end up with.

use serde::Serialize;

/// A row that a client must hold when it has imported everything, late updates included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpectedRow {
    /// The natural key within the dataset; its parts are joined by `/`.
    pub key: String,
    /// When the row was last changed, as the upstream writes it; empty where it does not say.
    pub version: String,
    /// The row as the mock serves it: one JSON object. Left out where expected rows are served.
    #[serde(skip)]
    pub body: String,
}
