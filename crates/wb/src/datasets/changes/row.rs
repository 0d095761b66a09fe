//! What of a row has to be known to land it.

use serde_json::value::RawValue;

use super::Kind;
use crate::{MoscowTime, key::Fields};

/// What was found in a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// When it last changed, if that can be read.
    pub(super) changed_at: Option<MoscowTime>,
    /// Its natural key, or why it goes to the quarantine.
    pub(super) key: Result<String, String>,
}

impl Head {
    /// Reads a row. Its key is `srid` for orders; for sales `saleID`, which is not the same for a
    /// sale and its return where `srid` is.
    pub(super) fn of(kind: Kind, row: &RawValue) -> Self {
        let fields = match Fields::of(row) {
            Ok(fields) => fields,
            Err(problem) => return Self { changed_at: None, key: Err(problem) },
        };
        // A row without a version would overwrite newer ones, or never be overwritten.
        match changed_at(&fields) {
            Ok(changed_at) => {
                let key = match kind {
                    Kind::Orders => fields.filled("srid"),
                    Kind::Sales => sale_key(&fields),
                };
                Self { changed_at: Some(changed_at), key }
            }
            Err(problem) => Self { changed_at: None, key: Err(problem) },
        }
    }
}

fn changed_at(fields: &Fields<'_>) -> Result<MoscowTime, String> {
    let text = fields.filled("lastChangeDate")?;
    text.parse().map_err(|error| format!("`lastChangeDate`: {error}"))
}

fn sale_key(fields: &Fields<'_>) -> Result<String, String> {
    if let Some(sale_id) = fields.filled_if_any("saleID")? {
        return Ok(sale_id);
    }
    let srid = fields.filled_if_any("srid")?.ok_or("neither `saleID` nor `srid`")?;
    // The amounts of returns are negative. They may be 0 for a day, and then it is better to keep
    // the row apart than to let a return overwrite its sale.
    let amounts = ["forPay", "finishedPrice", "priceWithDisc"].map(|name| fields.get(name));
    let letter = amounts.into_iter().flatten().find_map(|amount| sale_or_return(amount.get()));
    let letter = letter.ok_or("no `saleID`, and no amount to tell a sale from a return by")?;
    Ok(format!("{srid}/{letter}"))
}

/// `S` for an amount above zero, `R` for one below.
fn sale_or_return(amount: &str) -> Option<char> {
    let digits = amount.split(['e', 'E']).next().unwrap_or("");
    if !digits.contains(|c: char| ('1'..='9').contains(&c)) {
        return None;
    }
    Some(if digits.starts_with('-') { 'R' } else { 'S' })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: Kind, row: &str) -> Result<String, String> {
        let row = RawValue::from_string(row.to_owned()).expect("it is JSON");
        Head::of(kind, &row).key
    }

    const AT: &str = r#""lastChangeDate":"2026-10-01T10:00:00""#;

    #[test]
    fn orders_are_keyed_by_srid_and_sales_by_sale_id() {
        let row = format!(r#"{{{AT},"srid":"a.1","saleID":"S9","new":[1,{{}}]}}"#);
        assert_eq!(key(Kind::Orders, &row), Ok("a.1".to_owned()));
        assert_eq!(key(Kind::Sales, &row), Ok("S9".to_owned()));
        let row = RawValue::from_string(row).unwrap();
        let at = Head::of(Kind::Sales, &row).changed_at.unwrap();
        assert_eq!(at.to_string(), "2026-10-01T10:00:00");
    }

    #[test]
    fn a_sale_without_its_id_is_keyed_by_srid_and_what_it_is() {
        let with = |amounts: &str| {
            key(Kind::Sales, &format!(r#"{{{AT},"srid":"a.1","saleID":null,{amounts}}}"#))
        };
        assert_eq!(with(r#""forPay":0,"finishedPrice":12.5"#), Ok("a.1/S".to_owned()));
        assert_eq!(with(r#""forPay":-1284.01"#), Ok("a.1/R".to_owned()));
        assert!(with(r#""forPay":0,"priceWithDisc":-0.0e9"#).is_err());
    }

    #[test]
    fn a_number_is_the_same_key_as_its_text() {
        for id in ["17", "\"17\"", "17.0"] {
            let row = format!(r#"{{{AT},"srid":{id},"saleID":{id},"forPay":1}}"#);
            assert_eq!(key(Kind::Orders, &row), Ok("17".to_owned()));
            assert_eq!(key(Kind::Sales, &row), Ok("17".to_owned()));
        }
        let long = format!(r#"{{{AT},"srid":"a","saleID":"{}","forPay":1}}"#, "x".repeat(513));
        let problem = "`saleID` has more than 512 bytes";
        assert_eq!(key(Kind::Sales, &long).unwrap_err(), problem, "and no key by `srid`");
    }

    #[test]
    fn what_cannot_be_keyed_says_why() {
        for (kind, row, reason) in [
            (Kind::Orders, format!("{{{AT}}}"), "no `srid`"),
            (Kind::Orders, format!(r#"{{{AT},"srid":""}}"#), "`srid` is empty"),
            (Kind::Orders, format!(r#"{{{AT},"srid":[17]}}"#), "`srid` is a list"),
            (Kind::Sales, format!(r#"{{{AT},"srid":"a","saleID":{{}}}}"#), "`saleID` is an object"),
            (Kind::Sales, format!("{{{AT}}}"), "neither `saleID` nor `srid`"),
            (Kind::Orders, r#"{"srid":"a"}"#.to_owned(), "no `lastChangeDate`"),
            (
                Kind::Orders,
                r#"{"srid":"a","lastChangeDate":"2026-10-01T10:00:00Z"}"#.to_owned(),
                "`lastChangeDate`: `2026-10-01T10:00:00Z` is no Moscow time",
            ),
            (Kind::Orders, "17".to_owned(), "it is no row"),
        ] {
            let problem = key(kind, &row).unwrap_err();
            assert!(problem.starts_with(reason), "{row}: {problem}");
        }
    }
}
