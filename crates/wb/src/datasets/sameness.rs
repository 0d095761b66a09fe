//! The guard of paging by offset: an upstream that takes no notice of it sends the same page for
//! ever.

use std::hash::{DefaultHasher, Hasher};

use serde_json::value::RawValue;

use crate::source::Read;

/// What the rows of a page are, in one number.
///
/// By their keys and not by their bodies: a count in a row may have changed since. That the hash is
/// another one in the next version of the standard library does no harm, one comparison is missed.
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

/// Why paging stops at a page that came before.
pub(crate) fn reason(offset: u64) -> String {
    format!(
        "the page from row {offset} on has the very rows of the page before it, so the upstream \
         takes no notice of where a page should begin, and asking on would never end: retry the \
         job later"
    )
}
