//! The SQL, one file for each verb. Each file says what it takes and returns.

pub(crate) const COUNT: &str = include_str!("../queries/count.sql");
pub(crate) const COUNTS: &str = include_str!("../queries/counts.sql");
pub(crate) const LAND_INSERT: &str = include_str!("../queries/land_insert.sql");
pub(crate) const LAND_UPDATE: &str = include_str!("../queries/land_update.sql");
pub(crate) const QUARANTINE: &str = include_str!("../queries/quarantine.sql");
pub(crate) const SCAN: &str = include_str!("../queries/scan.sql");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SinkUrl;
    use crate::sqlite::connection::open_writer;

    #[test]
    fn every_file_has_a_caller_and_prepares_against_fresh_tables() {
        let called = [COUNT, COUNTS, LAND_INSERT, LAND_UPDATE, QUARANTINE, SCAN];
        let connection = open_writer(&SinkUrl::Memory).expect("it opens");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/queries");
        for file in std::fs::read_dir(folder).expect("the folder of queries") {
            let path = file.expect("a file").path();
            let sql = std::fs::read_to_string(&path).expect("it is text");
            assert!(called.contains(&sql.as_str()), "nobody calls {}", path.display());
            connection.prepare(&sql).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}
