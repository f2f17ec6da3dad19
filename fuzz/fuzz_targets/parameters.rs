//! Transport parameters.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::fuzz::parameters(data));
