//! Files of rates, a trace or a series; files of rate, delay and loss; and those of jitter and of loss alone.

#![no_main]

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::altered(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let kind = if text.starts_with("time") { "series" } else { "trace" };
        let _ = network::fuzz::rates(kind, text);
        let _ = network::fuzz::series(text);
        let _ = network::fuzz::courses(text);
    }
});
