#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| waitless_upstream::fuzzing::rows(data));
