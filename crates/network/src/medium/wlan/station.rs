//! A station: its queue, the frames that it is sending, and its counters.

use super::rate_control::RateControl;
use super::standard::{DELIMITER, LONGEST, MOST_BYTES, Modulation, Standard};
use crate::books::PacketBooks;
use crate::buffer::Buffer;
use crate::count::Count;
use crate::exits::Exits;
use crate::medium::Air;
use crate::packet::Packet;
use random::Generator;
use std::collections::VecDeque;
use trace::{BlockFate, Event, Stages};
use units::{Duration, Time};

/// A packet that is being sent.
pub(super) struct Entry {
    /// `None` once it was handed over at the far end.
    packet: Option<Box<Packet>>,
    size: u32,
    /// When it left the queue, and when its first attempt began.
    taken: Time,
    first: Time,
    attempts: u8,
    /// Whether it is a part of the transmission that goes on.
    sending: bool,
    /// When the far end received it.
    received: Option<Time>,
    /// Whether it was acknowledged or given up.
    ended: bool,
}

/// A transmission: a frame or an A-MPDU, and its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub modulation: Modulation,
    /// The bytes of all of it; how long it takes, and the response, in ns.
    pub bytes: u32,
    pub duration: u64,
    pub response: u64,
    pub rate: usize,
    frames: u32,
    /// The ns of the medium that were charged for it and not reported.
    pub charge: u64,
}

/// How packets are sent, of all stations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Attempts of a frame, RTS included.
    pub attempts: u8,
    /// Frames of an A-MPDU.
    pub aggregated: usize,
}

/// What was left of a window of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// None, or all were given up.
    Nothing,
    /// Some are to be sent again.
    Frames,
}

pub(super) struct Station {
    pub buffer: Buffer,
    /// The packets that are being sent, all to one receiver, in order.
    entries: Vec<Entry>,
    pub receiver: u16,
    /// The size of the smallest packet that has come, and how long a frame with it takes at least, in ns.
    pub smallest: u32,
    pub shortest: u64,
    /// From the end of an exchange to the next frame, at least, in ns: the backoff that will be drawn is known before, so
    /// that nobody need be awake to draw it.
    pub lull: u64,
    /// Whether packets that were received wait for one before them.
    pub holds_back: bool,
    /// The next packet, if it left the queue and goes to another receiver.
    held: Option<Box<Packet>>,
    pub plan: Plan,
    /// The contention window, and RTS without response.
    pub window: u32,
    unanswered: u8,
    /// By receiver; of a terminal of a station one.
    pub controls: Vec<Box<dyn RateControl>>,
    pub backoff: Generator,
    pub air: Air,
    /// Packets that left the queue and were not handed over; those handed over and not yet there.
    sending: Count,
    pub handed: Count,
    pub received: Count,
}

impl Station {
    pub(super) fn new(
        buffer: Buffer,
        controls: Vec<Box<dyn RateControl>>,
        backoff: Generator,
        standard: &Standard,
    ) -> Station {
        let plan = Plan {
            modulation: standard.rates[0],
            bytes: 0,
            duration: 0,
            response: 0,
            rate: 0,
            frames: 0,
            charge: 0,
        };
        Station {
            buffer,
            entries: Vec::new(),
            receiver: 0,
            smallest: u32::MAX,
            shortest: 0,
            lull: 0,
            holds_back: false,
            held: None,
            plan,
            window: standard.window.0,
            unanswered: 0,
            controls,
            backoff,
            air: Air::default(),
            sending: Count::default(),
            handed: Count::default(),
            received: Count::default(),
        }
    }

    /// Whether nothing is being sent.
    pub(super) fn is_idle(&self) -> bool {
        self.entries.is_empty()
    }
    /// Packets inside of the medium.
    pub(super) fn inside(&self) -> Count {
        self.buffer.inside(self.sending + self.handed)
    }

    /// Adds what came of packets here to books; those that were handed over are elsewhere.
    pub(super) fn account(&self, books: &mut PacketBooks) {
        self.buffer.account(books);
        let sending = self.entries.iter().filter_map(|entry| entry.packet.as_deref());
        sending.chain(self.held.as_deref()).for_each(|packet| books.hold(packet));
    }

    /// Stops unless its packets are those that are counted.
    pub(super) fn check(&self) {
        self.buffer.check();
        let mut sending = Count::default();
        let entries = self.entries.iter().filter_map(|entry| entry.packet.as_ref());
        entries.chain(&self.held).for_each(|packet| sending.add(packet.size));
        assert_eq!(
            sending, self.sending,
            "packets that left the queue are counted until they are handed over"
        );
        let to_others =
            |entry: &Entry| entry.packet.as_ref().is_some_and(|it| it.attachment() != self.receiver);
        assert!(!self.entries.iter().any(to_others), "all that is sent at once is for one receiver");
        let held = self.held.as_ref().is_none_or(|packet| packet.attachment() != self.receiver);
        assert!(held || self.is_idle(), "only a packet for another receiver is held back");
        assert!(!self.is_idle() || !self.buffer.is_waiting(), "a station with packets is not idle");
        let ended = |entry: &Entry| !entry.ended || !entry.sending;
        assert!(self.entries.iter().all(ended), "what has ended is not sent");
    }
    /// Takes a packet that leaves the queue at `now`.
    pub(super) fn take(&mut self, now: Time, packet: Box<Packet>) {
        self.receiver = packet.attachment();
        self.sending.add(packet.size);
        self.push(now, packet);
    }
    fn push(&mut self, now: Time, packet: Box<Packet>) {
        self.entries.push(Entry {
            size: packet.size,
            packet: Some(packet),
            taken: now,
            first: now,
            attempts: 0,
            sending: false,
            received: None,
            ended: false,
        });
    }
    fn next(&mut self, now: Time, exits: &mut Exits) -> Option<Box<Packet>> {
        if self.held.is_some() {
            return self.held.take();
        }
        if !self.buffer.is_waiting() {
            return None;
        }
        let (_, packet) = self.buffer.dequeue(now, exits)?;
        self.sending.add(packet.size);
        Some(packet)
    }
    /// Takes the next packet if nothing is being sent; returns the size of the packet that is sent next.
    pub(super) fn load(&mut self, now: Time, exits: &mut Exits) -> Option<u32> {
        if self.entries.is_empty()
            && let Some(packet) = self.next(now, exits)
        {
            self.receiver = packet.attachment();
            self.push(now, packet);
        }
        self.entries.first().map(|entry| entry.size)
    }

    /// Determines the next transmission.
    pub(super) fn plan(
        &mut self,
        now: Time,
        standard: &Standard,
        limits: Limits,
        peer: usize,
        exits: &mut Exits,
    ) {
        let first = self.entries.first().expect("who begins to send has loaded a packet");
        let attempt = first.attempts + 1;
        let rate = self.controls[peer].rate(now, attempt);
        let modulation = standard.rates[rate];
        let (mut frames, mut bytes, mut alone, mut at) = (0, 0, 0, 0);
        loop {
            if at == self.entries.len() {
                // More packets for the same receiver join an A-MPDU.
                if !standard.aggregates || at >= limits.aggregated {
                    break;
                }
                let Some(packet) = self.next(now, exits) else { break };
                if packet.attachment() != self.receiver {
                    self.held = Some(packet);
                    break;
                }
                self.push(now, packet);
            }
            let entry = &mut self.entries[at];
            at += 1;
            if entry.ended {
                continue;
            }
            let frame = entry.size + standard.overhead;
            let with = bytes + DELIMITER + frame.next_multiple_of(DELIMITER);
            if frames > 0 && (with > MOST_BYTES || modulation.duration(with) > LONGEST) {
                break;
            }
            (entry.sending, bytes, frames) = (true, with, frames + 1);
            alone = frame;
        }
        debug_assert!(frames > 0, "a transmission carries a frame that has not ended");
        if frames == 1 {
            bytes = alone;
        }
        let control = &standard.control[rate];
        self.plan = Plan {
            modulation,
            bytes,
            duration: modulation.duration(bytes),
            response: if frames == 1 { control.ack } else { control.block_ack },
            rate,
            frames,
            charge: self.plan.charge,
        };
    }

    /// The transmission begins.
    pub(super) fn begin(&mut self, now: Time, standard: &Standard) {
        // A draw from a wider window gives more.
        let slots = self.backoff.clone().below(u64::from(standard.window.0) + 1);
        self.lull = standard.ifs + slots * standard.slot;
        for entry in self.entries.iter_mut().filter(|entry| entry.sending) {
            entry.attempts = entry.attempts.saturating_add(1);
            if entry.attempts == 1 {
                entry.first = now;
                if let Some(packet) = &entry.packet {
                    self.buffer.note_start(now, packet);
                }
            }
        }
    }

    /// The transmission ends: `fails` says which frames were not received. Returns how many were.
    pub(super) fn end(
        &mut self,
        now: Time,
        standard: &Standard,
        limits: Limits,
        mut fails: impl FnMut(Modulation, u32) -> bool,
    ) -> u32 {
        let (plan, mut received) = (self.plan, 0);
        let logs = self.buffer.log().interest().metrics;
        // What a frame has of the time that the medium was used, for the log; the first also has the rest.
        let share = if logs { plan.charge / u64::from(plan.frames) } else { 0 };
        let mut first = plan.charge - share * u64::from(plan.frames);
        for entry in self.entries.iter_mut().filter(|entry| entry.sending) {
            let bytes = entry.size + standard.overhead;
            let failed = fails(plan.modulation, bytes);
            if !failed {
                received += 1;
                entry.received = entry.received.or(Some(now));
            }
            match entry.attempts {
                1 => self.air.sent += 1,
                _ => self.air.again += 1,
            }
            if logs {
                let fate = match failed {
                    false => BlockFate::Received,
                    true if entry.attempts < limits.attempts || entry.received.is_some() => BlockFate::Failed,
                    true => BlockFate::Lost,
                };
                let airtime_ns = (share + std::mem::take(&mut first)) as u32;
                let (attempt, mcs) = (entry.attempts, plan.modulation.number());
                let block = trace::Block { bytes, airtime_ns, attempt, mcs, units: 0, fate };
                self.buffer.log().push(now, Event::Block(block));
            }
        }
        self.report_charge();
        received
    }

    /// Adds the time that the medium was used to the counters.
    fn report_charge(&mut self) {
        let charge = Duration::from_nanos(std::mem::take(&mut self.plan.charge));
        self.air.airtime += charge;
        self.buffer.stats.busy += charge;
    }

    /// The response has come: what was received is acknowledged.
    pub(super) fn acknowledge(&mut self, limits: Limits) {
        let mut acknowledged = 0;
        for entry in self.entries.iter_mut().filter(|entry| entry.sending) {
            entry.ended = entry.received.is_some();
            acknowledged += u32::from(entry.ended);
        }
        self.unanswered = 0;
        self.note(acknowledged);
        self.finish(limits);
    }

    /// No response has come to the transmission.
    pub(super) fn miss(&mut self, limits: Limits) {
        self.note(0);
        self.finish(limits);
    }

    /// No response has come to an RTS.
    pub(super) fn miss_rts(&mut self, limits: Limits) {
        self.unanswered += 1;
        let gives_up = self.unanswered >= limits.attempts;
        for entry in self.entries.iter_mut().filter(|entry| entry.sending) {
            entry.sending = false;
            entry.ended |= gives_up;
        }
        if gives_up {
            self.unanswered = 0;
            self.report_charge();
        }
    }

    fn note(&mut self, acknowledged: u32) {
        let peer = if self.controls.len() == 1 { 0 } else { usize::from(self.receiver) };
        let Plan { rate, frames, .. } = self.plan;
        self.controls[peer].note(rate, frames, acknowledged);
    }

    fn finish(&mut self, limits: Limits) {
        for entry in self.entries.iter_mut().filter(|entry| entry.sending) {
            entry.sending = false;
            entry.ended |= entry.attempts >= limits.attempts;
        }
    }

    /// Hands over what the far end has in order, and ends what was given up.
    pub(super) fn settle(
        &mut self,
        now: Time,
        arrival: Time,
        handed: &mut VecDeque<(Time, Box<Packet>)>,
        exits: &mut Exits,
    ) -> Left {
        let mut in_order = true;
        self.holds_back = false;
        for entry in &mut self.entries {
            let Some(received) = entry.received else {
                if !entry.ended {
                    in_order = false;
                } else if let Some(packet) = entry.packet.take() {
                    self.air.lost += 1;
                    self.sending.remove(packet.size);
                    self.buffer.lose(now, packet, exits);
                }
                continue;
            };
            if !in_order {
                self.holds_back = true;
                continue;
            }
            if let Some(packet) = entry.packet.take() {
                let stages = Stages {
                    queue: entry.taken.since(packet.entered),
                    access: entry.first.since(entry.taken),
                    transfer: received.since(entry.first),
                    order: now.since(received),
                };
                self.air.delays += stages;
                if self.buffer.log().interest().metrics {
                    self.buffer.log().push(now, Event::HandedOver(stages));
                }
                self.sending.remove(packet.size);
                self.handed.add(packet.size);
                handed.push_back((arrival, packet));
            }
        }
        let settled = |entry: &Entry| entry.ended && entry.packet.is_none();
        let first = self.entries.iter().position(|entry| !settled(entry));
        match first {
            Some(first) => drop(self.entries.drain(..first)),
            None => self.entries.clear(),
        }
        if self.entries.is_empty() { Left::Nothing } else { Left::Frames }
    }
}
