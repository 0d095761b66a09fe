//! Reports that come as a ZIP with CSV in it, line by line in bounded memory.

mod csv_rows;
mod left;

use std::io::{Cursor, Read};

use zip::ZipArchive;

pub use self::csv_rows::{CsvRows, LINE_BYTES_MAX, ReportRow};
use self::left::Left;

/// Most bytes of a report once it is unpacked: 512 MiB. A year of ten thousand products has about
/// 300.
pub const UNPACKED_BYTES_MAX: u64 = 512 << 20;

/// Why a report cannot be read. As it may have been cut off on its way, a job tries it again.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It is no ZIP, or one that is damaged or encrypted.
    #[error("the report cannot be unpacked: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// Nothing in it ends with `.csv`.
    #[error("the report has no CSV file in it")]
    NoCsv,
    /// A file in it cannot be unpacked or is no CSV.
    #[error("the CSV of the report cannot be read")]
    Csv(#[from] csv::Error),
    /// A line is too long.
    #[error("the report has a line of more than {LINE_BYTES_MAX} bytes after row {rows}")]
    LineTooLong {
        /// Rows before it.
        rows: u64,
    },
    /// There is more in all its files than a report can be.
    #[error("the report has more than {UNPACKED_BYTES_MAX} bytes when it is unpacked")]
    TooLarge,
    /// Which of two fields of one name is meant cannot be told.
    #[error("the header of the report has `{name}` twice")]
    TwiceInHeader {
        /// The name.
        name: String,
    },
}

/// A ZIP with CSV files in it.
#[derive(Debug)]
pub struct Report {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// The places of the CSV files.
    files: Vec<usize>,
    /// Of all files.
    left: Left,
}

impl Report {
    /// Opens a report.
    ///
    /// # Errors
    /// [`ReportError::Zip`] and [`ReportError::NoCsv`].
    pub fn open(zip: Vec<u8>) -> Result<Self, ReportError> {
        Self::open_within(zip, UNPACKED_BYTES_MAX)
    }

    fn open_within(zip: Vec<u8>, unpacked_bytes_max: u64) -> Result<Self, ReportError> {
        let mut zip = ZipArchive::new(Cursor::new(zip))?;
        let mut files = Vec::new();
        for place in 0..zip.len() {
            let is_csv = |name: &str| name.to_ascii_lowercase().ends_with(".csv");
            if is_csv(&zip.by_index_raw(place)?.name()?) {
                files.push(place);
            }
        }
        if files.is_empty() {
            return Err(ReportError::NoCsv);
        }
        Ok(Self { zip, files, left: Left::of(unpacked_bytes_max) })
    }

    /// The rows of a CSV file in it, counted from 0; `None` behind the last.
    ///
    /// # Errors
    /// [`ReportError::Zip`] if it cannot be unpacked.
    pub fn file(
        &mut self,
        number: usize,
    ) -> Result<Option<CsvRows<impl Read + Send + '_>>, ReportError> {
        let Some(place) = self.files.get(number) else { return Ok(None) };
        let file = self.zip.by_index(*place)?;
        Ok(Some(CsvRows::within(file, self.left.clone())))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn zip(files: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn count(zip: Vec<u8>) -> Result<usize, ReportError> {
        count_rows(Report::open(zip)?)
    }

    fn count_rows(mut report: Report) -> Result<usize, ReportError> {
        let (mut file, mut count) = (0, 0);
        while let Some(mut rows) = report.file(file)? {
            while let Some(chunk) = rows.next_chunk()? {
                count += chunk.len();
            }
            file += 1;
        }
        Ok(count)
    }

    #[test]
    fn every_csv_in_a_zip_is_read_and_nothing_else() {
        let csv = format!("nmID,dt\n{}", "17,2026-09-30\n".repeat(2_500));
        assert_eq!(
            count(zip(&[("a.csv", &csv), ("b.txt", "x"), ("c.CSV", "a\n1\n")])).unwrap(),
            2_501
        );
        assert!(matches!(count(zip(&[("a.txt", "x")])), Err(ReportError::NoCsv)));
    }

    #[test]
    fn all_files_of_a_report_together_have_a_bound() {
        let csv = format!("a\n{}", "1\n".repeat(1_000));
        let bytes = csv.len() as u64;
        let names: Vec<String> = (0..10).map(|number| format!("{number}.csv")).collect();
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), csv.as_str())).collect();
        let within = |bytes_max| count_rows(Report::open_within(zip(&files), bytes_max)?);
        assert_eq!(within(10 * bytes).unwrap(), 10_000);
        for bytes_max in [0, bytes - 1, bytes, 10 * bytes - 1] {
            assert!(matches!(within(bytes_max), Err(ReportError::TooLarge)), "{bytes_max}");
        }
    }

    #[test]
    fn a_zip_that_is_damaged_anywhere_is_an_error_and_no_panic() {
        let csv: String = (0..100).map(|row| format!("{row},{}\n", row * 7919 % 1000)).collect();
        let good = zip(&[("a.csv", &format!("nmID,dt\n{csv}"))]);
        for cut in 0..good.len() {
            assert!(count(good[..cut].to_vec()).is_err(), "cut at {cut}");
        }
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 0x55;
            // A flag that nobody looks at may change; what is packed is checked by its sum.
            let _ = count(bad);
        }
        assert!(matches!(count(b"<html>".to_vec()), Err(ReportError::Zip(_))));
    }

    #[test]
    fn what_is_packed_is_checked_by_its_sum() {
        let good = zip(&[("a.csv", &"nmID,dt\n17,2026-09-30\n".repeat(50))]);
        let packed = 30 + "a.csv".len();
        let mut bad = good.clone();
        bad[packed + 20] ^= 1;
        assert!(matches!(count(bad), Err(ReportError::Csv(_))));
    }
}
