#![no_main]

#[path = "../../crates/wb/tests/corpus/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::token(data));
