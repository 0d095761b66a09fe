use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::Dataset;

/// The arguments of an import job. No secret among them: jobs are shown and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportArgs {
    /// What to import.
    pub dataset: Dataset,
    /// From the beginning of this day in Moscow on; without meaning for what has no past.
    pub since: NaiveDate,
    /// Where to ask, if not where the connector asks by itself. It must be one of the places that
    /// the connector [allows](crate::Connector::allow), because the seller's token goes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}
