//! A terminal of a cell: its two lanes, its radio link, and what the station knows of its backlog.

use super::bearer::{Bearer, Far, Source};
use super::harq::Harq;
use super::link::RadioLink;
use super::{DOWN, InAir, UP};
use crate::buffer::Buffer;
use crate::count::Count;
use crate::exits::Exits;
use crate::medium::Air;
use crate::packet::Packet;
use std::collections::VecDeque;
use trace::{Event, Stages};
use units::Time;

/// One direction of a terminal.
pub(super) struct Direction {
    pub buffer: Buffer,
    pub bearer: Bearer,
    pub harq: Harq,
    pub air: Air,
    /// Packets that were handed over and have not reached the node.
    pub handed: Count,
}

impl Direction {
    /// Bytes that wait to be sent, with their headers; an estimate while they are in the queue.
    pub(super) fn backlog(&self) -> u64 {
        let waiting = self.buffer.waiting();
        if waiting.packets == 0 {
            return self.bearer.backlog();
        }
        // The headers of a packet in a block of its own are the most that it can need.
        self.bearer.backlog() + waiting.bytes + waiting.packets * u64::from(self.bearer.size_of(0) + 6)
    }
}

impl Direction {
    /// The bytes of a report on this direction that the other one has to carry, with its header; 0 if none is due.
    pub(super) fn report(&self, now: Time) -> u64 {
        self.bearer.report_size(now).map_or(0, |size| u64::from(size + MAC_HEADER))
    }
}

/// The queue of a lane, from which its bearer takes packets at a time.
pub(super) struct FromQueue<'a> {
    pub buffer: &'a mut Buffer,
    pub exits: &'a mut Exits,
    pub now: Time,
}

impl Source for FromQueue<'_> {
    fn next(&mut self) -> Option<Box<Packet>> {
        if !self.buffer.is_waiting() {
            return None;
        }
        let (_, packet) = self.buffer.dequeue(self.now, self.exits)?;
        self.buffer.note_start(self.now, &packet);
        Some(packet)
    }
    fn is_empty(&self) -> bool {
        !self.buffer.is_waiting()
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
    /// The slot in which something happens to it next, but for new blocks.
    pub due: u64,
    /// The last slot in which something happened to it, plus one.
    pub visited: u64,
}

impl Terminal {
    pub(super) fn direction(&mut self, way: usize) -> &mut Direction {
        if way == DOWN { &mut self.downlink } else { &mut self.uplink }
    }
    /// A direction, and the other one.
    pub(super) fn both(&mut self, way: usize) -> (&mut Direction, &mut Direction) {
        let (down, up) = (&mut self.downlink, &mut self.uplink);
        if way == DOWN { (down, up) } else { (up, down) }
    }

    /// Fills the block of a process; returns whether there was anything to fill it with.
    pub(super) fn fill(
        &mut self,
        way: usize,
        process: usize,
        (prbs, mcs, bytes): (u16, u8, u32),
        now: Time,
        exits: &mut Exits,
    ) -> bool {
        let (ahead, behind) = self.both(way);
        let block = ahead.harq.block(process);
        (block.prbs, block.mcs, block.bytes) = (prbs, mcs, bytes);
        // A report of the other direction goes first (TS 36.322 section 5.1.3.1.1).
        if let Some(size) = behind.bearer.report_size(now).map(|size| size + MAC_HEADER)
            && size <= bytes
        {
            block.filling.used = size;
            block.filling.status = behind.bearer.take_report(now);
        }
        let mut source = FromQueue { buffer: &mut ahead.buffer, exits, now };
        let status = if way == UP { BUFFER_STATUS } else { 0 };
        ahead.bearer.fill(now, bytes.saturating_sub(status), &mut source, &mut block.filling);
        let filled = !block.filling.is_empty();
        if way == DOWN {
            return filled;
        }
        // A report that did not fit is a part of the backlog (TS 36.321 section 6.1.3.1), of which the station learns
        // also by a block with nothing else in it.
        let left = ahead.backlog() + behind.report(now);
        let tells = filled || left > 0;
        if tells {
            ahead.harq.block(process).buffer_status = Some(left);
        }
        tells
    }

    /// Sends the block of a process; it is in the air until the end of the slot.
    pub(super) fn send(&mut self, way: usize, process: usize, (slot, now): (u64, Time)) -> InAir {
        let (attachment, link) = (self.attachment, &mut self.link);
        let direction = if way == DOWN { &mut self.downlink } else { &mut self.uplink };
        direction.harq.send(process, slot);
        let failed = link.fails(now, way == UP, direction.harq.block(process));
        InAir { terminal: attachment - 1, way, process, failed }
    }

    /// The slot from which on the terminal can be served in a direction; `None` if it does not ask for that.
    pub(super) fn ready(&self, way: usize, now: Time, processing: u64) -> Option<u64> {
        if way == DOWN {
            let waits = self.downlink.backlog() > 0 || self.uplink.bearer.report_size(now).is_some();
            waits.then(|| self.downlink.harq.next_free())?
        } else {
            let free = (self.requests.known > 0).then(|| self.uplink.harq.next_free())?;
            free.map(|free| free.saturating_sub(processing))
        }
    }

    /// Whether the terminal has something to send of which the station does not know.
    pub(super) fn has_to_ask(&self, now: Time) -> bool {
        let Requests { known, requested, grants } = &self.requests;
        let unknown = *known == 0 && requested.is_none() && grants.is_empty() && !self.uplink.harq.is_busy();
        unknown && (self.uplink.backlog() > 0 || self.downlink.bearer.report_size(now).is_some())
    }

    /// The next slot behind `slot` in which something happens at the terminal, but for new blocks.
    pub(super) fn next_slot(&self, slot: u64, now: Time, (slot_ns, processing): (u64, u64)) -> Option<u64> {
        let Terminal { downlink, uplink, requests, .. } = self;
        let again = uplink.harq.next_due().map(|due| due.saturating_sub(processing));
        let timers = [&downlink.bearer, &uplink.bearer].map(|bearer| bearer.next_timer(now));
        let timers = timers.into_iter().flatten().min().map(|at| at.as_nanos().div_ceil(slot_ns));
        // Whoever has something to send and has not asked for a grant asks in the next slot.
        let asks = self.has_to_ask(now).then_some(slot + 1);
        let grant = requests.grants.front().map(|grant| grant.slot);
        let all = [downlink.harq.next_due(), again, timers, asks, grant, requests.requested];
        all.into_iter().flatten().min().map(|next| next.max(slot + 1))
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
