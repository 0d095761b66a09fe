//! When a row has changed, as a text that sorts as the time does.

use chrono::{DateTime, Utc};

use crate::key::Fields;

/// The version of a row by a time with an offset. It is written anew, in UTC: as the upstream
/// writes them, `10:00:05Z` would come behind `10:00:05.1Z`.
///
/// # Errors
/// In words for the quarantine: a row without a version would overwrite newer ones, or never be
/// overwritten.
pub(crate) fn version(fields: &Fields<'_>, name: &str) -> Result<String, String> {
    let text = fields.text(name)?;
    let time: DateTime<Utc> = text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        format!("`{name}`: `{}` is no time like 2026-09-30T18:20:07Z", shown.escape_debug())
    })?;
    // `%.f` writes nothing for a whole second.
    Ok(time.format("%Y-%m-%dT%H:%M:%S%.f").to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn version_of(time: &str) -> Result<String, String> {
        let row = RawValue::from_string(format!(r#"{{"at":{time}}}"#)).unwrap();
        version(&Fields::of(&row).unwrap(), "at")
    }

    #[test]
    fn versions_sort_as_the_times_do() {
        let times =
            ["10:00:05Z", "10:00:05.1Z", "13:00:05.100001+03:00", "10:00:05.96577Z", "10:00:06Z"];
        let versions = times.map(|time| version_of(&format!("\"2026-10-01T{time}\"")).unwrap());
        assert!(versions.is_sorted(), "{versions:?}");
        assert_eq!(versions[0], "2026-10-01T10:00:05");
    }

    #[test]
    fn a_time_that_cannot_be_read_is_named() {
        for (time, problem) in [
            ("null", "`at` is null"),
            ("7", "`at`: `7` is no time"),
            ("\"2026-10-01T10:00:00\"", "`at`: `2026-10-01T10:00:00` is no time"),
        ] {
            let error = version_of(time).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
