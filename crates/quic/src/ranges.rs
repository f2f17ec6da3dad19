//! A set of integers as ordered, disjoint, non-adjacent half-open ranges.

use std::ops::Range;

/// A set of `u64`s. Adding behind the last range, which is what happens almost always, costs nothing to speak of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeSet {
    /// Ascending.
    ranges: Vec<Range<u64>>,
}

impl RangeSet {
    /// Reads a word of its end.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.ranges.last().map_or(0, |last| last.end)
    }

    /// The empty set.
    pub const fn new() -> RangeSet {
        RangeSet { ranges: Vec::new() }
    }
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// The number of ranges (not of integers).
    pub fn len(&self) -> usize {
        self.ranges.len()
    }
    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + ExactSizeIterator + '_ {
        self.ranges.iter().cloned()
    }
    /// The first range.
    pub fn first(&self) -> Option<Range<u64>> {
        self.ranges.first().cloned()
    }
    /// The largest integer in it.
    #[inline]
    pub fn max(&self) -> Option<u64> {
        self.ranges.last().map(|range| range.end - 1)
    }
    /// Whether `value` is in it.
    pub fn contains(&self, value: u64) -> bool {
        match self.ranges.last() {
            Some(last) if value >= last.start => value < last.end,
            _ => {
                let at = self.ranges.partition_point(|range| range.end <= value);
                self.ranges.get(at).is_some_and(|range| range.start <= value)
            }
        }
    }

    /// Adds a range; gives the number of integers that were not in the set before.
    #[inline]
    pub fn insert(&mut self, new: Range<u64>) -> u64 {
        if new.is_empty() {
            return 0;
        }
        match self.ranges.last_mut() {
            Some(last) if new.start == last.end => {
                last.end = new.end;
                new.end - new.start
            }
            Some(last) if new.start < last.end => self.insert_within(new),
            _ => {
                let count = new.end - new.start;
                if self.ranges.capacity() == 0 {
                    // Most sets are one range.
                    self.ranges.reserve_exact(1);
                }
                self.ranges.push(new);
                count
            }
        }
    }

    fn insert_within(&mut self, new: Range<u64>) -> u64 {
        // All ranges that overlap the new one or touch it become one.
        let from = self.ranges.partition_point(|range| range.end < new.start);
        let to = from + self.ranges[from..].partition_point(|range| range.start <= new.end);
        let (mut merged, mut known) = (new, 0);
        if from == to {
            self.ranges.insert(from, merged.clone());
            return merged.end - merged.start;
        }
        for range in &self.ranges[from..to] {
            known += range.end - range.start;
            merged = merged.start.min(range.start)..merged.end.max(range.end);
        }
        let count = merged.end - merged.start - known;
        self.ranges[from] = merged;
        self.ranges.drain(from + 1..to);
        count
    }

    /// Takes a range out.
    pub fn remove(&mut self, gone: Range<u64>) {
        if gone.is_empty() {
            return;
        }
        let from = self.ranges.partition_point(|range| range.end <= gone.start);
        let to = from + self.ranges[from..].partition_point(|range| range.start < gone.end);
        if from == to {
            return;
        }
        let left = self.ranges[from].start..gone.start;
        let right = gone.end..self.ranges[to - 1].end;
        let kept = [left, right].into_iter().filter(|range| range.start < range.end);
        self.ranges.splice(from..to, kept);
    }

    /// Takes up to `count` integers off the front.
    pub fn take_front(&mut self, count: u64) -> Option<Range<u64>> {
        let first = self.ranges.first_mut()?;
        let taken = first.start..first.end.min(first.start + count);
        first.start = taken.end;
        if first.start == first.end {
            self.ranges.remove(0);
        }
        Some(taken)
    }

    /// Takes out everything below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        match self.ranges.first_mut() {
            None => return,
            Some(first) if first.start >= bound => return,
            Some(first) if first.end > bound => {
                first.start = bound;
                return;
            }
            Some(_) => {}
        }
        let gone = self.ranges.partition_point(|range| range.end <= bound);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.start = first.start.max(bound);
        }
    }

    /// Forgets the lowest ranges until no more than `limit` are left.
    pub fn keep_highest(&mut self, limit: usize) {
        if self.ranges.len() > limit {
            self.ranges.drain(..self.ranges.len() - limit);
        }
    }

    /// Empties the set and gives its memory back.
    pub fn clear(&mut self) {
        self.ranges = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn model(set: &RangeSet) -> BTreeSet<u64> {
        set.iter().flatten().collect()
    }

    proptest! {
        #[test]
        fn behaves_like_a_set(operations in prop::collection::vec((0u8..4, 0u64..60, 0u64..12), 0..60)) {
            let (mut set, mut expected) = (RangeSet::new(), BTreeSet::new());
            for (operation, start, length) in operations {
                match operation {
                    0 | 1 => {
                        let before = expected.len();
                        expected.extend(start..start + length);
                        let added = (expected.len() - before) as u64;
                        prop_assert_eq!(set.insert(start..start + length), added);
                    }
                    2 => {
                        expected.retain(|v| !(start..start + length).contains(v));
                        set.remove(start..start + length);
                    }
                    _ => {
                        expected.retain(|v| *v >= start / 4);
                        set.remove_below(start / 4);
                    }
                }
                prop_assert_eq!(model(&set), expected.clone());
                prop_assert_eq!(set.max(), expected.last().copied());
                prop_assert!(set.iter().all(|r| r.start < r.end));
                prop_assert!(set.ranges.windows(2).all(|w| w[0].end < w[1].start));
                for value in 0..75 {
                    prop_assert_eq!(set.contains(value), expected.contains(&value));
                }
            }
        }
    }

    #[test]
    fn taking_from_the_front() {
        let mut set = RangeSet::new();
        set.insert(5..10);
        set.insert(20..22);
        assert_eq!(set.take_front(3), Some(5..8));
        assert_eq!(set.take_front(3), Some(8..10));
        assert_eq!(set.take_front(9), Some(20..22));
        assert_eq!(set.take_front(1), None);
    }
}
