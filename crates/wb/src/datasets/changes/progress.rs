//! How far an import has come, in requests.

use crate::MoscowTime;

/// An estimate of all requests of an import: as many for the time still to cover as for the time
/// that `done` requests have covered, and one that finds the end. `None` while nothing is covered.
///
/// Rows spread evenly enough over the days; a seller that has begun in the middle of them looks
/// slow at first and fast later.
pub(super) fn requests_total(
    done: u64,
    since: MoscowTime,
    cursor: MoscowTime,
    now: MoscowTime,
) -> Option<u64> {
    let covered = u128::from(cursor.ms_since(since));
    if covered == 0 || done == 0 {
        return None;
    }
    // Rows may have changed after the moment that this clock takes for now.
    let span = u128::from(now.ms_since(since)).max(covered);
    let pages = (u128::from(done) * span).div_ceil(covered);
    u64::try_from(pages).ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: u32) -> MoscowTime {
        format!("2026-09-{day:02}T00:00:00").parse().unwrap()
    }

    #[test]
    fn the_time_that_is_covered_tells_how_much_there_will_be() {
        let total = |done, cursor, now| requests_total(done, day(1), day(cursor), day(now));
        assert_eq!(total(3, 11, 21), Some(7));
        assert_eq!(total(3, 11, 22), Some(8));
        assert_eq!(total(6, 21, 21), Some(7), "only the end is to be found");
        assert_eq!(total(6, 25, 21), Some(7));
        assert_eq!(total(1, 1, 21), None);
        assert_eq!(total(0, 9, 21), None);
    }
}
