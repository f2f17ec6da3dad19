//! The part of a datagram that is known by its rule and not written out.

use crate::pattern;

/// A run of virtual application bytes inside a datagram. The bytes that stand before and behind it are in the
/// datagram's buffer, those of the hole are not: `buffer[..at]`, then `length` bytes of the [`pattern`] from stream
/// offset `offset` on, then `buffer[at..]`.
///
/// Only datagrams under null protection have one; whoever looks at the bytes calls [`Hole::write_out`] first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Where in the buffer it stands.
    pub at: u32,
    /// How many bytes it stands for.
    pub length: u32,
    /// The stream offset of its first byte.
    pub offset: u64,
}

impl Hole {
    /// Puts the bytes of the hole into the buffer, which is then the whole datagram.
    pub fn write_out(self, buffer: &mut Vec<u8>) {
        let (at, length) = (self.at as usize, self.length as usize);
        let end = buffer.len();
        buffer.resize(end + length, 0);
        buffer.copy_within(at..end, at + length);
        pattern::fill(self.offset, &mut buffer[at..at + length]);
    }

    /// The same hole in the buffer without its first `start` bytes; `None` if it stands within these.
    #[inline]
    pub fn behind(self, start: usize) -> Option<Hole> {
        let at = (self.at as usize).checked_sub(start)?;
        Some(Hole { at: at as u32, ..self })
    }
}

/// Where a datagram was altered on its way: the first and the last byte that are not as sent. Null protection has no
/// tag that could tell; a packet that covers an altered byte fails to open there as it does under TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The offset of the first altered byte.
    pub first: u32,
    /// The offset of the last altered byte.
    pub last: u32,
}

impl Damage {
    /// Both damages.
    pub fn and(self, other: Damage) -> Damage {
        Damage { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
    /// Whether a byte in `start..end` is altered.
    pub fn touches(self, start: usize, end: usize) -> bool {
        (self.first as usize) < end && self.last as usize >= start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_out_puts_the_pattern_between_head_and_tail() {
        let mut buffer = vec![1, 2, 3, 9, 9];
        Hole { at: 3, length: 4, offset: 100 }.write_out(&mut buffer);
        assert_eq!(buffer, [1, 2, 3, 100, 101, 102, 103, 9, 9]);
    }
}
