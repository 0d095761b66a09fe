//! The guards of paging: an upstream that takes no notice of where a page should begin sends the
//! same ones for ever.

use std::hash::{DefaultHasher, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::source::Read;

/// What the rows of a page are, in one number.
///
/// By their keys and not by their bodies: a count in a row may have changed since. That the hash is
/// another one in the next version of the standard library does no harm, a circle is found later.
/// Whether a page brought anything new to the sink says nothing here: the pages of a second import
/// do not either.
#[derive(Debug, Default)]
pub(crate) struct Print(DefaultHasher);

impl Print {
    pub(crate) fn note(&mut self, text: &str) {
        self.0.write(text.as_bytes());
        self.0.write_u8(0xff);
    }

    /// A row with what was read in it.
    pub(crate) fn note_row(&mut self, row: &RawValue, read: &Read) {
        self.note(read.as_ref().map_or(row.get(), |keyed| &keyed.key));
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.finish()
    }
}

/// Finds that pages go round in circles, however long the circle is and wherever it begins. It
/// remembers one of them only, and ever less often another one (Brent), because a checkpoint that
/// holds all of them would be written anew with every page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Circle {
    mark: Option<u64>,
    pages: u64,
}

impl Circle {
    /// After another page; `None` if it has come before.
    pub(crate) fn with(&self, page: u64) -> Option<Self> {
        if self.mark == Some(page) {
            return None;
        }
        let pages = self.pages.saturating_add(1);
        let mark = if pages.is_power_of_two() { Some(page) } else { self.mark };
        Some(Self { mark, pages })
    }
}

/// Further than ids of one seller are from each other. The upstream numbers the rows of all sellers
/// in one count, of some 10^12 so far.
const LEAP: i64 = 1_000_000_000_000;

/// Whether a number to go on from is too far behind one near it to be trusted. One that is wrong
/// would leave out everything in between, and the import would end without a word.
pub(crate) fn leaps(from: i64, to: i64) -> bool {
    to.saturating_sub(from) > LEAP
}

/// Why paging by offset stops at a page that came before.
pub(crate) fn reason(offset: u64) -> String {
    format!(
        "the page from row {offset} on has the very rows of one before it, so the upstream takes \
         no notice of where a page should begin, and asking on would never end: retry the job \
         later"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_circle_is_found_after_a_few_rounds_and_nothing_else_is_one(
            before in 0..200_u64, length in 1..200_u64,
        ) {
            let (mut circle, mut pages) = (Circle::default(), 0);
            loop {
                let page = if pages < before { pages } else { before + (pages - before) % length };
                pages += 1;
                match circle.with(page) {
                    Some(next) => circle = next,
                    None => break,
                }
            }
            prop_assert!(pages > before + length, "each came once before one came twice");
            prop_assert!(pages <= 3 * (before.max(length) + 1) + 1, "{pages}");
        }
    }
}
