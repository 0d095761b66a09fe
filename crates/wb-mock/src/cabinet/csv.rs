//! The file of a funnel report: one CSV in a ZIP archive.

use std::io::{Cursor, Write};

use bytes::Bytes;
use chrono::NaiveDate;
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::owner::{Owner, Subject};
use super::period::Period;
use super::visits::{Counts, Visits, percent};

const HEADER: [&str; 15] = [
    "nmID",
    "dt",
    "openCardCount",
    "addToCartCount",
    "ordersCount",
    "ordersSumRub",
    "buyoutsCount",
    "buyoutsSumRub",
    "cancelCount",
    "cancelSumRub",
    "addToCartConversion",
    "cartToOrderConversion",
    "buyoutPercent",
    "addToWishlist",
    "currency",
];

/// A day of a thing.
pub(crate) struct Line {
    fields: [String; 15],
}

/// The lines of a period: days without a visit are left out.
pub(crate) fn lines(visits: Visits, period: Period) -> impl Iterator<Item = Line> + Send {
    visits.goods.iter().flat_map(move |good| {
        period.iter().filter_map(move |day| {
            let counts = visits.counts(&good, day);
            (counts.opened > 0).then(|| Line::of(good.nm_id, day, counts))
        })
    })
}

impl Line {
    fn of(nm_id: u64, day: NaiveDate, counts: Counts) -> Self {
        let numbers = [
            counts.opened,
            counts.carted,
            counts.ordered,
            counts.ordered_sum,
            counts.bought,
            counts.bought_sum,
            counts.cancelled,
            counts.cancelled_sum,
            percent(counts.carted, counts.opened),
            percent(counts.ordered, counts.carted),
            percent(counts.bought, counts.ordered),
            counts.wished,
        ];
        let mut texts = numbers.into_iter().map(|number| number.to_string());
        let fields = std::array::from_fn(|column| match column {
            0 => nm_id.to_string(),
            1 => day.to_string(),
            14 => "RUB".to_owned(),
            _ => texts.next().unwrap_or_default(),
        });
        Self { fields }
    }

    /// The line as an object of texts.
    pub(crate) fn object(&self) -> Value {
        let fields = HEADER.iter().zip(&self.fields);
        fields.map(|(name, text)| ((*name).to_owned(), Value::from(text.as_str()))).collect()
    }
}

/// The archive. Fields need no quotes, but some lines have them, as the format allows; there is no
/// free text in the format, so quotes never hide a comma or a line break.
pub(crate) fn archive(lines: impl Iterator<Item = Line>, owner: Owner) -> Bytes {
    let mut csv = HEADER.join(",");
    csv.push('\n');
    for (number, line) in lines.enumerate() {
        if owner.dice(Subject::CsvLine, [number as u64, 0]).one_in(10) {
            csv.push_str(&line.fields.each_ref().map(|field| format!("\"{field}\"")).join(","));
        } else {
            csv.push_str(&line.fields.join(","));
        }
        csv.push('\n');
    }

    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    // Writing to memory does not fail.
    writer.start_file("report.csv", options).expect("a new file in a new archive");
    writer.write_all(csv.as_bytes()).expect("memory takes all bytes");
    Bytes::from(writer.finish().expect("the archive is whole").into_inner())
}
