//! What the last ACK frame of a space has told.

use std::ops::RangeInclusive;
use wire::{Ack, LowerRanges};

/// The number of ranges that are remembered. What a longer frame repeats beyond them is looked at again.
const MAX_RANGES: usize = 512;

/// The ranges of the last ACK frame of a packet number space. Each frame repeats those of the frames before it, of which
/// there may be hundreds after losses, so that only what is new is worth a look.
#[derive(Debug, Default)]
pub(crate) struct AckHistory {
    /// In descending order: all of them, or the first one of a frame that lists the others.
    ranges: Vec<RangeInclusive<u64>>,
    /// Those below, of a frame that lists them.
    lower: LowerRanges,
    /// Memory for the next frame.
    spare: Vec<RangeInclusive<u64>>,
}

impl AckHistory {
    /// Takes the ranges of a frame, as far as they reach `oldest` or above, and passes on what the last frame did not have:
    /// in the order of the ranges, and ascending within each of them.
    #[inline]
    pub(crate) fn news(&mut self, ack: &Ack<'_>, oldest: u64, mut each: impl FnMut(RangeInclusive<u64>)) {
        match (ack.list(), self.ranges.as_mut_slice()) {
            // The last frame had the same list, or less of it: below is nothing new.
            (Some((first, lower)), [known]) if let Some(above) = lower.above(&self.lower) => {
                let reach = |range: &RangeInclusive<u64>| *range.end() >= oldest;
                for range in std::iter::once(first.clone()).chain(lower.iter().take(above)).take_while(reach)
                {
                    pass_news(&range, std::slice::from_ref(known), &mut each);
                }
                *known = first;
                if above > 0 || lower.count() != self.lower.count() {
                    self.lower = lower.clone();
                }
            }
            _ => self.compare(ack, oldest, &mut each),
        }
    }

    /// Compares all ranges of a frame with those of the last one.
    fn compare(&mut self, ack: &Ack<'_>, oldest: u64, each: &mut impl FnMut(RangeInclusive<u64>)) {
        let listed = std::mem::take(&mut self.lower);
        self.ranges.extend(listed.iter());
        let mut heard = std::mem::take(&mut self.spare);
        let mut at = 0;
        for range in ack.ranges().take_while(|range| *range.end() >= oldest) {
            let known = &self.ranges[at.min(self.ranges.len())..];
            let above = known.iter().take_while(|known| known.start() > range.end()).count();
            let known = &known[above..];
            let overlapping = known.iter().take_while(|known| known.end() >= range.start()).count();
            pass_news(&range, &known[..overlapping], each);
            // A known range may reach into the next one, if the peer has forgotten what was between.
            let reaches = known[..overlapping].last().is_some_and(|last| last.start() < range.start());
            at += above + overlapping - usize::from(reaches);
            if heard.len() < MAX_RANGES {
                heard.push(range);
            }
        }
        if let Some((first, lower)) = ack.list() {
            heard.clear();
            heard.push(first);
            self.lower = lower.clone();
        }
        self.spare = std::mem::replace(&mut self.ranges, heard);
        self.spare.clear();
    }
}

/// Passes on what a range has and these known ones, which are descending, have not.
#[inline]
fn pass_news(
    range: &RangeInclusive<u64>,
    known: &[RangeInclusive<u64>],
    each: &mut impl FnMut(RangeInclusive<u64>),
) {
    let (mut from, end) = (*range.start(), *range.end());
    for known in known.iter().rev() {
        if *known.start() > from {
            each(from..=end.min(known.start() - 1));
        }
        from = from.max(known.end() + 1);
    }
    if from <= end {
        each(from..=end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Descending ranges that are not adjacent, from gaps and lengths.
    fn ranges(top: u64, parts: &[(u64, u64)]) -> Vec<RangeInclusive<u64>> {
        let (mut ranges, mut end) = (Vec::new(), Some(top));
        for (gap, length) in parts {
            let Some((last, start)) = end.and_then(|end| Some((end, end.checked_sub(*length)?))) else {
                break;
            };
            ranges.push(start..=last);
            end = start.checked_sub(gap + 2);
        }
        ranges
    }

    /// Passes a frame with these ranges to the history: its bytes, or as a list.
    fn tell(
        history: &mut AckHistory,
        frame: &[RangeInclusive<u64>],
        list: Option<&LowerRanges>,
        oldest: u64,
    ) -> Vec<u64> {
        let mut told = Vec::new();
        let (first, mut bytes) = (&frame[0], Vec::new());
        let each = |range: RangeInclusive<u64>| told.extend(range);
        if let Some(list) = list {
            let ack = Ack::listed(*first.end(), first.end() - first.start(), list, 0);
            history.news(&ack, oldest, each);
        } else {
            wire::frame::ack(&mut bytes, frame.iter().cloned(), 0, None, usize::MAX);
            let Some(Ok(wire::Frame::Ack(ack))) = wire::Frames::new(&bytes, 0).next() else { panic!() };
            history.news(&ack, oldest, each);
        }
        told
    }

    proptest! {
        /// News are what a frame has and the one before it had not, from `oldest` on, in the order of the frame.
        #[test]
        fn news_are_the_difference(
            frames in prop::collection::vec((0u64..80, prop::collection::vec((0u64..4, 0u64..5), 1..12), any::<bool>()), 1..12),
            oldest in 0u64..20,
        ) {
            let (mut history, mut before) = (AckHistory::default(), BTreeSet::new());
            for (top, parts, is_listed) in frames {
                let frame = ranges(top, &parts);
                if frame.is_empty() {
                    continue;
                }
                let list = LowerRanges::of(frame[1..].iter().cloned(), *frame[0].start());
                let mut told = tell(&mut history, &frame, is_listed.then_some(&list), oldest);
                // Of a range that begins below `oldest` that part may come or not.
                told.retain(|number| *number >= oldest);
                let has: Vec<u64> = frame.iter().cloned().flatten().filter(|number| *number >= oldest).collect();
                let expected: Vec<u64> = has.iter().copied().filter(|number| !before.contains(number)).collect();
                prop_assert_eq!(told, expected);
                before = has.into_iter().collect();
            }
        }

        /// The same for the lists that a receiver makes of packets that arrive, some of whose frames are lost or late.
        #[test]
        fn news_of_a_list_that_grows(
            steps in prop::collection::vec((1u64..4, 0usize..4, prop::sample::select(vec![0usize, 0, 0, 1, 3])), 1..80),
        ) {
            let (mut history, mut before) = (AckHistory::default(), BTreeSet::new());
            let (mut top, mut list) = (0..=0u64, LowerRanges::default());
            let mut frames = Vec::new();
            for (step, drops, late) in steps {
                let next = top.end() + step;
                if step == 1 {
                    top = *top.start()..=next;
                } else {
                    list.push(top, next);
                    top = next..=next;
                }
                for _ in 0..drops.min(list.count().saturating_sub(3)) {
                    let lowest: Vec<_> = list.iter().skip(list.count() - 2).collect();
                    list.leave_lowest(&lowest[1], *lowest[0].start());
                }
                frames.push((top.clone(), list.clone()));
                let (top, list) = &frames[frames.len() - 1 - late.min(frames.len() - 1)];
                let frame: Vec<_> = std::iter::once(top.clone()).chain(list.iter()).collect();
                let told = tell(&mut history, &frame, Some(list), 0);
                let has: Vec<u64> = frame.into_iter().flatten().collect();
                let expected: Vec<u64> = has.iter().copied().filter(|number| !before.contains(number)).collect();
                prop_assert_eq!(told, expected);
                before = has.into_iter().collect();
            }
        }
    }

    #[test]
    fn a_long_frame_is_not_remembered_whole() {
        let mut history = AckHistory::default();
        let frame: Vec<_> = (0..2000u64).rev().map(|n| 2 * n..=2 * n).collect();
        assert_eq!(tell(&mut history, &frame, None, 0).len(), 2000);
        assert_eq!(tell(&mut history, &frame, None, 0).len(), 2000 - MAX_RANGES);
    }
}
