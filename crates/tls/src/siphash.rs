//! SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a keyed function of short inputs,
//! indistinguishable from random without the key, and cheap enough for every packet.

use siphasher::sip::SipHasher24;

/// A key of SipHash-2-4: two words in little-endian order.
#[derive(Clone, Copy)]
pub struct SipKey(u64, u64);

impl SipKey {
    /// Creates a key from 16 bytes.
    pub fn new(bytes: [u8; 16]) -> SipKey {
        let both = u128::from_le_bytes(bytes);
        SipKey(both as u64, (both >> 64) as u64)
    }

    /// The hash of an input.
    #[inline]
    pub fn hash(&self, input: &[u8]) -> u64 {
        SipHasher24::new_with_keys(self.0, self.1).hash(input)
    }

    /// The hash of the low seven bytes of `input` in little-endian order. Same result as [`hash`](SipKey::hash), with
    /// a length known at compile time, because it runs for every packet.
    #[inline]
    pub fn hash_seven(&self, input: u64) -> u64 {
        let [seven @ .., _] = input.to_le_bytes();
        self.hash(&seven)
    }
}

impl std::fmt::Debug for SipKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SipKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SipKey {
        SipKey::new(std::array::from_fn(|i| i as u8))
    }

    /// Appendix A of the paper.
    #[test]
    fn the_example_of_the_paper() {
        let input: Vec<u8> = (0..15).collect();
        assert_eq!(key().hash(&input), 0xa129_ca61_49be_45e5);
    }

    /// The first of the vectors published by the authors: inputs of zero, one, two, ... and eight bytes.
    #[test]
    fn the_vectors_of_its_authors() {
        let expected: [[u8; 8]; 9] = [
            [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72],
            [0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74],
            [0x5a, 0x4f, 0xa9, 0xd9, 0x09, 0x80, 0x6c, 0x0d],
            [0x2d, 0x7e, 0xfb, 0xd7, 0x96, 0x66, 0x67, 0x85],
            [0xb7, 0x87, 0x71, 0x27, 0xe0, 0x94, 0x27, 0xcf],
            [0x8d, 0xa6, 0x99, 0xcd, 0x64, 0x55, 0x76, 0x18],
            [0xce, 0xe3, 0xfe, 0x58, 0x6e, 0x46, 0xc9, 0xcb],
            [0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab],
            [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93],
        ];
        for (length, expected) in expected.into_iter().enumerate() {
            let input: Vec<u8> = (0..length as u8).collect();
            assert_eq!(key().hash(&input), u64::from_le_bytes(expected), "{length}");
        }
        assert_eq!(key().hash_seven(0xff06_0504_0302_0100), key().hash(&[0, 1, 2, 3, 4, 5, 6]));
    }
}
