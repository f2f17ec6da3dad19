//! Controllers under sequences of events.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    congestion::fuzz::controllers(data);
});
