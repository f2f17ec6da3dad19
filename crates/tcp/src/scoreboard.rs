//! The retransmission queue and the SACK scoreboard (RFC 2018 section 5, RFC 6675 section 4).

use congestion::SentState;
use std::collections::VecDeque;
use units::Time;
use wire::tcp::SackBlocks;

/// The state of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// In flight, as far as is known.
    Flying,
    /// Declared lost and not retransmitted since.
    Lost,
    /// Selectively acknowledged.
    Sacked,
}

/// A segment that is not cumulatively acknowledged. It is retransmitted with the same boundaries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// Its first sequence number.
    pub(crate) start: u64,
    /// The number after its last, including the FIN.
    pub(crate) end: u64,
    /// The time of the last transmission.
    pub(crate) sent_at: Time,
    /// The delivery-rate state at the last transmission.
    pub(crate) rate: SentState,
    /// The number of transmissions.
    pub(crate) transmissions: u16,
    pub(crate) fate: Fate,
    /// Whether the last transmission followed a declared loss, and not a probe of the tail.
    pub(crate) repair: bool,
    /// Whether it ends with the FIN.
    pub(crate) fin: bool,
}

impl Segment {
    /// The size of a segment: its payload in bytes, or 1 for a FIN alone.
    #[inline]
    pub(crate) fn bytes(start: u64, end: u64, fin: bool) -> u64 {
        (end - start - u64::from(fin)).max(1)
    }
    /// The size of this segment.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        Segment::bytes(self.start, self.end, self.fin)
    }
    /// Whether it was sent more than once.
    #[inline]
    pub(crate) fn was_retransmitted(&self) -> bool {
        self.transmissions > 1
    }
}

/// An entry of the list of transmissions.
#[derive(Debug, Clone, Copy)]
struct Transmission {
    number: u64,
    transmission: u16,
}

/// The segments between SND.UNA and SND.NXT by sequence number. Each has an index number, counted from 0.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// The number of the first segment.
    base: u64,
    segments: VecDeque<Segment>,
    /// All transmissions by time. Obsolete entries are removed at the front.
    order: VecDeque<Transmission>,
    in_flight: u64,
    sacked: u64,
    sacked_segments: u64,
    lost: u64,
    /// No segment with a lower number is lost.
    first_lost: u64,
    /// Segments below this number have been checked against the duplicate threshold of RFC 6675.
    checked: u64,
    /// The blocks of the last acknowledgement, which are already processed.
    known: [(u64, u64); SackBlocks::MAX],
}

impl Scoreboard {
    /// Bytes in flight: sent, and neither acknowledged nor declared lost ("pipe" of RFC 6675).
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }
    /// Selectively acknowledged bytes.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }
    /// Selectively acknowledged segments.
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }
    /// Whether a segment waits for retransmission.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }
    /// Whether everything is acknowledged.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// The number of segments.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }
    /// The first segment.
    pub(crate) fn front(&self) -> Option<&Segment> {
        self.segments.front()
    }
    /// The number of the first segment.
    pub(crate) fn front_number(&self) -> u64 {
        self.base
    }
    /// The number of the last segment, if that is in flight.
    pub(crate) fn last_in_flight(&self) -> Option<u64> {
        let is_in_flight = self.segments.back().is_some_and(|last| last.fate == Fate::Flying);
        is_in_flight.then(|| self.base + self.segments.len() as u64 - 1)
    }
    /// A segment by its number.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&Segment> {
        self.segments.get(number.checked_sub(self.base)? as usize)
    }

    /// Adds a segment after its first transmission.
    #[inline]
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, now: Time, rate: SentState) {
        debug_assert!(start < end, "a segment on the board takes sequence numbers");
        let end_so_far = self.segments.back().map(|last| last.end);
        debug_assert!(end_so_far.is_none_or(|last| last == start), "new data follows what was sent before");
        let number = self.base + self.segments.len() as u64;
        let (transmissions, fate, repair) = (1, Fate::Flying, false);
        self.segments.push_back(Segment { start, end, sent_at: now, rate, transmissions, fate, repair, fin });
        self.order.push_back(Transmission { number, transmission: 1 });
        self.in_flight += Segment::bytes(start, end, fin);
    }

    /// Records the retransmission of a segment, which is in flight again.
    pub(crate) fn resent(&mut self, number: u64, now: Time, rate: SentState) {
        let at = number.checked_sub(self.base).expect("an acknowledged segment is not sent again");
        let segment =
            self.segments.get_mut(at as usize).expect("a segment that is sent again was sent before");
        segment.repair = segment.fate == Fate::Lost;
        if segment.repair {
            self.lost -= 1;
            self.in_flight += segment.len();
            segment.fate = Fate::Flying;
        }
        segment.sent_at = now;
        segment.rate = rate;
        segment.transmissions = segment.transmissions.saturating_add(1);
        self.order.push_back(Transmission { number, transmission: segment.transmissions });
    }

    /// The first lost segment.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let from = self.first_lost.max(self.base);
        let rest_of_board = self.segments.range((from - self.base) as usize..);
        let offset = rest_of_board.take_while(|segment| segment.fate != Fate::Lost).count() as u64;
        self.first_lost = from + offset;
        debug_assert!(
            self.get(self.first_lost).is_some(),
            "a segment that is counted as lost is on the board"
        );
        Some(self.first_lost)
    }

    /// Declares a segment lost. Returns `false` if it is not in flight.
    pub(crate) fn lose(&mut self, number: u64) -> bool {
        let at = number.checked_sub(self.base).expect("an acknowledged segment is not declared lost");
        let segment = self.segments.get_mut(at as usize).expect("only what was sent is declared lost");
        if segment.fate != Fate::Flying {
            return false;
        }
        segment.fate = Fate::Lost;
        self.in_flight -= segment.len();
        self.lost += 1;
        self.first_lost = self.first_lost.min(number);
        true
    }

    fn uncount(&mut self, segment: &Segment) {
        match segment.fate {
            Fate::Flying => self.in_flight -= segment.len(),
            Fate::Lost => self.lost -= 1,
            Fate::Sacked => {
                self.sacked -= segment.len();
                self.sacked_segments -= 1;
            }
        }
    }

    /// Removes everything before `una`: whole segments, and the acknowledged part of one. Each whole segment is passed
    /// to `each` in its former state.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64, mut each: impl FnMut(&Segment)) {
        while let Some(front) = self.segments.front().copied() {
            if front.end > una {
                if front.start < una {
                    // A middlebox has split the segment; the rest of it remains.
                    self.uncount(&front);
                    let rest = Segment { start: una, ..front };
                    self.segments[0] = rest;
                    match rest.fate {
                        Fate::Flying => self.in_flight += rest.len(),
                        Fate::Lost => self.lost += 1,
                        Fate::Sacked => {
                            self.sacked += rest.len();
                            self.sacked_segments += 1;
                        }
                    }
                }
                break;
            }
            self.uncount(&front);
            self.segments.pop_front();
            self.base += 1;
            each(&front);
        }
    }

    /// Marks the segments covered by the blocks. Each newly covered segment is passed to `each` in its former state.
    pub(crate) fn sack(&mut self, blocks: &[(u64, u64)], mut each: impl FnMut(&Segment)) {
        let known = self.known;
        self.known = [(0, 0); SackBlocks::MAX];
        for (slot, block) in self.known.iter_mut().zip(blocks) {
            *slot = *block;
        }
        for &(block_start, mut end) in blocks {
            let mut start = block_start;
            // Blocks grow at their ends: skip the part of a block that the last acknowledgement already contained.
            for &(left, right) in &known {
                if left <= start && start < right {
                    start = right;
                }
                if left < end && end <= right {
                    end = left;
                }
            }
            if start >= end {
                continue;
            }
            // Segments split by the edge of a block are checked again.
            let mut at = self.segments.partition_point(|segment| segment.end <= start);
            while self.segments.get(at).is_some_and(|segment| segment.start < block_start) {
                at += 1;
            }
            while let Some(segment) = self.segments.get(at).copied().filter(|segment| segment.end <= end) {
                if segment.fate != Fate::Sacked {
                    self.uncount(&segment);
                    self.segments[at].fate = Fate::Sacked;
                    self.sacked += segment.len();
                    self.sacked_segments += 1;
                    each(&segment);
                }
                at += 1;
            }
        }
    }

    /// The receiver has discarded selectively acknowledged data (RFC 2018 section 8): all of it counts as in flight.
    pub(crate) fn forget_sacks(&mut self) {
        self.known = [(0, 0); SackBlocks::MAX];
        // An entry of a segment that was acknowledged is obsolete, but may still be listed.
        let mut order = std::mem::take(&mut self.order);
        order.retain(|entry| self.counts(*entry).is_some());
        self.order = order;
        for (segment, number) in self.segments.iter_mut().zip(self.base..) {
            if segment.fate == Fate::Sacked {
                // That it arrived is already counted.
                (segment.fate, segment.repair) = (Fate::Flying, false);
                self.in_flight += segment.len();
                let transmission = segment.transmissions;
                self.order.push_back(Transmission { number, transmission });
            }
        }
        (self.sacked, self.sacked_segments) = (0, 0);
        let segments = &self.segments;
        let base = self.base;
        let sent_at = |entry: &Transmission| {
            entry
                .number
                .checked_sub(base)
                .and_then(|at| segments.get(at as usize))
                .map(|segment| segment.sent_at)
        };
        self.order.make_contiguous().sort_by_key(|entry| (sent_at(entry), entry.number));
    }

    /// Whether a transmission is the last one of a segment that is still in flight.
    fn counts(&self, entry: Transmission) -> Option<(u64, &Segment)> {
        let segment = self.get(entry.number)?;
        let counts = segment.fate == Fate::Flying && segment.transmissions == entry.transmission;
        counts.then_some((entry.number, segment))
    }

    /// The segment in flight with the earliest transmission.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Option<(u64, &Segment)> {
        while let Some(entry) = self.order.front() {
            if self.counts(*entry).is_some() {
                break;
            }
            self.order.pop_front();
        }
        self.order.front().and_then(|entry| self.counts(*entry))
    }

    /// The segments in flight in the order of transmission.
    pub(crate) fn by_time(&self) -> impl Iterator<Item = (u64, &Segment)> {
        self.order.iter().filter_map(|entry| self.counts(*entry))
    }

    /// RFC 6675 section 4, IsLost: the segments in flight that were sent once and have at least `threshold` selectively
    /// acknowledged segments above them. Their numbers are appended to `lost`.
    pub(crate) fn below_threshold(&mut self, threshold: u64, lost: &mut Vec<u64>) {
        if self.sacked_segments < threshold {
            return;
        }
        let mut above = 0;
        let edge = self.segments.iter().rposition(|segment| {
            above += u64::from(segment.fate == Fate::Sacked);
            above == threshold
        });
        let edge = edge.expect("the selectively acknowledged segments that are counted are on the board");
        let from = self.checked.max(self.base);
        let until = self.base + edge as u64;
        for number in from..until {
            if self.get(number).is_some_and(|s| s.fate == Fate::Flying && !s.was_retransmitted()) {
                lost.push(number);
            }
        }
        self.checked = self.checked.max(until);
    }

    /// Stops if the counters do not agree with the segments.
    pub(crate) fn check(&self) {
        let (mut in_flight, mut sacked, mut sacked_segments, mut lost) = (0, 0, 0, 0);
        let mut end = None;
        for (segment, number) in self.segments.iter().zip(self.base..) {
            assert!(segment.start < segment.end, "a segment on the board takes sequence numbers");
            assert!(end.is_none_or(|end| end == segment.start), "the segments leave no gap");
            end = Some(segment.end);
            match segment.fate {
                Fate::Flying => in_flight += segment.len(),
                Fate::Lost => lost += 1,
                Fate::Sacked => (sacked, sacked_segments) = (sacked + segment.len(), sacked_segments + 1),
            }
            let known = segment.fate != Fate::Lost || number >= self.first_lost;
            assert!(known, "no segment below the first lost one is lost: {number}");
        }
        assert_eq!(self.in_flight, in_flight, "the bytes in flight are those of the segments in flight");
        assert_eq!(self.sacked, sacked, "the selectively acknowledged bytes are counted");
        assert_eq!(
            self.sacked_segments, sacked_segments,
            "the selectively acknowledged segments are counted"
        );
        assert_eq!(self.lost, lost, "the segments that wait to be sent again are counted");
        let listed = self.by_time().count();
        let flying = self.flying().count();
        assert_eq!(listed, flying, "each segment in flight is in the order of transmissions once");
        let times = self.by_time().map(|(_, segment)| segment.sent_at);
        assert!(times.is_sorted(), "transmissions are listed in their order");
    }

    /// The numbers of all segments in flight, in order.
    pub(crate) fn flying(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.segments.iter().zip(self.base..);
        all.filter(|(segment, _)| segment.fate == Fate::Flying).map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..segments {
            board.push(1 + i * 100, 101 + i * 100, false, at(i), SentState::default());
        }
        board
    }

    #[test]
    fn sacks_and_losses_change_what_is_in_flight() {
        let mut board = board(10);
        let mut seen = Vec::new();
        board.sack(&[(301, 501), (701, 750)], |segment| seen.push(segment.start));
        assert_eq!(seen, [301, 401], "a segment that is covered in part is not");
        assert_eq!((board.in_flight(), board.sacked(), board.sacked_segments()), (800, 200, 2));
        board.sack(&[(301, 601)], |segment| seen.push(segment.start));
        assert_eq!(seen, [301, 401, 501]);
        assert!(board.lose(0) && board.lose(1) && !board.lose(0));
        assert_eq!((board.in_flight(), board.next_lost()), (500, Some(0)));
        board.resent(0, at(50), SentState::default());
        assert_eq!((board.in_flight(), board.next_lost()), (600, Some(1)));
        assert_eq!(board.oldest().map(|(number, _)| number), Some(2));
        let numbers: Vec<u64> = board.by_time().map(|(number, _)| number).collect();
        assert_eq!(numbers, [2, 6, 7, 8, 9, 0]);
        seen.clear();
        board.acknowledge(650, |segment| seen.push(segment.start));
        assert_eq!(seen, [1, 101, 201, 301, 401, 501]);
        assert_eq!((board.in_flight(), board.sacked(), board.has_lost()), (351, 0, false));
        assert_eq!(board.front().map(|front| (front.start, front.end)), Some((650, 701)));
    }

    /// RFC 6675 section 4: three segments above.
    #[test]
    fn the_duplicate_threshold() {
        let mut board = board(10);
        let mut lost = Vec::new();
        board.sack(&[(201, 401)], |_| ());
        board.below_threshold(3, &mut lost);
        assert!(lost.is_empty());
        board.sack(&[(501, 601), (201, 401)], |_| ());
        board.below_threshold(3, &mut lost);
        assert_eq!(lost, [0, 1]);
        board.sack(&[(601, 801), (201, 401)], |_| ());
        lost.clear();
        board.below_threshold(3, &mut lost);
        assert_eq!(lost, [4]);
    }

    #[test]
    fn reneged_segments_are_in_flight_again() {
        let mut board = board(5);
        board.sack(&[(101, 301)], |_| ());
        board.forget_sacks();
        assert_eq!((board.in_flight(), board.sacked()), (500, 0));
        assert_eq!(board.by_time().map(|(number, _)| number).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        board.check();
        board.sack(&[(101, 301)], |_| ());
        assert_eq!(board.sacked(), 200);
    }

    proptest! {
        /// The sums match the segments after any sequence of operations.
        #[test]
        fn sums_are_right(steps in prop::collection::vec((0u8..5, 0u64..30, 1u64..8), 1..200)) {
            let mut board = board(30);
            let mut una = 1;
            for (time, (what, number, count)) in (100..).zip(steps) {
                match what {
                    0 => {
                        una = una.max(1 + number * 50);
                        board.acknowledge(una, |_| ());
                    }
                    1 => {
                        let start = 1 + number * 100;
                        if start >= una {
                            board.sack(&[(start, start + count * 100)], |_| ());
                        }
                    }
                    2 => {
                        if board.get(number).is_some() {
                            board.lose(number);
                        }
                    }
                    3 => {
                        if let Some(lost) = board.next_lost() {
                            prop_assert_eq!(board.get(lost).unwrap().fate, Fate::Lost);
                            board.resent(lost, at(time), SentState::default());
                        }
                    }
                    _ => {
                        let mut lost = Vec::new();
                        board.below_threshold(3, &mut lost);
                        lost.into_iter().for_each(|number| assert!(board.lose(number)));
                    }
                }
                board.check();
                let sum = |fate| board.segments.iter().filter(|s| s.fate == fate).map(Segment::len).sum::<u64>();
                prop_assert_eq!(sum(Fate::Flying), board.in_flight());
                prop_assert_eq!(sum(Fate::Sacked), board.sacked());
                prop_assert_eq!(board.has_lost(), sum(Fate::Lost) > 0);
                let mut flying: Vec<u64> = board.by_time().map(|(number, _)| number).collect();
                prop_assert!(board.by_time().is_sorted_by_key(|(_, segment)| segment.sent_at));
                flying.sort_unstable();
                prop_assert_eq!(flying, board.flying().collect::<Vec<_>>());
            }
        }
    }
}
