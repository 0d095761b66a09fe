use serde::Serialize;
use waitless_wb::Notice;

/// A dataset that was left out because its account's token does not open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Skipped {
    pub(crate) dataset: String,
    /// Why, and what to do about it.
    pub(crate) reason: String,
}

impl Skipped {
    /// Those that a plan speaks of.
    pub(crate) fn of(notices: &[Notice]) -> Vec<Self> {
        let skipped = notices.iter().filter_map(|notice| match notice {
            Notice::Skipped { dataset, reason } => {
                Some(Self { dataset: dataset.to_string(), reason: reason.clone() })
            }
            Notice::Shortened { .. } | Notice::Removed { .. } | Notice::Deprecated { .. } => None,
        });
        skipped.collect()
    }

    /// A line for each.
    pub(crate) fn text(skipped: &[Self]) -> String {
        let lines = skipped
            .iter()
            .map(|Self { dataset, reason }| format!("{dataset:<15} left out   {reason}\n"));
        lines.collect()
    }
}
