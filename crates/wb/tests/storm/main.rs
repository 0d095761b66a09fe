//! Bad weather: the connector and a worker against the strict stand-in, which plays every fault that
//! it knows, over real HTTP. Each test prints its figures (`--no-capture`).

mod alone;
mod gear;
mod ledger;
mod mangler;
mod odd_rows;
mod quota;
mod refused;
#[path = "../support/mod.rs"]
mod support;
mod together;

use std::sync::{
    Once,
    atomic::{AtomicU64, Ordering},
};

use self::support::fleet;

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
