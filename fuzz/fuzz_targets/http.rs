//! HTTP: one byte for the decoder, then what it reads.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((which, data)) = data.split_first() else { return };
    match which % 7 {
        0 => http::fuzz::section(data),
        1 => http::fuzz::frames(data),
        2 => http::fuzz::instructions(data),
        3 => http::fuzz::http1(data),
        4 => http::fuzz::blocks(data),
        5 => http::fuzz::http2_frames(data),
        _ => http::fuzz::target(data),
    }
});
