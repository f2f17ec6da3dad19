//! One direction of a link: queue, server, losses and delay line as one element with one timer.
//!
//! A packet passes, in this order:
//! 1. the MTU: a larger packet is dropped on arrival;
//! 2. the queue, which may drop or mark it, or drop others to make room. A packet that finds the server free and the
//!    queue empty does not wait, and the queue's limit does not apply to it;
//! 3. transmission: it leaves the queue when its first bit can be sent, and takes its size divided by the rate;
//! 4. loss, at the end of its last bit: a lost packet uses the rate like any other;
//! 5. alteration of one byte of its UDP payload (virtual bytes are written out first), and duplication: the copy,
//!    altered like the original, takes no time to transmit and arrives right behind it;
//! 6. propagation delay and jitter. Without `reorder` a packet never arrives before those transmitted before it, and
//!    never before its last bit was sent.
//!
//! A series gives rate, delay and loss over time, in place of the options of these names.
//!
//! At one instant a departure from the queue precedes an arrival.
//!
//! The direction is computed lazily: each call first processes everything since the last one, at the times at which it
//! happened. The packet in transmission enters the delay line at once, since the end of its transmission is known, so
//! that a packet costs one timer, that of its delivery. The times of the calls do not affect the results.

mod impairments;
mod line;
mod options;

use crate::direction::DirectionOptions;
pub use options::LinkOptions;

use crate::books::PacketBooks;
use crate::buffer::{Buffer, BufferOptions, CarrierStats, MAX_IN_FLIGHT, Overflow, QueueDelays};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::queue::LinkProperties;
use crate::rate::{self, Server};
use crate::series;
use impairments::{Fate, Impairments};
pub(crate) use line::Line;
use random::{Generator, Watch};
use std::fmt;
use trace::Log;
use units::parameter::Options;
use units::{Duration, Rate, Size, Time};

/// One direction of a link.
pub struct Link {
    buffer: Buffer,
    server: Server,
    /// When the next packet can leave the queue. The server is free if that is in the past.
    next_start: Time,
    transmission: Transmission,
    impairments: Option<Box<Impairments>>,
    delay: Duration,
    line: Line,
    /// No packet arrives before this time, unless the line reorders.
    last_arrival: Time,
}

/// The current or last transmission.
#[derive(Debug, Clone, Copy, Default)]
struct Transmission {
    /// Since when the packet has kept the link busy: it was at the head of the queue, and the previous one had
    /// been sent.
    busy_from: Time,
    /// The end of its last bit.
    end: Time,
    /// Since when the packet at the head of the queue has been there.
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
    /// Creates an idle direction.
    ///
    /// # Errors
    /// If an option cannot be used, such as a malformed trace.
    pub fn new(options: &LinkOptions<'_>) -> Result<Link, BuildError> {
        let stream = |name: &str, purpose: &str| Generator::new(options.seed, &format!("{name} {purpose}"));
        Link::with(options, stream)
    }

    /// Whether such a direction draws random numbers; otherwise its seed has no effect.
    ///
    /// # Errors
    /// The errors of [`Link::new`].
    pub fn draws(options: &LinkOptions<'_>) -> Result<bool, BuildError> {
        let watch = Watch::default();
        let _link = Link::with(options, |_, _| watch.stream())?;
        Ok(watch.draws())
    }

    /// `stream` returns the stream of a name for a purpose.
    fn with(options: &LinkOptions<'_>, stream: impl Fn(&str, &str) -> Generator) -> Result<Link, BuildError> {
        let direction = DirectionOptions::of(options.arguments);
        let shared = stream(options.shared, "series");
        let stream = |purpose: &str| stream(options.name, purpose);
        let (rate, series) = (&direction.rate, &direction.series);
        let mut series = series::play(series.name, &series.arguments, shared, stream("series loss"))?;
        let delay = series.delay.unwrap_or(direction.delay);
        let mut server = match series.rate.take() {
            Some(server) => server,
            None => rate::build(rate.name, &rate.arguments, stream("rate"))?,
        };
        let buffer = BufferOptions {
            queue: &direction.queue,
            name: options.name,
            setup: LinkProperties {
                rate: server.mean_rate(),
                round_trip: options.round_trip,
                mtu: direction.mtu,
                flows: options.flows,
            },
            delays: options.delays,
            interest: options.interest,
        };
        let waiting = Buffer::new(&buffer, stream("queue"))?;
        let impairments = Impairments::new(&direction, series, stream)?;
        let jitters = impairments.as_ref().is_some_and(|all| all.jitters());
        Ok(Link {
            buffer: waiting,
            next_start: server.ready(Time::ZERO),
            server,
            transmission: Transmission::default(),
            impairments,
            delay,
            line: Line::new(direction.reorder && jitters),
            last_arrival: Time::ZERO,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.buffer.name()
    }
    /// The mean rate over time; `None` if it is unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        self.server.mean_rate()
    }
    /// The bytes that it can send between two times; `None` if that is unlimited.
    pub fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        self.server.capacity(from, to)
    }
    /// The largest IP packet that it takes, in bytes.
    pub(crate) fn mtu(&self) -> u32 {
        self.buffer.mtu
    }
    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }
    /// The counters. They are lazy, too: [`Link::catch_up`], or a world at the end of its run, updates them.
    pub fn stats(&self) -> CarrierStats {
        let (stats, going) = (self.buffer.stats, self.transmission);
        let now = stats.until;
        let mut busy = stats.busy + now.min(going.end).since(going.busy_from);
        if self.buffer.is_waiting() {
            // The packet at the head waits for an opportunity to send, or for the end of an outage.
            busy += now.since(going.end.max(going.head_since));
        }
        CarrierStats { inside: self.buffer.inside(self.line.count()), busy, ..stats }
    }
    /// The queueing delays before transmission, if they are counted.
    pub fn delays(&self) -> Option<&QueueDelays> {
        self.buffer.delays()
    }
    /// Packets of a flow that were dropped or lost here. Flows from 65,536 on are not counted individually.
    pub fn drops_of(&self, flow: u32) -> u64 {
        self.buffer.drops_of(flow)
    }
    /// Adds what came of packets here to books.
    pub(crate) fn account(&self, books: &mut PacketBooks) {
        self.buffer.account(books);
        self.line.each(&mut |packet| books.hold(packet));
        self.impairments.iter().for_each(|impairments| books.copied.merge(&impairments.copied));
    }
    /// The memory that has overflowed, if any. The counters are wrong from then on.
    pub fn overflow(&self) -> Option<Overflow> {
        self.buffer.overflow()
    }
    /// The events that no sink has taken, in the order of time.
    pub fn log(&mut self) -> &mut Log {
        self.buffer.log()
    }

    /// Processes everything up to and at `now` except deliveries.
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
    /// Delivers the packets that have reached the far end by `now`: for callers that drive a link without a
    /// world.
    pub fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.is_due(now) {
            if let Some(packet) = self.deliver(now, exits) {
                exits.send(packet);
            }
        }
    }
    /// The time of the timer; `None` if nothing happens before the next packet.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        let mut at = self.line.next();
        // While packets are in flight on an ordered line, no waiting packet can arrive before them: catching up
        // at that arrival is early enough.
        if self.buffer.is_waiting() && (at == Time::NEVER || self.line.reorders()) {
            at = at.min(self.next_start);
        }
        (at != Time::NEVER).then_some(at)
    }

    /// Takes a packet at the near end.
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
        self.note_queue(now);
        if cfg!(debug_assertions) {
            self.check();
        }
    }
    /// Stops unless its parts agree about the packets in it.
    fn check(&self) {
        self.buffer.check();
        self.line.check();
        let Transmission { busy_from, end, head_since } = self.transmission;
        assert!(busy_from <= end, "{}: a transmission ends after it began", self.name());
        assert!(
            !self.buffer.is_waiting() || head_since <= self.next_start,
            "who is sent next has come before"
        );
        assert!(self.next_start >= end || end == Time::NEVER, "one packet is sent after another");
    }

    /// Reports the length of the queue to a server that requests capacity by it.
    #[inline]
    fn note_queue(&mut self, now: Time) {
        if let Server::DvbRcs2(terminal) = &mut self.server {
            self.next_start = terminal.note_queue(now, self.buffer.waiting().bytes);
        }
    }

    /// Whether anything happens up to and at `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.line.next() <= now || (self.buffer.is_waiting() && self.next_start <= now)
    }

    /// The next packet that has reached the far end by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<Box<Packet>> {
        // Events in the order of time; at one instant the delivery first.
        while self.buffer.is_waiting() && self.next_start <= now && self.next_start < self.line.next() {
            self.start_next(exits);
        }
        if self.line.next() > now {
            return None;
        }
        let (at, packet) = self.line.pop()?;
        self.line.prefetch_next();
        self.buffer.note_delivered(at, packet.size);
        if cfg!(debug_assertions) {
            self.check();
        }
        Some(packet)
    }

    /// The packet that arrives behind `ahead` others, if it is known.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&Packet> {
        self.line.upcoming(ahead)
    }

    /// Takes the next packet out of the queue at the time at which it can be sent, and transmits it.
    #[inline]
    fn start_next(&mut self, exits: &mut Exits) {
        let start = self.next_start;
        let next = self.buffer.dequeue(start, exits);
        self.note_queue(start);
        if let Some((size, packet)) = next {
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
        debug_assert!(last.end <= start, "a transmission begins when the one before has ended");
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

    /// Applies its fate to a packet at the end of its transmission.
    fn suffer(&mut self, fate: Fate, end: Time, mut packet: Box<Packet>, exits: &mut Exits) {
        if fate.lost {
            return self.buffer.lose(end, packet, exits);
        }
        if fate.altered {
            let impairments = self.impairments.as_mut().expect("a fate is drawn by impairments");
            self.buffer.stats.corrupted += u64::from(impairments.alter(&mut packet));
        }
        let copy = fate.twice.then(|| exits.copy(&packet));
        self.depart(end, fate.shift, packet, exits);
        if let Some(copy) = copy {
            self.buffer.stats.duplicated.add(copy.size);
            self.impairments.iter_mut().for_each(|own| own.copied.add(copy.flow, copy.size));
            self.depart(end, fate.shift, copy, exits);
        }
    }

    /// Puts a packet on the delay line whose last bit is sent at `end`.
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
