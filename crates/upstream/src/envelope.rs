//! What stands around the array of rows, and where in it the array begins.
//!
//! The text is kept without the rows: `{"data":{"items":[]},"next":7}`. Brackets and keys are
//! followed only to find the array. Whether the whole is JSON is left to `serde_json`, which reads
//! the kept text in the end; the rows were checked one by one, so the body is JSON if both are.

use serde_json::Value;

use crate::{
    RowsError,
    strings::{Strings, is_space},
};

/// Most bytes of a body beside its rows: 1 MiB, as a bound on memory.
pub const ENVELOPE_BYTES_MAX: usize = 1 << 20;

/// What comes next in the innermost object on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A value on the path: another object, or the array itself.
    Value,
    /// A key.
    Key,
    /// The colon between a key of the path and its value.
    Colon,
    /// Nothing that matters.
    Other,
}

#[derive(Debug)]
pub(crate) struct Envelope {
    path: &'static [&'static str],
    /// All that came, without the rows.
    text: Vec<u8>,
    strings: Strings,
    /// Brackets open.
    depth: usize,
    /// How many of them are objects on the path. If all are, the innermost one is.
    on_path: usize,
    /// Keys of the path that were met.
    met: usize,
    next: Next,
    /// Where in `text` the last key begins.
    key_at: usize,
}

impl Envelope {
    /// Around an array that is found by these keys, from the outermost object inwards. Without any,
    /// the array is all there is.
    pub(crate) fn new(path: &'static [&'static str]) -> Self {
        Self {
            path,
            text: Vec::new(),
            strings: Strings::default(),
            depth: 0,
            on_path: 0,
            met: 0,
            next: Next::Value,
            key_at: 0,
        }
    }

    /// Reads on to the array of rows; answers with what is behind its bracket, or `None` if it does
    /// not begin in this piece.
    pub(crate) fn push<'a>(&mut self, piece: &'a [u8]) -> Result<Option<&'a [u8]>, RowsError> {
        for (at, byte) in piece.iter().enumerate() {
            if self.text.len() == ENVELOPE_BYTES_MAX {
                return Err(RowsError::EnvelopeTooLarge);
            }
            self.text.push(*byte);
            if self.next == Next::Value && !is_space(*byte) {
                if self.begins_rows(&piece[at..])? {
                    return Ok(Some(&piece[at + 1..]));
                }
            } else {
                self.follow(*byte)?;
            }
        }
        Ok(None)
    }

    /// The array of rows is over.
    pub(crate) fn end_rows(&mut self) {
        self.text.push(b']');
    }

    /// The body is over: what it was without its rows.
    pub(crate) fn finish(&self, rows: u64) -> Result<Value, RowsError> {
        let value = serde_json::from_slice(&self.text).map_err(|error| {
            if error.is_eof() {
                RowsError::Unfinished { rows }
            } else {
                RowsError::InvalidEnvelope { rows, problem: error.to_string() }
            }
        })?;
        Ok(if self.path.is_empty() { Value::Null } else { value })
    }

    /// A value on the path begins; whether it is the array.
    fn begins_rows(&mut self, rest: &[u8]) -> Result<bool, RowsError> {
        let wants_array = self.on_path == self.path.len();
        self.next = Next::Other;
        match rest[0] {
            b'[' if wants_array => return Ok(true),
            b'{' if !wants_array => {
                self.depth += 1;
                self.on_path += 1;
                self.next = Next::Key;
            }
            // Or something that is no JSON, which comes out in the end.
            b'n' => {}
            _ => {
                let beginning = String::from_utf8_lossy(rest).into_owned();
                let path = self.path[..self.on_path].join(".");
                let expected = if wants_array { "a JSON array of rows" } else { "a JSON object" };
                return Err(match path.as_str() {
                    "" => RowsError::NotRows { expected, beginning },
                    _ => RowsError::NotRowsAt { path, expected, beginning },
                });
            }
        }
        Ok(false)
    }

    /// Follows brackets, strings and the keys of objects on the path by one byte.
    fn follow(&mut self, byte: u8) -> Result<(), RowsError> {
        let was_open = self.strings.is_open();
        if self.strings.holds(byte) {
            if self.next == Next::Key {
                if !was_open {
                    self.key_at = self.text.len() - 1;
                } else if !self.strings.is_open() {
                    self.end_key()?;
                }
            }
            return Ok(());
        }
        let is_on_path = self.depth == self.on_path && self.depth > 0;
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.next = Next::Other;
            }
            // One too many is no JSON, which comes out in the end.
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.on_path = self.on_path.min(self.depth);
                self.next = Next::Other;
            }
            b',' if is_on_path => self.next = Next::Key,
            b':' if is_on_path && self.next == Next::Colon => self.next = Next::Value,
            _ => {}
        }
        Ok(())
    }

    /// A key of the innermost object on the path is over.
    fn end_key(&mut self) -> Result<(), RowsError> {
        let place = self.on_path - 1;
        // Read and not compared as it stands: it may be escaped.
        let key: Option<String> = serde_json::from_slice(&self.text[self.key_at..]).ok();
        self.next = Next::Other;
        if key.is_none_or(|key| key != self.path[place]) {
            return Ok(());
        }
        if self.met > place {
            // Which of the two is meant nobody can know, and rows of the first may be out already.
            return Err(RowsError::TwoPlaces { path: self.path[..=place].join(".") });
        }
        self.met = place + 1;
        self.next = Next::Colon;
        Ok(())
    }
}
