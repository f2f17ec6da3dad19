//! IP and UDP headers.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::fuzz::ip(data));
