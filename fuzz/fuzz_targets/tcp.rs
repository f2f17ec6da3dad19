//! TCP headers and their options.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::fuzz::tcp(data));
