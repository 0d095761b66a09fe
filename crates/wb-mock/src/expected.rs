//! What a client should end up with.

use chrono::NaiveDateTime;
use serde::Serialize;

use crate::rows::Row;

/// A row that a client must hold when it has imported everything, late updates included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedRow {
    /// The natural key: `srid` of an order, `saleID` of a sale.
    pub key: String,
    /// The row's `lastChangeDate`, in Moscow time.
    pub last_change_date: NaiveDateTime,
    /// The row as the mock serves it: one JSON object. Left out where expected rows are served.
    #[serde(skip)]
    pub body: String,
}

impl From<Row> for ExpectedRow {
    fn from(row: Row) -> Self {
        Self {
            key: row.key().to_owned(),
            last_change_date: row.last_change_date(),
            body: serde_json::to_string(&row).expect("a row has text keys and plain values"),
        }
    }
}
