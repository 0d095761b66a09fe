//! The SQL, one file for each verb. Each file says what it takes and returns.

pub(crate) const COUNT: &str = include_str!("../../queries/count.sql");
pub(crate) const COUNTS: &str = include_str!("../../queries/counts.sql");
pub(crate) const LAND_INSERT: &str = include_str!("../../queries/land_insert.sql");
pub(crate) const LAND_UPDATE: &str = include_str!("../../queries/land_update.sql");
pub(crate) const QUARANTINE: &str = include_str!("../../queries/quarantine.sql");
pub(crate) const SCAN: &str = include_str!("../../queries/scan.sql");
