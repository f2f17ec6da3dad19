//! Wireless LANs: stations that contend for one channel (IEEE 802.11, DCF).
//!
//! A station that has something to send waits until the medium was idle for DIFS and for a random number of slots. A
//! frame that was received is acknowledged after SIFS; one that was not is sent again, with a longer backoff. Frames
//! that overlap at a station are not received there. Who hears whom can be given, so that stations are hidden from each
//! other.
//!
//! With a station, which is the access point, terminals only reach that; without, each reaches all others. Every
//! attachment has one queue. A medium with nothing to send has no timer.

mod clock;
mod contention;
mod ear;
mod errors;
mod options;
mod outlook;
mod rate_control;
mod standard;
mod station;

use super::{Lane, LaneView, Medium, Profile, Samples};
use crate::books::PacketBooks;
use crate::buffer::{MAX_IN_FLIGHT, Overflow};
use crate::count::Count;
use crate::exits::Exits;
use crate::packet::Packet;
use contention::{Contention, Turn};
use ear::Heard;
use standard::{Control, Modulation, Standard};
use station::{Left, Limits, Station};
use std::collections::VecDeque;
use trace::Log;
use units::parameter::{Options, Room, Row};
use units::{Duration, Rate, Size, Time};

pub(crate) const ROW: Row<Profile> = Row {
    name: "wlan",
    about: "a wireless LAN of 802.11: contention, collisions, acknowledgements, rates",
    parameters: options::WlanOptions::PARAMETERS,
    build: Profile {
        of_attachment: &options::OF_ATTACHMENT,
        of_station: &options::OF_STATION,
        lanes_by_receiver: false,
        needs_station: false,
        samples: Samples {
            lossy: &[
                ("queue", "drop-tail limit=20 packets"),
                ("frame_errors", "target per=0.5"),
                ("attempts", "2"),
            ],
            lossless: &[("queue", "drop-tail limit=unlimited"), ("attempts", "255")],
        },
        rate: None,
        outlook: outlook::outlook,
        check: options::check,
        build: |options| Ok(Box::new(options::build(options)?)),
    },
};

/// The rooms of the parts of WLANs.
pub(crate) fn rooms() -> [Room; 2] {
    [errors::room(), rate_control::room()]
}

/// A time that never comes, in ns.
const NEVER: u64 = u64::MAX;

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rts,
    Cts,
    Data,
    Response,
}

/// A frame on the air.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    sender: u16,
    receiver: u16,
    start: u64,
    end: u64,
    /// Whether another begins with it that all hear, before they sense it.
    collides: bool,
}

impl Frame {
    fn new(kind: Kind, sender: u16, receiver: u16, start: u64, duration: u64) -> Frame {
        Frame { kind, sender, receiver, start, end: start + duration, collides: false }
    }
}

pub(super) struct Wlan {
    standard: Standard,
    limits: Limits,
    /// Frames of more bytes are preceded by RTS and CTS.
    rts_threshold: u32,
    stations: Vec<Station>,
    contention: Contention,
    /// Whether packets may arrive before the time that the next data frame takes: when an RTS before it fails, or when one
    /// is given up in an A-MPDU that others wait for.
    arrives_early: bool,
    links: Vec<errors::Link>,
    lanes: Vec<Lane>,
    has_station: bool,
    /// Frames on the air, and those that follow SIFS after another.
    on_air: Vec<Frame>,
    due: Vec<Frame>,
    /// Stations that begin at one instant.
    beginning: Vec<u16>,
    /// The time until which the use of the medium has been charged to stations.
    charged_until: u64,
    /// From the end of a frame to the node.
    delay: Duration,
    handed: VecDeque<(Time, Box<Packet>)>,
    next_event: u64,
    /// No packet arrives before this time, unless it is handed over already.
    next_arrival: u64,
    /// How long a data frame takes at least, in ns.
    shortest: u64,
    fastest: Modulation,
    peak: Rate,
}

impl Wlan {
    /// The place of a receiver among the rate controls of a sender.
    fn peer(&self, sender: usize) -> usize {
        let station = &self.stations[sender];
        if station.controls.len() == 1 { 0 } else { usize::from(station.receiver) }
    }

    /// The time before which nothing arrives by a frame, or by one that follows it. Packets that wait for one before them
    /// arrive when that is given up, at the end of a frame of any kind.
    fn arrival_after(&self, frame: &Frame) -> u64 {
        let initiator = match frame.kind {
            Kind::Rts | Kind::Data => frame.sender,
            Kind::Cts | Kind::Response => frame.receiver,
        };
        let station = &self.stations[usize::from(initiator)];
        match frame.kind {
            _ if station.holds_back => frame.end,
            Kind::Data if !frame.collides => frame.end,
            // The next frame of this station; the others contend already, and will not begin earlier than they mean to.
            Kind::Data | Kind::Response if self.contention.is_open() => {
                frame.end + station.lull + station.shortest
            }
            _ => frame.end + self.shortest,
        }
    }

    /// Determines when something happens next, and before when no packet arrives anywhere, from what is known of stations
    /// that contend.
    fn find_next_event(&mut self, turn: Turn) {
        let Turn { start: mut event, end: mut arrival } = turn;
        if self.arrives_early && event != NEVER {
            arrival = event + self.shortest;
        }
        for frame in &self.on_air {
            event = event.min(frame.end);
            arrival = arrival.min(self.arrival_after(frame));
        }
        for frame in &self.due {
            event = event.min(frame.start);
            arrival = arrival.min(self.arrival_after(frame));
        }
        (self.next_event, self.next_arrival) = (event, arrival);
    }

    /// Processes everything up to and at `now`.
    fn run(&mut self, now: Time, exits: &mut Exits) {
        while self.next_event <= now.as_nanos() {
            self.process(self.next_event, exits);
        }
    }

    /// Stops unless the stations agree with the lists of the medium.
    fn check(&self) {
        self.stations.iter().for_each(Station::check);
        self.contention.check();
        let handed: u64 = self.stations.iter().map(|station| station.handed.packets).sum();
        assert_eq!(handed, self.handed.len() as u64, "packets on their way to nodes are counted by sender");
        assert!(
            self.handed.iter().is_sorted_by_key(|(at, _)| *at),
            "packets reach nodes in the order of time"
        );
        assert!(self.beginning.is_empty(), "between two instants nobody is about to begin");
    }

    /// Everything at one instant: ends, then what follows SIFS after another frame, then new transmissions.
    fn process(&mut self, now: u64, exits: &mut Exits) {
        while let Some(frame) = take(&mut self.on_air, |frame| frame.end == now) {
            self.end(frame, exits);
        }
        while let Some(frame) = take(&mut self.due, |frame| frame.start == now) {
            self.respond(frame);
        }
        let mut next = self.contention.next(&self.standard);
        if next.start == now {
            let mut beginning = std::mem::take(&mut self.beginning);
            self.contention.take_beginning(now, &mut beginning, &self.standard);
            self.transmit(now, &beginning, exits);
            beginning.clear();
            self.beginning = beginning;
            next = self.contention.next(&self.standard);
        }
        self.find_next_event(next);
        if cfg!(debug_assertions) {
            self.check();
        }
    }

    /// Stations whose backoff ends at one instant begin to send.
    fn transmit(&mut self, now: u64, beginning: &[u16], exits: &mut Exits) {
        debug_assert!(!beginning.is_empty(), "the turn that has come is that of a station");
        let mut end = now;
        // If all hear each other, the frames on the air began too shortly before to be sensed.
        let collides = self.contention.is_open() && beginning.len() + self.on_air.len() > 1;
        if collides {
            self.on_air.iter_mut().for_each(|frame| frame.collides = true);
        }
        for number in beginning {
            let sender = usize::from(*number);
            let peer = self.peer(sender);
            let station = &mut self.stations[sender];
            station.plan(Time::from_nanos(now), &self.standard, self.limits, peer, exits);
            let mut frame = if station.plan.bytes > self.rts_threshold {
                let duration = self.standard.control[station.plan.rate].rts;
                Frame::new(Kind::Rts, *number, station.receiver, now, duration)
            } else {
                station.begin(Time::from_nanos(now), &self.standard);
                Frame::new(Kind::Data, *number, station.receiver, now, station.plan.duration)
            };
            frame.collides = collides;
            end = end.max(frame.end);
            self.begin(frame, true);
        }
        let charge = self.charge(now, end);
        if let [number] = beginning {
            self.stations[usize::from(*number)].plan.charge += charge;
            return;
        }
        // Those that collide share the time.
        let share = charge / beginning.len() as u64;
        let mut rest = charge % beginning.len() as u64;
        for number in beginning {
            self.stations[usize::from(*number)].plan.charge += share + std::mem::take(&mut rest);
        }
    }

    /// The part of a time that has not been charged.
    fn charge(&mut self, start: u64, end: u64) -> u64 {
        let charge = end.saturating_sub(start.max(self.charged_until));
        self.charged_until = self.charged_until.max(end);
        charge
    }

    /// A frame begins: the first of an exchange, or one that follows.
    fn begin(&mut self, frame: Frame, is_first: bool) {
        let Frame { kind, sender, receiver, start, end, .. } = frame;
        let sifs = self.standard.sifs;
        let announces = match kind {
            Kind::Data => end + sifs + self.stations[usize::from(sender)].plan.response,
            Kind::Rts => {
                let plan = &self.stations[usize::from(sender)].plan;
                end + 3 * sifs + self.control(sender).cts + plan.duration + plan.response
            }
            Kind::Cts => {
                let plan = &self.stations[usize::from(receiver)].plan;
                end + 2 * sifs + plan.duration + plan.response
            }
            Kind::Response => 0,
        };
        let heard = Heard { from: sender, start, end, announces };
        self.contention.begin(heard, receiver, is_first, &self.standard);
        self.on_air.push(frame);
    }

    /// How long the control frames take of what a station sends.
    fn control(&self, number: u16) -> &Control {
        &self.standard.control[self.stations[usize::from(number)].plan.rate]
    }

    /// A frame follows SIFS after another. If all hear each other nobody can begin before it.
    fn follow(&mut self, frame: Frame) {
        if self.contention.is_open() {
            self.respond(frame);
        } else {
            self.due.push(frame);
        }
    }

    /// A frame begins that follows SIFS after another.
    fn respond(&mut self, frame: Frame) {
        let initiator = match frame.kind {
            Kind::Data => {
                let now = Time::from_nanos(frame.start);
                self.stations[usize::from(frame.sender)].begin(now, &self.standard);
                frame.sender
            }
            _ => frame.receiver,
        };
        let charge = self.charge(frame.start, frame.end);
        self.stations[usize::from(initiator)].plan.charge += charge;
        self.begin(frame, false);
    }

    /// A frame ends.
    fn end(&mut self, frame: Frame, exits: &mut Exits) {
        let (sender, receiver) = (usize::from(frame.sender), usize::from(frame.receiver));
        let ear = self.contention.ear(frame.receiver);
        let received = ear.map_or(!frame.collides, |ear| ear.has_received(frame.sender, frame.start));
        let now = frame.end;
        let follow = now + self.standard.sifs;
        let answer = |kind, duration| Frame::new(kind, frame.receiver, frame.sender, follow, duration);
        match frame.kind {
            Kind::Rts => {
                let is_free = ear.is_none_or(|ear| !ear.is_announced(now));
                let cts = self.control(frame.sender).cts;
                if received && is_free {
                    self.follow(answer(Kind::Cts, cts));
                } else {
                    self.stations[sender].miss_rts(self.limits);
                    self.fail(sender, now, follow + cts, exits);
                }
            }
            Kind::Cts if received => {
                let duration = self.stations[receiver].plan.duration;
                self.follow(answer(Kind::Data, duration));
            }
            Kind::Cts => {
                self.stations[receiver].miss_rts(self.limits);
                self.fail(receiver, now, now, exits);
            }
            Kind::Data => self.end_data(frame, received, exits),
            Kind::Response if received => {
                let station = &mut self.stations[receiver];
                station.acknowledge(self.limits);
                station.window = self.standard.window.0;
                self.next(receiver, now, exits);
            }
            Kind::Response => {
                self.stations[receiver].miss(self.limits);
                self.fail(receiver, now, now, exits);
            }
        }
    }

    fn end_data(&mut self, frame: Frame, received: bool, exits: &mut Exits) {
        let (sender, receiver) = (usize::from(frame.sender), usize::from(frame.receiver));
        let now = Time::from_nanos(frame.end);
        let follow = frame.end + self.standard.sifs;
        let until = follow + self.stations[sender].plan.response;
        // The errors of a frame are those of the terminal; between two, those of the receiver.
        let (terminal, up) =
            if self.has_station && receiver == 0 { (sender, true) } else { (receiver, false) };
        let link = &mut self.links[terminal];
        let station = &mut self.stations[sender];
        let good = station.end(now, &self.standard, self.limits, |modulation, bytes| {
            !received || link.fails(now, up, modulation, bytes)
        });
        if good > 0 {
            station.settle(now, now + self.delay, &mut self.handed, exits);
            let response = self.stations[sender].plan.response;
            self.follow(Frame::new(Kind::Response, frame.receiver, frame.sender, follow, response));
            if self.handed.len() > MAX_IN_FLIGHT {
                self.stations[sender].buffer.overflow_line(exits);
            }
            return;
        }
        if received {
            self.contention.spoil(frame.receiver, frame.end, &self.standard);
        }
        self.stations[sender].miss(self.limits);
        self.fail(sender, frame.end, until, exits);
    }

    /// A transmission has failed: the station waits for the response that does not come, and backs off for longer.
    fn fail(&mut self, number: usize, now: u64, until: u64, exits: &mut Exits) {
        self.contention.miss(number as u16, until, &self.standard);
        let station = &mut self.stations[number];
        station.window = (2 * station.window + 1).min(self.standard.window.1);
        self.next(number, now, exits);
    }

    /// Ends an exchange, and begins the backoff that follows each.
    fn next(&mut self, number: usize, now: u64, exits: &mut Exits) {
        let at = Time::from_nanos(now);
        let station = &mut self.stations[number];
        let left = station.settle(at, at + self.delay, &mut self.handed, exits);
        if left == Left::Nothing {
            station.window = self.standard.window.0;
        }
        let slots = station.backoff.below(u64::from(station.window) + 1);
        let shortest = station.load(at, exits).map(|size| self.shortest(size));
        self.contention.back_off(number as u16, now, slots, shortest, &self.standard);
    }

    /// How long a frame with a packet of this size takes at least.
    fn shortest(&self, size: u32) -> u64 {
        self.fastest.duration(size + self.standard.overhead)
    }

    /// A packet has come to a station that has nothing else to send.
    fn contend(&mut self, number: usize, now: u64, size: u32) {
        let shortest = self.shortest(size);
        let station = &mut self.stations[number];
        let draw = || station.backoff.below(u64::from(station.window) + 1);
        self.contention.contend(number as u16, now, shortest, &self.standard, draw);
        self.find_next_event(self.contention.next(&self.standard));
    }
}

/// Takes the first of these frames for which a condition holds.
fn take(frames: &mut Vec<Frame>, condition: impl Fn(&Frame) -> bool) -> Option<Frame> {
    let at = frames.iter().position(condition)?;
    if at + 1 == frames.len() { frames.pop() } else { Some(frames.remove(at)) }
}

impl Medium for Wlan {
    fn offer(&mut self, now: Time, from: u16, to: u16, mut packet: Box<Packet>, exits: &mut Exits) {
        self.run(now, exits);
        packet.attach(from, to);
        let station = &mut self.stations[usize::from(from)];
        station.buffer.catch_up(now);
        let Some(packet) = station.buffer.admit(now, packet, exits) else { return };
        if packet.size < station.smallest {
            station.smallest = packet.size;
            station.shortest = self.fastest.duration(packet.size + self.standard.overhead);
            self.find_next_event(self.contention.next(&self.standard));
        }
        let station = &mut self.stations[usize::from(from)];
        if !station.is_idle() {
            return station.buffer.enqueue(now, packet, exits);
        }
        if let Some(packet) = station.buffer.pass(now, packet, exits) {
            let size = packet.size;
            station.take(now, packet);
            self.contend(usize::from(from), now.as_nanos(), size);
        }
    }

    fn is_due(&self, now: Time) -> bool {
        self.next_arrival <= now.as_nanos() || self.handed.front().is_some_and(|(at, _)| *at <= now)
    }

    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)> {
        self.run(now, exits);
        let (at, mut packet) =
            self.handed.front().is_some_and(|(at, _)| *at <= now).then(|| self.handed.pop_front())??;
        let sender = &mut self.stations[usize::from(packet.sender)];
        sender.handed.remove(packet.size);
        sender.buffer.note_delivered(at, packet.size);
        let receiver = packet.detach();
        self.stations[usize::from(receiver)].received.add(packet.size);
        Some((receiver, packet))
    }

    fn wake_at(&self) -> Option<Time> {
        let handed = self.handed.front().map_or(NEVER, |(at, _)| at.as_nanos());
        let at = self.next_arrival.min(handed);
        (at != NEVER).then(|| Time::from_nanos(at))
    }

    fn catch_up(&mut self, now: Time, exits: &mut Exits) {
        self.run(now, exits);
        for station in &mut self.stations {
            station.buffer.catch_up(now);
        }
        if cfg!(debug_assertions) {
            self.check();
        }
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn lane(&self, number: usize) -> LaneView<'_> {
        let station = &self.stations[number];
        let mut stats = station.buffer.stats;
        stats.inside = station.inside();
        LaneView { stats, delays: station.buffer.delays(), air: Some(station.air) }
    }

    fn received(&self, attachment: usize) -> Count {
        self.stations[attachment].received
    }

    fn log(&mut self, lane: usize) -> &mut Log {
        self.stations[lane].buffer.log()
    }

    fn overflow(&self) -> Option<(&str, Overflow)> {
        self.stations.iter().find_map(|station| Some((station.buffer.name(), station.buffer.overflow()?)))
    }

    fn account(&self, books: &mut PacketBooks) {
        self.stations.iter().for_each(|station| station.account(books));
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
