//! One direction of a link: queue, server, losses and delay line as one element with one timer.
//!
//! A packet goes through, in this order:
//! 1. the MTU: a larger packet is dropped when it arrives;
//! 2. the queue, which may drop or mark it, or drop others for it. A packet that finds the server free and nothing
//!    waiting does not wait and is not bound by the queue's limit;
//! 3. transmission: it leaves the queue when its first bit can go, and takes its size over the rate;
//! 4. loss, when its last bit has gone: a lost packet has used the rate like any other;
//! 5. alteration of one byte of its UDP payload (virtual bytes are written out first), and duplication: the copy, with
//!    the alteration if there is one, takes no time to transmit and arrives right behind the original;
//! 6. propagation delay and jitter. Without `reorder` a packet never arrives before those transmitted before it; at
//!    no time does it arrive before its last bit has gone.
//!
//! At one instant a departure from the queue comes before an arrival.
//!
//! The direction is computed lazily: whenever it is touched, all that happened since is caught up with, at the times
//! at which it happened. The packet in transmission is put into the delay line at once, for its end is known; so a
//! packet costs one timer, its delivery. When it is touched makes no difference to what happens.

mod impairments;
mod line;
mod options;
mod stats;

pub use options::{LINK, LinkOptions};
pub use stats::{DropReason, LinkStats, QueueDelays};

use crate::count::Count;
use crate::element::{Element, Exits};
use crate::error::BuildError;
use crate::packet::Packet;
use crate::queue::{self, Queue, Report, Waiting};
use crate::rate::{self, Server};
use impairments::{Fate, Impairments};
use line::{Line, MAX_UNDERWAY};
use random::{Stream, Watch};
use std::collections::VecDeque;
use std::fmt;
use trace::{Event, Log};
use units::{Duration, Rate, Size, Time};

/// The flows whose drops are counted one by one.
const MAX_COUNTED_FLOWS: usize = 1 << 16;

/// One direction of a link.
pub struct Link {
    name: String,
    server: Server,
    queue: Waiting,
    /// What waits, as the queue said after the last call.
    waiting: Count,
    /// When the next packet can leave the queue. If it is past, the server is free.
    next_start: Time,
    transmission: Transmission,
    impairments: Option<Box<Impairments>>,
    delay: Duration,
    mtu: u32,
    line: Line,
    /// No packet arrives before this, unless the line reorders.
    last_arrival: Time,
    /// Lost packets until the end of their transmission: when, bytes on the wire, and flow.
    losing: VecDeque<(Time, u32, u32)>,
    /// Packets dropped or lost, by flow.
    drops: Vec<u64>,
    /// What the queue reports; empty between calls.
    report: Report,
    stats: LinkStats,
    /// Kept if somebody wants to know.
    delays: Option<Box<QueueDelays>>,
    overflow: Option<Overflow>,
    log: Log,
}

/// The transmission that is going on, or the last one.
#[derive(Debug, Clone, Copy, Default)]
struct Transmission {
    /// From when on the packet kept the link busy: it was at the head of the queue, and the one before had gone.
    busy_from: Time,
    /// When its last bit has gone.
    end: Time,
    /// From when on the packet at the head of the queue has been there.
    head_since: Time,
}

/// What did not fit into a direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// More than [`queue::MAX_PACKETS`] packets waiting.
    Queue,
    /// More than a million packets underway.
    Line,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overflow::Queue => write!(f, "more than {} packets wait in its queue", queue::MAX_PACKETS),
            Overflow::Line => write!(f, "more than {MAX_UNDERWAY} packets are underway on it"),
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("name", &self.name).field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl Link {
    /// A direction at rest.
    ///
    /// # Errors
    /// If an option cannot be used: a malformed trace, say.
    pub fn new(options: &LinkOptions<'_>) -> Result<Link, BuildError> {
        let stream = |purpose: &str| Stream::new(options.seed, &format!("{} {purpose}", options.name));
        Link::with(options, stream)
    }

    /// Whether anything in such a direction draws at random; if not, its seed makes no difference.
    ///
    /// # Errors
    /// The errors of [`Link::new`].
    pub fn draws(options: &LinkOptions<'_>) -> Result<bool, BuildError> {
        let watch = Watch::default();
        let _link = Link::with(options, |_| watch.stream())?;
        Ok(watch.draws())
    }

    /// `stream` gives the stream for a purpose.
    fn with(options: &LinkOptions<'_>, stream: impl Fn(&str) -> Stream) -> Result<Link, BuildError> {
        let arguments = options.arguments;
        let rate = arguments.component("rate");
        let mut server = rate::build(rate.name, &rate.arguments, stream("rate"))?;
        let queue = arguments.component("queue");
        let mtu = arguments.integer("mtu") as u32;
        let setup = queue::Setup {
            rate: server.mean_rate(),
            round_trip: options.round_trip,
            mtu,
            flows: options.flows,
        };
        Ok(Link {
            name: options.name.to_owned(),
            next_start: server.ready(Time::ZERO),
            server,
            queue: queue::build(queue.name, &queue.arguments, setup, stream("queue"))?,
            waiting: Count::default(),
            transmission: Transmission::default(),
            impairments: Impairments::new(arguments, stream)?,
            delay: arguments.duration("delay"),
            mtu,
            line: Line::new(arguments.flag("reorder") && arguments.component("jitter").name != "none"),
            last_arrival: Time::ZERO,
            losing: VecDeque::new(),
            drops: Vec::new(),
            report: Report::default(),
            stats: LinkStats::default(),
            delays: options.delays.then(Box::default),
            overflow: None,
            log: Log::new(options.interest),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The mean of its rate over time; `None` if it is unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        self.server.mean_rate()
    }
    /// What it can carry from one time up to another, in bytes; `None` if it is unlimited.
    pub fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        self.server.capacity(from, to)
    }
    /// Its propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }
    /// The counters. They are lazy like the rest: [`Link::catch_up`], or a world that has reached its end, brings them
    /// up to now.
    pub fn stats(&self) -> LinkStats {
        let (now, going) = (self.stats.until, self.transmission);
        let mut inside = self.waiting + self.line.count();
        self.losing.iter().for_each(|(_, size, _)| inside.add(*size));
        let mut busy = self.stats.busy + now.min(going.end).since(going.busy_from);
        if self.waiting.packets > 0 {
            // The packet at the head waits for an opportunity, or for the end of an outage.
            busy += now.since(going.end.max(going.head_since));
        }
        LinkStats { inside, busy, ..self.stats }
    }
    /// How long packets waited before their transmission, if that is counted.
    pub fn delays(&self) -> Option<&QueueDelays> {
        self.delays.as_deref()
    }
    /// Packets of a flow that were dropped or lost here. Flows from 65,536 on are not counted one by one.
    pub fn drops_of(&self, flow: u32) -> u64 {
        self.drops.get(flow as usize).copied().unwrap_or(0)
    }
    /// What did not fit, if anything. The counters are wrong from then on.
    pub fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }
    /// The events that wait for a sink, in the order of time.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    /// Does all that happens up to and at `now`, but for the deliveries.
    #[inline]
    pub fn catch_up(&mut self, now: Time, exits: &mut Exits) {
        while self.waiting.packets > 0 && self.next_start <= now {
            self.start_next(exits);
        }
        self.end_losses(now);
        self.sum_queue(now);
    }

    /// A packet arrives at the near end.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, mut packet: Box<Packet>, exits: &mut Exits) {
        self.catch_up(now, exits);
        packet.entered = now;
        packet.l4s = packet.ecn.is_l4s();
        self.stats.accepted.add(packet.size);
        if packet.size > self.mtu {
            self.note_drop(now, (packet.size, packet.flow), DropReason::Mtu);
            return exits.discard(packet);
        }
        if self.waiting.packets == 0 {
            self.transmission.head_since = now;
            if self.next_start <= now {
                self.next_start = self.server.ready(now);
            }
            if self.next_start <= now {
                let packet = self.queue.pass(now, packet, &mut self.report);
                self.read_queue(now, exits);
                if let Some(packet) = packet {
                    self.transmit(now, packet.size, packet, exits);
                }
                return;
            }
        }
        self.queue.enqueue(now, packet, &mut self.report);
        self.read_queue(now, exits);
        self.stats.queue_max.raise_to(self.waiting);
    }

    /// Whether anything happens up to and at `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.line.next() <= now || (self.waiting.packets > 0 && self.next_start <= now)
    }

    /// The next packet that has reached the far end by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<Box<Packet>> {
        // What comes first, comes first; at one instant the delivery.
        while self.waiting.packets > 0 && self.next_start <= now && self.next_start < self.line.next() {
            self.start_next(exits);
        }
        if self.line.next() > now {
            return None;
        }
        let (at, packet) = self.line.pop()?;
        self.line.prefetch_next();
        self.end_losses(at);
        self.stats.delivered.add(packet.size);
        if self.log.interest().datagrams() {
            self.log.push(at, Event::Delivered { length: packet.size });
        }
        Some(packet)
    }

    /// The packet that arrives at the far end behind so many others, if that is known.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&Packet> {
        self.line.upcoming(ahead)
    }

    /// Counts the losses of packets whose transmission ends by `at`.
    #[inline]
    fn end_losses(&mut self, at: Time) {
        while self.losing.front().is_some_and(|(end, ..)| *end <= at) {
            if let Some((end, size, flow)) = self.losing.pop_front() {
                self.note_drop(end, (size, flow), DropReason::Loss);
            }
        }
    }

    /// Counts how long the queue was as it is.
    #[inline]
    fn sum_queue(&mut self, at: Time) {
        let span = at.since(self.stats.until).as_nanos();
        if span > 0 {
            self.stats.until = at;
            if self.waiting.packets > 0 {
                self.stats.queue_packet_time += u128::from(self.waiting.packets) * u128::from(span);
                self.stats.queue_byte_time += u128::from(self.waiting.bytes) * u128::from(span);
            }
        }
    }

    /// The queue has changed: takes over what it says.
    #[inline]
    fn read_queue(&mut self, at: Time, exits: &mut Exits) {
        let before = std::mem::replace(&mut self.waiting, self.queue.waiting());
        if !self.report.is_empty() {
            self.read_report(at, exits);
        }
        if self.log.interest().metrics && before != self.waiting {
            let Count { packets, bytes } = self.waiting;
            self.log.push(at, Event::Queue { packets: packets as u32, bytes });
        }
    }

    fn read_report(&mut self, at: Time, exits: &mut Exits) {
        let mut dropped = std::mem::take(&mut self.report.dropped);
        for packet in dropped.drain(..) {
            self.note_drop(at, (packet.size, packet.flow), DropReason::Queue);
            exits.discard(packet);
        }
        self.report.dropped = dropped;
        self.stats.marked += std::mem::take(&mut self.report.marked);
        if std::mem::take(&mut self.report.overflow) {
            self.overflow = self.overflow.or(Some(Overflow::Queue));
            exits.stop();
        }
    }

    fn note_drop(&mut self, at: Time, (size, flow): (u32, u32), reason: DropReason) {
        let count = match reason {
            DropReason::Mtu => &mut self.stats.dropped_mtu,
            DropReason::Queue => &mut self.stats.dropped_queue,
            DropReason::Loss => &mut self.stats.lost,
        };
        count.add(size);
        let flow = flow as usize;
        if flow < MAX_COUNTED_FLOWS {
            self.drops.resize(self.drops.len().max(flow + 1), 0);
            self.drops[flow] += 1;
        }
        if self.log.interest().losses() {
            self.log.push(at, Event::NetworkDrop { length: size, reason: reason.name() });
        }
    }

    /// Takes the next packet out of the queue at the time at which it can go, and transmits it.
    #[inline]
    fn start_next(&mut self, exits: &mut Exits) {
        let start = self.next_start;
        self.end_losses(start);
        self.sum_queue(start);
        let (before, packet) = (self.waiting, self.queue.dequeue(start, &mut self.report));
        let alone = self.report.is_empty();
        self.read_queue(start, exits);
        match packet {
            Some(packet) => {
                // What is one less tells its size: a packet that has waited for long is not in the cache.
                let size = if alone { (before.bytes - self.waiting.bytes) as u32 } else { packet.size };
                debug_assert_eq!(size, packet.size, "a queue counts what it holds");
                self.transmit(start, size, packet, exits);
            }
            None => debug_assert_eq!(self.waiting.packets, 0, "a queue is work-conserving"),
        }
    }

    /// Transmits a packet of this size from `start` on.
    #[inline]
    fn transmit(&mut self, start: Time, size: u32, packet: Box<Packet>, exits: &mut Exits) {
        if let Some(delays) = &mut self.delays {
            delays.add(packet.l4s, start.since(packet.entered));
        }
        let last = self.transmission;
        self.stats.busy += last.end.since(last.busy_from);
        let end = self.server.serve(start, size);
        self.transmission =
            Transmission { busy_from: last.end.max(last.head_since), end, head_since: last.head_since };
        self.next_start = self.server.ready(end);
        match &mut self.impairments {
            Some(impairments) if end != Time::NEVER => {
                let fate = impairments.judge(end, &packet);
                self.suffer(fate, end, packet, exits);
            }
            _ => self.depart(end, 0, packet, exits),
        }
    }

    /// Does to a packet what befalls it at the end of its transmission.
    fn suffer(&mut self, fate: Fate, end: Time, mut packet: Box<Packet>, exits: &mut Exits) {
        if fate.lost {
            self.losing.push_back((end, packet.size, packet.flow));
            return exits.discard(packet);
        }
        if fate.altered && self.impairments.as_mut().is_some_and(|impairments| impairments.alter(&mut packet))
        {
            self.stats.corrupted += 1;
        }
        let copy = fate.twice.then(|| exits.copy(&packet));
        self.depart(end, fate.shift, packet, exits);
        if let Some(copy) = copy {
            self.stats.duplicated.add(copy.size);
            self.depart(end, fate.shift, copy, exits);
        }
    }

    /// Puts a packet whose last bit goes at `end` on the delay line.
    #[inline]
    fn depart(&mut self, end: Time, shift: i64, packet: Box<Packet>, exits: &mut Exits) {
        let delay = Duration::from_nanos(self.delay.as_nanos().saturating_add_signed(shift));
        let mut arrival = end + delay;
        if !self.line.reorders() {
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        if self.line.len() >= MAX_UNDERWAY {
            self.overflow = self.overflow.or(Some(Overflow::Line));
            exits.stop();
        }
        self.line.push(arrival, packet);
    }
}

impl Element for Link {
    fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        let packet = exits.place(packet);
        self.offer(now, packet, exits);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.is_due(now) {
            if let Some(packet) = self.deliver(now, exits) {
                exits.pass_on(packet);
            }
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        let mut at = self.line.next();
        // While something is underway in order, nothing that waits can arrive before it: to catch up at that arrival
        // is early enough.
        if self.waiting.packets > 0 && (at == Time::NEVER || self.line.reorders()) {
            at = at.min(self.next_start);
        }
        (at != Time::NEVER).then_some(at)
    }
}
