//! What is found of the file itself.

use waitless_store::StoreError;
use waitless_store_sqlite::Health;

use super::Finding;
use crate::format::bytes;

/// A write-ahead log beyond this is not emptied any more: somebody reads without an end.
const LOG_BYTES_WARN: u64 = 1 << 30;

/// Free space on the disk below which nobody should sleep well.
const FREE_BYTES_WARN: u64 = 1 << 30;
/// Free space at which the next import fails.
const FREE_BYTES_BAD: u64 = 64 << 20;

pub(super) fn closed(error: &StoreError) -> Finding {
    let action = match error {
        StoreError::Newer { .. } => "install a newer waitless: this one would damage the file",
        StoreError::Full { .. } => "free space on its disk",
        StoreError::Unavailable { .. } => "find who keeps the file locked, and stop it",
        StoreError::Damaged { .. } => DAMAGED,
        _ => "check the path and who may read and write it",
    };
    let what = match error {
        // Its own text sends to the doctor.
        StoreError::Damaged { what } => format!("the store is damaged: {what}"),
        error => error.to_string(),
    };
    Finding::bad("store", what, action)
}

pub(super) fn unreadable(error: &StoreError) -> Finding {
    match error {
        StoreError::Damaged { what } => Finding::bad("integrity", what, DAMAGED),
        error => closed(error),
    }
}

pub(super) fn check(url: &str, health: &Health) -> Vec<Finding> {
    let mut findings = vec![
        Finding::ok(
            "store",
            format!(
                "{url}, schema version {}, {}, journal mode {}",
                health.schema_version,
                bytes(health.bytes),
                health.journal_mode
            ),
        ),
        integrity(&health.faults),
        log(health.log_bytes),
    ];
    findings.extend(health.bytes_free.map(disk));
    findings
}

fn integrity(faults: &[String]) -> Finding {
    match faults {
        [] => Finding::ok("integrity", "the file is sound"),
        faults => Finding::bad("integrity", faults.join("; "), DAMAGED),
    }
}

fn log(log_bytes: u64) -> Finding {
    let what = format!("the write-ahead log has {}", bytes(log_bytes));
    if log_bytes <= LOG_BYTES_WARN {
        return Finding::ok("log", what);
    }
    let action = "find the process that has had a read open on the file for long, and end it";
    Finding::warn("log", what, action)
}

fn disk(free: u64) -> Finding {
    let what = format!("{} are free on the disk of the store", bytes(free));
    let action = "free space: a full disk stops everything that writes, nothing is lost by it";
    match free {
        0..FREE_BYTES_BAD => Finding::bad("disk", what, action),
        FREE_BYTES_BAD..FREE_BYTES_WARN => Finding::warn("disk", what, action),
        FREE_BYTES_WARN.. => Finding::ok("disk", what),
    }
}

const DAMAGED: &str = "restore a backup, or start a new store; before that, stop the worker and copy \
                       the file with its -wal: `sqlite3 FILE .recover` may save some of it";
