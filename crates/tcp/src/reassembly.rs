//! The reassembly of received data (RFC 9293 section 3.10.7.4, seventh), and the SACK blocks of acknowledgements (RFC
//! 2018, RFC 2883).

use crate::data::{Chunk, Payload, Run};
use crate::ranges::Ranges;
use crate::ready::{Ready, join};
use std::collections::VecDeque;

/// The maximum number of pieces, in addition to one per [`SPAN_OF_PIECE`] bytes of the window. Only an attack needs
/// more. A segment that would exceed it is neither kept nor acknowledged.
const MAX_PIECES: usize = 256;
/// A tenth of a segment: losses leave longer pieces.
const SPAN_OF_PIECE: u64 = 128;
/// The number of recent blocks that are reported again (RFC 2018 section 4).
const REMEMBERED: usize = 4;

/// The effect of a received segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Insertion {
    /// More data can be read.
    pub(crate) advanced: bool,
    /// The data lies behind a gap or fills one (RFC 5681 section 4.2: acknowledge at once).
    pub(crate) out_of_order: bool,
    /// Some of the data was received before (RFC 2883).
    pub(crate) duplicate: bool,
}

/// The receive buffer, in sequence numbers: the first byte is 1.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// The next expected number: RCV.NXT without the FIN.
    next: u64,
    /// Bytes that were read.
    read: u64,
    /// In-order data that waits for its reader.
    ready: Ready,
    /// Out-of-order data by number, ascending and without overlaps.
    early: VecDeque<(u64, Chunk)>,
    ranges: Ranges,
    /// A number in each of the most recently received blocks, the newest first.
    recent: [Option<u64>; REMEMBERED],
    /// The duplicate to report with the next acknowledgement (RFC 2883 section 4).
    duplicate: Option<(u64, u64)>,
}

impl Reassembly {
    pub(crate) fn new() -> Reassembly {
        Reassembly {
            next: 1,
            read: 0,
            ready: Ready::default(),
            early: VecDeque::new(),
            ranges: Ranges::default(),
            recent: [None; REMEMBERED],
            duplicate: None,
        }
    }

    /// The next expected number.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }
    /// Bytes that can be read.
    #[inline]
    pub(crate) fn ready_bytes(&self) -> u64 {
        self.ready.len()
    }
    /// Bytes that were received in order, and those of them that were read.
    pub(crate) fn books(&self) -> (u64, u64) {
        (self.next - 1, self.read)
    }
    /// Whether there is data behind a gap.
    #[inline]
    pub(crate) fn has_gaps(&self) -> bool {
        !self.ranges.is_empty()
    }
    /// The end of the highest received data.
    pub(crate) fn highest(&self) -> u64 {
        self.ranges.as_slice().last().map_or(self.next, |(_, end)| *end)
    }

    /// Stops if what is kept for its turn is not what is reported as received.
    pub(crate) fn check(&self) {
        self.ranges.check();
        let first = self.ranges.as_slice().first();
        assert!(
            first.is_none_or(|(start, _)| *start > self.next),
            "what was received early lies behind a gap"
        );
        let mut after = self.next;
        for (start, chunk) in &self.early {
            assert!(*start >= after, "early data is in order, and each byte kept once");
            after = start + chunk.len();
        }
        let kept: u64 = self.early.iter().map(|(_, chunk)| chunk.len()).sum();
        let reported: u64 = self.ranges.as_slice().iter().map(|(start, end)| end - start).sum();
        assert_eq!(kept, reported, "the data that is reported as received is kept");
    }

    /// Inserts the payload of a segment that begins at `start`, up to `limit`, the right edge of the window.
    pub(crate) fn insert(&mut self, start: u64, payload: Payload<'_>, limit: u64) -> Insertion {
        let end = (start + payload.len()).min(limit);
        let mut taken = Insertion::default();
        if end <= start {
            return taken;
        }
        if start < self.next {
            // RFC 2883 section 4: the first block reports the duplicate part.
            self.duplicate = Some((start, end.min(self.next)));
            taken.duplicate = true;
            if end <= self.next {
                return taken;
            }
        }
        let from = start.max(self.next);
        if from == self.next && self.ranges.is_empty() {
            for run in payload.slice(from - start, end - start).runs() {
                self.ready.push(run);
            }
            self.next = end;
            taken.advanced = true;
            return taken;
        }
        taken.out_of_order = true;
        let most = MAX_PIECES + (limit.saturating_sub(self.next) / SPAN_OF_PIECE) as usize;
        if self.early.len() + 3 > most && self.ranges.would_grow(from, end) {
            return taken;
        }
        self.keep(start, payload, from, end, &mut taken);
        self.remember(from);
        if from == self.next {
            self.advance();
            taken.advanced = true;
        }
        taken
    }

    /// Keeps the new parts of a payload between `from` and `end`.
    fn keep(&mut self, start: u64, payload: Payload<'_>, from: u64, end: u64, taken: &mut Insertion) {
        let mut at = from;
        while at < end {
            if let Some((known, known_end)) = self.ranges.containing(at) {
                if !taken.duplicate {
                    self.duplicate = Some((at.max(known), known_end.min(end)));
                    taken.duplicate = true;
                }
                at = known_end;
                continue;
            }
            let after = self.ranges.as_slice().partition_point(|(known, _)| *known <= at);
            let until = self.ranges.as_slice().get(after).map_or(end, |(known, _)| (*known).min(end));
            let mut place = at;
            for run in payload.slice(at - start, until - start).runs() {
                self.push_early(place, run);
                place += run.len();
            }
            // Record only the new part; existing data is unchanged.
            self.ranges.insert(at, until);
            at = until;
        }
    }

    fn push_early(&mut self, place: u64, run: Run<'_>) {
        let at = match self.early.back() {
            Some((start, _)) if *start > place => self.early.partition_point(|(start, _)| *start < place),
            _ => self.early.len(),
        };
        let before = at.checked_sub(1).and_then(|before| self.early.get_mut(before));
        if let Some((start, chunk)) = before
            && *start + chunk.len() == place
            && join(chunk, run)
        {
            return;
        }
        let chunk = match run {
            Run::Bytes(bytes) => Chunk::Bytes(bytes.to_vec()),
            Run::Virtual { length, from } => Chunk::Virtual { length, from },
        };
        self.early.insert(at, (place, chunk));
    }

    /// Moves data that is now in order to the reader.
    fn advance(&mut self) {
        while let Some((start, _)) = self.early.front() {
            if *start != self.next {
                break;
            }
            let (_, chunk) = self.early.pop_front().expect("the data at the front was just looked at");
            self.next += chunk.len();
            self.ready.push_chunk(chunk);
        }
        self.ranges.remove_below(self.next);
    }

    fn remember(&mut self, number: u64) {
        let block = self.ranges.containing(number);
        let same = |known: &u64| block.is_some_and(|(start, end)| (start..end).contains(known));
        let at =
            self.recent.iter().position(|known| known.as_ref().is_none_or(same)).unwrap_or(REMEMBERED - 1);
        self.recent[..=at].rotate_right(1);
        self.recent[0] = Some(number);
    }

    /// Takes the duplicate to be reported.
    pub(crate) fn take_duplicate(&mut self) -> Option<(u64, u64)> {
        self.duplicate.take()
    }

    /// Records a duplicate in a segment outside of the window.
    pub(crate) fn note_duplicate(&mut self, start: u64, end: u64) {
        if start < end {
            self.duplicate = Some((start, end));
        }
    }

    /// The blocks of an acknowledgement, each once and the newest first (RFC 2018 section 4).
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let block = |at: usize| self.recent[at].and_then(|number| self.ranges.containing(number));
        (0..REMEMBERED).filter_map(move |at| {
            let found = block(at)?;
            (0..at).all(|earlier| block(earlier) != Some(found)).then_some(found)
        })
    }

    /// Reads up to `limit` bytes and passes each run to `each`. Returns the number of bytes.
    pub(crate) fn read(&mut self, limit: u64, each: impl FnMut(Run<'_>)) -> u64 {
        let bytes = self.ready.take(limit, each);
        self.read += bytes;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn virtual_payload(start: u64, length: u64) -> Payload<'static> {
        Payload { hole: (length, start - 1), ..Payload::default() }
    }

    /// RFC 2018 section 4: the first block contains the newest segment, the others follow by age.
    #[test]
    fn blocks_are_reported_newest_first() {
        let mut got = Reassembly::new();
        for start in [1001, 3001, 5001, 7001, 9001] {
            got.insert(start, virtual_payload(start, 1000), 100_000);
        }
        let blocks: Vec<_> = got.blocks().collect();
        assert_eq!(blocks, [(9001, 10_001), (7001, 8001), (5001, 6001), (3001, 4001)]);
        got.insert(6001, virtual_payload(6001, 1000), 100_000);
        let blocks: Vec<_> = got.blocks().collect();
        assert_eq!(blocks, [(5001, 8001), (9001, 10_001), (3001, 4001)]);
        assert_eq!((got.next(), got.highest(), got.has_gaps()), (1, 10_001, true));
        let taken = got.insert(1, virtual_payload(1, 1000), 100_000);
        assert!(taken.advanced && taken.out_of_order);
        assert_eq!((got.next(), got.ready_bytes()), (2001, 2000));
    }

    /// RFC 2883 section 4: a duplicate is reported once.
    #[test]
    fn duplicates_are_reported() {
        let mut got = Reassembly::new();
        got.insert(1, virtual_payload(1, 1000), 100_000);
        assert!(got.insert(501, virtual_payload(501, 1000), 100_000).duplicate);
        assert_eq!((got.take_duplicate(), got.take_duplicate()), (Some((501, 1001)), None));
        got.insert(3001, virtual_payload(3001, 1000), 100_000);
        assert!(got.insert(3001, virtual_payload(3001, 1000), 100_000).duplicate);
        assert_eq!(got.take_duplicate(), Some((3001, 4001)));
        assert!(!got.insert(6001, virtual_payload(6001, 1000), 5000).out_of_order, "beyond the window");
    }

    #[test]
    fn pieces_have_a_bound() {
        let mut got = Reassembly::new();
        for i in 0..100_000 {
            got.insert(3 + 2 * i, Payload { before: &[1], ..Payload::default() }, 300_000);
        }
        assert!(got.early.len() <= MAX_PIECES + 300_000 / SPAN_OF_PIECE as usize);
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same_bytes(
            segments in prop::collection::vec((0u64..300, 1u64..60, 0u64..60, 0u64..60), 1..80),
        ) {
            let mut got = Reassembly::new();
            let mut known = [false; 500];
            let mut out = Vec::new();
            for (at, length, first, second) in segments {
                let (first, second) = (first.min(length), first.min(length) + second.min(length - first.min(length)));
                let bytes: Vec<u8> = (at..at + length).map(wire::pattern::byte).collect();
                let payload = Payload {
                    before: &bytes[..first as usize],
                    hole: (second - first, at + first),
                    after: &bytes[second as usize..],
                };
                let fresh = (at..at + length).any(|i| !known[i as usize]);
                known[at as usize..(at + length) as usize].fill(true);
                let next = got.next();
                let taken = got.insert(at + 1, payload, 1000);
                prop_assert_eq!(taken.advanced, got.next() > next);
                prop_assert!(fresh || taken.duplicate);
                let contiguous = known.iter().take_while(|known| **known).count() as u64;
                prop_assert_eq!(got.next(), contiguous + 1);
                got.read(at % 50, |run| match run {
                    Run::Bytes(bytes) => out.extend_from_slice(bytes),
                    Run::Virtual { length, from } => out.extend((from..from + length).map(wire::pattern::byte)),
                });
            }
            got.read(u64::MAX, |run| match run {
                Run::Bytes(bytes) => out.extend_from_slice(bytes),
                Run::Virtual { length, from } => out.extend((from..from + length).map(wire::pattern::byte)),
            });
            prop_assert_eq!(got.ready_bytes(), 0);
            prop_assert!(wire::pattern::matches(0, &out));
            prop_assert_eq!(out.len() as u64 + 1, got.next());
        }
    }
}
