//! Cells of mobile networks: a base station and its terminals, in LTE and in NR.
//!
//! Time has slots. In each slot a scheduler gives the resource blocks of the downlink to terminals for which packets
//! wait, and those of the uplink, some slots ahead, to terminals that have asked for them. What a terminal gets is a
//! block, whose size follows from its modulation and coding scheme and its resource blocks; a block that fails is
//! sent again (HARQ). Between the queues and the blocks are bearers (RLC and PDCP).
//!
//! The first attachment is the station. Terminals only reach the station, which has a lane for each of them.
//! Slots in which nothing can happen are skipped: a cell with nothing to send has no timer.

mod arq;
mod bearer;
mod errors;
mod harq;
mod link;
mod options;
mod scheduler;
mod standard;
mod terminal;

use super::{Lane, LaneView, Medium, Profile, Samples};
use crate::buffer::Overflow;
use crate::count::Count;
use crate::exits::Exits;
use crate::packet::Packet;
use scheduler::{Candidate, Scheduler};
use std::collections::VecDeque;
use terminal::{Direction, Grant, Terminal, ToNode};
use trace::{BlockFate, Event, Log};
use units::parameter::{Room, Row};
use units::{Duration, Rate, Size, Time};

pub(crate) const LTE: Row<Profile> = Row {
    name: "lte",
    about: "a cell of LTE: resource blocks, HARQ, RLC, requests and grants",
    parameters: &options::LTE,
    build: Profile {
        check: |arguments, _| options::Air::lte(arguments)?.check(arguments),
        build: |options| Ok(Box::new(options::lte(options)?)),
        ..PROFILE
    },
};
pub(crate) const NR: Row<Profile> = Row {
    name: "nr",
    about: "a cell of 5G NR: the same with shorter slots and wider bands",
    parameters: &options::NR,
    build: Profile {
        check: |arguments, _| options::Air::nr(arguments)?.check(arguments),
        build: |options| Ok(Box::new(options::nr(options)?)),
        ..PROFILE
    },
};

const PROFILE: Profile = Profile {
    of_attachment: &options::OF_ATTACHMENT,
    lanes_by_receiver: true,
    needs_station: true,
    samples: SAMPLES,
    check: |_, _| Ok(()),
    build: |options| Ok(Box::new(options::lte(options)?)),
};
const SAMPLES: Samples = Samples {
    lossy: &[
        ("rlc", "um"),
        ("queue", "drop-tail limit=100 packets"),
        ("block_errors", "target bler=0.4"),
        ("harq_retransmissions", "0"),
        ("mcs", "10"),
    ],
    lossless: &[("queue", "drop-tail limit=unlimited"), ("mcs", "10")],
};

/// The rooms of the parts of cells.
pub(crate) fn rooms() -> [Room; 2] {
    [errors::room(), scheduler::room()]
}

const DOWN: usize = 0;
const UP: usize = 1;

/// A block that is in the air until the end of its slot.
#[derive(Debug, Clone, Copy)]
struct InAir {
    terminal: u16,
    way: usize,
    process: usize,
    failed: bool,
}

pub(super) struct Cell {
    terminals: Vec<Terminal>,
    lanes: Vec<Lane>,
    schedulers: [Box<dyn Scheduler>; 2],
    slot_ns: u64,
    prbs: u16,
    /// Slots from something received to the reaction.
    processing: u64,
    /// Slots from one opportunity for a scheduling request to the next.
    request_period: u64,
    /// The bytes of the grant that follows a request.
    first_grant: u64,
    /// From the end of a block to the node, and from the node to the first block.
    delay: Duration,
    /// The terminals with something to do, in the order of their numbers.
    active: Vec<u16>,
    is_active: Vec<bool>,
    in_air: Vec<InAir>,
    /// The next slot in which something can happen.
    next_slot: Option<u64>,
    /// Packets on their way to their nodes, in the order of time.
    handed: VecDeque<(Time, Box<Packet>)>,
    received: Vec<Count>,
    /// The rate with which queues count.
    peak: Rate,
    candidates: Vec<Candidate>,
}

impl Cell {
    fn start_of(&self, slot: u64) -> Time {
        Time::from_nanos(slot * self.slot_ns)
    }

    /// Makes a terminal take part in the next slots.
    fn activate(&mut self, terminal: usize, slot: u64) {
        if !self.is_active[terminal] {
            self.is_active[terminal] = true;
            let at = self.active.partition_point(|other| usize::from(*other) < terminal);
            self.active.insert(at, terminal as u16);
        }
        self.next_slot = Some(self.next_slot.map_or(slot, |next| next.min(slot)));
    }

    /// Processes all slots that begin by `now`.
    fn run(&mut self, now: Time, exits: &mut Exits) {
        while let Some(slot) = self.next_slot.filter(|slot| self.start_of(*slot) <= now) {
            self.process(slot, exits);
        }
    }

    fn process(&mut self, slot: u64, exits: &mut Exits) {
        let now = self.start_of(slot);
        self.end_blocks(now, exits);
        self.wake_bearers(now, exits);
        self.request(slot, now);
        self.grant(slot);
        self.send_downlink(slot, now, exits);
        self.send_uplink(slot, now, exits);
        self.plan(slot, now);
    }

    /// The blocks of the last slot have been received, or not.
    fn end_blocks(&mut self, now: Time, exits: &mut Exits) {
        let mut in_air = std::mem::take(&mut self.in_air);
        for sent in in_air.drain(..) {
            self.end_block(sent, now, exits);
        }
        self.in_air = in_air;
    }

    fn end_block(&mut self, sent: InAir, now: Time, exits: &mut Exits) {
        let terminal = &mut self.terminals[usize::from(sent.terminal)];
        let (ahead, behind) = terminal.both(sent.way);
        let fate = match sent.failed {
            false => BlockFate::Received,
            true if ahead.harq.fail(sent.process) => BlockFate::Failed,
            true => BlockFate::Lost,
        };
        let block = ahead.harq.block(sent.process);
        let airtime_ns = self.slot_ns * u64::from(block.prbs) / u64::from(self.prbs);
        ahead.air.airtime += Duration::from_nanos(airtime_ns);
        ahead.buffer.stats.busy += Duration::from_nanos(airtime_ns);
        match block.attempt {
            1 => ahead.air.sent += 1,
            _ => ahead.air.again += 1,
        }
        ahead.air.lost += u64::from(fate == BlockFate::Lost);
        if ahead.buffer.log().interest().metrics {
            let (bytes, attempt, mcs, units) = (block.bytes, block.attempt, block.mcs, block.prbs);
            let airtime_ns = airtime_ns as u32;
            ahead
                .buffer
                .log()
                .push(now, Event::Block(trace::Block { bytes, airtime_ns, attempt, mcs, units, fate }));
        }
        if fate == BlockFate::Failed {
            return;
        }
        let mut block = std::mem::take(block);
        let arrival = now + self.delay;
        let mut far = ToNode {
            buffer: &mut ahead.buffer,
            air: &mut ahead.air,
            exits,
            waiting: &mut ahead.handed,
            handed: &mut self.handed,
            arrival,
        };
        if fate == BlockFate::Lost {
            for span in &block.filling.spans {
                ahead.bearer.give_up(now, *span, &mut far);
            }
        } else {
            for span in &block.filling.spans {
                ahead.bearer.receive(now, *span, &mut far);
            }
            if let Some(end) = block.filling.poll {
                ahead.bearer.note_poll(end);
            }
            if let Some(status) = block.filling.status.take() {
                let buffer = &mut behind.buffer;
                let mut far = ToNode {
                    buffer,
                    air: &mut behind.air,
                    exits,
                    waiting: &mut behind.handed,
                    handed: &mut self.handed,
                    arrival,
                };
                behind.bearer.take_status(now, &status, &mut far);
            }
            if let Some(bytes) = block.buffer_status {
                terminal.requests.note_status(bytes);
            }
        }
        terminal.direction(sent.way).harq.end(sent.process, block);
    }

    /// The timers of bearers.
    fn wake_bearers(&mut self, now: Time, exits: &mut Exits) {
        let arrival = now + self.delay;
        for number in &self.active {
            let terminal = &mut self.terminals[usize::from(*number)];
            for way in [DOWN, UP] {
                let Direction { buffer, bearer, air, handed: waiting, .. } = terminal.direction(way);
                if bearer.wake_at().is_some_and(|at| at <= now) {
                    let handed = &mut self.handed;
                    bearer.wake(now, &mut ToNode { buffer, air, exits, waiting, handed, arrival });
                }
            }
        }
    }

    /// Terminals with packets that the station does not know of ask for a grant at their next opportunity.
    fn request(&mut self, slot: u64, now: Time) {
        for number in &self.active {
            let terminal = &mut self.terminals[usize::from(*number)];
            let Terminal { downlink, uplink, requests, .. } = terminal;
            let unknown = requests.known == 0 && requests.requested.is_none() && requests.grants.is_empty();
            let waits = uplink.backlog() > 0 || downlink.bearer.report_size(now).is_some();
            if unknown && waits && !uplink.harq.is_busy() {
                let phase = (u64::from(*number) * 7) % self.request_period;
                let opportunity = (slot + self.request_period - 1 - phase) / self.request_period;
                requests.requested = Some(opportunity * self.request_period + phase + self.processing);
            }
        }
    }

    /// Grants the resource blocks of the uplink in the slot that comes after the time of processing.
    fn grant(&mut self, slot: u64) {
        let (target, mut left) = (slot + self.processing, self.prbs);
        self.candidates.clear();
        for number in &self.active {
            let Terminal { uplink, requests, link, .. } = &mut self.terminals[usize::from(*number)];
            if let Some(process) = uplink.harq.due(target)
                && uplink.harq.block(process).prbs <= left
            {
                let block = uplink.harq.block(process);
                left -= block.prbs;
                let (prbs, mcs, bytes) = (block.prbs, block.mcs, 0);
                requests.grants.push_back(Grant { slot: target, process, prbs, mcs, bytes });
                uplink.harq.reserve(process, target);
            }
            if requests.requested.is_some_and(|at| at <= slot) {
                requests.requested = None;
                requests.known = requests.known.max(self.first_grant);
            }
            if requests.known > 0
                && uplink.harq.free(target).is_some()
                && let Some(mcs) = link.scheme(slot)
            {
                let bits = f64::from(8 * link.standard.block_bytes(mcs, self.prbs, true));
                self.candidates.push(Candidate { terminal: *number, bits });
            }
        }
        self.schedulers[UP].sort(slot, &mut self.candidates);
        for at in 0..self.candidates.len() {
            let number = self.candidates[at].terminal;
            let share = self.schedulers[UP].share(left, self.candidates.len() - at).min(left);
            if share == 0 {
                break;
            }
            let Terminal { uplink, requests, link, .. } = &mut self.terminals[usize::from(number)];
            let (Some(mcs), Some(process)) = (link.scheme(slot), uplink.harq.free(target)) else { continue };
            let (prbs, bytes) = link.standard.fitting(mcs, requests.known + OVERHEAD, share, true);
            left -= prbs;
            requests.known = requests.known.saturating_sub(u64::from(bytes) - OVERHEAD.min(u64::from(bytes)));
            requests.grants.push_back(Grant { slot: target, process, prbs, mcs, bytes });
            uplink.harq.reserve(process, target);
            self.schedulers[UP].note(slot, number, 8 * bytes);
        }
    }

    fn send_downlink(&mut self, slot: u64, now: Time, exits: &mut Exits) {
        let mut left = self.prbs;
        self.candidates.clear();
        for number in &self.active {
            let terminal = &mut self.terminals[usize::from(*number)];
            if let Some(process) = terminal.downlink.harq.due(slot)
                && terminal.downlink.harq.block(process).prbs <= left
            {
                left -= terminal.downlink.harq.block(process).prbs;
                self.in_air.push(terminal.send(DOWN, process, (slot, now)));
            }
            let waits = terminal.downlink.backlog() > 0 || terminal.uplink.bearer.report_size(now).is_some();
            if waits
                && terminal.downlink.harq.free(slot).is_some()
                && let Some(mcs) = terminal.link.scheme(slot)
            {
                let bits = f64::from(8 * terminal.link.standard.block_bytes(mcs, self.prbs, false));
                self.candidates.push(Candidate { terminal: *number, bits });
            }
        }
        self.schedulers[DOWN].sort(slot, &mut self.candidates);
        for at in 0..self.candidates.len() {
            let number = self.candidates[at].terminal;
            let share = self.schedulers[DOWN].share(left, self.candidates.len() - at).min(left);
            if share == 0 {
                break;
            }
            let terminal = &mut self.terminals[usize::from(number)];
            let (Some(mcs), Some(process)) = (terminal.link.scheme(slot), terminal.downlink.harq.free(slot))
            else {
                continue;
            };
            let wanted = terminal.downlink.backlog() + terminal.uplink.report(now) + OVERHEAD;
            let (prbs, bytes) = terminal.link.standard.fitting(mcs, wanted, share, false);
            let block = (prbs, mcs, bytes);
            if !terminal.fill(DOWN, process, block, now, exits) {
                continue;
            }
            left -= prbs;
            self.in_air.push(terminal.send(DOWN, process, (slot, now)));
            self.schedulers[DOWN].note(slot, number, 8 * bytes);
        }
    }

    fn send_uplink(&mut self, slot: u64, now: Time, exits: &mut Exits) {
        for number in &self.active {
            let terminal = &mut self.terminals[usize::from(*number)];
            while let Some(grant) =
                terminal.requests.grants.front().copied().filter(|grant| grant.slot <= slot)
            {
                terminal.requests.grants.pop_front();
                let again = terminal.uplink.harq.block(grant.process).attempt > 0;
                let block = (grant.prbs, grant.mcs, grant.bytes);
                if again || terminal.fill(UP, grant.process, block, now, exits) {
                    self.in_air.push(terminal.send(UP, grant.process, (slot, now)));
                }
            }
        }
    }

    /// Determines the next slot in which something can happen, and the terminals that take part.
    fn plan(&mut self, slot: u64, now: Time) {
        let mut next = if self.in_air.is_empty() { u64::MAX } else { slot + 1 };
        let (terminals, is_active, slot_ns) = (&mut self.terminals, &mut self.is_active, self.slot_ns);
        let processing = self.processing;
        self.active.retain(|number| {
            let terminal = &mut terminals[usize::from(*number)];
            let own = terminal.next_slot(slot, now, (slot_ns, processing));
            next = next.min(own.unwrap_or(u64::MAX));
            let stays = own.is_some() || terminal.is_busy();
            is_active[usize::from(*number)] = stays;
            stays
        });
        self.next_slot = (next != u64::MAX).then_some(next);
    }
}

/// The most bytes of headers and reports that a small block has beside its packets.
const OVERHEAD: u64 = 12;

impl Medium for Cell {
    fn offer(&mut self, now: Time, (from, to): (u16, u16), mut packet: Box<Packet>, exits: &mut Exits) {
        self.run(now, exits);
        packet.attach(from, to);
        let (number, way) = if from == 0 { (usize::from(to) - 1, DOWN) } else { (usize::from(from) - 1, UP) };
        let buffer = &mut self.terminals[number].direction(way).buffer;
        buffer.catch_up(now);
        let Some(packet) = buffer.admit(now, packet, exits) else { return };
        buffer.enqueue(now, packet, exits);
        // A packet that comes at the start of a slot comes too late for it.
        let slot = now.as_nanos() / self.slot_ns + 1;
        self.activate(number, slot);
    }

    fn is_due(&self, now: Time) -> bool {
        self.handed.front().is_some_and(|(at, _)| *at <= now)
            || self.next_slot.is_some_and(|slot| self.start_of(slot) <= now)
    }

    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)> {
        self.run(now, exits);
        let (at, mut packet) =
            self.handed.front().is_some_and(|(at, _)| *at <= now).then(|| self.handed.pop_front())??;
        let sender = packet.sender;
        let receiver = packet.detach();
        let (number, way) =
            if sender == 0 { (usize::from(receiver) - 1, DOWN) } else { (usize::from(sender) - 1, UP) };
        let direction = self.terminals[number].direction(way);
        direction.handed.remove(packet.size);
        direction.buffer.note_delivered(at, packet.size);
        self.received[usize::from(receiver)].add(packet.size);
        Some((receiver, packet))
    }

    fn wake_at(&self) -> Option<Time> {
        let slot = self.next_slot.map(|slot| self.start_of(slot));
        let handed = self.handed.front().map(|(at, _)| *at);
        [slot, handed].into_iter().flatten().min()
    }

    fn catch_up(&mut self, now: Time, exits: &mut Exits) {
        self.run(now, exits);
        for terminal in &mut self.terminals {
            terminal.downlink.buffer.catch_up(now);
            terminal.uplink.buffer.catch_up(now);
        }
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn lane(&self, number: usize) -> LaneView<'_> {
        let direction = self.direction(number);
        let mut stats = direction.buffer.stats;
        stats.inside = direction.buffer.inside(direction.bearer.inside + direction.handed);
        LaneView { stats, delays: direction.buffer.delays(), air: Some(direction.air) }
    }

    fn received(&self, attachment: usize) -> Count {
        self.received[attachment]
    }

    fn log(&mut self, lane: usize) -> &mut Log {
        self.terminals[lane / 2].direction(lane % 2).buffer.log()
    }

    fn overflow(&self) -> Option<(&str, Overflow)> {
        (0..self.lanes.len()).find_map(|lane| {
            let buffer = &self.direction(lane).buffer;
            Some((buffer.name(), buffer.overflow()?))
        })
    }

    fn drops_of(&self, flow: u32) -> u64 {
        (0..self.lanes.len()).map(|lane| self.direction(lane).buffer.drops_of(flow)).sum()
    }
    fn delay(&self) -> Duration {
        self.delay
    }
    fn mean_rate(&self) -> Option<Rate> {
        Some(self.peak)
    }
    fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        Some(self.peak.bytes_in(to.since(from)))
    }
}

impl Cell {
    /// The direction of a lane: lane 2 n is the downlink of terminal n, lane 2 n + 1 its uplink.
    fn direction(&self, lane: usize) -> &Direction {
        let terminal = &self.terminals[lane / 2];
        if lane % 2 == DOWN { &terminal.downlink } else { &terminal.uplink }
    }
}
