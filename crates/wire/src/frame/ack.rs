//! ACK frames in their encoded form: the ranges are validated once and then iterated without being stored.

use super::lower::{LowerIter, LowerRanges};
use crate::varint::Reader;
use std::fmt;
use std::ops::RangeInclusive;
use units::Duration;

/// The number of packets received with each ECN codepoint in a packet number space (RFC 9000 section 19.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EcnCounts {
    /// Packets with ECT(0).
    pub ect0: u64,
    /// Packets with ECT(1).
    pub ect1: u64,
    /// Packets with ECN-CE.
    pub ce: u64,
}

/// The ranges of an ACK frame below the first one.
#[derive(Clone, Copy)]
pub(super) enum Lower<'a> {
    /// Validated pairs of Gap and ACK Range Length.
    Pairs(&'a [u8]),
    /// The values.
    Listed(&'a LowerRanges),
}

/// A valid ACK frame (RFC 9000 section 19.3). Two frames are equal if their values are, whatever their encodings.
#[derive(Clone, Copy)]
pub struct Ack<'a> {
    pub(super) largest: u64,
    pub(super) delay: u64,
    pub(super) first_range: u64,
    pub(super) more_ranges: u64,
    /// The `more_ranges` ranges below the first one.
    pub(super) lower: Lower<'a>,
    pub(super) ecn: Option<EcnCounts>,
}

impl<'a> Ack<'a> {
    /// A frame with the range that ends at the largest number and has `first_range` numbers below it, and the ranges of this list
    /// below; without ECN counts.
    #[inline]
    pub fn listed(largest: u64, first_range: u64, lower: &'a LowerRanges, delay: u64) -> Ack<'a> {
        let (more_ranges, lower) = (lower.count() as u64, Lower::Listed(lower));
        Ack { largest, delay, first_range, more_ranges, lower, ecn: None }
    }
    /// The first range, and the list of the others: only of a frame that was made of such a list.
    #[inline]
    pub fn list(&self) -> Option<(RangeInclusive<u64>, &'a LowerRanges)> {
        match self.lower {
            Lower::Listed(list) => Some((self.largest - self.first_range..=self.largest, list)),
            Lower::Pairs(_) => None,
        }
    }
    /// The largest acknowledged packet number.
    #[inline]
    pub const fn largest(&self) -> u64 {
        self.largest
    }
    /// The encoded ACK Delay: microseconds shifted right by the sender's ack_delay_exponent.
    #[inline]
    pub const fn delay(&self) -> u64 {
        self.delay
    }
    /// The ACK Delay for the sender's ack_delay_exponent (0 to 20), limited to the longest [`Duration`].
    pub fn scaled_delay(&self, ack_delay_exponent: u8) -> Duration {
        // RFC 9000 section 19.3: "multiplying the value in the field by 2 to the power of the ack_delay_exponent".
        let factor = 1u64.checked_shl(u32::from(ack_delay_exponent)).unwrap_or(u64::MAX);
        Duration::from_micros(self.delay.saturating_mul(factor))
    }
    /// The ECN counts, if the frame is of type 0x03.
    #[inline]
    pub const fn ecn(&self) -> Option<EcnCounts> {
        self.ecn
    }
    /// The number of ranges, at least 1.
    #[inline]
    pub const fn range_count(&self) -> u64 {
        self.more_ranges + 1
    }
    /// The ranges of acknowledged numbers in descending order. No two are adjacent.
    #[inline]
    pub fn ranges(&self) -> AckRanges<'a> {
        AckRanges {
            next: Some(self.largest - self.first_range..=self.largest),
            lower: match self.lower {
                Lower::Pairs(pairs) => Rest::Pairs(Reader::new(pairs)),
                Lower::Listed(list) => Rest::Listed(list.iter()),
            },
        }
    }
}

impl PartialEq for Ack<'_> {
    fn eq(&self, other: &Ack<'_>) -> bool {
        (self.delay, self.ecn, self.more_ranges) == (other.delay, other.ecn, other.more_ranges)
            && self.ranges().eq(other.ranges())
    }
}
impl Eq for Ack<'_> {}

impl fmt::Debug for Ack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ack")
            .field("ranges", &self.ranges().collect::<Vec<_>>())
            .field("delay", &self.delay)
            .field("ecn", &self.ecn)
            .finish()
    }
}

/// The ranges of an ACK frame in descending order.
#[derive(Debug, Clone)]
pub struct AckRanges<'a> {
    next: Option<RangeInclusive<u64>>,
    lower: Rest<'a>,
}

/// The ranges below the next one.
#[derive(Debug, Clone)]
enum Rest<'a> {
    Pairs(Reader<'a>),
    Listed(LowerIter<'a>),
}

impl Iterator for AckRanges<'_> {
    type Item = RangeInclusive<u64>;

    #[inline]
    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let range = self.next.take()?;
        self.next = match &mut self.lower {
            Rest::Pairs(pairs) => next_range(pairs, *range.start()),
            Rest::Listed(list) => list.next(),
        };
        Some(range)
    }
}

/// Reads the next pair of Gap and ACK Range Length as the range below one that starts at `smallest`. Returns `None` if
/// there is no pair or if the range goes below 0 (RFC 9000 section 19.3.1).
#[inline]
pub(super) fn next_range(pairs: &mut Reader<'_>, smallest: u64) -> Option<RangeInclusive<u64>> {
    let gap = pairs.varint().ok()?;
    let length = pairs.varint().ok()?;
    // RFC 9000-19.3.1-1: "If any computed packet number is negative".
    let largest = smallest.checked_sub(gap + 2)?;
    Some(largest.checked_sub(length)?..=largest)
}
