//! The reference store keeps every promise.

use waitless_store::MemoryStore;

async fn fresh() -> (MemoryStore, ()) {
    (MemoryStore::new(), ())
}

waitless_store::conformance!(fresh);
