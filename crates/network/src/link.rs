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

pub use options::{LINK, LinkOptions};

use crate::buffer::{Buffer, BufferOptions, CarrierStats, MAX_IN_FLIGHT, Overflow, QueueDelays};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::queue::Setup;
use crate::rate::{self, Server};
use impairments::{Fate, Impairments};
pub(crate) use line::Line;
use random::{Stream, Watch};
use std::fmt;
use trace::Log;
use units::{Duration, Rate, Size, Time};

/// One direction of a link.
pub struct Link {
    buffer: Buffer,
    server: Server,
    /// When the next packet can leave the queue. If it is past, the server is free.
    next_start: Time,
    transmission: Transmission,
    impairments: Option<Box<Impairments>>,
    delay: Duration,
    line: Line,
    /// No packet arrives before this, unless the line reorders.
    last_arrival: Time,
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

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("name", &self.buffer.name())
            .field("stats", &self.buffer.stats)
            .finish_non_exhaustive()
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
        let buffer = BufferOptions {
            arguments,
            name: options.name,
            setup: Setup {
                rate: server.mean_rate(),
                round_trip: options.round_trip,
                mtu: arguments.integer("mtu") as u32,
                flows: options.flows,
            },
            delays: options.delays,
            interest: options.interest,
        };
        let waiting = Buffer::new(&buffer, stream("queue"))?;
        let impairments = Impairments::new(arguments, stream)?;
        let jitters = impairments.as_ref().is_some_and(|all| all.jitters());
        Ok(Link {
            buffer: waiting,
            next_start: server.ready(Time::ZERO),
            server,
            transmission: Transmission::default(),
            impairments,
            delay: arguments.duration("delay"),
            line: Line::new(arguments.flag("reorder") && jitters),
            last_arrival: Time::ZERO,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.buffer.name()
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
    pub fn stats(&self) -> CarrierStats {
        let (stats, going) = (self.buffer.stats, self.transmission);
        let now = stats.until;
        let mut busy = stats.busy + now.min(going.end).since(going.busy_from);
        if self.buffer.is_waiting() {
            // The packet at the head waits for an opportunity, or for the end of an outage.
            busy += now.since(going.end.max(going.head_since));
        }
        CarrierStats { inside: self.buffer.inside(self.line.count()), busy, ..stats }
    }
    /// How long packets waited before their transmission, if that is counted.
    pub fn delays(&self) -> Option<&QueueDelays> {
        self.buffer.delays()
    }
    /// Packets of a flow that were dropped or lost here. Flows from 65,536 on are not counted one by one.
    pub fn drops_of(&self, flow: u32) -> u64 {
        self.buffer.drops_of(flow)
    }
    /// What it had no room for, if anything. The counters are wrong from then on.
    pub fn overflow(&self) -> Option<Overflow> {
        self.buffer.overflow()
    }
    /// The events that wait for a sink, in the order of time.
    pub fn log(&mut self) -> &mut Log {
        self.buffer.log()
    }

    /// Does all that happens up to and at `now`, but for the deliveries.
    #[inline]
    pub fn catch_up(&mut self, now: Time, exits: &mut Exits) {
        while self.buffer.is_waiting() && self.next_start <= now {
            self.start_next(exits);
        }
        self.buffer.catch_up(now);
    }

    /// Takes a packet at the near end: for callers that drive a link without a world.
    pub fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        let packet = exits.place(packet);
        self.offer(now, packet, exits);
    }
    /// Sends on what has reached the far end by `now`: for callers that drive a link without a world.
    pub fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.is_due(now) {
            if let Some(packet) = self.deliver(now, exits) {
                exits.pass_on(packet);
            }
        }
    }
    /// When the link must be woken; `None`: not before the next packet.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        let mut at = self.line.next();
        // While something is underway in order, nothing that waits can arrive before it: to catch up at that arrival
        // is early enough.
        if self.buffer.is_waiting() && (at == Time::NEVER || self.line.reorders()) {
            at = at.min(self.next_start);
        }
        (at != Time::NEVER).then_some(at)
    }

    /// A packet arrives at the near end.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, packet: Box<Packet>, exits: &mut Exits) {
        self.catch_up(now, exits);
        let Some(packet) = self.buffer.admit(now, packet, exits) else { return };
        if !self.buffer.is_waiting() {
            self.transmission.head_since = now;
            if self.next_start <= now {
                self.next_start = self.server.ready(now);
            }
            if self.next_start <= now {
                if let Some(packet) = self.buffer.pass(now, packet, exits) {
                    self.transmit(now, packet.size, packet, exits);
                }
                return;
            }
        }
        self.buffer.enqueue(now, packet, exits);
    }

    /// Whether anything happens up to and at `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.line.next() <= now || (self.buffer.is_waiting() && self.next_start <= now)
    }

    /// The next packet that has reached the far end by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<Box<Packet>> {
        // What comes first, comes first; at one instant the delivery.
        while self.buffer.is_waiting() && self.next_start <= now && self.next_start < self.line.next() {
            self.start_next(exits);
        }
        if self.line.next() > now {
            return None;
        }
        let (at, packet) = self.line.pop()?;
        self.line.prefetch_next();
        self.buffer.note_delivered(at, packet.size);
        Some(packet)
    }

    /// The packet that arrives at the far end behind so many others, if that is known.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&Packet> {
        self.line.upcoming(ahead)
    }

    /// Takes the next packet out of the queue at the time at which it can go, and transmits it.
    #[inline]
    fn start_next(&mut self, exits: &mut Exits) {
        let start = self.next_start;
        if let Some((size, packet)) = self.buffer.dequeue(start, exits) {
            self.transmit(start, size, packet, exits);
        }
    }

    /// Transmits a packet of this size from `start` on.
    #[inline]
    fn transmit(&mut self, start: Time, size: u32, packet: Box<Packet>, exits: &mut Exits) {
        self.buffer.note_start(start, &packet);
        let last = self.transmission;
        self.buffer.stats.busy += last.end.since(last.busy_from);
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
            return self.buffer.lose(end, packet, exits);
        }
        if fate.altered && self.impairments.as_mut().is_some_and(|impairments| impairments.alter(&mut packet))
        {
            self.buffer.stats.corrupted += 1;
        }
        let copy = fate.twice.then(|| exits.copy(&packet));
        self.depart(end, fate.shift, packet, exits);
        if let Some(copy) = copy {
            self.buffer.stats.duplicated.add(copy.size);
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
        if self.line.len() >= MAX_IN_FLIGHT {
            self.buffer.overflow_line(exits);
        }
        self.line.push(arrival, packet);
    }
}
