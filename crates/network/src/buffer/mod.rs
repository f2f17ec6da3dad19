//! A queue with counters for its packets and their delays.
//!
//! A direction of a link has one, and a medium has one for each attachment. A packet arrives by
//! [`Buffer::admit`], waits or passes, and leaves by [`Buffer::dequeue`]; the carrier then reports its fate.

mod stats;

pub use stats::{CarrierStats, DropReason, QueueDelays};

use crate::books::{Ledger, PacketBooks};
use crate::count::Count;
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::queue::{self, Queue, Report, Waiting};
use random::Generator;
use std::collections::VecDeque;
use std::fmt;
use trace::{Event, Interest, Log};
use units::Time;
use units::parameter::Component;

/// The maximum number of packets in flight on a carrier: 120 ms of 100 Gbit/s in packets of 1500 bytes.
pub(crate) const MAX_IN_FLIGHT: usize = 1 << 20;

/// The inputs for building a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferOptions<'a> {
    pub queue: &'a Component,
    /// The name for errors.
    pub name: &'a str,
    pub setup: queue::LinkProperties<'a>,
    /// Whether the delay of each packet is counted.
    pub delays: bool,
    pub interest: Interest,
}

/// The memory of a carrier that has overflowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// More than [`queue::MAX_PACKETS`] packets are waiting.
    Queue,
    /// More than a million packets are in flight.
    Line,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overflow::Queue => write!(f, "more than {} packets wait in its queue", queue::MAX_PACKETS),
            Overflow::Line => write!(f, "more than {MAX_IN_FLIGHT} packets are in flight on it"),
        }
    }
}

/// A queue with its counters.
pub(crate) struct Buffer {
    name: String,
    queue: Waiting,
    /// The waiting packets after the last call of the queue.
    waiting: Count,
    pub(crate) mtu: u32,
    /// Lost packets until the end of their transmission: the time, the bytes on the wire, and the flow.
    losing: VecDeque<(Time, u32, u32)>,
    /// Packets dropped or lost, by flow.
    drops: Ledger,
    /// The report of the queue; empty between calls.
    report: Report,
    pub(crate) stats: CarrierStats,
    /// The delays, if they are counted.
    delays: Option<Box<QueueDelays>>,
    overflow: Option<Overflow>,
    log: Log,
}

impl Buffer {
    /// An empty buffer. The stream is for queues that draw.
    pub(crate) fn new(options: &BufferOptions<'_>, stream: Generator) -> Result<Buffer, BuildError> {
        let queue = options.queue;
        Ok(Buffer {
            name: options.name.to_owned(),
            queue: queue::build(queue.name, &queue.arguments, options.setup, stream)?,
            waiting: Count::default(),
            mtu: options.setup.mtu,
            losing: VecDeque::new(),
            drops: Ledger::default(),
            report: Report::default(),
            stats: CarrierStats::default(),
            delays: options.delays.then(Box::default),
            overflow: None,
            log: Log::new(options.interest),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
    /// The waiting packets.
    #[inline]
    pub(crate) fn waiting(&self) -> Count {
        self.waiting
    }
    /// Whether packets are waiting.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.packets > 0
    }
    /// The delays before transmission, if they are counted.
    pub(crate) fn delays(&self) -> Option<&QueueDelays> {
        self.delays.as_deref()
    }
    /// Packets of a flow that were dropped or lost here. Flows from 65,536 on are not counted individually.
    pub(crate) fn drops_of(&self, flow: u32) -> u64 {
        self.drops.of(flow).packets
    }
    /// Adds what was dropped or lost, and what waits or will be lost, to books.
    pub(crate) fn account(&self, books: &mut PacketBooks) {
        books.dropped.merge(&self.drops);
        self.queue.each(&mut |packet| books.hold(packet));
        self.losing.iter().for_each(|(_, size, flow)| books.held.add(*flow, *size));
    }
    pub(crate) fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }
    pub(crate) fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// The packets in the carrier, `in_flight` included: waiting ones, and those that will be lost at the end
    /// of their transmission.
    pub(crate) fn inside(&self, in_flight: Count) -> Count {
        let mut inside = self.waiting + in_flight;
        self.losing.iter().for_each(|(_, size, _)| inside.add(*size));
        inside
    }

    /// Counts a packet from a node; drops it if it is larger than the MTU.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        exits: &mut Exits,
    ) -> Option<Box<Packet>> {
        packet.entered = now;
        packet.l4s = packet.ecn.is_l4s();
        self.stats.accepted.add(packet.size);
        if packet.size > self.mtu {
            self.note_drop(now, packet.size, packet.flow, DropReason::Mtu);
            exits.discard(packet);
            return None;
        }
        Some(packet)
    }
    /// Enqueues a packet while the carrier is busy.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, packet: Box<Packet>, exits: &mut Exits) {
        let arriving = if cfg!(debug_assertions) { Count::of(packet.size) } else { Count::default() };
        self.queue.enqueue(now, packet, &mut self.report);
        self.check_queue(arriving, None);
        self.read_queue(now, exits);
        self.stats.queue_max.raise_to(self.waiting);
    }
    /// Stops unless the counters agree with each other, between two calls.
    pub(crate) fn check(&self) {
        assert!(self.report.is_empty(), "what a queue reports is read after each call");
        let Count { packets, bytes } = self.waiting;
        assert_eq!(packets > 0, bytes > 0, "a packet has bytes, and no bytes are without a packet");
        assert!(packets <= self.stats.queue_max.packets, "no more wait than ever waited");
        let over = self.stats.delivered.packets > self.stats.accepted.packets + self.stats.duplicated.packets;
        assert!(!over, "{}: no more packets are delivered than came or were doubled", self.name);
    }
    /// Passes a packet through the queue while nothing waits and the carrier is free; the queue may still drop
    /// it.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time, packet: Box<Packet>, exits: &mut Exits) -> Option<Box<Packet>> {
        debug_assert_eq!(self.waiting.packets, 0, "a packet passes a queue in which nothing waits");
        let arriving = if cfg!(debug_assertions) { Count::of(packet.size) } else { Count::default() };
        let packet = self.queue.pass(now, packet, &mut self.report);
        self.check_queue(arriving, packet.as_deref());
        self.read_queue(now, exits);
        debug_assert_eq!(self.waiting.packets, 0, "a packet that passes a queue does not wait in it");
        packet
    }
    /// The next packet, at the time at which it can be sent, and its size. `None` if the queue has dropped all
    /// waiting packets.
    #[inline]
    pub(crate) fn dequeue(&mut self, start: Time, exits: &mut Exits) -> Option<(u32, Box<Packet>)> {
        self.end_losses(start);
        self.sum_queue(start);
        let (before, packet) = (self.waiting, self.queue.dequeue(start, &mut self.report));
        let alone = self.report.is_empty();
        self.check_queue(Count::default(), packet.as_deref());
        self.read_queue(start, exits);
        let Some(packet) = packet else {
            debug_assert_eq!(self.waiting.packets, 0, "a queue is work-conserving");
            return None;
        };
        // The size is the change of the queue's length: a packet that has waited for long is not in the cache.
        let size = if alone { (before.bytes - self.waiting.bytes) as u32 } else { packet.size };
        debug_assert_eq!(size, packet.size, "a queue counts what it holds");
        Some((size, packet))
    }
    /// Counts the start of a transmission.
    #[inline]
    pub(crate) fn note_start(&mut self, start: Time, packet: &Packet) {
        if let Some(delays) = &mut self.delays {
            delays.add(packet.l4s, start.since(packet.entered));
        }
    }
    /// Counts a packet that will be lost at the end of its transmission.
    pub(crate) fn lose(&mut self, end: Time, packet: Box<Packet>, exits: &mut Exits) {
        let last = self.losing.back().map(|(last, ..)| *last);
        assert!(last.is_none_or(|last| last <= end), "losses come in the order of time");
        self.losing.push_back((end, packet.size, packet.flow));
        exits.discard(packet);
    }
    /// Drops a packet that has left the queue too late to be sent; it counts as dropped by the queue.
    pub(crate) fn drop_late(&mut self, now: Time, packet: Box<Packet>, exits: &mut Exits) {
        self.note_drop(now, packet.size, packet.flow, DropReason::Queue);
        exits.discard(packet);
    }
    /// Counts a packet of this size at the far end.
    #[inline]
    pub(crate) fn note_delivered(&mut self, at: Time, size: u32) {
        self.end_losses(at);
        self.stats.delivered.add(size);
        if self.log.interest().datagrams() {
            self.log.push_delivered(at, size);
        }
    }
    /// Ends the run: more packets are in flight than the memory allows.
    pub(crate) fn overflow_line(&mut self, exits: &mut Exits) {
        self.overflow = self.overflow.or(Some(Overflow::Line));
        exits.stop();
    }

    /// Updates the counters to the current time.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time) {
        self.end_losses(now);
        self.sum_queue(now);
    }

    /// Counts the losses of packets whose transmission ends by `at`.
    #[inline]
    pub(crate) fn end_losses(&mut self, at: Time) {
        while self.losing.front().is_some_and(|(end, ..)| *end <= at) {
            let (end, size, flow) = self.losing.pop_front().expect("the first of these has just been seen");
            self.note_drop(end, size, flow, DropReason::Loss);
        }
    }

    /// Adds the time since the last call to the integrals over time, with the queue unchanged.
    #[inline]
    fn sum_queue(&mut self, at: Time) {
        debug_assert!(at >= self.stats.until, "the counters of a queue follow time");
        let span = at.since(self.stats.until).as_nanos();
        if span > 0 {
            self.stats.until = at;
            if self.waiting.packets > 0 {
                self.stats.queue_packet_time += u128::from(self.waiting.packets) * u128::from(span);
                self.stats.queue_byte_time += u128::from(self.waiting.bytes) * u128::from(span);
            }
        }
    }

    /// Stops unless a call of the queue has kept its contract: a packet that was handed in waits, has left, or is reported as
    /// dropped.
    #[inline]
    fn check_queue(&self, arriving: Count, leaving: Option<&Packet>) {
        if cfg!(debug_assertions) {
            let mut there = self.queue.waiting();
            leaving.into_iter().for_each(|packet| there.add(packet.size));
            self.report.dropped.iter().for_each(|packet| there.add(packet.size));
            let name = &self.name;
            assert_eq!(
                self.waiting + arriving,
                there,
                "{name}: its queue neither loses nor doubles a packet"
            );
            self.queue.check();
        }
    }

    /// Takes over the new state of the queue.
    #[inline]
    fn read_queue(&mut self, at: Time, exits: &mut Exits) {
        let before = std::mem::replace(&mut self.waiting, self.queue.waiting());
        if !self.report.is_empty() {
            self.read_report(at, exits);
        }
        if self.log.interest().metrics && before != self.waiting {
            let Count { packets, bytes } = self.waiting;
            self.log.push_queue(at, packets as u32, bytes);
        }
    }

    fn read_report(&mut self, at: Time, exits: &mut Exits) {
        let mut dropped = std::mem::take(&mut self.report.dropped);
        for packet in dropped.drain(..) {
            self.note_drop(at, packet.size, packet.flow, DropReason::Queue);
            exits.discard(packet);
        }
        self.report.dropped = dropped;
        self.stats.marked += std::mem::take(&mut self.report.marked);
        if std::mem::take(&mut self.report.overflow) {
            self.overflow = self.overflow.or(Some(Overflow::Queue));
            exits.stop();
        }
    }

    fn note_drop(&mut self, at: Time, size: u32, flow: u32, reason: DropReason) {
        let count = match reason {
            DropReason::Mtu => &mut self.stats.dropped_mtu,
            DropReason::Queue => &mut self.stats.dropped_queue,
            DropReason::Loss => &mut self.stats.lost,
        };
        count.add(size);
        self.drops.add(flow, size);
        if self.log.interest().losses() {
            self.log.push(at, Event::NetworkDrop { length: size, reason: reason.name() });
        }
    }
}
