//! BDP_FRAMEs under sequences of events.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quic::fuzz::bdp_frames(data));
