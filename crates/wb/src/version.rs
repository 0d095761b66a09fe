//! When a row has changed, as a text that sorts as the time does.

use chrono::{DateTime, FixedOffset};

use crate::key::Fields;

/// The version of a row by a time with an offset: written anew with six digits and the offset that
/// the service uses, in hours. As services write them, `10:00:05Z` would come behind
/// `10:00:05.1Z`.
///
/// # Errors
/// In words for the quarantine: a row without a version would overwrite newer ones, or never be
/// overwritten.
pub(crate) fn version(fields: &Fields<'_>, name: &str, offset: i32) -> Result<String, String> {
    let text = fields.text(name)?;
    let time: DateTime<FixedOffset> = text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        format!("`{name}`: `{}` is no time like 2026-09-30T18:20:07Z", shown.escape_debug())
    })?;
    let offset = FixedOffset::east_opt(offset * 3_600).expect("an offset of some hours");
    let time = time.with_timezone(&offset);
    Ok(time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn version_of(time: &str, offset: i32) -> Result<String, String> {
        let row = RawValue::from_string(format!(r#"{{"at":{time}}}"#)).unwrap();
        version(&Fields::of(&row).unwrap(), "at", offset)
    }

    #[test]
    fn versions_sort_as_the_times_do() {
        let times = [
            "10:00:05Z",
            "10:00:05.1Z",
            "13:00:05.100001+03:00",
            "10:00:05.96577Z",
            "10:00:06Z",
            "22:00:07.5+12:00",
        ];
        for offset in [0, 3] {
            let version = |time| version_of(&format!("\"2026-10-01T{time}\""), offset).unwrap();
            let versions = times.map(version);
            assert!(versions.is_sorted(), "{versions:?}");
        }
    }

    #[test]
    fn a_version_is_the_text_that_the_service_writes() {
        for (text, offset) in
            [("2026-10-01T10:00:05.123456Z", 0), ("2026-10-01T13:00:05.123400+03:00", 3)]
        {
            assert_eq!(version_of(&format!("\"{text}\""), offset).unwrap(), text);
        }
    }

    #[test]
    fn a_time_that_cannot_be_read_is_named() {
        for (time, problem) in [
            ("null", "`at` is null"),
            ("7", "`at`: `7` is no time"),
            ("\"2026-10-01T10:00:00\"", "`at`: `2026-10-01T10:00:00` is no time"),
        ] {
            let error = version_of(time, 0).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
