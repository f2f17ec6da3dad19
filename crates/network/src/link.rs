//! One direction of a link: queue, server, losses and delay line as one element with one timer.
//!
//! A packet goes through, in this order:
//! 1. the MTU: larger packets are dropped;
//! 2. the queue, which may drop it;
//! 3. service: its transmission takes its size over the rate;
//! 4. loss, after it took its time on the link; then corruption and duplication;
//! 5. propagation delay, jitter, and without `reorder` the order of transmission.
//!
//! The direction is computed lazily: whenever it is touched, all that happened since is caught up with the times at
//! which it happened. The packet in service is put into the delay line at once, for its end is known; so a packet
//! costs one timer, its delivery.

use crate::jitter::{self, Jitter};
use crate::loss::{self, Loss};
use crate::queue::{self, Drop, Queue};
use crate::rate::{self, Server};
use crate::{Element, Exits, Packet};
use random::Stream;
use std::collections::VecDeque;
use trace::{Event, Interest, Log};
use units::parameter::{Arguments, Default, Kind, Limit, Parameter};
use units::{Duration, Rate, Size, Time};
use wire::Damage;

/// The options of a direction of a link: what `forward` and `backward` admit in a scenario.
pub static LINK: &[Parameter] = &[
    Parameter {
        name: "rate",
        kind: Kind::Component("rates"),
        default: Default::Is("\"unlimited\""),
        about: "bits per second on the wire, IP header included",
    },
    Parameter {
        name: "delay",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "propagation delay",
    },
    Parameter {
        name: "queue",
        kind: Kind::Component("queues"),
        default: Default::Is("\"drop-tail\""),
        about: "what waits for transmission",
    },
    Parameter {
        name: "loss",
        kind: Kind::Component("losses"),
        default: Default::Is("\"none\""),
        about: "packets that are lost after transmission",
    },
    Parameter {
        name: "jitter",
        kind: Kind::Component("jitters"),
        default: Default::Is("\"none\""),
        about: "delay that changes from packet to packet, on top of the propagation delay",
    },
    Parameter {
        name: "reorder",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether jitter may change the order of packets",
    },
    Parameter {
        name: "mtu",
        kind: Kind::Integer(68, 65_535),
        default: Default::Is("1500"),
        about: "largest IP packet in bytes; larger ones are dropped",
    },
    Parameter {
        name: "duplicate",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "probability that a packet arrives twice",
    },
    Parameter {
        name: "corrupt",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "probability that one byte of the UDP payload is altered",
    },
];

/// Why a packet ended on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Larger than the MTU.
    Mtu,
    /// The queue dropped it.
    Queue,
    /// It was lost.
    Loss,
}

impl DropReason {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Mtu => "mtu",
            DropReason::Queue => "queue",
            DropReason::Loss => "loss",
        }
    }
}

/// What a direction of a link has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets handed to it.
    pub accepted: u64,
    /// Their bytes.
    pub accepted_bytes: u64,
    /// Packets that reached the far end, duplicates included.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped for their size.
    pub dropped_mtu: u64,
    /// Packets dropped by the queue.
    pub dropped_queue: u64,
    /// Packets lost.
    pub lost: u64,
    /// Bytes of all that were dropped or lost.
    pub dropped_bytes: u64,
    /// Packets altered.
    pub corrupted: u64,
    /// Packets that were sent on twice, and their bytes.
    pub duplicated: u64,
    /// Bytes of the second copies.
    pub duplicated_bytes: u64,
    /// The most packets that waited.
    pub queue_max_packets: u64,
    /// The most bytes that waited.
    pub queue_max_bytes: u64,
    /// The time that the server was busy.
    pub busy: Duration,
    /// Sum of waiting packets times nanoseconds.
    pub queue_packet_time: u128,
    /// Sum of waiting bytes times nanoseconds.
    pub queue_byte_time: u128,
}

/// What a direction is made from.
#[derive(Debug, Clone)]
pub struct LinkOptions<'a> {
    /// The values of [`LINK`].
    pub arguments: &'a Arguments,
    /// The propagation delay of the way there and back over this link, for queue limits in BDP.
    pub round_trip: Duration,
    /// The run's seed.
    pub seed: u64,
    /// The name for random streams: `"link cell forward"`.
    pub name: &'a str,
    /// What is noted in the log.
    pub interest: Interest,
}

/// One direction of a link.
pub struct Link {
    server: Server,
    free_at: Time,
    delay: Duration,
    queue: Box<dyn Queue>,
    loss: Option<Box<dyn Loss>>,
    jitter: Option<(Box<dyn Jitter>, bool)>,
    mtu: u32,
    duplicate: f64,
    corrupt: f64,
    chances: Stream,
    line: VecDeque<(Time, Packet)>,
    /// Up to when the queue's length is summed up.
    last_change: Time,
    stats: LinkStats,
    mean_rate: Option<Rate>,
    /// Buffers of packets that ended here, until somebody can take them.
    dead: Vec<Vec<u8>>,
    /// Packets dropped or lost, by their owner.
    drops: Vec<u64>,
    log: Log,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("stats", &self.stats).finish_non_exhaustive()
    }
}

/// A queue limit in packets and bytes. Time and BDP count at the mean rate of the link, and are never below one packet
/// of 1500 bytes.
pub(crate) fn resolve(limit: Limit, rate: Option<Rate>, round_trip: Duration) -> (u64, u64) {
    let at_rate = |span: Duration| rate.map_or(u64::MAX, |rate| rate.bytes_in(span).as_bytes().max(1500));
    match limit {
        Limit::Unlimited => (u64::MAX, u64::MAX),
        Limit::Packets(packets) => (packets, u64::MAX),
        Limit::Bytes(bytes) => (u64::MAX, bytes.as_bytes()),
        Limit::Time(span) => (u64::MAX, at_rate(span)),
        Limit::BdpThousandths(share) => (u64::MAX, at_rate(round_trip.scale(share, 1000))),
    }
}

impl Link {
    /// A direction at rest.
    ///
    /// # Errors
    /// If an option cannot be used: a malformed trace, say. The text says which and why.
    pub fn new(options: &LinkOptions<'_>) -> Result<Link, String> {
        let arguments = options.arguments;
        let stream = |purpose: &str| Stream::new(options.seed, &format!("{} {purpose}", options.name));
        let rate = arguments.component("rate");
        let server = rate::build(rate.name, &rate.arguments)?;
        let queue = arguments.component("queue");
        let setup = queue::Setup { rate: server.mean_rate(), round_trip: options.round_trip };
        let loss = arguments.component("loss");
        let jitter = arguments.component("jitter");
        Ok(Link {
            mean_rate: server.mean_rate(),
            server,
            free_at: Time::ZERO,
            delay: arguments.duration("delay"),
            queue: queue::build(queue.name, &queue.arguments, setup)?,
            loss: loss::build(loss.name, &loss.arguments, stream("loss"))?,
            jitter: jitter::build(jitter.name, &jitter.arguments, stream("jitter"))?
                .map(|jitter| (jitter, arguments.flag("reorder"))),
            mtu: arguments.integer("mtu") as u32,
            duplicate: arguments.number("duplicate"),
            corrupt: arguments.number("corrupt"),
            chances: stream("chances"),
            line: VecDeque::new(),
            last_change: Time::ZERO,
            stats: LinkStats::default(),
            dead: Vec::new(),
            drops: Vec::new(),
            log: Log::new(options.interest),
        })
    }

    /// The mean of its rate over time; `None` if it is unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        self.mean_rate
    }
    /// What it could carry between two times, in bytes; `None` if it is unlimited.
    pub fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        self.server.capacity(from, to)
    }
    /// The counters, caught up to `now`.
    pub fn stats(&mut self, now: Time) -> LinkStats {
        self.catch_up(now);
        self.note_queue_time(now);
        self.stats
    }
    /// Packets of an owner that were dropped or lost here.
    pub fn drops_of(&self, owner: u32) -> u64 {
        self.drops.get(owner as usize).copied().unwrap_or(0)
    }
    /// Packets inside: waiting, in service or underway.
    pub fn inside(&self) -> u64 {
        self.queue.packets() + self.line.len() as u64
    }
    /// The events that wait for a sink.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    #[inline]
    fn note_queue_time(&mut self, at: Time) {
        let span = at.since(self.last_change).as_nanos();
        if span > 0 && self.queue.packets() > 0 {
            self.stats.queue_packet_time += u128::from(self.queue.packets()) * u128::from(span);
            self.stats.queue_byte_time += u128::from(self.queue.bytes()) * u128::from(span);
        }
        self.last_change = self.last_change.max(at);
    }

    fn note_drop(&mut self, at: Time, (size, owner): (u32, u32), reason: DropReason) {
        let owner = owner as usize;
        if self.drops.len() <= owner {
            self.drops.resize(owner + 1, 0);
        }
        self.drops[owner] += 1;
        match reason {
            DropReason::Mtu => self.stats.dropped_mtu += 1,
            DropReason::Queue => self.stats.dropped_queue += 1,
            DropReason::Loss => self.stats.lost += 1,
        }
        self.stats.dropped_bytes += u64::from(size);
        if self.log.interest().losses() {
            self.log.push(at, Event::NetworkDrop { length: size, reason: reason.name() });
        }
    }

    #[inline]
    fn trace_queue(&mut self, at: Time) {
        if self.log.interest().metrics {
            let (packets, bytes) = (self.queue.packets() as u32, self.queue.bytes());
            self.log.push(at, Event::Queue { packets, bytes });
        }
    }

    /// Serves all packets whose service began by `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        while self.free_at <= now && self.queue.packets() > 0 {
            self.serve(self.free_at);
        }
    }

    /// Takes the next packet out of the queue into service at `start`.
    #[inline]
    fn serve(&mut self, start: Time) {
        self.note_queue_time(start);
        let mut drops = Vec::new();
        let packet = self.queue.dequeue(start, &mut drops);
        for dropped in drops {
            self.note_drop(start, (dropped.size, dropped.owner), DropReason::Queue);
        }
        let Some(packet) = packet else { return };
        self.trace_queue(start);
        let done = self.server.serve(start, packet.size);
        self.stats.busy += done.since(start);
        self.free_at = done;
        if done == Time::NEVER {
            // The link never carries anything again: the packet is in service for ever.
            self.line.push_back((Time::NEVER, packet));
            return;
        }
        self.send_off(done, packet);
    }

    /// Loss, corruption, duplication and delay of a packet whose transmission ends at `done`.
    #[inline]
    fn send_off(&mut self, done: Time, mut packet: Packet) {
        if let Some(loss) = &mut self.loss
            && loss.loses(&packet)
        {
            self.note_drop(done, (packet.size, packet.owner), DropReason::Loss);
            return self.dead.push(packet.bytes);
        }
        if self.corrupt > 0.0 && self.chances.chance(self.corrupt) {
            self.alter(&mut packet);
        }
        if self.duplicate > 0.0 && self.chances.chance(self.duplicate) {
            self.stats.duplicated += 1;
            self.stats.duplicated_bytes += u64::from(packet.size);
            let copy = packet.clone();
            self.put_on_line(done, packet);
            return self.put_on_line(done, copy);
        }
        self.put_on_line(done, packet);
    }

    fn alter(&mut self, packet: &mut Packet) {
        packet.write_out();
        if packet.bytes.is_empty() {
            return;
        }
        self.stats.corrupted += 1;
        let at = self.chances.below(packet.bytes.len() as u64) as u32;
        packet.bytes[at as usize] ^= 1 + self.chances.below(255) as u8;
        let damage = Damage { first: at, last: at };
        packet.damage = Some(packet.damage.map_or(damage, |known| known.and(damage)));
    }

    #[inline]
    fn put_on_line(&mut self, done: Time, packet: Packet) {
        let mut arrival = done + self.delay;
        let last = self.line.back().map_or(Time::ZERO, |(at, _)| *at);
        match &mut self.jitter {
            None => {}
            Some((jitter, reorder)) => {
                arrival += jitter.extra();
                if *reorder && arrival < last {
                    let at = self.line.partition_point(|(known, _)| *known <= arrival);
                    return self.line.insert(at, (arrival, packet));
                }
                arrival = arrival.max(last);
            }
        }
        self.line.push_back((arrival, packet));
    }

    /// The next packet that has reached the far end by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time) -> Option<Packet> {
        self.catch_up(now);
        if self.line.front().is_none_or(|(at, _)| *at > now) {
            return None;
        }
        let (at, packet) = self.line.pop_front()?;
        self.stats.delivered += 1;
        self.stats.delivered_bytes += u64::from(packet.size);
        if self.log.interest().datagrams() {
            self.log.push(at, Event::Delivered { length: packet.size });
        }
        Some(packet)
    }
}

impl Element for Link {
    #[inline]
    fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        self.stats.accepted += 1;
        self.stats.accepted_bytes += u64::from(packet.size);
        if packet.size > self.mtu {
            self.note_drop(now, (packet.size, packet.owner), DropReason::Mtu);
            return exits.recycle(packet.bytes);
        }
        while let Some(buffer) = self.dead.pop() {
            exits.recycle(buffer);
        }
        self.catch_up(now);
        self.note_queue_time(now);
        if let Err(Drop { packet }) = self.queue.enqueue(now, packet) {
            self.note_drop(now, (packet.size, packet.owner), DropReason::Queue);
            return exits.recycle(packet.bytes);
        }
        if self.free_at <= now {
            return self.serve(now);
        }
        self.stats.queue_max_packets = self.stats.queue_max_packets.max(self.queue.packets());
        self.stats.queue_max_bytes = self.stats.queue_max_bytes.max(self.queue.bytes());
        self.trace_queue(now);
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while let Some(packet) = self.deliver(now) {
            exits.send(packet);
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        // While packets wait, one is in service, and that one is in the line or was lost: then the end of its service
        // is when the next one starts.
        let front = self.line.front().map(|(at, _)| *at);
        let waiting = self.queue.packets() > 0;
        match front {
            // The next one may overtake what is underway.
            Some(front) if waiting && self.jitter.as_ref().is_some_and(|(_, reorder)| *reorder) => {
                Some(front.min(self.free_at))
            }
            Some(Time::NEVER) => None,
            Some(front) => Some(front),
            None => waiting.then_some(self.free_at),
        }
    }
}
