//! Bad weather: the connector and a worker against the strict stand-in, which plays every fault that
//! it knows, over real HTTP. Each test prints its figures (`--no-capture`).

mod alone;
#[path = "../it/fleet.rs"]
#[allow(dead_code, reason = "shared with the imports, which use all of it")]
mod fleet;
mod gear;
mod ledger;
mod mangler;
mod odd_rows;
mod quota;
#[path = "../it/recorder.rs"]
#[allow(dead_code, reason = "shared with the imports, which use all of it")]
mod recorder;
mod refused;
mod together;

use std::sync::{
    Once,
    atomic::{AtomicU64, Ordering},
};

use waitless_job::UnixMillis;

/// Noon of 2026-10-01 in UTC: what the stand-in takes for the moment it starts.
const NOON: UnixMillis = UnixMillis(1_790_856_000_000);

static PANICS: AtomicU64 = AtomicU64::new(0);

/// Counts panics from now on. A worker survives those of its handlers, so that they would go
/// unnoticed otherwise.
fn count_panics() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            shown(panic);
        }));
    });
}

fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}
