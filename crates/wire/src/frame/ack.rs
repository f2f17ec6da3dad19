//! ACK frames in their encoded form: the ranges are validated once and then iterated without being stored.

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

/// A valid ACK frame (RFC 9000 section 19.3). Two frames are equal if their values are, whatever their encodings.
#[derive(Clone, Copy)]
pub struct Ack<'a> {
    pub(super) largest: u64,
    pub(super) delay: u64,
    pub(super) first_range: u64,
    pub(super) more_ranges: u64,
    /// `more_ranges` validated pairs of Gap and ACK Range Length.
    pub(super) pairs: &'a [u8],
    pub(super) ecn: Option<EcnCounts>,
}

impl Ack<'static> {
    /// A frame with one range, the largest number and `first_range` below it, and without ECN counts.
    ///
    /// # Panics
    /// If the range goes below 0 (in debug builds).
    #[inline]
    pub const fn of_range(largest: u64, first_range: u64, delay: u64) -> Ack<'static> {
        debug_assert!(first_range <= largest, "a range begins at 0 or above");
        Ack { largest, delay, first_range, more_ranges: 0, pairs: &[], ecn: None }
    }
}

impl<'a> Ack<'a> {
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
            pairs: Reader::new(self.pairs),
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
    pairs: Reader<'a>,
}

impl Iterator for AckRanges<'_> {
    type Item = RangeInclusive<u64>;

    #[inline]
    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let range = self.next.take()?;
        self.next = next_range(&mut self.pairs, *range.start());
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
