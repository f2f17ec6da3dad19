//! The packets in flight in one packet number space, and their frames.

use congestion::SentState;
use std::collections::VecDeque;
use units::Time;
use units::cache::{ask_behind, ask_for};
use wire::{Direction, StreamId};

/// The control frames of streams. A frame with a value carries the newest one at the time of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the frames of RFC 9000 section 19 by their names")]
pub(crate) enum Notice {
    MaxData,
    MaxStreamData(StreamId),
    MaxStreams(Direction),
    DataBlocked,
    StreamDataBlocked(StreamId),
    StreamsBlocked(Direction),
    ResetStream(StreamId),
    StopSending(StreamId),
}

/// A sent frame, as recorded for its acknowledgement or loss. Frames that are never retransmitted (ACK, PADDING,
/// PING) are not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the frames of RFC 9000 section 19 by their names")]
pub(crate) enum SentFrame {
    Stream { id: StreamId, offset: u64, length: u32, fin: bool },
    Crypto { offset: u64, length: u32 },
    Notice { notice: Notice, value: u64 },
    NewConnectionId { sequence: u64 },
    RetireConnectionId { sequence: u64 },
    HandshakeDone,
    AckFrequency,
    Datagram { number: u64 },
    NewToken { index: u8 },
    Bdp { index: u8 },
}

impl SentFrame {
    /// Whether it carries everything that `other` carries.
    pub(crate) fn covers(&self, other: &SentFrame) -> bool {
        let holds = |at: u64, length: u32, from: u64, count: u32| {
            at <= from && from + u64::from(count) <= at + u64::from(length)
        };
        match (*self, *other) {
            (SentFrame::Crypto { offset, length }, SentFrame::Crypto { offset: from, length: count }) => {
                holds(offset, length, from, count)
            }
            (
                SentFrame::Stream { id, offset, length, fin },
                SentFrame::Stream { id: other, offset: from, length: count, fin: end },
            ) => id == other && fin >= end && holds(offset, length, from, count),
            (this, other) => this == other,
        }
    }
}

/// The kind of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SentKind {
    /// An ordinary packet.
    #[default]
    Plain,
    /// A packet in a datagram with ECT(0) or ECT(1).
    Ect,
    /// An MTU probe (RFC 9000 section 14.4).
    MtuProbe,
}

/// The frames of one packet while it is being filled.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The first frame to record.
    pub(crate) first: Option<SentFrame>,
    /// The frames to record behind it.
    pub(crate) more: Vec<SentFrame>,
    /// The largest packet number that an ACK frame in it acknowledged.
    pub(crate) acked: Option<u64>,
    /// Whether it elicits an acknowledgement (RFC 9002 section 2).
    pub(crate) ack_eliciting: bool,
    /// Whether it counts towards bytes in flight: ack-eliciting or padded.
    pub(crate) in_flight: bool,
    /// Its kind.
    pub(crate) kind: SentKind,
}

impl Contents {
    /// No frames so far, in the memory of an earlier packet.
    #[inline]
    pub(crate) fn reusing(more: Vec<SentFrame>) -> Contents {
        debug_assert!(more.is_empty(), "the frames of the packet before are recorded");
        Contents { more, ..Contents::default() }
    }
    /// The memory for the next packet.
    #[inline]
    pub(crate) fn into_memory(mut self) -> Vec<SentFrame> {
        self.more.clear();
        self.more
    }
    /// Adds a recorded, ack-eliciting frame.
    #[inline]
    pub(crate) fn push(&mut self, frame: SentFrame) {
        match self.first {
            None => self.first = Some(frame),
            Some(_) => self.more.push(frame),
        }
        self.ack_eliciting = true;
        self.in_flight = true;
    }
    /// The frames to record.
    #[cfg(test)]
    pub(crate) fn frames(&self) -> Vec<SentFrame> {
        self.first.into_iter().chain(self.more.iter().copied()).collect()
    }
}

/// The state of a packet number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketState {
    /// In flight, or an unacknowledged ACK-only packet.
    Outstanding,
    /// Recently declared lost: an acknowledgement now would show that the loss was spurious. It is in `lost` then.
    Lost,
    /// Acknowledged or skipped.
    Gone,
}

/// The number of packets from which on the oldest ones that are not in flight are forgotten, because they may never
/// be acknowledged. This only loses the information which ACK frames the peer has received.
const MAX_KEPT: usize = 16;
const NO_EXTRA: u32 = u32::MAX;
const NO_ACK: u64 = u64::MAX;

/// The epoch of probes on paths that are not in use, which affect neither window nor RTT estimate.
pub(crate) const PROBING: u32 = u32::MAX;

/// One sent packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentPacket {
    /// When it was sent.
    pub(crate) sent_at: Time,
    /// For the delivery-rate sample.
    pub(crate) rate: SentState,
    acked: u64,
    first: Option<SentFrame>,
    extra: u32,
    /// Its size in bytes.
    pub(crate) size: u32,
    /// The epoch of the recovery state for which it counts (RFC 9000 section 9.4).
    pub(crate) epoch: u32,
    fate: PacketState,
    /// Whether it elicits an acknowledgement.
    pub(crate) ack_eliciting: bool,
    /// Whether it counts towards bytes in flight.
    pub(crate) in_flight: bool,
    /// Its kind.
    pub(crate) kind: SentKind,
}

impl SentPacket {
    /// The largest packet number that this packet acknowledged, if it carried an ACK frame.
    pub(crate) fn acked(&self) -> Option<u64> {
        (self.acked != NO_ACK).then_some(self.acked)
    }
}

/// The sent packets of one packet number space, by number.
#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    /// The number of the first entry of `packets`.
    base: u64,
    /// The packets from the oldest outstanding one on.
    packets: VecDeque<SentPacket>,
    /// No packet below this number is outstanding.
    settled: u64,
    /// The remembered packets that were declared lost, by ascending number: `packets` need not reach back to them.
    lost: VecDeque<(u64, SentPacket)>,
    /// The frames after the first one, of packets with several frames. `free` has the indices of empty lists.
    extra: Vec<Vec<SentFrame>>,
    free: Vec<u32>,
    ack_eliciting: u64,
    /// All packets sent with ECT(0) or ECT(1).
    pub(crate) ect: u64,
    /// The epoch of packets sent from now on.
    pub(crate) epoch: u32,
}

impl SentPackets {
    /// The number of the next packet (RFC 9000-12.3-1, 9000-12.3-2).
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.packets.len() as u64
    }
    /// The number of outstanding ack-eliciting packets.
    #[inline]
    pub(crate) fn ack_eliciting(&self) -> u64 {
        self.ack_eliciting
    }

    /// Records the packet with the next number.
    #[inline]
    pub(crate) fn push(&mut self, sent_at: Time, size: u32, rate: SentState, contents: &Contents) {
        let extra = if contents.more.is_empty() { NO_EXTRA } else { self.keep_more(&contents.more) };
        if !contents.in_flight && self.kept() >= MAX_KEPT {
            self.forget_acks();
        }
        self.ack_eliciting += u64::from(contents.ack_eliciting);
        self.ect += u64::from(contents.kind == SentKind::Ect);
        if self.packets.len() == self.packets.capacity() {
            grow(&mut self.packets);
        }
        self.packets.push_back(SentPacket {
            sent_at,
            rate,
            acked: contents.acked.unwrap_or(NO_ACK),
            first: contents.first,
            extra,
            size,
            epoch: self.epoch,
            fate: PacketState::Outstanding,
            ack_eliciting: contents.ack_eliciting,
            in_flight: contents.in_flight,
            kind: contents.kind,
        });
    }

    /// Keeps the frames after the first one.
    #[cold]
    fn keep_more(&mut self, more: &[SentFrame]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.extra.push(Vec::new());
            (self.extra.len() - 1) as u32
        });
        let extra = &mut self.extra[slot as usize];
        debug_assert!(extra.is_empty(), "a free list of frames is empty");
        if extra.capacity() == 0 {
            extra.reserve_exact(more.len());
        }
        extra.extend_from_slice(more);
        slot
    }

    /// Skips the next number.
    pub(crate) fn skip(&mut self, now: Time) {
        self.push(now, 0, SentState::default(), &Contents::default());
        let skipped = self.packets.back_mut().expect("the skipped number is the newest");
        skipped.fate = PacketState::Gone;
    }

    /// Forgets the oldest packets that are not in flight.
    #[cold]
    fn forget_acks(&mut self) {
        while self.kept() >= MAX_KEPT
            && self.oldest().is_some_and(|oldest| !oldest.in_flight || oldest.fate == PacketState::Gone)
        {
            if self.lost.front().is_some_and(|(number, _)| *number < self.base) {
                self.lost.pop_front();
            } else {
                self.pop();
            }
        }
    }

    /// The bytes in flight of one epoch.
    pub(crate) fn in_flight_of(&self, epoch: u32) -> u64 {
        let flying = self.packets.iter().filter(|p| p.fate == PacketState::Outstanding && p.in_flight);
        flying.filter(|p| p.epoch == epoch).map(|p| u64::from(p.size)).sum()
    }

    /// Prefetches the oldest packets, which are acknowledged next, and the place of the next packet to send.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.packets.iter().take(2).for_each(ask_for);
        self.packets.back().into_iter().for_each(ask_behind);
    }

    /// The number of packets from the oldest remembered one on.
    #[inline]
    pub(crate) fn kept(&self) -> usize {
        (self.next_number() - self.first_number()) as usize
    }

    /// The oldest remembered number.
    #[inline]
    pub(crate) fn first_number(&self) -> u64 {
        self.lost.front().map_or(self.base, |(number, _)| self.base.min(*number))
    }

    /// The first number, from this one on, of a packet that an acknowledgement may remove. Skips finished packets
    /// below the first outstanding one: after a loss, these may be a whole window, which every ACK frame covers.
    #[inline]
    pub(crate) fn candidate(&self, from: u64) -> u64 {
        if from >= self.settled {
            return from;
        }
        let at = self.lost.partition_point(|(number, _)| *number < from);
        let mut lost = self.lost.range(at..).filter(|(_, packet)| packet.fate == PacketState::Lost);
        lost.next().map_or(self.settled, |(number, _)| self.settled.min(*number))
    }

    /// Notes that a packet is no longer outstanding.
    #[inline]
    fn settle(&mut self, number: u64) {
        if number != self.settled {
            return;
        }
        let from = (number - self.base) as usize;
        let done =
            self.packets.range(from..).take_while(|packet| packet.fate != PacketState::Outstanding).count();
        self.settled = number + done as u64;
    }

    /// Removes the oldest packet from `packets`.
    #[inline]
    fn pop(&mut self) {
        self.packets.pop_front();
        self.base += 1;
        if self.settled < self.base {
            self.settled = self.base;
        }
    }

    /// Removes `number` as acknowledged and passes its frames to `each`. Also returns whether it had been declared
    /// lost.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        number: u64,
        each: impl FnMut(SentFrame),
    ) -> Option<(&SentPacket, bool)> {
        let at = number.wrapping_sub(self.base) as usize;
        let outstanding = match self.packets.get(at) {
            Some(SentPacket { fate: PacketState::Gone, .. }) => return None,
            Some(packet) => packet.fate == PacketState::Outstanding,
            None => false,
        };
        if !outstanding {
            return self.acknowledge_lost(number, each).map(|packet| (packet, true));
        }
        let packet = &mut self.packets[at];
        packet.fate = PacketState::Gone;
        self.ack_eliciting -= u64::from(packet.ack_eliciting);
        take_frames(packet, &mut self.extra, &mut self.free, each);
        self.settle(number);
        Some((&self.packets[at], false))
    }
    /// The same of a packet that was declared lost.
    #[cold]
    fn acknowledge_lost(&mut self, number: u64, each: impl FnMut(SentFrame)) -> Option<&SentPacket> {
        let at = self.lost.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        let (_, packet) = self.lost.get_mut(at).filter(|(_, packet)| packet.fate == PacketState::Lost)?;
        packet.fate = PacketState::Gone;
        take_frames(packet, &mut self.extra, &mut self.free, each);
        Some(packet)
    }

    /// Removes `number` as lost and passes its frames to `each`. It is remembered for a while, to recognise a
    /// spurious loss.
    pub(crate) fn lose(&mut self, number: u64, mut each: impl FnMut(SentFrame)) -> Option<SentPacket> {
        let at = number.checked_sub(self.base)? as usize;
        let packet = self.packets.get_mut(at).filter(|packet| packet.fate == PacketState::Outstanding)?;
        packet.fate = PacketState::Lost;
        let copy = *packet;
        self.ack_eliciting -= u64::from(copy.ack_eliciting);
        if let Some(first) = copy.first {
            each(first);
        }
        if copy.extra != NO_EXTRA {
            self.extra[copy.extra as usize].iter().copied().for_each(each);
        }
        let place = self.lost.partition_point(|(other, _)| *other < number);
        let known = self.lost.get(place).is_some_and(|(other, _)| *other == number);
        debug_assert!(!known, "a packet is lost at most once");
        if self.lost.len() == self.lost.capacity() {
            grow(&mut self.lost);
        }
        self.lost.insert(place, (number, copy));
        self.settle(number);
        Some(copy)
    }

    /// Forgets the oldest packets that are finished, and lost ones sent before `horizon`.
    #[inline]
    pub(crate) fn trim(&mut self, horizon: Time) {
        while self.packets.front().is_some_and(|front| front.fate != PacketState::Outstanding) {
            self.pop();
        }
        while let Some((number, packet)) = self.lost.front() {
            let is_lost = packet.fate == PacketState::Lost;
            if *number >= self.base || is_lost && packet.sent_at >= horizon {
                break;
            }
            if is_lost && packet.extra != NO_EXTRA {
                self.extra[packet.extra as usize].clear();
                self.free.push(packet.extra);
            }
            self.lost.pop_front();
        }
    }

    /// The outstanding packets with numbers up to `largest`, in order.
    pub(crate) fn outstanding_to(&self, largest: u64) -> impl Iterator<Item = (u64, &SentPacket)> + '_ {
        let count = (largest + 1).saturating_sub(self.base).min(self.packets.len() as u64) as usize;
        let first = ((self.settled - self.base) as usize).min(count);
        let base = self.base + first as u64;
        let packets = self.packets.range(first..count).enumerate();
        packets.filter(|(_, p)| p.fate == PacketState::Outstanding).map(move |(i, p)| (base + i as u64, p))
    }

    /// The outstanding packets with this number and above, in order.
    pub(crate) fn outstanding_from(&self, number: u64) -> impl Iterator<Item = (u64, &SentPacket)> + '_ {
        let first = number.max(self.settled).max(self.base).min(self.next_number());
        let packets = (first..).zip(self.packets.range((first - self.base) as usize..));
        packets.filter(|(_, packet)| packet.fate == PacketState::Outstanding)
    }

    /// The packet with this number, if it is outstanding.
    pub(crate) fn outstanding(&self, number: u64) -> Option<&SentPacket> {
        self.outstanding_from(number).next().filter(|(first, _)| *first == number).map(|(_, packet)| packet)
    }

    /// The oldest remembered packet.
    pub(crate) fn oldest(&self) -> Option<&SentPacket> {
        let lost = self.lost.front().filter(|(number, _)| *number < self.base);
        lost.map(|(_, packet)| packet).or(self.packets.front())
    }

    /// The frames of a packet, without removing it.
    pub(crate) fn frames_of(&self, packet: &SentPacket) -> impl Iterator<Item = SentFrame> + '_ {
        let extra: &[SentFrame] = match packet.extra {
            NO_EXTRA => &[],
            slot => &self.extra[slot as usize],
        };
        packet.first.into_iter().chain(extra.iter().copied())
    }

    /// Stops if the books do not agree with the packets.
    pub(crate) fn check(&self) {
        assert!(self.base <= self.settled, "no packet below the first one is outstanding");
        assert!(self.settled <= self.next_number(), "what is settled was sent or skipped");
        let settled = (self.settled - self.base) as usize;
        let is_outstanding = |packet: &SentPacket| packet.fate == PacketState::Outstanding;
        assert!(
            !self.packets.range(..settled).any(is_outstanding),
            "no packet that is settled is outstanding"
        );
        let eliciting =
            self.packets.range(settled..).filter(|packet| is_outstanding(packet) && packet.ack_eliciting);
        assert_eq!(
            eliciting.count() as u64,
            self.ack_eliciting,
            "the packets that ask for an answer are counted"
        );
        let mut before = None;
        for (number, packet) in &self.lost {
            assert!(
                before.replace(*number) < Some(*number),
                "lost packets are kept in the order of their numbers"
            );
            assert!(!is_outstanding(packet), "a lost packet is not in flight: {number}");
        }
        let filled = self.extra.iter().filter(|frames| !frames.is_empty()).count();
        assert_eq!(
            filled + self.free.len(),
            self.extra.len(),
            "a list of frames belongs to a packet or is free"
        );
    }

    /// Removes all packets, as when keys are discarded; returns the bytes that were in flight.
    pub(crate) fn discard_all(&mut self) -> u64 {
        let in_flight = self
            .packets
            .iter()
            .filter(|p| p.fate == PacketState::Outstanding && p.in_flight)
            .map(|p| u64::from(p.size))
            .sum();
        self.base = self.next_number();
        self.packets = VecDeque::new();
        self.settled = self.base;
        self.lost = VecDeque::new();
        self.extra = Vec::new();
        self.free = Vec::new();
        self.ack_eliciting = 0;
        in_flight
    }
}

/// Passes on the frames of a packet. The list of those after the first one is free then.
#[inline]
fn take_frames(
    packet: &SentPacket,
    extra: &mut [Vec<SentFrame>],
    free: &mut Vec<u32>,
    mut each: impl FnMut(SentFrame),
) {
    if let Some(first) = packet.first {
        each(first);
    }
    if packet.extra != NO_EXTRA {
        extra[packet.extra as usize].drain(..).for_each(each);
        free.push(packet.extra);
    }
}

/// Makes room for an eighth more, or a quarter of many: packets are most of what a connection keeps, and doubling would leave much
/// of it empty.
#[cold]
fn grow<T>(packets: &mut VecDeque<T>) {
    let count = packets.len();
    packets.reserve_exact(if count < 1024 { count / 8 } else { count / 4 } + 4);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(count: u32) -> Contents {
        let mut contents = Contents::default();
        for i in 0..count {
            contents.push(SentFrame::Crypto { offset: u64::from(i), length: 1 });
        }
        contents
    }

    #[test]
    fn packets_are_removed_once_with_their_frames() {
        let mut sent = SentPackets::default();
        for i in 0..4 {
            sent.push(Time::from_nanos(i), 100, SentState::default(), &contents(3));
        }
        let mut seen = 0;
        assert!(sent.acknowledge(2, |_| seen += 1).is_some_and(|(_, lost)| !lost));
        assert_eq!(seen, 3);
        assert!(sent.acknowledge(2, |_| seen += 1).is_none());
        assert_eq!(sent.ack_eliciting(), 3);
        assert!(sent.lose(0, |_| seen += 1).is_some());
        assert!(sent.lose(0, |_| seen += 1).is_none());
        assert_eq!((seen, sent.ack_eliciting()), (6, 2));
        assert!(sent.acknowledge(0, |_| ()).is_some_and(|(_, lost)| lost), "spurious");
        sent.trim(Time::ZERO);
        assert_eq!((sent.first_number(), sent.next_number()), (1, 4));
        assert_eq!(sent.outstanding_to(10).map(|(n, _)| n).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(sent.discard_all(), 200);
        assert_eq!((sent.next_number(), sent.ack_eliciting()), (4, 0));
    }

    /// Candidates are only outstanding and lost packets.
    #[test]
    fn finished_packets_are_skipped() {
        let mut sent = SentPackets::default();
        for i in 0..10 {
            sent.push(Time::from_nanos(i), 100, SentState::default(), &contents(1));
        }
        for number in [0, 1, 3, 4, 6] {
            assert_eq!(sent.candidate(number), number, "2 and 5 are outstanding");
            sent.acknowledge(number, |_| ());
            sent.trim(Time::ZERO);
        }
        sent.lose(5, |_| ());
        assert_eq!((sent.candidate(3), sent.first_number()), (3, 2));
        sent.lose(2, |_| ());
        let candidates = |sent: &SentPackets| {
            let next = |from: &u64| Some(sent.candidate(*from + 1)).filter(|number| *number < 10);
            std::iter::successors(Some(sent.candidate(0)), next).collect::<Vec<_>>()
        };
        assert_eq!(candidates(&sent), [2, 5, 7, 8, 9]);
        assert_eq!(sent.outstanding_to(8).map(|(number, _)| number).collect::<Vec<_>>(), [7, 8]);
        assert!(sent.acknowledge(5, |_| ()).is_some_and(|(_, lost)| lost));
        assert_eq!(candidates(&sent), [2, 7, 8, 9]);
        sent.trim(Time::from_nanos(3));
        assert_eq!((candidates(&sent), sent.first_number()), (vec![7, 8, 9], 7));
    }

    #[test]
    fn packets_that_are_never_acknowledged_do_not_pile_up() {
        let mut sent = SentPackets::default();
        for _ in 0..100_000 {
            sent.push(Time::ZERO, 50, SentState::default(), &contents(0));
        }
        assert_eq!(sent.next_number(), 100_000);
        assert_eq!(sent.kept(), MAX_KEPT);
    }

    #[test]
    fn lists_of_frames_are_reused() {
        let mut sent = SentPackets::default();
        for i in 0..1000 {
            sent.push(Time::ZERO, 100, SentState::default(), &contents(4));
            sent.acknowledge(i, |_| ());
            sent.trim(Time::ZERO);
        }
        assert_eq!(sent.extra.len(), 1);
    }
}
