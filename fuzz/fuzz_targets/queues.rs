//! Queues under sequences of calls.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(network::fuzz::queues(data)));
