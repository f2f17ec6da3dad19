//! A terminal of a cell: its two lanes, its radio link, and what the station knows of its backlog.

use super::bearer::{Bearer, Far, Source};
use super::handover::Trigger;
use super::harq::Harq;
use super::link::RadioLink;
use super::{DOWN, InAir, UP};
use crate::books::PacketBooks;
use crate::buffer::Buffer;
use crate::count::Count;
use crate::exits::Exits;
use crate::medium::Air;
use crate::packet::Packet;
use std::collections::VecDeque;
use trace::{Event, Stages};
use units::{Duration, Time};

/// One direction of a terminal.
pub(super) struct Direction {
    pub buffer: Buffer,
    pub bearer: Bearer,
    pub harq: Harq,
    pub air: Air,
    /// Packets that were handed over and have not reached the node.
    pub handed: Count,
    /// How old a packet may become before it is sent (discardTimer of PDCP).
    pub discard: Option<Duration>,
    /// The next packet, if it has left the queue already.
    pub head: Option<Box<Packet>>,
}

impl Direction {
    /// Packets and bytes on the wire that wait before the bearer.
    fn waiting(&self) -> Count {
        let mut waiting = self.buffer.waiting();
        if let Some(head) = &self.head {
            waiting.add(head.size);
        }
        waiting
    }
    /// Packets and bytes between the lane's start and its end.
    pub(super) fn inside(&self) -> Count {
        let mut inside = self.buffer.inside(self.bearer.inside + self.handed);
        if let Some(head) = &self.head {
            inside.add(head.size);
        }
        inside
    }

    /// Adds what came of packets here to books; those that were handed over are elsewhere.
    pub(super) fn account(&self, books: &mut PacketBooks) {
        self.buffer.account(books);
        self.bearer.each(&mut |packet| books.hold(packet));
        self.head.iter().for_each(|packet| books.hold(packet));
    }

    /// Bytes that wait to be sent, with their headers; an estimate while they are in the queue.
    pub(super) fn backlog(&self) -> u64 {
        let waiting = self.waiting();
        if waiting.packets == 0 {
            return self.bearer.backlog();
        }
        // The headers of a packet in a block of its own are the most that it can need.
        self.bearer.backlog() + waiting.bytes + waiting.packets * u64::from(self.bearer.size_of(0) + 6)
    }

    /// The bytes of a report on this direction that the other one has to carry, with its header; 0 if none is due.
    pub(super) fn report(&self, now: Time) -> u64 {
        self.bearer.report_size(now).map_or(0, |size| u64::from(size + MAC_HEADER))
    }

    /// Drops the packets at the head of the queue that have become too old, so that they take no place from others.
    #[inline]
    pub(super) fn discard_late(&mut self, now: Time, exits: &mut Exits) {
        if self.discard.is_some() {
            let mut source = FromQueue {
                buffer: &mut self.buffer,
                head: &mut self.head,
                discard: self.discard,
                exits,
                now,
            };
            let next = source.take();
            self.head = next;
        }
    }

    /// Stops unless its parts agree.
    fn check(&self) {
        self.buffer.check();
        self.bearer.check();
        self.harq.check();
    }
    /// Loses all packets that wait.
    pub(super) fn lose_waiting(&mut self, now: Time, exits: &mut Exits) {
        if let Some(packet) = self.head.take() {
            self.buffer.lose(now, packet, exits);
        }
        while self.buffer.is_waiting() {
            let Some((_, packet)) = self.buffer.dequeue(now, exits) else { break };
            self.buffer.lose(now, packet, exits);
        }
    }
}

/// The queue of a lane, from which its bearer takes packets at a time.
pub(super) struct FromQueue<'a> {
    pub buffer: &'a mut Buffer,
    pub head: &'a mut Option<Box<Packet>>,
    pub discard: Option<Duration>,
    pub exits: &'a mut Exits,
    pub now: Time,
}

impl FromQueue<'_> {
    /// The next packet that is not too old.
    #[inline]
    fn take(&mut self) -> Option<Box<Packet>> {
        loop {
            let packet = match self.head.take() {
                Some(packet) => packet,
                None if self.buffer.is_waiting() => self.buffer.dequeue(self.now, self.exits)?.1,
                None => return None,
            };
            if self.discard.is_some_and(|limit| self.now.since(packet.entered) > limit) {
                self.buffer.drop_late(self.now, packet, self.exits);
                continue;
            }
            return Some(packet);
        }
    }
}

impl Source for FromQueue<'_> {
    fn next(&mut self) -> Option<Box<Packet>> {
        let packet = self.take()?;
        self.buffer.note_start(self.now, &packet);
        Some(packet)
    }
    fn is_empty(&self) -> bool {
        self.head.is_none() && !self.buffer.is_waiting()
    }
}

/// Where the packets of a bearer go: to the node, by way of the cell's list, or out of the network.
pub(super) struct ToNode<'a> {
    pub buffer: &'a mut Buffer,
    pub air: &'a mut Air,
    pub exits: &'a mut Exits,
    /// The counter of the lane, and the list of the cell.
    pub waiting: &'a mut Count,
    pub handed: &'a mut VecDeque<(Time, Box<Packet>)>,
    pub arrival: Time,
}

impl Far for ToNode<'_> {
    #[inline]
    fn hand_over(&mut self, now: Time, packet: Box<Packet>, stages: Stages) {
        self.air.delays += stages;
        if self.buffer.log().interest().metrics {
            self.buffer.log().push(now, Event::HandedOver(stages));
        }
        self.waiting.add(packet.size);
        self.handed.push_back((self.arrival, packet));
    }
    fn lose(&mut self, now: Time, packet: Box<Packet>) {
        self.buffer.lose(now, packet, self.exits);
    }
}

/// A grant for a block in an uplink.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    pub slot: u64,
    pub prbs: u16,
    pub mcs: u8,
    pub bytes: u32,
    pub process: usize,
}

/// What a station knows of a terminal's backlog.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The bytes that the station knows of and has not granted.
    pub known: u64,
    /// The slot in which the station knows of a scheduling request.
    pub requested: Option<u64>,
    pub grants: VecDeque<Grant>,
}

impl Requests {
    /// Takes what a terminal says of its backlog, of which grants that are still to come will take a part.
    #[inline]
    pub(super) fn note_status(&mut self, bytes: u64) {
        let coming: u64 = self.grants.iter().map(|grant| u64::from(grant.bytes)).sum();
        self.known = quantized(bytes).saturating_sub(coming);
    }
}

/// The upper bound of the level of a buffer status report that covers these bytes (TS 36.321 table 6.1.3.1-1: 62
/// levels from 10 to 150,000 bytes in equal ratios, each rounded up).
pub(super) fn quantized(bytes: u64) -> u64 {
    const LOWEST: f64 = 10.0;
    const HIGHEST: f64 = 150_000.0;
    const STEPS: f64 = 61.0;
    match bytes {
        0 => 0,
        1..=10 => 10,
        150_001.. => 3_000_000,
        _ => {
            let ratio = (HIGHEST / LOWEST).ln() / STEPS;
            let level = ((bytes as f64 / LOWEST).ln() / ratio).floor();
            let bound = |level: f64| (LOWEST * (ratio * level).exp() - 1e-6).ceil() as u64;
            [level, level + 1.0].map(bound).into_iter().find(|bound| *bound >= bytes).unwrap_or(150_000)
        }
    }
}

/// A terminal.
pub(super) struct Terminal {
    /// Its attachment.
    pub attachment: u16,
    pub downlink: Direction,
    pub uplink: Direction,
    pub link: RadioLink,
    pub requests: Requests,
    /// What decides which site serves it, and the slot in which it decides next.
    pub trigger: Option<Box<dyn Trigger>>,
    pub decides_at: u64,
    /// Before this slot it is on its way from one site to another.
    pub away_until: u64,
    /// The slot in which something happens to it next, but for new blocks.
    pub due: u64,
    /// The last slot in which something happened to it, plus one.
    pub visited: u64,
}

impl Terminal {
    pub(super) fn direction(&mut self, way: usize) -> &mut Direction {
        if way == DOWN { &mut self.downlink } else { &mut self.uplink }
    }
    /// Stops unless its parts agree.
    pub(super) fn check(&self) {
        self.downlink.check();
        self.uplink.check();
        let slots = self.requests.grants.iter().map(|grant| grant.slot);
        assert!(slots.is_sorted(), "grants are used in the order in which they were given");
        assert!(self.requests.grants.iter().all(|grant| grant.prbs > 0), "a grant has resource blocks");
    }
    /// A direction, and the other one.
    pub(super) fn both(&mut self, way: usize) -> (&mut Direction, &mut Direction) {
        let (down, up) = (&mut self.downlink, &mut self.uplink);
        if way == DOWN { (down, up) } else { (up, down) }
    }

    /// Fills the block of a process; returns whether there was anything to fill it with.
    #[inline]
    pub(super) fn fill(&mut self, way: usize, grant: &Grant, now: Time, exits: &mut Exits) -> bool {
        let (ahead, behind) = self.both(way);
        let Grant { process, bytes, .. } = *grant;
        let block = ahead.harq.block(process);
        (block.prbs, block.mcs, block.bytes) = (grant.prbs, grant.mcs, bytes);
        // A report of the other direction goes first (TS 36.322 section 5.1.3.1.1).
        if behind.bearer.report_size(now).is_some()
            && let Some((status, size)) = behind.bearer.take_report(now, bytes.saturating_sub(MAC_HEADER))
        {
            (block.filling.used, block.filling.status) = (size + MAC_HEADER, Some(status));
        }
        let Direction { buffer, bearer, harq, head, discard, .. } = ahead;
        let block = harq.block(process);
        let mut source = FromQueue { buffer, head, discard: *discard, exits, now };
        let status = if way == UP { BUFFER_STATUS } else { 0 };
        bearer.fill(now, bytes.saturating_sub(status), &mut source, &mut block.filling);
        let filled = !block.filling.is_empty();
        if way == DOWN {
            return filled;
        }
        // A report is a part of the backlog (TS 36.321 section 6.1.3.1), of which the station learns also by a block with
        // nothing else in it.
        let left = ahead.backlog() + behind.report(now);
        let tells = filled || left > 0;
        if tells {
            ahead.harq.block(process).buffer_status = Some(left);
        }
        tells
    }

    /// Sends the block of a process; it is in the air until the end of the slot.
    pub(super) fn send(&mut self, way: usize, process: usize, slot: u64, now: Time) -> InAir {
        let (attachment, link) = (self.attachment, &mut self.link);
        let direction = if way == DOWN { &mut self.downlink } else { &mut self.uplink };
        direction.harq.send(process, slot);
        let failed = link.fails(now, way == UP, direction.harq.block(process));
        InAir { terminal: attachment - 1, way, process, failed }
    }

    /// The slot from which on the terminal can be served in a direction; `None` if it does not ask for that.
    #[inline]
    pub(super) fn ready(&self, way: usize, now: Time, processing: u64) -> Option<u64> {
        let from = if way == DOWN {
            let waits = self.downlink.backlog() > 0 || self.uplink.bearer.report_size(now).is_some();
            waits.then(|| self.downlink.harq.next_free())?
        } else {
            let free = (self.requests.known > 0).then(|| self.uplink.harq.next_free())?;
            free.map(|free| free.saturating_sub(processing))
        };
        from.map(|from| from.max(self.away_until))
    }

    /// Whether the terminal has something to send of which the station does not know.
    #[inline]
    pub(super) fn has_to_ask(&self, now: Time) -> bool {
        let Requests { known, requested, grants } = &self.requests;
        let unknown = *known == 0 && requested.is_none() && grants.is_empty() && !self.uplink.harq.is_busy();
        unknown && (self.uplink.backlog() > 0 || self.downlink.bearer.report_size(now).is_some())
    }

    /// The next slot behind `slot` in which something happens at the terminal, but for new blocks.
    #[inline]
    pub(super) fn next_slot(&self, slot: u64, now: Time, slot_ns: u64, processing: u64) -> Option<u64> {
        let Terminal { downlink, uplink, requests, .. } = self;
        let again = uplink.harq.next_due().map(|due| due.saturating_sub(processing));
        let timers = [&downlink.bearer, &uplink.bearer].map(|bearer| bearer.next_timer(now));
        let timers = timers.into_iter().flatten().min().map(|at| at.as_nanos().div_ceil(slot_ns));
        // Whoever has something to send and has not asked for a grant asks in the next slot.
        let asks = self.has_to_ask(now).then_some(self.away_until);
        let grant = requests.grants.front().map(|grant| grant.slot);
        let all = [downlink.harq.next_due(), again, timers, asks, grant, requests.requested];
        let next = all.into_iter().flatten().min();
        let is_idle = next.is_none()
            && !(downlink.harq.is_busy() || uplink.harq.is_busy())
            && [DOWN, UP].into_iter().all(|way| self.ready(way, now, processing).is_none());
        // Handovers of an idle terminal are computed when it is needed again.
        let decides = (!is_idle && self.trigger.is_some()).then_some(self.decides_at);
        next.into_iter().chain(decides).min().map(|next| next.max(slot + 1))
    }
}

/// The bytes of the MAC header of a report, and of a buffer status report with its header (TS 36.321 section 6.1).
const MAC_HEADER: u32 = 2;
const BUFFER_STATUS: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_status_has_the_levels_of_the_standard() {
        // TS 36.321 table 6.1.3.1-1: 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, ... 1,132, 1,326, ... 128,125, 150,000.
        let levels =
            [(1, 10), (10, 10), (11, 12), (13, 14), (15, 17), (18, 19), (20, 22), (23, 26), (27, 31)];
        for (bytes, level) in levels {
            assert_eq!(quantized(bytes), level, "{bytes}");
        }
        assert_eq!([1_000, 1_133, 128_000, 128_126].map(quantized), [1_132, 1_326, 128_125, 150_000]);
        assert_eq!([0, 150_000, 150_001].map(quantized), [0, 150_000, 3_000_000]);
    }
}
