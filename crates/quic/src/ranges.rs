//! A set of integers as ordered, disjoint, non-adjacent half-open ranges.

use std::collections::VecDeque;
use std::ops::Range;

/// A set of `u64`s. Adding after the last range, by far the most frequent operation, is cheap.
#[derive(Debug, Clone, Default)]
pub struct RangeSet {
    /// The highest range; `0..0` in the empty set. It is stored apart from the others, because it is usually the only
    /// one and nearly always the one needed; this avoids an access to the heap.
    last: Range<u64>,
    /// The ranges below it, ascending. There may be thousands, after many losses; most changes are then near one end. Every
    /// stream has three sets, most of which never have more than one range: then this is nothing.
    #[expect(clippy::box_collection, reason = "an absent list takes 8 bytes instead of 32")]
    lower: Option<Box<VecDeque<Range<u64>>>>,
}

/// Two sets are equal if their integers are.
impl PartialEq for RangeSet {
    fn eq(&self, other: &RangeSet) -> bool {
        self.iter().eq(other.iter())
    }
}
impl Eq for RangeSet {}

impl RangeSet {
    /// The empty set.
    pub const fn new() -> RangeSet {
        RangeSet { last: 0..0, lower: None }
    }
    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }
    /// The number of ranges (not of integers).
    #[inline]
    pub fn len(&self) -> usize {
        self.lower.as_ref().map_or(0, |lower| lower.len()) + usize::from(!self.is_empty())
    }
    /// The ranges, ascending.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + '_ {
        self.lower().cloned().chain((!self.is_empty()).then(|| self.last.clone()))
    }
    /// The first range.
    #[inline]
    pub fn first(&self) -> Option<Range<u64>> {
        self.lower
            .as_ref()
            .and_then(|lower| lower.front())
            .or((!self.is_empty()).then_some(&self.last))
            .cloned()
    }
    /// The highest range; empty in the empty set.
    #[inline]
    pub fn last(&self) -> &Range<u64> {
        &self.last
    }
    /// The ranges below the highest one, ascending.
    pub fn lower(&self) -> impl DoubleEndedIterator<Item = &Range<u64>> + Clone {
        self.lower.iter().flat_map(|lower| lower.iter())
    }
    /// The largest integer in the set.
    #[inline]
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.last.end - 1)
    }
    /// Whether `value` is in the set.
    pub fn contains(&self, value: u64) -> bool {
        if value >= self.last.start {
            return value < self.last.end;
        }
        let Some(lower) = &self.lower else { return false };
        let at = lower.partition_point(|range| range.end <= value);
        lower.get(at).is_some_and(|range| range.start <= value)
    }

    /// The first part of a range that is not in the set.
    pub fn first_missing(&self, range: Range<u64>) -> Option<Range<u64>> {
        let mut start = range.start;
        for known in self.iter().skip_while(|known| known.end <= range.start) {
            if known.start > start {
                return Some(start..range.end.min(known.start)).filter(|part| !part.is_empty());
            }
            start = known.end;
        }
        (start < range.end).then_some(start..range.end)
    }

    /// Adds a range; returns the number of integers that were not in the set before.
    #[inline]
    pub fn insert(&mut self, new: Range<u64>) -> u64 {
        if new.is_empty() {
            return 0;
        }
        let count = new.end - new.start;
        if self.is_empty() {
            self.last = new;
        } else if new.start == self.last.end {
            self.last.end = new.end;
        } else if new.start > self.last.end {
            let before = std::mem::replace(&mut self.last, new);
            self.lower.get_or_insert_default().push_back(before);
        } else {
            return self.change(|ranges| insert_within(ranges, new));
        }
        count
    }

    /// Removes a range.
    pub fn remove(&mut self, gone: Range<u64>) {
        if gone.is_empty() {
            return;
        }
        self.change(|ranges| {
            let from = position(ranges, |range| range.end <= gone.start);
            let to = from + ranges.range(from..).take_while(|range| range.start < gone.end).count();
            if from == to {
                return;
            }
            let (left, right) = (ranges[from].start..gone.start, gone.end..ranges[to - 1].end);
            match (left.start < left.end, right.start < right.end) {
                (true, true) if to - from == 1 => {
                    ranges[from] = left;
                    ranges.insert(to, right);
                }
                (keeps_left, keeps_right) => {
                    if keeps_left {
                        ranges[from] = left;
                    }
                    if keeps_right {
                        ranges[to - 1] = right;
                    }
                    ranges.drain(from + usize::from(keeps_left)..to - usize::from(keeps_right));
                }
            }
        });
    }

    /// Removes and returns up to `count` integers from the front.
    pub fn take_front(&mut self, count: u64) -> Option<Range<u64>> {
        self.change(|ranges| {
            let first = ranges.front_mut()?;
            let taken = first.start..first.end.min(first.start + count);
            first.start = taken.end;
            if first.start == first.end {
                ranges.pop_front();
            }
            Some(taken)
        })
    }

    /// Removes all integers below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        if self.first().is_none_or(|first| first.start >= bound) {
            return;
        }
        self.change(|ranges| {
            let gone = ranges.partition_point(|range| range.end <= bound);
            ranges.drain(..gone);
            if let Some(first) = ranges.front_mut() {
                first.start = first.start.max(bound);
            }
        });
    }

    /// Removes the lowest ranges until at most `limit` are left.
    pub fn keep_highest(&mut self, limit: usize) {
        if self.len() > limit {
            self.change(|ranges| drop(ranges.drain(..ranges.len() - limit)));
        }
    }

    /// Empties the set and frees its memory.
    pub fn clear(&mut self) {
        *self = RangeSet::new();
    }

    /// Stops if the ranges are not ordered, disjoint and apart from each other.
    pub(crate) fn check(&self) {
        let mut after = None;
        for range in self.iter() {
            assert!(range.start < range.end, "a set keeps no empty range: {range:?}");
            assert!(after.is_none_or(|end| end < range.start), "ranges ascend and do not touch: {range:?}");
            after = Some(range.end);
        }
        assert!(
            after.is_some() || self.lower.as_ref().is_none_or(|lower| lower.is_empty()),
            "the highest range is kept last"
        );
    }

    /// Changes all ranges as one list.
    fn change<R>(&mut self, change: impl FnOnce(&mut VecDeque<Range<u64>>) -> R) -> R {
        let lower = &mut **self.lower.get_or_insert_default();
        if !self.last.is_empty() {
            lower.push_back(self.last.clone());
        }
        let result = change(lower);
        self.last = lower.pop_back().unwrap_or(0..0);
        result
    }
}

/// The number of ranges at the front for which `is_before` holds. Data that was lost is sent again from the front, so that is where
/// the search begins.
fn position(ranges: &VecDeque<Range<u64>>, is_before: impl Fn(&Range<u64>) -> bool) -> usize {
    const NEAR: usize = 4;
    match ranges.iter().take(NEAR).position(|range| !is_before(range)) {
        Some(near) => near,
        None => ranges.partition_point(is_before),
    }
}

fn insert_within(ranges: &mut VecDeque<Range<u64>>, new: Range<u64>) -> u64 {
    // All ranges that overlap or touch the new one are merged.
    let from = position(ranges, |range| range.end < new.start);
    let (mut to, mut merged, mut known) = (from, new, 0);
    while let Some(range) = ranges.get(to).filter(|range| range.start <= merged.end) {
        known += range.end - range.start;
        merged = merged.start.min(range.start)..merged.end.max(range.end);
        to += 1;
    }
    let count = merged.end - merged.start - known;
    if from == to {
        ranges.insert(from, merged);
    } else {
        ranges[from] = merged;
        ranges.drain(from + 1..to);
    }
    count
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
                let ranges: Vec<_> = set.iter().collect();
                prop_assert!(ranges.windows(2).all(|w| w[0].end < w[1].start));
                prop_assert_eq!((set.len(), set.is_empty()), (ranges.len(), ranges.is_empty()));
                prop_assert_eq!((set.first(), set.iter().next_back()), (ranges.first().cloned(), ranges.last().cloned()));
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
