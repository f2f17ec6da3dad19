//! Loss models and jitters under sequences of packets.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = network::fuzz::losses(data);
    let _ = network::fuzz::jitters(data);
});
