//! An optional number in eight bytes.

/// A number, or none. Codes and offsets of a stream are below 2^62 (RFC 9000 section 16); a larger number from an
/// application is stored up to 2^64 - 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OptionalNumber(u64);

impl OptionalNumber {
    /// No number.
    pub(super) const NONE: OptionalNumber = OptionalNumber(u64::MAX);

    /// The number.
    #[inline]
    pub(super) fn get(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
    /// Whether there is a number.
    #[inline]
    pub(super) fn is_some(self) -> bool {
        self.0 != u64::MAX
    }
    /// Whether there is no number.
    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.0 == u64::MAX
    }
}

impl From<u64> for OptionalNumber {
    fn from(number: u64) -> OptionalNumber {
        OptionalNumber(number.min(u64::MAX - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_none() {
        assert_eq!((OptionalNumber::NONE.get(), OptionalNumber::NONE.is_none()), (None, true));
        assert_eq!((OptionalNumber::from(0).get(), OptionalNumber::from(0).is_some()), (Some(0), true));
        assert_eq!(OptionalNumber::from(u64::MAX).get(), Some(u64::MAX - 1));
    }
}
