//! Cuts a JSON array into its elements while it arrives.
//!
//! An incremental splitter and not `serde_json` on a blocking reader: a thread that reads would
//! outlive the job that was cut short, and would hold up the end of the process until its read
//! times out. Nothing of JSON is parsed twice: brackets and strings are followed here, everything
//! else is left to `serde_json`, which checks each element.

use serde_json::value::RawValue;

/// Largest row in bytes: 8 MiB, as a bound on memory. Real ones have a few hundred.
pub const ROW_BYTES_MAX: usize = 8 << 20;

/// Why a body is not a JSON array of rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// Something else stands where the array should begin.
    #[error("a JSON array of rows was expected; it begins: {beginning}")]
    NotAnArray {
        /// The first 80 printable characters.
        beginning: String,
    },
    /// A row is not JSON.
    #[error("row {row} is not JSON: {problem}")]
    InvalidRow {
        /// Its place in the array, from 0.
        row: u64,
        /// What the parser said.
        problem: String,
    },
    /// A row is larger than [`ROW_BYTES_MAX`].
    #[error("row {row} has more than {ROW_BYTES_MAX} bytes")]
    RowTooLarge {
        /// Its place in the array, from 0.
        row: u64,
    },
    /// The body ends in the middle of the array.
    #[error("it ends after {rows} rows, in the middle of the array")]
    Unfinished {
        /// Whole rows before the end.
        rows: u64,
    },
    /// There is something behind the array.
    #[error("there is something behind the array of {rows} rows")]
    TrailingGarbage {
        /// Rows of the array.
        rows: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BeforeArray,
    /// In an element; `first` while the array may still turn out to be empty.
    Element {
        first: bool,
    },
    AfterArray,
}

/// The state of the art between two pieces of a body.
#[derive(Debug)]
pub(crate) struct Splitter {
    state: State,
    /// The element so far.
    element: Vec<u8>,
    /// Brackets open within the element.
    depth: u64,
    in_text: bool,
    escaped: bool,
    rows: u64,
}

impl Splitter {
    pub(crate) fn new() -> Self {
        Self {
            state: State::BeforeArray,
            element: Vec::new(),
            depth: 0,
            in_text: false,
            escaped: false,
            rows: 0,
        }
    }

    /// Takes the next piece of the body and gives each element that ends in it to `row`.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        row: &mut impl FnMut(Box<RawValue>),
    ) -> Result<(), RowsError> {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = match self.state {
                State::BeforeArray => match rest[0] {
                    b'[' => {
                        self.state = State::Element { first: true };
                        &rest[1..]
                    }
                    byte if is_space(byte) => &rest[1..],
                    _ => {
                        let beginning = String::from_utf8_lossy(rest).into_owned();
                        return Err(RowsError::NotAnArray { beginning });
                    }
                },
                State::Element { first } => self.element(first, rest, row)?,
                State::AfterArray if rest.iter().all(|byte| is_space(*byte)) => &[],
                State::AfterArray => return Err(RowsError::TrailingGarbage { rows: self.rows }),
            };
        }
        Ok(())
    }

    /// The body is over.
    pub(crate) fn finish(&self) -> Result<(), RowsError> {
        match self.state {
            State::AfterArray => Ok(()),
            State::BeforeArray | State::Element { .. } => {
                Err(RowsError::Unfinished { rows: self.rows })
            }
        }
    }

    /// Reads on in an element; answers with what is behind its end.
    fn element<'a>(
        &mut self,
        first: bool,
        piece: &'a [u8],
        row: &mut impl FnMut(Box<RawValue>),
    ) -> Result<&'a [u8], RowsError> {
        let end = piece.iter().position(|byte| self.ends_at(*byte));
        let taken = &piece[..end.unwrap_or(piece.len())];
        if self.element.len() + taken.len() > ROW_BYTES_MAX {
            return Err(RowsError::RowTooLarge { row: self.rows });
        }
        self.element.extend_from_slice(taken);
        let Some(end) = end else { return Ok(&[]) };

        let is_last = piece[end] == b']';
        let is_empty = self.element.iter().all(|byte| is_space(*byte));
        // `[]` has no element; everywhere else an empty one is a mistake, which the parser tells.
        if !(is_last && first && is_empty) {
            let element = serde_json::from_slice(&self.element).map_err(|error| {
                RowsError::InvalidRow { row: self.rows, problem: error.to_string() }
            })?;
            self.rows += 1;
            row(element);
        }
        self.element.clear();
        self.state = if is_last { State::AfterArray } else { State::Element { first: false } };
        Ok(&piece[end + 1..])
    }

    /// Follows brackets and strings by one byte; whether the element ends before it.
    fn ends_at(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b',' | b']' if self.depth == 0 => return true,
            // One too many is no JSON, and stays in the element for the parser to find.
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits a body that arrives in pieces of these lengths, over and over.
    fn split(body: &[u8], lengths: &[usize]) -> Result<Vec<String>, RowsError> {
        let (mut splitter, mut rows) = (Splitter::new(), Vec::new());
        let mut rest = body;
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at((*length).clamp(1, rest.len()));
            splitter.push(piece, &mut |row| rows.push(row.get().to_owned()))?;
            rest = behind;
        }
        splitter.finish()?;
        Ok(rows)
    }

    fn parse_whole(body: &[u8]) -> Option<Vec<String>> {
        let rows: Vec<Box<RawValue>> = serde_json::from_slice(body).ok()?;
        Some(rows.iter().map(|row| row.get().to_owned()).collect())
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-zё\"\\\\\\[\\]{},: \n]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec(("[a-z\"]{0,3}", inner), 0..4)
                    .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_parsing_the_whole_body_wherever_it_is_cut(
            rows in prop::collection::vec(json(), 0..6),
            pretty in any::<bool>(),
            lengths in prop::collection::vec(1..40_usize, 1..8),
        ) {
            let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            let body = write(&rows).unwrap();
            prop_assert_eq!(split(body.as_bytes(), &lengths).ok(), parse_whole(body.as_bytes()));
        }

        /// Bodies that are nearly JSON: what one accepts the other does, too.
        #[test]
        fn accepts_exactly_what_a_parser_accepts(
            body in "\\[?([\\[\\]{}\",:\\\\ 1ae]|\"a\"|\\{\"a\":1\\}|null|,){0,12}\\]?[ 1]?",
            lengths in prop::collection::vec(1..5_usize, 1..4),
        ) {
            prop_assert_eq!(split(body.as_bytes(), &lengths).ok(), parse_whole(body.as_bytes()));
        }

        #[test]
        fn accepts_exactly_what_a_parser_accepts_of_bytes(
            body in prop::collection::vec(prop::sample::select(b"[]{},\"\\: 1\xff\xd0\x90".to_vec()), 0..10),
        ) {
            prop_assert_eq!(split(&body, &[1]).ok(), parse_whole(&body));
        }
    }

    #[test]
    fn each_way_to_be_wrong_is_told_apart() {
        let error = |body: &str| split(body.as_bytes(), &[3]).unwrap_err();
        assert!(matches!(error("{\"error\":true}"), RowsError::NotAnArray { .. }));
        assert!(matches!(error("[1,2,oops]"), RowsError::InvalidRow { row: 2, .. }));
        assert!(matches!(error("[1,]"), RowsError::InvalidRow { row: 1, .. }));
        assert_eq!(error("[1,{\"a\":"), RowsError::Unfinished { rows: 1 });
        assert_eq!(error(""), RowsError::Unfinished { rows: 0 });
        assert_eq!(error("[1] x"), RowsError::TrailingGarbage { rows: 1 });
        let large = format!("[1,\"{}\"]", "x".repeat(ROW_BYTES_MAX));
        assert_eq!(split(large.as_bytes(), &[99_999]), Err(RowsError::RowTooLarge { row: 1 }));
    }
}
