//! Cuts the array of rows out of a JSON body, and into its elements, while it arrives.
//!
//! An incremental splitter and not `serde_json` on a blocking reader: a thread that reads would
//! outlive the job that was cut short, and would hold up the end of the process until its read
//! times out. Nothing of JSON is parsed twice: brackets and strings are followed here, everything
//! else is left to `serde_json`, which checks each element.

use serde_json::{Value, value::RawValue};

use crate::{
    envelope::{ENVELOPE_BYTES_MAX, Envelope},
    strings::{Strings, is_space},
};

/// Largest row in bytes: 8 MiB, as a bound on memory. Real ones have a few hundred.
pub const ROW_BYTES_MAX: usize = 8 << 20;

/// Why a body has no rows to give.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// The body is neither the array nor an object that may have it inside.
    #[error("{expected} was expected; it begins: {beginning}")]
    NotRows {
        /// `a JSON array of rows` or `a JSON object`.
        expected: &'static str,
        /// The first 80 printable characters.
        beginning: String,
    },
    /// Something else stands where the array should be, or an object on the way to it.
    #[error("{expected} was expected at `{path}`; there begins: {beginning}")]
    NotRowsAt {
        /// The keys that lead there, with dots between them.
        path: String,
        /// `a JSON array of rows` or `a JSON object`.
        expected: &'static str,
        /// The first 80 printable characters.
        beginning: String,
    },
    /// A key that leads to the array is there twice.
    #[error("`{path}` is there twice")]
    TwoPlaces {
        /// The keys that lead there, with dots between them.
        path: String,
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
    /// What stands around the rows is not JSON, for example because something follows its end.
    #[error("without its {rows} rows it is not JSON: {problem}")]
    InvalidEnvelope {
        /// Rows of the array.
        rows: u64,
        /// What the parser said; a column counts without the rows.
        problem: String,
    },
    /// What stands around the rows is larger than [`ENVELOPE_BYTES_MAX`].
    #[error("it has more than {ENVELOPE_BYTES_MAX} bytes beside its rows")]
    EnvelopeTooLarge,
    /// The body ends before its end.
    #[error("it ends too early, after {rows} rows")]
    Unfinished {
        /// Whole rows before the end.
        rows: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the array, or behind it.
    Envelope,
    /// In an element; `first` while the array may still turn out to be empty.
    Element { first: bool },
}

/// The state of the art between two pieces of a body.
#[derive(Debug)]
pub(crate) struct Splitter {
    state: State,
    envelope: Envelope,
    /// The element so far.
    element: Vec<u8>,
    /// Its strings.
    strings: Strings,
    /// Brackets open within the element.
    depth: u64,
    rows: u64,
}

impl Splitter {
    /// For a body that has its rows in the array that these keys lead to; without keys it is the
    /// array.
    pub(crate) fn new(path: &'static [&'static str]) -> Self {
        Self {
            state: State::Envelope,
            envelope: Envelope::new(path),
            element: Vec::new(),
            strings: Strings::default(),
            depth: 0,
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
                State::Envelope => match self.envelope.push(rest)? {
                    Some(behind) => {
                        self.state = State::Element { first: true };
                        behind
                    }
                    None => &[],
                },
                State::Element { first } => self.element(first, rest, row)?,
            };
        }
        Ok(())
    }

    /// The body is over: what it was beside its rows, with an empty array in their place; null if
    /// it was the array.
    pub(crate) fn finish(&self) -> Result<Value, RowsError> {
        match self.state {
            State::Envelope => self.envelope.finish(self.rows),
            State::Element { .. } => Err(RowsError::Unfinished { rows: self.rows }),
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
        self.state = State::Element { first: false };
        if is_last {
            self.envelope.end_rows();
            self.state = State::Envelope;
        }
        Ok(&piece[end + 1..])
    }

    /// Follows brackets and strings by one byte; whether the element ends before it.
    fn ends_at(&mut self, byte: u8) -> bool {
        if self.strings.holds(byte) {
            return false;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b',' | b']' if self.depth == 0 => return true,
            // One too many is no JSON, and stays in the element for the parser to find.
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{fuzzing::split, whole::whole};

    const PATHS: [&[&str]; 3] = [&[], &["a"], &["a", "b"]];

    fn path() -> impl Strategy<Value = &'static [&'static str]> {
        prop::sample::select(PATHS.to_vec())
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-zё\"\\\\\\[\\]{},: \n]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec(("[ab\"]{0,2}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// An object that has a value at a path, between anything else.
    fn around(path: &[&str], value: Value, others: &[Value]) -> Value {
        let [key, inner @ ..] = path else { return value };
        let mut object = serde_json::Map::new();
        for (at, other) in others.iter().enumerate() {
            // Some in front of the path in the order of keys, some behind it.
            object.insert(format!("{}{at}", ["A", "z"][at % 2]), other.clone());
        }
        object.insert((*key).to_owned(), around(inner, value, others));
        Value::Object(object)
    }

    proptest! {
        #[test]
        fn agrees_with_parsing_the_whole_body_wherever_it_is_cut(
            path in path(),
            rows in prop::collection::vec(json(), 0..6),
            others in prop::collection::vec(json(), 0..4),
            pretty in any::<bool>(),
            lengths in prop::collection::vec(1..40_usize, 1..8),
        ) {
            let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            let body = write(&around(path, rows.clone().into(), &others)).unwrap();
            let (found, envelope) = split(path, body.as_bytes(), &lengths).unwrap();
            let found: Vec<Value> = found.iter().map(|row| row.parse().unwrap()).collect();
            prop_assert_eq!(found, rows);
            let expected = match path {
                [] => Value::Null,
                _ => around(path, Value::Array(Vec::new()), &others),
            };
            prop_assert_eq!(envelope, expected);
        }

        #[test]
        fn takes_what_a_parser_takes_of_any_json(
            path in path(),
            body in json(),
            lengths in prop::collection::vec(1..9_usize, 1..4),
        ) {
            let body = body.to_string();
            prop_assert_eq!(split(path, body.as_bytes(), &lengths).ok(), whole(path, body.as_bytes()));
        }

        /// Bodies that are nearly JSON: what one takes the other does, too.
        #[test]
        fn takes_exactly_what_a_parser_takes(
            path in path(),
            body in "\\[?([\\[\\]{}\",:\\\\ 1ae]|\"a\"|\\{\"a\":1\\}|null|,){0,12}\\]?[ 1]?",
            lengths in prop::collection::vec(1..5_usize, 1..4),
        ) {
            prop_assert_eq!(split(path, body.as_bytes(), &lengths).ok(), whole(path, body.as_bytes()));
        }

        #[test]
        fn takes_exactly_what_a_parser_takes_around_rows(
            path in path(),
            body in "\\{(\"a\":\\{\"b\":)?([\\[\\]{},: 1]|\"[ab]\":|\"\\\\\\\\u0061\":|\\[1,2\\]|null|,){0,8}\\}{0,2}",
            lengths in prop::collection::vec(1..5_usize, 1..4),
        ) {
            prop_assert_eq!(split(path, body.as_bytes(), &lengths).ok(), whole(path, body.as_bytes()));
        }

        #[test]
        fn takes_exactly_what_a_parser_takes_of_bytes(
            path in path(),
            body in prop::collection::vec(prop::sample::select(b"[]{},\"\\: 1\xff\xd0\x90".to_vec()), 0..10),
        ) {
            prop_assert_eq!(split(path, &body, &[1]).ok(), whole(path, &body));
        }
    }

    const DATA_ITEMS: &[&str] = &["data", "items"];

    #[test]
    fn each_way_to_be_wrong_is_told_apart() {
        let error = |body: &str| split(&[], body.as_bytes(), &[3]).unwrap_err();
        assert!(matches!(error("{\"error\":true}"), RowsError::NotRows { .. }));
        assert!(matches!(error("[1,2,oops]"), RowsError::InvalidRow { row: 2, .. }));
        assert!(matches!(error("[1,]"), RowsError::InvalidRow { row: 1, .. }));
        assert_eq!(error("[1,{\"a\":"), RowsError::Unfinished { rows: 1 });
        assert_eq!(error(""), RowsError::Unfinished { rows: 0 });
        assert!(matches!(error("[1] x"), RowsError::InvalidEnvelope { rows: 1, .. }));
        let large = format!("[1,\"{}\"]", "x".repeat(ROW_BYTES_MAX));
        assert_eq!(split(&[], large.as_bytes(), &[99_999]), Err(RowsError::RowTooLarge { row: 1 }));
    }

    #[test]
    fn what_stands_in_the_place_of_rows_is_told() {
        let error = |body: &str| split(DATA_ITEMS, body.as_bytes(), &[99]).unwrap_err().to_string();
        assert_eq!(error("[1]"), "a JSON object was expected; it begins: [1]");
        let text = error(r#"{"data":{"items":"none"}}"#);
        assert_eq!(
            text,
            r#"a JSON array of rows was expected at `data.items`; there begins: "none"}}"#
        );
        let text = error(r#"{"data":[]}"#);
        assert_eq!(text, "a JSON object was expected at `data`; there begins: []}");
        let text = error(r#"{"data":{"items":[1],"items":[2]}}"#);
        assert_eq!(text, "`data.items` is there twice");
        assert_eq!(error(r#"{"data":null,"d\u0061ta":{}}"#), "`data` is there twice");
        assert_eq!(error(r#"{"data":{"items":[1]}"#), "it ends too early, after 1 rows");
    }

    #[test]
    fn rows_that_are_missing_or_null_are_none() {
        for body in [
            "null",
            "{}",
            r#"{"data":null}"#,
            r#"{"data":{"items":null},"items":[1]}"#,
            r#"{"a":{"data":{"items":[1]}},"data":{"a":"\"items\":["}}"#,
        ] {
            let expected = (Vec::new(), body.parse().unwrap());
            assert_eq!(split(DATA_ITEMS, body.as_bytes(), &[2]), Ok(expected), "{body}");
        }
    }

    #[test]
    fn an_envelope_is_bounded_and_rows_do_not_count() {
        let rest = "x".repeat(ENVELOPE_BYTES_MAX - 15);
        let body = |rest: &str| format!(r#"{{"a":[{}1],"b":"{rest}"}}"#, "1,".repeat(9_999));
        let (rows, envelope) = split(&["a"], body(&rest).as_bytes(), &[4_096]).unwrap();
        assert_eq!((rows.len(), envelope["b"].as_str().map(str::len)), (10_000, Some(rest.len())));
        let error = split(&["a"], body(&(rest + "y")).as_bytes(), &[4_096]).unwrap_err();
        assert_eq!(error, RowsError::EnvelopeTooLarge);
    }
}
