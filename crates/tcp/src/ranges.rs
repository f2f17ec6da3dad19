//! Ranges of sequence numbers received out of order.

/// Ascending ranges with gaps between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Stops if the ranges are not in order, or touch each other.
    pub(crate) fn check(&self) {
        assert!(self.0.iter().all(|(start, end)| start < end), "a list of ranges has no empty one");
        assert!(self.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "ranges ascend and do not touch");
    }
    /// Whether there are no ranges.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The ranges: first number and end.
    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }
    /// The range that contains this number.
    pub(crate) fn containing(&self, number: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|(_, end)| *end <= number);
        self.0.get(at).copied().filter(|(start, _)| *start <= number)
    }
    /// Whether inserting this range would increase the number of ranges.
    pub(crate) fn would_grow(&self, start: u64, end: u64) -> bool {
        let first = self.0.partition_point(|(_, known)| *known < start);
        self.0.get(first).is_none_or(|(known, _)| *known > end)
    }
    /// Inserts a range.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let first = self.0.partition_point(|(_, known)| *known < start);
        let last = self.0.partition_point(|(known, _)| *known <= end);
        if first == last {
            return self.0.insert(first, (start, end));
        }
        self.0[first] = (self.0[first].0.min(start), self.0[last - 1].1.max(end));
        self.0.drain(first + 1..last);
    }
    /// Removes everything below this number.
    pub(crate) fn remove_below(&mut self, number: u64) {
        let removed = self.0.partition_point(|(_, end)| *end <= number);
        self.0.drain(..removed);
        if let Some((start, _)) = self.0.first_mut() {
            *start = (*start).max(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_numbers(
            added in prop::collection::vec((0u64..60, 0u64..12), 0..30), below in 0u64..60,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), [false; 80]);
            for (start, length) in added {
                let before = ranges.0.len();
                let grows = ranges.would_grow(start, start + length);
                ranges.insert(start, start + length);
                if length > 0 {
                    prop_assert_eq!(grows, ranges.0.len() > before);
                }
                set[start as usize..(start + length) as usize].fill(true);
            }
            for cut in [0, below] {
                ranges.remove_below(cut);
                set[..cut as usize].fill(false);
                for number in 0..80u64 {
                    prop_assert_eq!(ranges.containing(number).is_some(), set[number as usize]);
                }
                prop_assert!(ranges.as_slice().windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
