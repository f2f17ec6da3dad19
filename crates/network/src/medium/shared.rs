//! A shared medium: one transmission at a time, first come, first served.
//!
//! Each attachment has a queue. A packet that has to wait gets a turn. Turns are served in the order in which
//! they were given, and the queue of the attachment decides which of its packets is sent in a turn. When the
//! queue drops packets, the attachment loses the same number of its next turns. A transmission takes the size
//! of the packet divided by the rate of the medium; the packet reaches the other attachment after the
//! propagation delay.
//!
//! Losses belong to an attachment: a packet passes those of its sender, then those of its receiver. Each
//! attachment has a random stream for each of the two, and draws for every packet, so that the fate of the n-th
//! packet does not depend on the others. A lost packet uses the rate like any other.
//!
//! At one instant a departure from a queue precedes an arrival. The medium is computed lazily, like a link.

use super::{Lane, LaneView, Medium, MediumOptions, Profile, Samples};
use crate::books::PacketBooks;
use crate::buffer::{Buffer, BufferOptions, MAX_IN_FLIGHT, Overflow};
use crate::count::Count;
use crate::error::BuildError;
use crate::exits::Exits;
use crate::link::Line;
use crate::loss::{self, Loss};
use crate::packet::Packet;
use crate::queue::LinkProperties;
use crate::rate::{self, Server};
use std::collections::VecDeque;
use trace::Log;
use units::parameter::{Component, Options, Row};
use units::{Duration, Rate, Size, Time};

/// The options of a shared medium.
#[derive(Debug, Clone, Options)]
struct SharedOptions {
    /// bits per second on the wire for all attachments together, IP header included
    #[option(default = "unlimited", room = "rates")]
    rate: Component,
    /// propagation delay from any attachment to any other
    #[option(default = "0 s")]
    delay: Duration,
    /// queue of an attachment; 1 BDP uses the whole rate
    #[option(default = "drop-tail", room = "queues")]
    queue: Component,
    /// loss of packets to and from an attachment, after transmission
    #[option(default = "none", room = "losses")]
    loss: Component,
    /// largest IP packet in bytes that an attachment sends; larger ones are dropped
    #[option(default = 1500, within = 68..=65_535)]
    mtu: u32,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "shared",
    about: "one rate shared by all attached nodes, one transmission at a time, first come, first served",
    parameters: SharedOptions::PARAMETERS,
    build: Profile {
        of_attachment: &["queue", "loss", "mtu"],
        of_station: &["queue", "loss", "mtu"],
        lanes_by_receiver: false,
        needs_station: false,
        samples: Samples {
            lossy: &[
                ("rate", "fixed rate=25 Mbit/s"),
                ("queue", "drop-tail limit=20 packets"),
                ("loss", "random probability=0.1"),
            ],
            lossless: &[("rate", "fixed rate=5 Mbit/s"), ("queue", "drop-tail limit=unlimited")],
        },
        rate: Some(SharedOptions::RATE),
        outlook: |_| None,
        check: |_, _| Ok(()),
        build: |options| Ok(Box::new(Shared::new(options)?)),
    },
};

struct Attachment {
    buffer: Buffer,
    /// Losses of sent packets, and of received packets.
    losses: [Option<Box<dyn Loss>>; 2],
    received: Count,
    in_flight: Count,
    /// Lost turns that are still in the list.
    lost_turns: u64,
}

impl Attachment {
    /// Updates the lost turns after a change of the queue from `before` packets; returns the number of new
    /// turns.
    fn settle(&mut self, before: u64) -> u64 {
        let now = self.buffer.waiting().packets;
        self.lost_turns += before.saturating_sub(now);
        now.saturating_sub(before)
    }
}

struct Shared {
    attachments: Vec<Attachment>,
    /// One for each attachment.
    lanes: Vec<Lane>,
    server: Server,
    delay: Duration,
    /// The attachments in the order of their turns: one entry for each waiting packet, and for each lost turn.
    turns: VecDeque<u16>,
    /// The number of waiting packets at all attachments.
    waiting: u64,
    /// When the next packet can leave its queue. The medium is free if that is in the past.
    next_start: Time,
    /// The current or last transmission: the sender, the start and the end.
    transmission: (u16, Time, Time),
    line: Line,
}

impl Shared {
    fn new(options: &MediumOptions<'_>) -> Result<Shared, BuildError> {
        let SharedOptions { rate, delay, .. } = SharedOptions::of(options.arguments);
        let stream = |purpose: &str| (options.stream)(&format!("{} {purpose}", options.name));
        let mut server = rate::build(rate.name, &rate.arguments, stream("rate"))?;
        let attachment = |(name, arguments): &(String, units::parameter::Arguments)| {
            let stream = |purpose: &str| (options.stream)(&format!("{name} {purpose}"));
            let SharedOptions { queue, loss, mtu, .. } = SharedOptions::of(arguments);
            let buffer = BufferOptions {
                queue: &queue,
                name,
                setup: LinkProperties {
                    rate: server.mean_rate(),
                    round_trip: delay + delay,
                    mtu,
                    flows: options.flows,
                },
                delays: options.delays,
                interest: options.interest,
            };
            let loss = |purpose| loss::build(loss.name, &loss.arguments, stream(purpose));
            Ok(Attachment {
                buffer: Buffer::new(&buffer, stream("queue"))?,
                losses: [loss("loss sent")?, loss("loss received")?],
                received: Count::default(),
                in_flight: Count::default(),
                lost_turns: 0,
            })
        };
        let attachments: Vec<Attachment> =
            options.attachments.iter().map(attachment).collect::<Result<_, BuildError>>()?;
        Ok(Shared {
            lanes: (0..attachments.len()).map(|from| Lane { from: from as u16, to: None }).collect(),
            attachments,
            next_start: server.ready(Time::ZERO),
            server,
            delay,
            turns: VecDeque::new(),
            waiting: 0,
            transmission: (0, Time::ZERO, Time::ZERO),
            line: Line::new(false),
        })
    }

    /// Serves the next turn, at the time at which the medium is free.
    fn start_next(&mut self, exits: &mut Exits) {
        let sender = self.turns.pop_front().expect("each waiting packet has a turn");
        let attachment = &mut self.attachments[usize::from(sender)];
        if attachment.lost_turns > 0 {
            attachment.lost_turns -= 1;
            return;
        }
        let (start, before) = (self.next_start, attachment.buffer.waiting().packets);
        let next = attachment.buffer.dequeue(start, exits);
        self.waiting -= before - attachment.buffer.waiting().packets;
        // This turn belonged to one of them.
        attachment.settle(before - 1);
        if let Some((size, packet)) = next {
            self.transmit(start, size, packet, exits);
        }
    }

    /// Stops unless the attachments agree with the list of turns and with the line.
    fn check(&self) {
        self.line.check();
        let sum = |of: fn(&Attachment) -> u64| self.attachments.iter().map(of).sum::<u64>();
        let waiting = sum(|attachment| attachment.buffer.waiting().packets);
        assert_eq!(self.waiting, waiting, "the waiting packets are those of all attachments");
        let turns = waiting + sum(|attachment| attachment.lost_turns);
        assert_eq!(self.turns.len() as u64, turns, "each waiting packet has a turn, and others are lost");
        let in_flight = sum(|attachment| attachment.in_flight.packets);
        assert_eq!(self.line.len() as u64, in_flight, "packets in flight are counted by sender");
    }

    /// Starts all transmissions up to and at `now`.
    fn start_all(&mut self, now: Time, exits: &mut Exits) {
        while self.waiting > 0 && self.next_start <= now {
            self.start_next(exits);
        }
    }

    fn transmit(&mut self, start: Time, size: u32, packet: Box<Packet>, exits: &mut Exits) {
        self.end_transmission();
        let (sender, receiver) = (packet.sender, packet.attachment());
        let end = self.server.serve(start, size);
        self.transmission = (sender, start, end);
        self.next_start = self.server.ready(end);
        let mut loses = |number: u16, way: usize| {
            let loss = &mut self.attachments[usize::from(number)].losses[way];
            end != Time::NEVER && loss::loses(loss.as_mut(), end, &packet)
        };
        // Both draw, regardless of the other's result.
        let lost = loses(sender, 0) | loses(receiver, 1);
        let attachment = &mut self.attachments[usize::from(sender)];
        attachment.buffer.note_start(start, &packet);
        if lost {
            return attachment.buffer.lose(end, packet, exits);
        }
        if self.line.len() >= MAX_IN_FLIGHT {
            attachment.buffer.overflow_line(exits);
        }
        attachment.in_flight.add(size);
        self.line.push(end + self.delay, packet);
    }

    /// Adds the last transmission to the counters of its sender.
    fn end_transmission(&mut self) {
        let (sender, start, end) = self.transmission;
        self.attachments[usize::from(sender)].buffer.stats.busy += end.since(start);
        self.transmission = (sender, end, end);
    }
}

impl Medium for Shared {
    fn offer(&mut self, now: Time, from: u16, to: u16, mut packet: Box<Packet>, exits: &mut Exits) {
        self.start_all(now, exits);
        packet.attach(from, to);
        let attachment = &mut self.attachments[usize::from(from)];
        attachment.buffer.catch_up(now);
        let Some(packet) = attachment.buffer.admit(now, packet, exits) else { return };
        if self.waiting == 0 {
            if self.next_start <= now {
                self.next_start = self.server.ready(now);
            }
            if self.next_start <= now {
                if let Some(packet) = attachment.buffer.pass(now, packet, exits) {
                    self.transmit(now, packet.size, packet, exits);
                }
                return;
            }
        }
        let before = attachment.buffer.waiting().packets;
        attachment.buffer.enqueue(now, packet, exits);
        // The packet may have displaced others.
        self.waiting = self.waiting - before + attachment.buffer.waiting().packets;
        let turns = attachment.settle(before);
        self.turns.extend((0..turns).map(|_| from));
        if cfg!(debug_assertions) {
            self.check();
        }
    }

    fn is_due(&self, now: Time) -> bool {
        self.line.next() <= now || (self.waiting > 0 && self.next_start <= now)
    }

    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)> {
        while self.waiting > 0 && self.next_start <= now && self.next_start < self.line.next() {
            self.start_next(exits);
        }
        if self.line.next() > now {
            return None;
        }
        let (at, mut packet) = self.line.pop()?;
        let sender = &mut self.attachments[usize::from(packet.sender)];
        sender.buffer.note_delivered(at, packet.size);
        sender.in_flight.remove(packet.size);
        let receiver = packet.detach();
        self.attachments[usize::from(receiver)].received.add(packet.size);
        if cfg!(debug_assertions) {
            self.check();
        }
        Some((receiver, packet))
    }

    fn wake_at(&self) -> Option<Time> {
        let mut at = self.line.next();
        // No waiting packet can arrive before those in flight.
        if self.waiting > 0 && at == Time::NEVER {
            at = self.next_start;
        }
        (at != Time::NEVER).then_some(at)
    }

    fn catch_up(&mut self, now: Time, exits: &mut Exits) {
        self.start_all(now, exits);
        for attachment in &mut self.attachments {
            attachment.buffer.catch_up(now);
            if cfg!(debug_assertions) {
                attachment.buffer.check();
            }
        }
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn lane(&self, number: usize) -> LaneView<'_> {
        let attachment = &self.attachments[number];
        let mut stats = attachment.buffer.stats;
        stats.inside = attachment.buffer.inside(attachment.in_flight);
        let (sender, start, end) = self.transmission;
        if usize::from(sender) == number {
            stats.busy += stats.until.min(end).since(start);
        }
        LaneView { stats, delays: attachment.buffer.delays(), air: None }
    }

    fn received(&self, attachment: usize) -> Count {
        self.attachments[attachment].received
    }

    fn log(&mut self, lane: usize) -> &mut Log {
        self.attachments[lane].buffer.log()
    }

    fn overflow(&self) -> Option<(&str, Overflow)> {
        self.attachments
            .iter()
            .find_map(|attachment| Some((attachment.buffer.name(), attachment.buffer.overflow()?)))
    }

    fn account(&self, books: &mut PacketBooks) {
        self.attachments.iter().for_each(|attachment| attachment.buffer.account(books));
        self.line.each(&mut |packet| books.hold(packet));
    }
    fn delay(&self) -> Duration {
        self.delay
    }
    fn mean_rate(&self) -> Option<Rate> {
        self.server.mean_rate()
    }
    fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        self.server.capacity(from, to)
    }
}
