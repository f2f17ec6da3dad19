//! A bearer: one direction of one terminal, from its queue to the far end (PDCP and RLC).
//!
//! The packets of a bearer, each behind a PDCP header, are one stream of bytes. A PDU of RLC carries a piece of
//! that stream, which may begin and end within a packet: RLC segments and concatenates (TS 36.322 section 4.2).
//! Both ends of the bearer are one value here: the packets stay where they are until the far end hands them over.
//!
//! The far end hands packets over in their order. A piece that is missing delays those behind it until
//! t-Reordering has passed; then, in the unacknowledged mode, what was not received is skipped. TS 36.322 (LTE) has
//! this timer in RLC, TS 38.323 (NR) in PDCP; at a bearer as a whole the effect is the same.

mod reestablish;

use super::arq::{Arq, Span, Status};
use crate::packet::Packet;
use std::collections::VecDeque;
use trace::Stages;
use units::{Duration, Time};

/// The headers of a link layer, in halves of a byte: LTE has headers of one and a half bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Headers {
    /// Of each packet: PDCP.
    pub packet: u32,
    /// Of each PDU: MAC and RLC.
    pub pdu: u32,
    /// Of each further packet, or part of one, in a PDU.
    pub field: u32,
}

/// The parameters of a bearer.
#[derive(Debug, Clone, Copy)]
pub(super) struct BearerOptions {
    pub headers: Headers,
    /// t-Reordering.
    pub reordering: Duration,
    /// The parameters of the acknowledged mode; `None` in the unacknowledged mode.
    pub acknowledged: Option<super::arq::ArqOptions>,
}

/// A packet between the queue and the far end.
struct Held {
    /// `None` if a part of it is lost for good.
    packet: Option<Box<Packet>>,
    /// The position in the stream behind its last byte.
    end: u64,
    /// When nothing was left to send before it.
    head_at: Time,
    /// When its first byte was sent.
    first_at: Time,
}

/// What is known of a piece at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the air, or lost without the far end's knowledge.
    Missing,
    Received(Time),
    /// The sender does not repeat it any more.
    Gone,
}

/// A piece of the stream; it begins where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Piece {
    end: u64,
    /// The number of the PDU that it was first part of.
    number: u64,
    /// How often it was sent again in the acknowledged mode.
    repeats: u32,
    state: State,
}

/// What a sender puts into a block.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// The pieces.
    pub spans: Vec<Span>,
    /// Bytes of the block that are used.
    pub used: u32,
    /// A report for the other direction's sender.
    pub status: Option<Status>,
    /// The end of the PDU that asks for a report, if one does.
    pub poll: Option<u64>,
}

impl Filling {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
        (self.used, self.status, self.poll) = (0, None, None);
    }
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.status.is_none()
    }
}

/// Where a bearer takes its packets from.
pub(super) trait Source {
    /// The next packet.
    fn next(&mut self) -> Option<Box<Packet>>;
    /// Whether there is none.
    fn is_empty(&self) -> bool;
}

pub(super) struct Bearer {
    options: BearerOptions,
    /// The packets that have not been handed over, from the oldest.
    packets: VecDeque<Held>,
    /// The pieces that have not been processed in order, from the oldest.
    pieces: VecDeque<Piece>,
    /// The stream: what was processed in order at the far end, what was sent, and what was taken from the queue.
    done: u64,
    sent: u64,
    end: u64,
    /// Behind the last byte that the far end has received.
    highest: u64,
    next_number: u64,
    /// When the last packet had gone completely.
    clear_since: Time,
    /// The latest time at which a piece of the first packet was received.
    received_at: Time,
    /// t-Reordering: when it expires, and `highest` at its start.
    reordering: Option<(Time, u64)>,
    /// Below this, everything was received or is known to be missing (VR(MS) in the acknowledged mode).
    reported: u64,
    pub(super) arq: Option<Arq>,
    /// Packets and bytes on the wire between queue and far end.
    pub(super) inside: crate::count::Count,
}

/// What a bearer hands to its lane.
pub(super) trait Far {
    /// A packet is handed over.
    fn hand_over(&mut self, now: Time, packet: Box<Packet>, stages: Stages);
    /// A packet is lost for good.
    fn lose(&mut self, now: Time, packet: Box<Packet>);
}

impl Bearer {
    pub(super) fn new(options: BearerOptions) -> Bearer {
        Bearer {
            options,
            packets: VecDeque::new(),
            pieces: VecDeque::new(),
            done: 0,
            sent: 0,
            end: 0,
            highest: 0,
            next_number: 0,
            clear_since: Time::ZERO,
            received_at: Time::ZERO,
            reordering: None,
            reported: 0,
            arq: options.acknowledged.map(Arq::new),
            inside: crate::count::Count::default(),
        }
    }

    /// Shows every packet between queue and far end.
    pub(super) fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.iter().filter_map(|held| held.packet.as_deref()).for_each(show);
    }

    /// Bytes that were taken from the queue and not sent, or that are to be sent again, with their headers.
    pub(super) fn backlog(&self) -> u64 {
        let again = self.arq.as_ref().map_or(0, Arq::backlog);
        let left = self.end - self.sent;
        let header = if left + again > 0 { u64::from(self.options.headers.pdu.div_ceil(2)) } else { 0 };
        left + again + header
    }

    /// The bytes that a packet of this size needs in the stream.
    pub(super) fn size_of(&self, packet: u32) -> u32 {
        packet + self.options.headers.packet.div_ceil(2)
    }

    /// Fills a block with up to `room` bytes, at the time at which it is sent.
    pub(super) fn fill(&mut self, now: Time, room: u32, source: &mut impl Source, out: &mut Filling) {
        let mut left = room.saturating_sub(out.used);
        let header = self.options.headers.pdu.div_ceil(2);
        while let Some(span) = self.arq.as_mut().and_then(|arq| arq.next_again(left, header)) {
            left -= span.bytes() as u32 + header;
            self.split(span);
            out.spans.push(span);
        }
        if self.arq.as_ref().is_none_or(|arq| arq.may_send(self.next_number)) {
            left = self.fill_new(now, left, source, out);
        }
        out.used = room - left;
        let empty = self.end == self.sent;
        if let (Some(arq), Some(last)) = (&mut self.arq, out.spans.last().copied()) {
            let bytes: u64 = out.spans.iter().map(|span| span.bytes()).sum();
            let stalled = !arq.may_send(self.next_number);
            if arq.wants_poll(now, bytes, (empty && source.is_empty()) || stalled) {
                out.poll = Some(last.to);
            }
        }
    }

    /// Fills the rest of a block with a new piece; returns the bytes that are left.
    fn fill_new(&mut self, now: Time, room: u32, source: &mut impl Source, out: &mut Filling) -> u32 {
        let Headers { pdu, field, .. } = self.options.headers;
        let mut halves = pdu;
        if room <= halves.div_ceil(2) {
            return room;
        }
        let from = self.sent;
        loop {
            let payload = room.saturating_sub(halves.div_ceil(2));
            let (wanted, there) = (u64::from(payload), self.end - from);
            if there >= wanted {
                self.sent = self.sent.max(from + wanted);
                break;
            }
            self.sent = self.end;
            if payload - there as u32 <= field.div_ceil(2) {
                break;
            }
            let Some(packet) = source.next() else { break };
            if there > 0 {
                halves += field;
            }
            // The packet before has gone completely with this block.
            let head_at = if there > 0 { now } else { self.clear_since };
            self.end += u64::from(self.size_of(packet.size));
            self.inside.add(packet.size);
            self.packets.push_back(Held {
                head_at: head_at.max(packet.entered),
                first_at: now,
                end: self.end,
                packet: Some(packet),
            });
        }
        if self.sent == from {
            return room;
        }
        if self.sent == self.end {
            self.clear_since = now;
        }
        self.pieces.push_back(Piece {
            end: self.sent,
            number: self.next_number,
            repeats: 0,
            state: State::Missing,
        });
        self.next_number += 1;
        let span = Span { from, to: self.sent };
        out.spans.push(span);
        if let Some(arq) = &mut self.arq {
            arq.last = span;
        }
        room - halves.div_ceil(2) - (self.sent - from) as u32
    }

    /// Takes a received part of a block. Packets that are complete and in their order are handed over.
    #[inline]
    pub(super) fn receive(&mut self, now: Time, Span { from, to }: Span, far: &mut impl Far) {
        // A part that was given up, or that was received before, is discarded.
        let mut at = self.pieces.partition_point(|piece| piece.end <= from.max(self.done));
        while let Some(piece) = self.pieces.get_mut(at).filter(|piece| piece.end <= to) {
            if piece.state == State::Missing {
                piece.state = State::Received(now);
                self.highest = self.highest.max(piece.end);
            }
            at += 1;
        }
        self.advance(now, far);
    }

    /// Gives up a part of a block after its last repetition, in the unacknowledged mode: its packets are lost. In the
    /// acknowledged mode a report will ask for it.
    pub(super) fn give_up(&mut self, now: Time, Span { from, to }: Span, far: &mut impl Far) {
        if self.arq.is_some() {
            return;
        }
        let first = self.pieces.partition_point(|piece| piece.end <= from);
        let mut start = from;
        for piece in self.pieces.iter_mut().skip(first).take_while(|piece| piece.end <= to) {
            if piece.state == State::Missing {
                piece.state = State::Gone;
                Bearer::lose_packets(
                    &mut self.packets,
                    &mut self.inside,
                    now,
                    Span { from: start, to: piece.end },
                    far,
                );
            }
            start = piece.end;
        }
        // Neighbours that are gone are one piece, so that a bearer on which nothing arrives does not grow.
        let mut at = first.max(1);
        while at < self.pieces.len() && self.pieces[at - 1].end < to {
            if [at - 1, at].iter().all(|at| self.pieces[*at].state == State::Gone) {
                self.pieces.remove(at - 1);
            } else {
                at += 1;
            }
        }
    }

    /// Ends the packets that have bytes between two positions.
    fn lose_packets(
        packets: &mut VecDeque<Held>,
        inside: &mut crate::count::Count,
        now: Time,
        Span { from, to }: Span,
        far: &mut impl Far,
    ) {
        let first = packets.partition_point(|held| held.end <= from);
        let mut start = first.checked_sub(1).map_or(0, |before| packets[before].end);
        for held in packets.iter_mut().skip(first) {
            if start >= to {
                break;
            }
            if let Some(packet) = held.packet.take() {
                inside.remove(packet.size);
                far.lose(now, packet);
            }
            start = held.end;
        }
    }

    /// Hands over what is complete and in order, and starts or stops t-Reordering.
    #[inline]
    fn advance(&mut self, now: Time, far: &mut impl Far) {
        self.process(now, 0, far);
        if self.reordering.is_some_and(|(_, edge)| edge <= self.done) {
            self.reordering = None;
        }
        if self.reordering.is_none() && self.highest > self.done {
            self.reordering = Some((now + self.options.reordering, self.highest));
        }
        if self.arq.is_some() {
            self.reported = self.first_missing_from(self.reported);
        }
    }

    /// Processes pieces in order as long as they have been received, or end at or below `edge`.
    fn process(&mut self, now: Time, edge: u64, far: &mut impl Far) {
        while let Some(piece) = self.pieces.front().copied() {
            let mut received_at = Time::ZERO;
            match piece.state {
                State::Received(at) => received_at = at,
                // The sender of the acknowledged mode has told the far end that it gave up.
                State::Gone if self.arq.is_some() => {}
                State::Missing | State::Gone if piece.end <= edge => {
                    let span = Span { from: self.done, to: piece.end };
                    Bearer::lose_packets(&mut self.packets, &mut self.inside, now, span, far);
                }
                State::Missing | State::Gone => break,
            }
            self.done = piece.end;
            self.received_at = self.received_at.max(received_at);
            self.pieces.pop_front();
            while self.packets.front().is_some_and(|held| held.end <= self.done) {
                let held = self.packets.pop_front().expect("the first packet has just been seen");
                // The next packet has the rest of this piece, and none of those before.
                let rest = if held.end == self.done { Time::ZERO } else { received_at };
                self.hand_over(now, held, self.received_at, far);
                self.received_at = rest;
            }
        }
    }

    fn hand_over(&mut self, now: Time, held: Held, received_at: Time, far: &mut impl Far) {
        let Some(packet) = held.packet else { return };
        self.inside.remove(packet.size);
        let stages = Stages {
            queue: held.head_at.since(packet.entered),
            access: held.first_at.since(held.head_at),
            transfer: received_at.since(held.first_at),
            order: now.since(received_at),
        };
        far.hand_over(now, packet, stages);
    }

    /// The start of the first piece at or behind a position that the far end has not received.
    #[inline]
    fn first_missing_from(&self, position: u64) -> u64 {
        let first = self.pieces.partition_point(|piece| piece.end <= position);
        let mut start = position.max(self.done);
        for piece in self.pieces.iter().skip(first) {
            if piece.state == State::Missing {
                break;
            }
            start = piece.end;
        }
        start
    }

    /// When a timer of the far end or of the sender expires after `now`, if [`Bearer::wake`] was called then.
    #[inline]
    pub(super) fn next_timer(&self, now: Time) -> Option<Time> {
        let reordering = self.reordering.map(|(at, _)| at);
        let arq = self.arq.as_ref().and_then(|arq| arq.next_timer(now, self.reported));
        [reordering, arq].into_iter().flatten().min()
    }

    /// Whether a timer has expired by `now`.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.reordering.is_some_and(|(at, _)| at <= now)
            || self.arq.as_ref().is_some_and(|arq| arq.is_due(now))
    }

    /// Processes the timers that have expired by `now`.
    pub(super) fn wake(&mut self, now: Time, far: &mut impl Far) {
        if let Some((_, edge)) = self.reordering.take_if(|(at, _)| *at <= now) {
            let above = match &mut self.arq {
                None => {
                    self.process(now, edge, far);
                    self.done
                }
                Some(arq) => {
                    arq.want_report();
                    self.reported = self.first_missing_from(edge);
                    self.reported
                }
            };
            if self.highest > above {
                self.reordering = Some((now + self.options.reordering, self.highest));
            }
        }
        let idle = self.end == self.sent;
        if let Some(arq) = &mut self.arq {
            arq.wake(now, idle || !arq.may_send(self.next_number));
        }
    }

    /// Notes at the far end that the sender asks for a report with the PDU that ends here.
    pub(super) fn note_poll(&mut self, end: u64) {
        if let Some(arq) = &mut self.arq {
            arq.note_poll(end);
        }
    }

    /// The bytes of the report that the far end wants to send, if any.
    pub(super) fn report_size(&self, now: Time) -> Option<u32> {
        let arq = self.arq.as_ref()?;
        arq.reports(now, self.reported).then(|| Status::size(self.missing().count()))
    }

    /// The report that the far end sends, in at most this many bytes, and its size. If not all that is missing has a place, the
    /// report ends before the first piece without one (TS 36.322 section 5.2.3).
    pub(super) fn take_report(&mut self, now: Time, room: u32) -> Option<(Status, u32)> {
        let places = Status::places(room)?;
        let missing: Vec<Span> = self.missing().take(places).collect();
        let edge = self.missing().nth(places).map_or(self.reported, |span| span.from);
        let number = self.number_at(edge);
        self.arq.as_mut()?.reported(now);
        let size = Status::size(missing.len());
        Some((Status { edge, number, missing }, size))
    }

    /// The pieces that the far end reports as missing.
    fn missing(&self) -> impl Iterator<Item = Span> {
        let starts = std::iter::once(self.done).chain(self.pieces.iter().map(|piece| piece.end));
        let all = starts.zip(&self.pieces).take_while(|(start, _)| *start < self.reported);
        all.filter(|(_, piece)| piece.state == State::Missing)
            .map(|(from, piece)| Span { from, to: piece.end })
    }

    /// The number of the PDU that begins at a position.
    fn number_at(&self, position: u64) -> u64 {
        let at = self.pieces.partition_point(|piece| piece.end <= position);
        self.pieces.get(at).map_or(self.next_number, |piece| piece.number)
    }

    /// Takes a report at the sender.
    pub(super) fn take_status(&mut self, now: Time, status: &Status, far: &mut impl Far) {
        let first = status.missing.first().map_or(status.number, |span| self.number_at(span.from));
        let arq = self.arq.as_mut().expect("only the acknowledged mode has reports");
        arq.acknowledge(status.edge, first);
        for span in &status.missing {
            let at = self.pieces.partition_point(|piece| piece.end <= span.from);
            let Some(piece) = self.pieces.get_mut(at).filter(|piece| piece.state == State::Missing) else {
                continue;
            };
            let span = Span { from: span.from, to: piece.end };
            piece.repeats += 1;
            if piece.repeats > arq.options.repeats {
                // TS 36.322 section 5.2.1 indicates a failure to the upper layers. Here this PDU is given up.
                piece.state = State::Gone;
                Bearer::lose_packets(&mut self.packets, &mut self.inside, now, span, far);
            } else {
                arq.repeat(span);
            }
        }
        self.advance(now, far);
    }

    /// Stops unless the positions, the pieces and the packets are those of one stream.
    pub(super) fn check(&self) {
        assert!(self.done <= self.sent, "only what was sent is processed");
        assert!(self.sent <= self.end, "only what was taken from the queue is sent");
        assert!(self.highest.max(self.reported) <= self.sent, "only what was sent is received or reported");
        let ends = std::iter::once(self.done).chain(self.pieces.iter().map(|piece| piece.end));
        assert!(
            ends.clone().is_sorted_by(|one, next| one < next),
            "each piece has bytes and follows another"
        );
        assert_eq!(ends.last(), Some(self.sent), "the pieces reach from what was processed to what was sent");
        let mut ends = self.packets.iter().map(|held| held.end);
        assert!(ends.clone().is_sorted_by(|one, next| one < next), "packets are in the order of the queue");
        assert!(
            self.packets.front().is_none_or(|held| held.end > self.done),
            "what is whole was handed over"
        );
        assert_eq!(
            ends.next_back().unwrap_or(self.end),
            self.end,
            "the last packet is the end of the stream"
        );
        let mut inside = crate::count::Count::default();
        self.packets
            .iter()
            .filter_map(|held| held.packet.as_ref())
            .for_each(|packet| inside.add(packet.size));
        assert_eq!(inside, self.inside, "the packets of a bearer are counted");
        if let Some(arq) = &self.arq {
            arq.check(self.next_number);
        }
    }

    /// Makes a piece end at both ends of a span, which is within one piece.
    fn split(&mut self, Span { from, to }: Span) {
        for position in [from, to] {
            let at = self.pieces.partition_point(|piece| piece.end <= position);
            let start = at.checked_sub(1).map_or(self.done, |before| self.pieces[before].end);
            if let Some(piece) = self.pieces.get(at).copied()
                && start < position
            {
                self.pieces.insert(at, Piece { end: position, ..piece });
            }
        }
    }
}
