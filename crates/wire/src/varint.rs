//! Variable-length integers (RFC 9000 section 16), and the reader used by every decoder.

use std::fmt;

/// The maximum value of a variable-length integer: 2^62 - 1.
pub const MAX: u64 = (1 << 62) - 1;

/// The size of the shortest encoding of `value`: 1, 2, 4 or 8 bytes. For a value above [`MAX`], which has no encoding,
/// 8.
#[inline]
pub const fn size(value: u64) -> usize {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// Appends `value` in its shortest encoding.
///
/// # Panics
/// If `value` is above [`MAX`]. No decoder returns such a value and no counter of QUIC may reach it.
#[inline]
pub fn encode(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        0x4000_0000..=MAX => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
        _ => panic!("{value} is above 2^62 - 1"),
    }
}

/// A two-byte integer reserved before its value is known, for example the Length of a long header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

impl Slot {
    /// The maximum value: 2^14 - 1.
    pub const MAX: usize = 0x3fff;

    /// Appends two bytes to be set later, with the value 0.
    #[inline]
    pub fn reserve(out: &mut Vec<u8>) -> Slot {
        let at = out.len();
        out.extend_from_slice(&[0x40, 0]);
        Slot(at)
    }
    /// The offset in the buffer.
    #[inline]
    pub const fn at(self) -> usize {
        self.0
    }
    /// Writes the value in two bytes (RFC 9000 section 16 permits encodings that are not minimal).
    ///
    /// # Panics
    /// If `value` exceeds [`Slot::MAX`], or if the buffer is not the one with the slot.
    #[inline]
    pub fn set(self, out: &mut [u8], value: usize) {
        assert!(value <= Slot::MAX, "a length of {value} does not fit two bytes");
        out[self.0..self.0 + 2].copy_from_slice(&(value as u16 | 0x4000).to_be_bytes());
    }
}

/// The bytes ended before the value did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnexpectedEnd;

impl fmt::Display for UnexpectedEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes end before the value does")
    }
}
impl std::error::Error for UnexpectedEnd {}

/// Reads values from the start of a slice and counts the bytes. A failed read does not advance it.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes, length: bytes.len() }
    }
    /// The number of bytes read so far.
    #[inline]
    pub const fn position(&self) -> usize {
        self.length - self.rest.len()
    }
    /// The number of bytes left.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }
    /// Whether no bytes are left.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    /// The bytes left, without reading them.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// Reads all bytes left.
    #[inline]
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Reads a byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, UnexpectedEnd> {
        let (byte, rest) = self.rest.split_first().ok_or(UnexpectedEnd)?;
        self.rest = rest;
        Ok(*byte)
    }
    /// Reads two bytes in network order.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, UnexpectedEnd> {
        self.array().map(u16::from_be_bytes)
    }
    /// Reads four bytes in network order.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, UnexpectedEnd> {
        self.array().map(u32::from_be_bytes)
    }
    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], UnexpectedEnd> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(UnexpectedEnd)?;
        self.rest = rest;
        Ok(*array)
    }
    /// Reads `length` bytes.
    #[inline]
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], UnexpectedEnd> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(UnexpectedEnd)?;
        self.rest = rest;
        Ok(bytes)
    }
    /// Reads a variable-length integer in any of its encodings (RFC 9000 section 16: not necessarily the shortest).
    #[inline]
    pub fn varint(&mut self) -> Result<u64, UnexpectedEnd> {
        let first = *self.rest.first().ok_or(UnexpectedEnd)?;
        // The two high bits give the length. Small values are the most common, so they are tested first.
        if first < 0x40 {
            self.u8().map(u64::from)
        } else if first < 0x80 {
            self.u16().map(|value| u64::from(value & 0x3fff))
        } else if first < 0xc0 {
            self.u32().map(|value| u64::from(value & 0x3fff_ffff))
        } else {
            self.array().map(|bytes| u64::from_be_bytes(bytes) & MAX)
        }
    }
    /// Reads a length as a variable-length integer, and that many bytes.
    #[inline]
    pub fn prefixed(&mut self) -> Result<&'a [u8], UnexpectedEnd> {
        let start = *self;
        let length = self.varint()?;
        let taken = usize::try_from(length).map_err(|_| UnexpectedEnd).and_then(|length| self.bytes(length));
        if taken.is_err() {
            *self = start;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9000 appendix A.1.
    const SAMPLES: [(&[u8], u64); 5] = [
        (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ];

    #[test]
    fn the_samples_of_rfc_9000_a_1() {
        for (bytes, value) in SAMPLES {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.varint(), Ok(value));
            assert!(reader.is_empty());
            let mut out = Vec::new();
            encode(&mut out, value);
            assert_eq!(out.len(), size(value));
            // The last sample is longer than necessary.
            assert_eq!(out == bytes, bytes != [0x40, 0x25]);
        }
    }

    #[test]
    fn each_length_has_its_range() {
        for (value, length) in
            [(0, 1), (63, 1), (64, 2), (16_383, 2), (16_384, 4), ((1 << 30) - 1, 4), (1 << 30, 8), (MAX, 8)]
        {
            let mut out = Vec::new();
            encode(&mut out, value);
            assert_eq!((out.len(), size(value)), (length, length), "{value}");
            assert_eq!(Reader::new(&out).varint(), Ok(value));
        }
    }

    #[test]
    #[should_panic(expected = "above 2^62 - 1")]
    fn values_without_an_encoding_are_rejected() {
        encode(&mut Vec::new(), MAX + 1);
    }

    #[test]
    fn a_failed_read_does_not_advance_the_reader() {
        for (bytes, _) in SAMPLES {
            for cut in 0..bytes.len() {
                let mut reader = Reader::new(&bytes[..cut]);
                assert_eq!(reader.varint(), Err(UnexpectedEnd));
                assert_eq!(reader.position(), 0);
            }
        }
        let mut reader = Reader::new(&[3, 1, 2]);
        assert_eq!(reader.prefixed(), Err(UnexpectedEnd));
        assert_eq!(reader.u32(), Err(UnexpectedEnd));
        assert_eq!(reader.bytes(usize::MAX), Err(UnexpectedEnd));
        assert_eq!((reader.position(), reader.remaining()), (0, 3));
        assert_eq!(Reader::new(&[0xff; 8]).prefixed(), Err(UnexpectedEnd));
    }

    #[test]
    fn a_slot_is_set_in_place_and_always_two_bytes() {
        let mut out = vec![9];
        let slot = Slot::reserve(&mut out);
        out.push(7);
        assert_eq!(out, [9, 0x40, 0, 7]);
        slot.set(&mut out, 5);
        assert_eq!(out, [9, 0x40, 5, 7]);
        slot.set(&mut out, Slot::MAX);
        assert_eq!(Reader::new(&out[slot.at()..]).varint(), Ok(16_383));
    }

    proptest! {
        #[test]
        fn encoded_values_round_trip(values in proptest::collection::vec((0u32..62, any::<u64>()), 0..20)) {
            let values: Vec<u64> = values.into_iter().map(|(shift, bits)| (bits & MAX) >> shift).collect();
            let mut out = Vec::new();
            for value in &values {
                encode(&mut out, *value);
            }
            let mut reader = Reader::new(&out);
            for value in &values {
                prop_assert_eq!(reader.varint(), Ok(*value));
            }
            prop_assert!(reader.is_empty());
        }
    }
}
