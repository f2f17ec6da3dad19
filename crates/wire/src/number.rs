//! Packet numbers: truncation to one to four bytes, and expansion (RFC 9000 section 17.1, appendix A).

use crate::varint::{Reader, UnexpectedEnd};

/// A truncated packet number: its low bytes and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncated {
    value: u32,
    length: u8,
}

impl Truncated {
    /// The maximum length in bytes.
    pub const MAX_LENGTH: usize = 4;

    /// Truncates `full` to as few bytes as a receiver needs that has received all packets up to `largest_acked`, the
    /// largest acknowledged number of this space, if any (RFC 9000 section A.2).
    ///
    /// The maximum is four bytes: a sender must not have 2^31 numbers in flight.
    #[inline]
    pub fn new(full: u64, largest_acked: Option<u64>) -> Truncated {
        let unacknowledged = match largest_acked {
            Some(largest) => full.saturating_sub(largest),
            None => full.saturating_add(1),
        };
        // The receiver can distinguish half of the window to either side, so the window is twice the uncertainty. RFC
        // 9000-17.1-1, 9000-17.1-2: "more than twice" the distance to the largest acknowledged number.
        let length = match unacknowledged {
            0..=0x80 => 1,
            0x81..=0x8000 => 2,
            0x8001..=0x80_0000 => 3,
            _ => 4,
        };
        Truncated::with_length(full, length)
    }

    /// The low `length` bytes of `full`; `length` is clamped to 1 to 4.
    #[inline]
    pub fn with_length(full: u64, length: usize) -> Truncated {
        let length = length.clamp(1, Truncated::MAX_LENGTH);
        Truncated { value: full as u32 & (u32::MAX >> (32 - 8 * length)), length: length as u8 }
    }

    /// The low bytes, as a number.
    #[inline]
    pub const fn value(self) -> u32 {
        self.value
    }
    /// The length in bytes: 1 to 4.
    #[inline]
    pub const fn length(self) -> usize {
        self.length as usize
    }

    /// The bytes, padded with zeros.
    #[inline]
    pub(crate) const fn padded(self) -> [u8; Truncated::MAX_LENGTH] {
        (self.value << (32 - 8 * self.length as u32)).to_be_bytes()
    }

    /// Appends the bytes.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.padded()[..self.length()]);
    }

    /// Reads `length` bytes, 1 to 4.
    #[inline]
    pub fn read(reader: &mut Reader<'_>, length: usize) -> Result<Truncated, UnexpectedEnd> {
        debug_assert!((1..=Truncated::MAX_LENGTH).contains(&length));
        let value = match reader.rest().first_chunk() {
            // Always the case for a whole packet, since a tag follows.
            Some(window) => {
                reader.bytes(length)?;
                u32::from_be_bytes(*window) >> (32 - 8 * length)
            }
            None => reader.bytes(length)?.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)),
        };
        Ok(Truncated { value, length: length as u8 })
    }

    /// The full number: the one with these low bytes that is closest to the next expected number, `largest` + 1, where
    /// `largest` is the largest number of a decrypted packet of this space (RFC 9000 section A.3). Without one, 0 is
    /// expected.
    #[inline]
    pub fn expand(self, largest: Option<u64>) -> u64 {
        let expected = largest.map_or(0, |largest| largest + 1);
        let window = 1 << (8 * self.length);
        let half = window / 2;
        let candidate = (expected & !(window - 1)) | u64::from(self.value);
        // Without subtraction, as in the RFC, to avoid underflow.
        if candidate + half <= expected && candidate < (1 << 62) - window {
            candidate + window
        } else if candidate > expected + half && candidate >= window {
            candidate - window
        } else {
            candidate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9000-17.1-2.
    #[test]
    fn the_examples_of_rfc_9000_a_2() {
        let number = Truncated::new(0xac5c02, Some(0xabe8b3));
        assert_eq!((number.length(), number.value()), (2, 0x5c02));
        let number = Truncated::new(0xace8fe, Some(0xabe8b3));
        assert_eq!((number.length(), number.value()), (3, 0xace8fe));
    }

    #[test]
    fn the_example_of_rfc_9000_a_3() {
        assert_eq!(Truncated::with_length(0x9b32, 2).expand(Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    /// RFC 9000-17.1-1.
    #[test]
    fn the_first_packets_need_one_byte() {
        assert_eq!(Truncated::new(0, None), Truncated { value: 0, length: 1 });
        assert_eq!(Truncated::new(127, None).length(), 1);
        assert_eq!(Truncated::new(128, None).length(), 2);
        assert_eq!(Truncated::new(200, Some(72)).length(), 1);
        assert_eq!(Truncated::new(200, Some(71)).length(), 2);
        assert_eq!(Truncated::new(1 << 40, None).length(), 4);
    }

    #[test]
    fn expansion_stays_in_range_at_both_ends() {
        assert_eq!(Truncated::with_length(0xff, 1).expand(None), 0xff);
        assert_eq!(Truncated::with_length(0xff, 1).expand(Some(2)), 0xff);
        let last = (1 << 62) - 1;
        assert_eq!(Truncated::with_length(last, 1).expand(Some(last - 1)), last);
        assert_eq!(Truncated::with_length(0, 4).expand(Some(last - 1)), (1 << 62) - (1 << 32));
    }

    proptest! {
        #[test]
        fn truncated_numbers_are_expanded_by_the_receiver(
            acked in 0u64..1 << 60, shift in 0u32..31, ahead in 1u64..1 << 31, behind in any::<u64>()
        ) {
            let full = acked + (ahead >> shift).max(1);
            let number = Truncated::new(full, Some(acked));
            let mut out = Vec::new();
            number.write(&mut out);
            prop_assert_eq!(out.len(), number.length());
            let read = Truncated::read(&mut Reader::new(&out), out.len()).unwrap();
            prop_assert_eq!(read, number);
            // The receiver's largest number lies between the largest acknowledged number and this one.
            let largest = acked + behind % (full - acked);
            prop_assert_eq!(read.expand(Some(largest)), full);
        }
    }
}
