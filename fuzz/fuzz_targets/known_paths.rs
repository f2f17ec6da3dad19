//! Bytes as the file of what a server knows of paths.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    live::fuzz::known_paths(data);
});
