//! Sequence numbers: 32 bits on the wire, 64 bits inside (RFC 9293 section 3.4).

/// The numbers of one direction, counted from its initial sequence number: the SYN is 0, the first byte of data 1. They
/// never wrap around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Numbering {
    initial: u32,
}

impl Numbering {
    /// The numbering with this initial sequence number.
    pub(crate) fn new(initial: u32) -> Numbering {
        Numbering { initial }
    }
    /// The numbering with an initial sequence number increased by `by`.
    pub(crate) fn moved(self, by: u32) -> Numbering {
        Numbering { initial: self.initial.wrapping_add(by) }
    }
    /// The number in a header.
    #[inline]
    pub(crate) fn wire(self, number: u64) -> u32 {
        self.initial.wrapping_add(number as u32)
    }
    /// The number with this header value that is closest to `near`; `None` if it precedes the SYN.
    #[inline]
    pub(crate) fn number(self, wire: u32, near: u64) -> Option<u64> {
        let distance = wire.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(i64::from(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_continue_beyond_two_to_the_32() {
        let numbering = Numbering::new(u32::MAX - 1);
        assert_eq!([0, 1, 2, 3].map(|n| numbering.wire(n)), [u32::MAX - 1, u32::MAX, 0, 1]);
        assert_eq!(numbering.number(1, 0), Some(3));
        let far = 5 * (1 << 32) + 17;
        for number in [far - 1_000_000, far - 1, far, far + 1, far + (1 << 30)] {
            assert_eq!(numbering.number(numbering.wire(number), far), Some(number));
        }
        assert_eq!(numbering.number(u32::MAX - 2, 1), None, "before the SYN");
    }
}
