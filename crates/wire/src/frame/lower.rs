//! Lists of ranges that share their ends.

use crate::varint;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The ranges of an ACK frame below its first one, in descending order, as a list that shares its end with the lists of earlier
/// frames: a receiver that sees a gap makes the next list from the last one in one step, and the sender that knows the last one
/// finds out in one step what the next one adds.
#[derive(Debug, Clone, Default)]
pub struct LowerRanges {
    first: Option<Arc<Node>>,
    count: u32,
    size: u32,
}

#[derive(Debug)]
struct Node {
    start: u64,
    end: u64,
    /// The number of nodes from here to the end of the list, which may be longer than any frame.
    depth: u32,
    below: Option<Arc<Node>>,
}

/// The size of the encoded pair of Gap and ACK Range Length of a range below one that starts at `above`.
fn pair_size(range: &RangeInclusive<u64>, above: u64) -> u32 {
    (varint::size(above - range.end() - 2) + varint::size(range.end() - range.start())) as u32
}

impl LowerRanges {
    /// The list of these ranges, descending, below a range that starts at `above`. No two are adjacent.
    pub fn of(
        ranges: impl DoubleEndedIterator<Item = RangeInclusive<u64>> + Clone,
        above: u64,
    ) -> LowerRanges {
        let mut list = LowerRanges::default();
        let above = std::iter::once(above).chain(ranges.clone().map(|range| *range.start()));
        let mut pairs: Vec<_> = ranges.zip(above).collect();
        while let Some((range, above)) = pairs.pop() {
            list.push(range, above);
        }
        list
    }
    /// Adds a range above all others, but below one that starts at `above`.
    pub fn push(&mut self, range: RangeInclusive<u64>, above: u64) {
        let below = self.first.take();
        let depth = 1 + below.as_ref().map_or(0, |node| node.depth);
        self.size += pair_size(&range, above);
        self.count += 1;
        self.first = Some(Arc::new(Node { start: *range.start(), end: *range.end(), depth, below }));
    }
    /// Leaves out the lowest range, which is this one, below one that starts at `above`.
    pub fn leave_lowest(&mut self, range: &RangeInclusive<u64>, above: u64) {
        self.count -= 1;
        self.size -= pair_size(range, above);
    }
    /// The number of ranges.
    pub fn count(&self) -> usize {
        self.count as usize
    }
    /// The number of ranges in memory that were left out.
    pub fn left_out(&self) -> usize {
        self.first.as_ref().map_or(0, |node| node.depth as usize) - self.count()
    }
    /// The size in bytes of their encoded pairs of Gap and ACK Range Length.
    pub fn size(&self) -> usize {
        self.size as usize
    }
    /// The ranges in descending order.
    #[inline]
    pub fn iter(&self) -> LowerIter<'_> {
        LowerIter { next: self.first.as_deref(), left: self.count }
    }
    /// The number of ranges that this list has above those of another one, of which it then has no other ones; `None` if it has
    /// others, or that is not known.
    #[inline]
    pub fn above(&self, other: &LowerRanges) -> Option<usize> {
        let Some(first) = &other.first else { return Some(self.count()) };
        let (mut node, mut above) = (self.first.as_ref()?, 0);
        while !Arc::ptr_eq(node, first) {
            above += 1;
            node = node.below.as_ref().filter(|_| above < self.count())?;
        }
        (self.count() <= above + other.count()).then_some(above)
    }
}

/// Two lists are equal if their ranges are.
impl PartialEq for LowerRanges {
    fn eq(&self, other: &LowerRanges) -> bool {
        self.iter().eq(other.iter())
    }
}
impl Eq for LowerRanges {}

/// The ranges of a list in descending order.
#[derive(Debug, Clone)]
pub struct LowerIter<'a> {
    next: Option<&'a Node>,
    left: u32,
}

impl Iterator for LowerIter<'_> {
    type Item = RangeInclusive<u64>;

    #[inline]
    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let node = self.next.filter(|_| self.left > 0)?;
        self.left -= 1;
        self.next = node.below.as_deref();
        Some(node.start..=node.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_their_ends() {
        let ranges = [20..=25, 10..=11, 3..=5];
        let mut list = LowerRanges::of(ranges.iter().cloned(), 30);
        assert_eq!((list.iter().collect::<Vec<_>>(), list.count(), list.size()), (ranges.to_vec(), 3, 6));
        let before = list.clone();
        list.push(30..=100, 200);
        list.push(200..=201, 210);
        list.leave_lowest(&(3..=5), 10);
        assert_eq!(list.iter().collect::<Vec<_>>(), [200..=201, 30..=100, 20..=25, 10..=11]);
        // The length 70 takes two bytes, and so does the gap of 98.
        assert_eq!((list.size(), list.left_out()), (4 + 2 + 4, 1));
        assert_eq!((list.above(&before), before.above(&list)), (Some(2), None));
        assert_eq!((list.above(&list), list.above(&LowerRanges::default())), (Some(0), Some(4)));
        let other = LowerRanges::of(list.iter().collect::<Vec<_>>().into_iter(), 210);
        assert!(other == list && other.above(&list).is_none() && other != before);
        assert_eq!(other.above(&LowerRanges::default()), Some(4));
        assert_eq!(LowerRanges::default().above(&other), None);
    }
}
