//! Holes: the virtual bytes of a datagram, which are not stored.

use crate::pattern;

/// A run of virtual application bytes in a datagram. The buffer contains only the bytes before and after it. The
/// datagram is `buffer[..at]`, then `length` bytes of the [`pattern`] from stream offset `offset`, then `buffer[at..]`.
///
/// Only datagrams under null protection have a hole. Call [`Hole::write_out`] before reading the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The offset in the buffer.
    pub at: u32,
    /// The number of virtual bytes.
    pub length: u32,
    /// The stream offset of its first byte.
    pub offset: u64,
}

impl Hole {
    /// Writes the virtual bytes into the buffer, which then contains the whole datagram.
    pub fn write_out(self, buffer: &mut Vec<u8>) {
        let (at, length) = (self.at as usize, self.length as usize);
        let end = buffer.len();
        buffer.resize(end + length, 0);
        buffer.copy_within(at..end, at + length);
        pattern::fill(self.offset, &mut buffer[at..at + length]);
    }

    /// The same hole in the buffer without its first `start` bytes; `None` if it lies within these.
    #[inline]
    pub fn behind(self, start: usize) -> Option<Hole> {
        let at = (self.at as usize).checked_sub(start)?;
        Some(Hole { at: at as u32, ..self })
    }
}

/// The altered part of a datagram, between the first and the last altered byte. Null protection has no tag to detect
/// it; instead a packet that contains an altered byte fails to decrypt, as with TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The offset of the first altered byte.
    pub first: u32,
    /// The offset of the last altered byte.
    pub last: u32,
}

impl Damage {
    /// The union of both.
    pub fn and(self, other: Damage) -> Damage {
        Damage { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
    /// Whether the damage overlaps with `start..end`.
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
