//! What the targets that read documents share.

/// The next input out of one: every other time as libFuzzer alters bytes, else as people would alter the document.
pub fn altered(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let text = match seed % 2 {
        0 => None,
        _ => std::str::from_utf8(&data[..size]).ok(),
    };
    let Some(text) = text else { return libfuzzer_sys::fuzzer_mutate(data, size, most) };
    let altered = units::fuzz::altered(text, &mut units::fuzz::draws(seed.into()));
    let length = altered.len().min(most);
    data[..length].copy_from_slice(&altered.as_bytes()[..length]);
    length
}
