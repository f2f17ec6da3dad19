//! Files of presentations: an MPD, the sizes of an MPD's segments, or sizes by representation.

#![no_main]

const MPD: &str = include_str!("../../crates/video/tests/mpd/ffmpeg.mpd");

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::altered(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let start = text.trim_start();
        let _ = if start.starts_with(['<', '\u{feff}']) {
            video::fuzz::mpd(text, None)
        } else if start.starts_with("representation") {
            video::fuzz::mpd(MPD, Some(text))
        } else {
            video::fuzz::sizes(text)
        };
    }
});
