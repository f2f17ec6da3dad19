//! Scenario documents: read, written, built and begun.

#![no_main]

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::altered(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = lab::fuzz::scenario(text, std::path::Path::new("examples/fuzz.toml"));
    }
});
