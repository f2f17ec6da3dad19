//! Files of pages: an HTTP Archive or a list.

#![no_main]

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::altered(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let kind = if text.trim_start().starts_with(['{', '[', '\u{feff}']) { "har" } else { "list" };
        let _ = pages::fuzz::pages(kind, text);
    }
});
