use std::ops::AddAssign;

use serde_json::value::RawValue;

/// Rows of one dataset of one account that came in one answer (or a part of one).
///
/// About 1,000 rows a batch is a good size: the cost of a transaction is spread over many rows,
/// and another process that writes to the same file never waits long.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Whose rows: one tenant's identity on the upstream.
    pub account: String,
    /// What the rows are: `orders`, `stocks`. Keys are unique within account and dataset.
    pub dataset: String,
    /// When the upstream answered, in milliseconds since the Unix epoch.
    pub fetched_at: i64,
    /// The rows, in any order. A key may appear more than once: the highest version wins, and of
    /// equal versions the later row.
    pub rows: Vec<Row>,
}

/// One upstream row with the key and the version that its connector found in it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The natural key. Any text but the empty one.
    pub key: String,
    /// Opaque text that sorts byte by byte from old to new, such as a date of the last change.
    /// All rows of a dataset without versions may carry the same one: then the last write wins.
    pub version: String,
    /// The row itself. It is stored byte for byte, white space inside it included, and two bodies
    /// are the same only if their bytes are.
    pub body: Box<RawValue>,
}

/// What became of the rows of a batch. The three numbers add up to the rows that were given.
///
/// ```
/// use waitless_sink::Landed;
///
/// let mut page = Landed::default();
/// page += Landed { inserted: 998, updated: 2, unchanged: 0 };
/// page += Landed { inserted: 0, updated: 0, unchanged: 500 };
/// assert_eq!(page, Landed { inserted: 998, updated: 2, unchanged: 500 });
/// assert!(!page.nothing_new());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landed {
    /// Rows whose key was not known.
    pub inserted: u64,
    /// Rows that replaced a stored one: a newer version, or the same version with another body.
    pub updated: u64,
    /// Rows that changed nothing: the stored row is the same or newer, or another row of the same
    /// batch won over this one.
    pub unchanged: u64,
}

impl Landed {
    /// Whether no row changed anything: the upstream has sent only what was already here.
    pub fn nothing_new(&self) -> bool {
        self.inserted == 0 && self.updated == 0
    }
}

impl AddAssign for Landed {
    fn add_assign(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
    }
}

/// Leaves one row for each key, in the order of the keys: the one with the highest version, of
/// equal versions the later one.
///
/// Duplicates are settled here and not by landing one row after the other. A page that holds the
/// same key and version with two bodies would otherwise change the stored row twice each time it
/// is landed, and "nothing new" would never come. The order lets neighbours in the index be
/// written one after the other.
pub(crate) fn keep_winners(rows: &mut Vec<Row>) {
    // The sort is stable: of equal versions the later row stays behind the earlier one.
    rows.sort_by(|a, b| a.key.cmp(&b.key).then_with(|| a.version.cmp(&b.version)));
    rows.dedup_by(|later, kept| {
        let same_key = later.key == kept.key;
        if same_key {
            std::mem::swap(later, kept);
        }
        same_key
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, version: &str, body: &str) -> Row {
        let body = RawValue::from_string(body.into()).expect("the body is JSON");
        Row { key: key.into(), version: version.into(), body }
    }

    fn winners(mut rows: Vec<Row>) -> Vec<(String, String, String)> {
        keep_winners(&mut rows);
        rows.into_iter().map(|row| (row.key, row.version, row.body.get().into())).collect()
    }

    #[test]
    fn the_highest_version_of_a_key_wins_wherever_it_stands() {
        let rows =
            vec![row("b", "2", "2"), row("a", "1", "1"), row("b", "3", "3"), row("b", "1", "1")];
        assert_eq!(
            winners(rows),
            [("a".into(), "1".into(), "1".into()), ("b".into(), "3".into(), "3".into())]
        );
    }

    #[test]
    fn of_equal_versions_the_later_row_wins() {
        let rows = vec![row("a", "1", "1"), row("a", "1", "2"), row("a", "1", "3")];
        assert_eq!(winners(rows), [("a".into(), "1".into(), "3".into())]);
    }
}
