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
    /// The ranges below in a short list, which is one node, as starts and ends.
    more: Vec<(u64, u64)>,
    /// The number of ranges from here to the end of the list, which may be longer than any frame.
    depth: u32,
    /// The rest of a long list.
    below: Option<Arc<Node>>,
}

impl Node {
    /// The number of its ranges.
    fn count(&self) -> usize {
        1 + self.more.len()
    }
}

/// The number of ranges below its first one that a short list has room for at once.
const SEVERAL: usize = 8;

/// Memory for short lists: a list that no frame and no sender knows any more becomes the next one.
#[derive(Debug, Default)]
pub struct ShortLists(Vec<LowerRanges>);

impl ShortLists {
    /// The number of lists that are kept: more than there are gaps in half a round trip, unless losses come in bursts.
    const MOST: usize = 40;

    /// The list of these ranges, descending, below a range that starts at `above`. No two are adjacent.
    pub fn make(&mut self, ranges: impl Iterator<Item = RangeInclusive<u64>>, above: u64) -> LowerRanges {
        if let Some(free) = self.0.iter_mut().find_map(|list| list.is_free().then_some(list)) {
            free.refill(ranges, above);
            return free.clone();
        }
        let mut list = LowerRanges::default();
        list.refill(ranges, above);
        if self.0.len() < ShortLists::MOST && list.count > 0 {
            self.0.push(list.clone());
        }
        list
    }
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
        let (start, end) = range.into_inner();
        self.first = Some(Arc::new(Node { start, end, more: Vec::new(), depth, below }));
    }
    /// Whether nobody else knows the list.
    fn is_free(&mut self) -> bool {
        self.first.as_mut().is_some_and(|node| Arc::get_mut(node).is_some())
    }
    /// Makes it a short list of these ranges below one that starts at `above`, in the memory that it has.
    fn refill(&mut self, mut ranges: impl Iterator<Item = RangeInclusive<u64>>, above: u64) {
        (self.count, self.size) = (0, 0);
        let Some(first) = ranges.next() else {
            self.first = None;
            return;
        };
        let (start, end) = (*first.start(), *first.end());
        let empty = || Arc::new(Node { start, end, more: Vec::new(), depth: 0, below: None });
        let Some(node) = Arc::get_mut(self.first.get_or_insert_with(empty)) else { return };
        (node.start, node.end, node.below) = (start, end, None);
        node.more.clear();
        (self.count, self.size) = (1, pair_size(&first, above));
        let mut above = start;
        for range in ranges {
            if node.more.capacity() == 0 {
                node.more.reserve_exact(SEVERAL);
            }
            self.size += pair_size(&range, above);
            self.count += 1;
            above = *range.start();
            node.more.push(range.into_inner());
        }
        node.depth = self.count;
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
        LowerIter { node: self.first.as_deref(), at: 0, left: self.count }
    }
    /// The number of ranges that this list has above those of another one, of which it then has no other ones; `None` if it has
    /// others, or that is not known.
    #[inline]
    pub fn above(&self, other: &LowerRanges) -> Option<usize> {
        let Some(first) = &other.first else { return Some(self.count()) };
        let (mut node, mut above) = (self.first.as_ref()?, 0);
        while !Arc::ptr_eq(node, first) {
            above += node.count();
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
    node: Option<&'a Node>,
    /// The number of ranges of the node that were taken.
    at: usize,
    left: u32,
}

impl Iterator for LowerIter<'_> {
    type Item = RangeInclusive<u64>;

    #[inline]
    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let node = self.node.filter(|_| self.left > 0)?;
        self.left -= 1;
        let (start, end) = match self.at {
            0 => (node.start, node.end),
            at => node.more[at - 1],
        };
        self.at += 1;
        if self.at == node.count() {
            (self.node, self.at) = (node.below.as_deref(), 0);
        }
        Some(start..=end)
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

    #[test]
    fn a_short_list_takes_the_memory_of_one_that_nobody_knows() {
        let mut lists = ShortLists::default();
        let ranges = || [20..=25, 10..=11, 3..=5].into_iter();
        let first = lists.make(ranges(), 30);
        assert_eq!((&first, first.size(), first.count()), (&LowerRanges::of(ranges(), 30), 6, 3));
        let at = |list: &LowerRanges| Arc::as_ptr(list.first.as_ref().unwrap());
        let second = lists.make(ranges().skip(1), 20);
        assert!(at(&first) != at(&second) && first.iter().eq(ranges()), "the first one is still known");
        let place = at(&first);
        drop(first);
        let third = lists.make(std::iter::once(7..=9), 20);
        assert_eq!((at(&third), third.iter().collect::<Vec<_>>()), (place, vec![7..=9]));
        assert_eq!((third.size(), third.left_out(), third.above(&second)), (2, 0, None));
        let mut longer = third.clone();
        longer.push(20..=30, 40);
        assert_eq!(
            (longer.above(&third), longer.iter().collect::<Vec<_>>()),
            (Some(1), vec![20..=30, 7..=9])
        );
        let many: Vec<_> = (0..2 * ShortLists::MOST).map(|_| lists.make(ranges(), 30)).collect();
        assert_eq!((lists.0.len(), many.len()), (ShortLists::MOST, 2 * ShortLists::MOST));
        assert_eq!(lists.make(std::iter::empty(), 30).count(), 0);
    }
}
