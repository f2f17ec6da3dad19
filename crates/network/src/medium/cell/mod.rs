//! Cells of mobile networks: a base station and its terminals, in LTE and in NR.
//!
//! Time has slots. In each slot a scheduler gives the resource blocks of the downlink to terminals for which packets
//! wait, and those of the uplink, some slots ahead, to terminals that have asked for them. What a terminal gets is a
//! block, whose size follows from its modulation and coding scheme and its resource blocks; a block that fails is
//! sent again (HARQ). Between the queues and the blocks are bearers (RLC and PDCP).
//!
//! The station has one site or several, each with resource blocks of its own, and each terminal is served by one of them
//! (`handover`, `relocation`). The first attachment is the station. Terminals only reach the station, which has a lane for each of them.
//! Slots in which nothing can happen are skipped: a cell with nothing to send has no timer.

mod arq;
mod bearer;
mod errors;
mod handover;
mod harq;
mod link;
mod options;
mod relocation;
pub mod scheduler;
mod site;
mod slot;
mod standard;
mod terminal;

use super::{Lane, LaneView, Medium, Profile, Samples};
use crate::books::PacketBooks;
use crate::buffer::Overflow;
use crate::count::Count;
use crate::exits::Exits;
use crate::packet::Packet;
use options::{LteOptions, NrOptions};
use site::Site;
use std::collections::VecDeque;
use terminal::{Direction, Terminal};
use trace::Log;
use units::parameter::{Options, Room, Row};
use units::{Duration, Rate, Size, Time, Timers};

pub(crate) const LTE: Row<Profile> = Row {
    name: "lte",
    about: "a cell of LTE: resource blocks, HARQ, RLC, requests and grants",
    parameters: LteOptions::PARAMETERS,
    build: Profile {
        rate: None,
        outlook: |way| options::Air::lte(&LteOptions::of(way.medium)).outlook(way),
        check: |arguments, _| {
            let own = LteOptions::of(arguments);
            options::Air::lte(&own).check(&own.cell)
        },
        build: |options| Ok(Box::new(options::lte(options)?)),
        ..PROFILE
    },
};
pub(crate) const NR: Row<Profile> = Row {
    name: "nr",
    about: "a cell of 5G NR: the same with shorter slots and wider bands",
    parameters: NrOptions::PARAMETERS,
    build: Profile {
        rate: None,
        outlook: |way| options::Air::nr(&NrOptions::of(way.medium)).ok()?.outlook(way),
        check: |arguments, _| {
            let own = NrOptions::of(arguments);
            options::Air::nr(&own)?.check(&own.cell)
        },
        build: |options| Ok(Box::new(options::nr(options)?)),
        ..PROFILE
    },
};

const PROFILE: Profile = Profile {
    of_attachment: &options::OF_ATTACHMENT,
    of_station: &options::OF_STATION,
    lanes_by_receiver: true,
    needs_station: true,
    samples: SAMPLES,
    rate: None,
    outlook: |_| None,
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
pub(crate) fn rooms() -> [Room; 3] {
    [errors::room(), scheduler::room(), handover::room()]
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

pub(super) struct Cells {
    terminals: Vec<Terminal>,
    sites: Vec<Site>,
    lanes: Vec<Lane>,
    slot_ns: u64,
    prbs: u16,
    /// Slots from something received to the reaction.
    processing: u64,
    /// Slots from one opportunity for a scheduling request to the next.
    request_period: u64,
    /// The bytes of the grant that follows a request.
    first_grant: u64,
    /// Slots in which nothing is sent after a handover, and whether the packets that wait in the downlink are taken along.
    interruption: u64,
    forwarding: bool,
    /// From the end of a block to the node, and from the node to the first block.
    delay: Duration,
    /// When something happens to each terminal next, but for new blocks.
    timers: Timers,
    /// The terminals to which something happens in this slot; empty between slots.
    visited: Vec<u16>,
    in_air: Vec<InAir>,
    /// The next slot in which something can happen.
    next_slot: Option<u64>,
    /// Packets on their way to their nodes, in the order of time.
    handed: VecDeque<(Time, Box<Packet>)>,
    received: Vec<Count>,
    /// The rate with which queues count.
    peak: Rate,
}

impl Cells {
    fn start_of(&self, slot: u64) -> Time {
        Time::from_nanos(slot * self.slot_ns)
    }

    /// Lets something happen to a terminal in a slot, or earlier.
    fn wake_terminal(&mut self, number: u16, slot: u64) {
        if self.terminals[usize::from(number)].due > slot {
            self.set_due(number, Some(slot));
            self.next_slot = Some(self.next_slot.map_or(slot, |next| next.min(slot)));
        }
    }

    /// Processes all slots that begin by `now`.
    fn run(&mut self, now: Time, exits: &mut Exits) {
        while let Some(slot) = self.next_slot.filter(|slot| self.start_of(*slot) <= now) {
            self.process(slot, exits);
        }
    }
}

impl Medium for Cells {
    fn offer(&mut self, now: Time, from: u16, to: u16, mut packet: Box<Packet>, exits: &mut Exits) {
        self.run(now, exits);
        packet.attach(from, to);
        let (number, way) = if from == 0 { (usize::from(to) - 1, DOWN) } else { (usize::from(from) - 1, UP) };
        let slot = now.as_nanos() / self.slot_ns;
        self.follow(number, slot, exits);
        let is_away = slot < self.terminals[number].away_until;
        let direction = self.terminals[number].direction(way);
        direction.buffer.catch_up(now);
        let Some(packet) = direction.buffer.admit(now, packet, exits) else { return };
        if way == DOWN && is_away && !self.forwarding {
            // The old site has it, and the terminal is gone.
            return direction.buffer.lose(now, packet, exits);
        }
        direction.discard_late(now, exits);
        let waits = direction.backlog() > 0;
        direction.buffer.enqueue(now, packet, exits);
        if !waits {
            // A packet that comes at the start of a slot comes too late for it.
            self.wake_terminal(number as u16, slot + 1);
        }
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
        self.follow(number, at.as_nanos() / self.slot_ns, exits);
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
        let slot = now.as_nanos() / self.slot_ns;
        (0..self.terminals.len()).for_each(|number| self.follow(number, slot, exits));
        for terminal in &mut self.terminals {
            terminal.downlink.buffer.catch_up(now);
            terminal.uplink.buffer.catch_up(now);
        }
        if cfg!(debug_assertions) {
            self.check();
        }
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn lane(&self, number: usize) -> LaneView<'_> {
        let direction = self.direction(number);
        let mut stats = direction.buffer.stats;
        stats.inside = direction.inside();
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

    fn account(&self, books: &mut PacketBooks) {
        (0..self.lanes.len()).for_each(|lane| self.direction(lane).account(books));
        self.handed.iter().for_each(|(_, packet)| books.hold(packet));
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

impl Cells {
    /// Stops unless the terminals agree with the lists of the cell.
    fn check(&self) {
        self.terminals.iter().for_each(Terminal::check);
        let handed: u64 = (0..self.lanes.len()).map(|lane| self.direction(lane).handed.packets).sum();
        assert_eq!(handed, self.handed.len() as u64, "packets on their way to nodes are counted by lane");
        assert!(
            self.handed.iter().is_sorted_by_key(|(at, _)| *at),
            "packets reach nodes in the order of time"
        );
        assert!(self.visited.is_empty(), "between slots nobody is visited");
        let serves = |terminal: &Terminal| terminal.link.serving < self.sites.len();
        assert!(self.terminals.iter().all(serves), "each terminal is served by a site that exists");
    }
    /// The direction of a lane: lane 2 n is the downlink of terminal n, lane 2 n + 1 its uplink.
    fn direction(&self, lane: usize) -> &Direction {
        let terminal = &self.terminals[lane / 2];
        if lane % 2 == DOWN { &terminal.downlink } else { &terminal.uplink }
    }
}
