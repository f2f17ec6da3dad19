//! Connection ids (RFC 9000 section 5.1).

use std::fmt;

/// A connection id of version 1: 0 to 20 bytes, stored inline. Ids compare as byte strings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(8))]
pub struct ConnectionId {
    // The bytes, zeros up to 20, the length, zeros. The derived comparisons are therefore those of byte strings, and a
    // copy takes three whole words.
    padded: [u8; 24],
}

/// The index of the length.
const LENGTH_AT: usize = ConnectionId::MAX_LENGTH;

/// For each length, the mask of its bytes within 20 bytes, read as three little-endian integers.
static MASKS: [[u64; 3]; ConnectionId::MAX_LENGTH + 1] = {
    let mut masks = [[0; 3]; ConnectionId::MAX_LENGTH + 1];
    let mut length = 0;
    while length < masks.len() {
        let mut i = 0;
        while i < length {
            masks[length][i / 8] |= 0xff << (8 * (i % 8));
            i += 1;
        }
        length += 1;
    }
    masks
};

impl ConnectionId {
    /// The maximum length in bytes (RFC 9000-17.2-2, 9000-17.2-4).
    pub const MAX_LENGTH: usize = 20;
    /// The id of length 0.
    pub const EMPTY: ConnectionId = ConnectionId { padded: [0; 24] };

    /// The id with these bytes, or `None` if there are more than [`ConnectionId::MAX_LENGTH`].
    #[inline]
    pub fn new(bytes: &[u8]) -> Option<ConnectionId> {
        ConnectionId::prefix(bytes, bytes.len())
    }

    /// The id with the first `length` bytes, or `None` if there are fewer or `length` is too large.
    #[inline]
    pub(crate) fn prefix(bytes: &[u8], length: usize) -> Option<ConnectionId> {
        let masks = MASKS.get(length)?;
        let mut id = ConnectionId::EMPTY;
        if let Some(window) = bytes.first_chunk::<{ ConnectionId::MAX_LENGTH }>() {
            // Always the case for a whole packet. Copying `length` bytes would be a function call; this is three words.
            let [a, b, c] = [&window[..8], &window[8..16], &window[16..]].map(|part| {
                let mut word = [0; 8];
                word[..part.len()].copy_from_slice(part);
                u64::from_le_bytes(word)
            });
            let words = [a & masks[0], b & masks[1], c & masks[2] | (length as u64) << 32];
            id.padded
                .chunks_exact_mut(8)
                .zip(words)
                .for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        } else {
            id.padded[..length].copy_from_slice(bytes.get(..length)?);
            id.padded[LENGTH_AT] = length as u8;
        }
        Some(id)
    }

    /// The bytes, padded with zeros.
    #[inline]
    pub(crate) fn padded(&self) -> &[u8] {
        &self.padded[..ConnectionId::MAX_LENGTH]
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.padded[..self.len()]
    }
    /// The length in bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.padded[LENGTH_AT] as usize
    }
    /// Whether the length is 0.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for ConnectionId {
    fn default() -> ConnectionId {
        ConnectionId::EMPTY
    }
}

/// Hexadecimal digits, or `(empty)` for the id of length 0.
impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("(empty)");
        }
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
impl fmt::Debug for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_from_0_to_20() {
        for length in 0..=21 {
            let bytes: Vec<u8> = (1..=length).collect();
            match ConnectionId::new(&bytes) {
                Some(id) => assert_eq!((id.as_bytes(), id.len()), (&*bytes, usize::from(length))),
                None => assert_eq!(length, 21),
            }
        }
        assert_eq!(ConnectionId::prefix(&[1; 30], 21), None);
        assert_eq!(ConnectionId::prefix(&[1; 7], 8), None);
        assert_eq!(ConnectionId::prefix(&[1; 30], 9), ConnectionId::new(&[1; 9]));
    }

    #[test]
    fn prints_as_hexadecimal() {
        assert_eq!(ConnectionId::new(&[0x0a, 0xff]).unwrap().to_string(), "0aff");
        assert_eq!(ConnectionId::EMPTY.to_string(), "(empty)");
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_byte_strings(
            a in proptest::collection::vec(0u8..3, 0..=20), b in proptest::collection::vec(0u8..3, 0..=20)
        ) {
            prop_assert_eq!(ConnectionId::new(&a).cmp(&ConnectionId::new(&b)), a.cmp(&b));
        }
    }
}
