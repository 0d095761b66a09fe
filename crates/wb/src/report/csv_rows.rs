//! CSV, line by line.

use std::io::{self, Read};

use csv::ByteRecord;
use serde_json::value::RawValue;

use super::{ReportError, UNPACKED_BYTES_MAX, left::Left};

/// Most bytes of a line: 1 MiB.
pub const LINE_BYTES_MAX: u64 = 1 << 20;

/// Most rows of a chunk.
const CHUNK_ROWS_MAX: usize = 1_000;

/// What the CSV reader reads at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// A line of a report.
#[derive(Debug)]
pub enum ReportRow {
    /// A JSON object: the names of the header with the texts of the line. Numbers stay texts, as
    /// they are in the file.
    Object(Box<RawValue>),
    /// It does not go with the header, or is no UTF-8.
    Odd {
        /// Why, for the quarantine.
        reason: String,
        /// The line's fields.
        text: String,
    },
}

/// The lines of a CSV file behind its header.
///
/// ```
/// use waitless_wb::{CsvRows, ReportRow};
///
/// let mut rows = CsvRows::new("nmID,dt\n17,2026-09-30\n".as_bytes());
/// let chunk = rows.next_chunk()?.expect("a row");
/// assert!(matches!(&chunk[..], [ReportRow::Object(row)] if row.get() == r#"{"dt":"2026-09-30","nmID":"17"}"#));
/// assert!(rows.next_chunk()?.is_none());
/// # Ok::<(), waitless_wb::ReportError>(())
/// ```
#[derive(Debug)]
pub struct CsvRows<R: Read> {
    csv: csv::Reader<Budget<R>>,
    /// `None` before it was read.
    header: Option<Vec<String>>,
    rows: u64,
}

impl<R: Read> CsvRows<R> {
    /// Reads from there, at most [`UNPACKED_BYTES_MAX`].
    pub fn new(reader: R) -> Self {
        Self::within(reader, Left::of(UNPACKED_BYTES_MAX))
    }

    /// Reads no more than what is left.
    pub(super) fn within(reader: R, left: Left) -> Self {
        let csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(Budget { reader, of_line: 0, of_report: left, is_too_large: false });
        Self { csv, header: None, rows: 0 }
    }

    /// The next rows, at most a thousand; `None` at the end.
    ///
    /// # Errors
    /// [`ReportError::Csv`] if the file cannot be unpacked, [`ReportError::LineTooLong`],
    /// [`ReportError::TooLarge`] and [`ReportError::TwiceInHeader`].
    pub fn next_chunk(&mut self) -> Result<Option<Vec<ReportRow>>, ReportError> {
        if self.header.is_none() {
            let mut record = ByteRecord::new();
            if !self.read(&mut record)? {
                return Ok(None);
            }
            let name = |field: &[u8]| String::from_utf8_lossy(field).trim().to_owned();
            let mut header: Vec<String> = record.iter().map(name).collect();
            if let Some(first) = header.first_mut()
                && let Some(rest) = first.strip_prefix('\u{feff}')
            {
                *first = rest.to_owned();
            }
            let mut names: Vec<&String> = header.iter().collect();
            names.sort_unstable();
            if let Some([name, _]) = names.array_windows().find(|[one, other]| one == other) {
                return Err(ReportError::TwiceInHeader { name: (*name).clone() });
            }
            self.header = Some(header);
        }
        let (mut chunk, mut record) = (Vec::new(), ByteRecord::new());
        while chunk.len() < CHUNK_ROWS_MAX && self.read(&mut record)? {
            self.rows += 1;
            chunk.push(row(self.header.as_deref().unwrap_or_default(), &record));
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }

    fn read(&mut self, record: &mut ByteRecord) -> Result<bool, ReportError> {
        // What is in the buffer has been read already.
        self.csv.get_mut().of_line = LINE_BYTES_MAX;
        let read = self.csv.read_byte_record(record);
        let budget = self.csv.get_ref();
        if budget.is_too_large {
            return Err(ReportError::TooLarge);
        }
        if budget.of_line == 0 && read.is_err() {
            return Err(ReportError::LineTooLong { rows: self.rows });
        }
        Ok(read?)
    }
}

fn row(header: &[String], record: &ByteRecord) -> ReportRow {
    let odd = |reason: String| {
        let fields: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
        ReportRow::Odd { reason, text: fields.join(",") }
    };
    if record.len() != header.len() {
        return odd(format!(
            "a line of {} fields under a header of {}",
            record.len(),
            header.len()
        ));
    }
    let mut object = serde_json::Map::new();
    for (name, field) in header.iter().zip(record) {
        match std::str::from_utf8(field) {
            Ok(text) => object.insert(name.clone(), text.into()),
            Err(_) => return odd(format!("`{name}` is no UTF-8")),
        };
    }
    match serde_json::value::to_raw_value(&object) {
        Ok(object) => ReportRow::Object(object),
        Err(error) => odd(error.to_string()),
    }
}

/// A reader that gives at most so many bytes before more are allowed: a line without an end would
/// fill the memory, and a report without one the disk.
#[derive(Debug)]
struct Budget<R> {
    reader: R,
    of_line: u64,
    of_report: Left,
    is_too_large: bool,
}

impl<R: Read> Read for Budget<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.of_line == 0 {
            return Err(io::Error::other("a line is too long"));
        }
        let length = buffer.len().min(usize::try_from(self.of_line).unwrap_or(usize::MAX));
        let read = self.reader.read(&mut buffer[..length])?;
        self.of_line -= read as u64;
        if !self.of_report.take(read as u64) {
            self.is_too_large = true;
            return Err(io::Error::other("a report is too large"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(csv: impl Read) -> Result<Vec<String>, ReportError> {
        let (mut rows, mut all) = (CsvRows::new(csv), Vec::new());
        while let Some(chunk) = rows.next_chunk()? {
            assert!((1..=CHUNK_ROWS_MAX).contains(&chunk.len()));
            all.extend(chunk.into_iter().map(|row| match row {
                ReportRow::Object(row) => row.get().to_owned(),
                ReportRow::Odd { reason, text } => format!("{reason}: {text}"),
            }));
        }
        Ok(all)
    }

    #[test]
    fn names_of_the_header_become_keys_and_values_stay_texts() {
        let csv = "\u{feff}nmID, dt \r\n17,\"a \"\"b\"\"\nc\"\r\n\r\n18,1.50\n";
        let expected = [r#"{"dt":"a \"b\"\nc","nmID":"17"}"#, r#"{"dt":"1.50","nmID":"18"}"#];
        assert_eq!(rows(csv.as_bytes()).unwrap(), expected);
        assert_eq!(rows("nmID,dt".as_bytes()).unwrap(), [""; 0]);
        assert_eq!(rows("".as_bytes()).unwrap(), [""; 0]);
    }

    #[test]
    fn lines_that_do_not_go_with_the_header_say_so() {
        let found = rows(&b"a,b\n1\n1,2,3\n\xff,2\n1,2\n"[..]).unwrap();
        let expected = [
            "a line of 1 fields under a header of 2: 1",
            "a line of 3 fields under a header of 2: 1,2,3",
            "`a` is no UTF-8: \u{fffd},2",
            r#"{"a":"1","b":"2"}"#,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_that_the_header_has_twice_is_refused_and_no_field_replaces_another() {
        for csv in ["a,b,a\n1,2,3\n", "a,b,\"a \"\n", "a,,\n1,2,3\n"] {
            let error = rows(csv.as_bytes()).unwrap_err();
            assert!(matches!(error, ReportError::TwiceInHeader { .. }), "{csv}: {error}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
        let endless = "a,b\n1,2\n".as_bytes().chain(io::repeat(b'x'));
        let mut endless = CsvRows::new(endless);
        let error = endless.next_chunk().unwrap_err();
        assert!(matches!(error, ReportError::LineTooLong { rows: 1 }), "{error}");
        let quoted = "a,b\n\"".as_bytes().chain(io::repeat(b'\n'));
        assert!(matches!(rows(quoted), Err(ReportError::LineTooLong { rows: 0 })));
        let long = format!("a\n{}\n", "x".repeat(900_000)).repeat(3);
        assert_eq!(rows(long.as_bytes()).unwrap().len(), 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = rows(&bytes[..]);
        }

        #[test]
        fn as_many_rows_come_out_as_lines_went_in(count in 0..3_000_usize) {
            let csv = format!("a,b\n{}", "1,2\n".repeat(count));
            prop_assert_eq!(rows(csv.as_bytes()).unwrap().len(), count);
        }
    }
}
