//! Virtual application bytes: a function of the stream offset, computed only when needed.

/// The period of the pattern: a prime, so that no packet size divides it.
const PERIOD: usize = 251;
const TABLE_LENGTH: usize = PERIOD * 16;
static TABLE: [u8; TABLE_LENGTH] = table();

const fn table() -> [u8; TABLE_LENGTH] {
    let mut bytes = [0; TABLE_LENGTH];
    let mut i = 0;
    while i < TABLE_LENGTH {
        bytes[i] = (i % PERIOD) as u8;
        i += 1;
    }
    bytes
}

/// The byte at `offset` of a virtual stream.
pub const fn byte(offset: u64) -> u8 {
    (offset % PERIOD as u64) as u8
}

/// Calls `each` with the pieces of the pattern from `offset`, `length` bytes in total.
fn pieces(offset: u64, length: usize, mut each: impl FnMut(std::ops::Range<usize>, &'static [u8])) {
    let mut done = 0;
    while done < length {
        let start = ((offset + done as u64) % PERIOD as u64) as usize;
        let count = (TABLE_LENGTH - start).min(length - done);
        each(done..done + count, &TABLE[start..start + count]);
        done += count;
    }
}

/// Writes the bytes of a virtual stream from `offset` on.
pub fn fill(offset: u64, bytes: &mut [u8]) {
    pieces(offset, bytes.len(), |range, piece| bytes[range].copy_from_slice(piece));
}

/// Whether `bytes` are those of a virtual stream from `offset` on.
pub fn matches(offset: u64, bytes: &[u8]) -> bool {
    let mut equal = true;
    pieces(offset, bytes.len(), |range, piece| equal &= bytes[range] == *piece);
    equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_bytes_match_and_depend_on_their_offset() {
        for (offset, length) in
            [(0, 0), (3, 1452), (4_000_000_007, 9000), (250, 2), (u64::from(u32::MAX), 5000)]
        {
            let mut bytes = vec![0xff; length];
            fill(offset, &mut bytes);
            assert!(matches(offset, &bytes));
            assert!(bytes.iter().enumerate().all(|(i, b)| *b == byte(offset + i as u64)));
            if length > 0 {
                bytes[length / 2] ^= 1;
                assert!(!matches(offset, &bytes));
            }
        }
    }
}
