//! What must hold of reports, for any bytes at all. Shared with the target in `fuzz`.

use std::io::Read;

use waitless_wb::{CsvRows, Report, ReportError, ReportRow};

/// A report: its CSV as it is, and the bytes as the ZIP that it comes in.
///
/// # Panics
/// If a row of it is no JSON object.
pub fn report(data: &[u8]) {
    // What is wrong with a report is for whoever tries again.
    let _ = read(CsvRows::new(data));
    let _ = unpack(data);
}

fn unpack(data: &[u8]) -> Result<(), ReportError> {
    let mut report = Report::open(data.to_vec())?;
    let mut file = 0;
    while let Some(rows) = report.file(file)? {
        read(rows)?;
        file += 1;
    }
    Ok(())
}

fn read(mut rows: CsvRows<impl Read>) -> Result<(), ReportError> {
    while let Some(chunk) = rows.next_chunk()? {
        for row in chunk {
            match row {
                ReportRow::Object(row) => {
                    let row: serde_json::Value = serde_json::from_str(row.get()).expect("JSON");
                    assert!(row.is_object(), "{row}");
                }
                ReportRow::Odd { reason, .. } => assert!(!reason.is_empty()),
            }
        }
    }
    Ok(())
}
