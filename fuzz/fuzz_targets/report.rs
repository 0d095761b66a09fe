#![no_main]

#[path = "../../crates/wb/tests/corpus/report.rs"]
mod report;

libfuzzer_sys::fuzz_target!(|data: &[u8]| report::report(data));
