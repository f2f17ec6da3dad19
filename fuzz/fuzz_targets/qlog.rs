//! Records of qlog: read, put together and packed.

#![no_main]

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::altered(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    view::fuzz::records(data);
});
