//! HTTP/3: one byte for the decoder, then what it reads.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((which, data)) = data.split_first() else { return };
    match which % 4 {
        0 => http::fuzz::section(data),
        1 => http::fuzz::frames(data),
        2 => http::fuzz::instructions(data),
        _ => http::fuzz::target(data),
    }
});
