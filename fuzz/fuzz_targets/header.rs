//! Packet headers: coalesced packets, holes, all versions.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::fuzz::header(data));
