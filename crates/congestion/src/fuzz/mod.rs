//! Drives any controller with any sequence of events and checks the laws that always hold: a window of at least a
//! packet, a pacing rate that releases the next one, finite numbers, and equal results for equal input. For fuzzing
//! and tests.

mod defaults;

pub use defaults::arguments;

use crate::{
    AckSample, Allowance, CONTROLLERS, Controller, DeliveryRate, Limit, LostPacket, Pacer, RttEstimate, Sent,
    SentState, Setup, Signal,
};
use random::Generator;
use std::collections::VecDeque;
use units::{Duration, Rate, Time};

/// Drives a controller with these bytes: the first selects the row, the next eight are the seed of random details,
/// and each of the others is an event. Returns a hash of all answers.
///
/// # Panics
/// If the controller breaks a law.
pub fn controllers(data: &[u8]) -> u64 {
    let Some((&row, rest)) = data.split_first() else { return 0 };
    let Some((seed, events)) = rest.split_first_chunk::<8>() else { return 0 };
    let mut sender = Sender::new(usize::from(row) % CONTROLLERS.len(), u64::from_le_bytes(*seed));
    sender.check();
    for event in events {
        sender.step(*event);
    }
    sender.heard()
}

const DATAGRAM: u64 = 1200;

#[derive(Clone, Copy)]
struct Packet {
    bytes: u64,
    sent_at: Time,
    state: SentState,
}

/// A sender without a network: the fate of its packets is drawn at random.
pub struct Sender {
    name: &'static str,
    controller: Box<dyn Controller>,
    pacer: Pacer,
    rate: DeliveryRate,
    rtt: RttEstimate,
    now: Time,
    flight: VecDeque<Packet>,
    in_flight: u64,
    lost: Vec<Packet>,
    datagram: u64,
    /// The minimum window in packets, if there is an option for it.
    least: u64,
    limit: Limit,
    random: Generator,
    /// The maximum length of spans in bits of nanoseconds: some 18 minutes.
    longest: u64,
    /// A hash of all answers.
    heard: u64,
}

impl Sender {
    /// Creates a sender with the controller of this row. Equal seeds draw equal details.
    pub fn new(row: usize, seed: u64) -> Sender {
        Sender::with_controller_seed(row, seed, seed)
    }

    /// The same with a separate seed for the controller's own draws.
    pub fn with_controller_seed(row: usize, seed: u64, controller_seed: u64) -> Sender {
        let row = &CONTROLLERS[row];
        let arguments = defaults::arguments(row.parameters, &[]);
        let setup = Setup {
            max_datagram_size: DATAGRAM,
            initial_window: 10 * DATAGRAM,
            initial_packets: Some(10),
            initial_rtt: Duration::from_millis(333),
            seed: controller_seed,
        };
        let least = arguments.given(crate::basis::WindowOptions::MINIMUM_WINDOW).unwrap_or(1);
        let controller = (row.build)(&arguments, setup);
        let mut random = Generator::new(seed, "laws");
        // A connection may begin late in a run.
        let now = Time::from_nanos(random.below(30_000_000_000));
        Sender {
            name: row.name,
            controller,
            pacer: Pacer::new(DATAGRAM, 10, 1),
            rate: DeliveryRate::default(),
            rtt: RttEstimate::new(Duration::from_millis(333)),
            now,
            flight: VecDeque::new(),
            in_flight: 0,
            lost: Vec::new(),
            datagram: DATAGRAM,
            least,
            limit: Limit::Window,
            random,
            longest: 40,
            heard: 0,
        }
    }

    /// A span between a nanosecond and the maximum, with all orders of magnitude equally likely.
    fn span(&mut self) -> Duration {
        let bits = self.random.below(self.longest + 1);
        Duration::from_nanos(1 + self.random.below(1 << bits))
    }

    fn wait(&mut self, span: Duration) {
        self.now += span;
    }

    /// Sends as many packets as window and pacer allow, up to a limit; returns the number sent.
    fn send(&mut self, count: u64) -> u64 {
        for sent in 0..count {
            let small = self.random.below(8) == 0;
            let bytes = if small { 1 + self.random.below(self.datagram) } else { self.datagram };
            let allowance = self.check();
            if self.in_flight + self.datagram > allowance.window {
                self.limit = Limit::Window;
                return sent;
            }
            if allowance.pacing.is_some() && self.pacer.blocked_until(self.now).is_some() {
                self.limit = Limit::Pacer;
                return sent;
            }
            let state = self.rate.on_sent(self.now, bytes, self.in_flight);
            self.flight.push_back(Packet { bytes, sent_at: self.now, state });
            self.in_flight += bytes;
            self.pacer.on_sent(self.now, bytes);
            self.controller.on_sent(&Sent {
                now: self.now,
                bytes,
                bytes_in_flight: self.in_flight,
                app_limited: state.app_limited(),
            });
        }
        self.limit = Limit::Application;
        self.rate.on_app_limited(self.in_flight);
        count
    }

    fn lose(&mut self, indices: &[usize]) {
        let mut told: Vec<LostPacket> = Vec::new();
        let mut newest = Time::ZERO;
        for &index in indices.iter().rev() {
            let Some(packet) = self.flight.remove(index) else { continue };
            newest = newest.max(packet.sent_at);
            self.in_flight -= packet.bytes;
            self.lost.push(packet);
        }
        let from = self.lost.len() - indices.len().min(self.lost.len());
        self.lost[from..].reverse();
        for packet in &self.lost[from..] {
            told.push(self.rate.on_lost(packet.bytes, packet.sent_at, &packet.state));
        }
        if told.is_empty() {
            return;
        }
        self.controller.on_signal(&Signal::Lost {
            now: self.now,
            bytes: told.iter().map(|packet| packet.bytes).sum(),
            newest_sent_at: newest,
            bytes_in_flight: self.in_flight,
            packets: &told,
        });
    }

    /// An ACK frame for each packet with this probability, preceded by losses and marks.
    fn ack(&mut self, acked: f64, lost: f64, marked: bool) {
        let prior_in_flight = self.in_flight;
        let prior_lost = self.rate.lost();
        let mut newly: Vec<Packet> = Vec::new();
        let mut kept = VecDeque::new();
        let mut flight = std::mem::take(&mut self.flight);
        while let Some(packet) = flight.pop_front() {
            if self.random.chance(acked) { newly.push(packet) } else { kept.push_back(packet) }
        }
        self.flight = kept;
        let Some(newest) = newly.last().copied() else { return };
        for packet in &newly {
            self.in_flight -= packet.bytes;
            self.rate.on_acked(self.now, packet.bytes, packet.sent_at, &packet.state);
        }
        self.rtt.update(self.now.since(newest.sent_at), Duration::ZERO);
        if marked {
            let packets = 1 + self.random.below(newly.len() as u64);
            self.controller.on_signal(&Signal::Marked {
                now: self.now,
                packets,
                newest_sent_at: newest.sent_at,
            });
        }
        let lost: Vec<usize> = (0..self.flight.len())
            .filter(|&i| self.flight[i].sent_at <= newest.sent_at && self.random.chance(lost))
            .collect();
        self.lose(&lost);
        let rate = self.rate.sample(self.now, self.rtt.min());
        self.controller.on_ack(&AckSample {
            now: self.now,
            acked_bytes: newly.iter().map(|packet| packet.bytes).sum(),
            newest_sent_at: newest.sent_at,
            oldest_sent_at: newly[0].sent_at,
            bytes_in_flight: self.in_flight,
            prior_in_flight,
            lost_bytes: self.rate.lost() - prior_lost,
            acked_packets: newly.len() as u64,
            marked_packets: u64::from(marked),
            delivered: self.rate.delivered(),
            limit: self.limit,
            rtt: &self.rtt,
            rtt_sample: Some(self.rtt.latest()),
            rate,
        });
    }

    fn spurious(&mut self) {
        let count = self.random.below(1 + self.lost.len() as u64) as usize;
        let found = self.lost.split_off(self.lost.len() - count);
        for packet in &found {
            self.rate.on_acked(self.now, packet.bytes, packet.sent_at, &packet.state);
        }
        self.rate.sample(self.now, self.rtt.min());
        self.controller.on_signal(&Signal::Spurious {
            now: self.now,
            packets: found.len() as u64,
            bytes: found.iter().map(|packet| packet.bytes).sum(),
            newest_sent_at: found.iter().map(|packet| packet.sent_at).max().unwrap_or(self.now),
        });
    }

    fn start_path_anew(&mut self) {
        self.flight.clear();
        self.lost.clear();
        self.in_flight = 0;
        self.rate = DeliveryRate::default();
        self.rtt = RttEstimate::new(Duration::from_millis(333));
        self.controller.on_signal(&Signal::PathChanged);
    }

    /// Executes the event `event` modulo twenty with random details.
    pub fn step(&mut self, event: u8) {
        match event % 20 {
            0..=4 => {
                let count = self.random.below(40);
                self.send(count);
            }
            5..=8 => {
                let span = self.span();
                self.wait(span);
            }
            9..=10 => self.ack(0.6, 0.0, false),
            11 => self.ack(1.0, 0.0, false),
            12 => self.ack(0.5, 0.3, false),
            13 => self.ack(0.3, 0.0, true),
            14 => self.ack(0.2, 0.9, true),
            15 => {
                let count = self.random.below(1 + self.flight.len() as u64) as usize;
                self.lose(&(0..count).collect::<Vec<_>>());
            }
            16 => self.spurious(),
            17 => self.controller.on_signal(&Signal::PersistentCongestion),
            18 => {
                // Also downwards: a path can carry less than before.
                self.datagram = [1200, 1252, 1452, 4000, 9000, 600][self.random.below(6) as usize];
                self.controller.on_signal(&Signal::DatagramSize { bytes: self.datagram });
            }
            _ if self.random.below(4) == 0 => self.start_path_anew(),
            _ => {
                let newest_sent_at = self.now;
                let packets = 1 + self.random.below(1 << 20);
                self.controller.on_signal(&Signal::Marked { now: self.now, packets, newest_sent_at });
            }
        }
        self.check();
    }

    /// Checks the controller's answer against the laws.
    ///
    /// If it breaks a law.
    pub fn check(&mut self) -> Allowance {
        let (name, allowance) = (self.name, self.controller.allowance());
        let Allowance { window, pacing, quantum } = allowance;
        assert!(window >= self.least * self.datagram.min(DATAGRAM), "{name}: a window of {window} bytes");
        assert!(window <= 1 << 62, "{name}: a window of {window} bytes");
        assert!(quantum.is_none_or(|bytes| bytes > 0), "{name}: a quantum of nothing");
        if let Some(bytes) = quantum {
            self.pacer.set_quantum(bytes);
        }
        self.pacer.set_rate(self.now, pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
        if let Some(at) = self.pacer.blocked_until(self.now) {
            assert!(at > self.now && at != Time::NEVER, "{name}: nothing leaves at {pacing:?}");
            assert_eq!(self.pacer.clone().blocked_until(at), None, "{name}: at {pacing:?}");
        }
        assert!(!self.controller.state().is_empty());
        assert!(self.controller.ssthresh().is_none_or(|bytes| bytes > 0), "{name}: a threshold of nothing");
        self.controller.gauges(&mut |gauge, value| {
            assert!(value.is_finite(), "{name}: {gauge} is {value}");
        });
        for part in [window, pacing.map_or(0, Rate::as_bits_per_sec), quantum.unwrap_or(0)] {
            self.heard = (self.heard ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
        allowance
    }

    /// A hash of all answers so far.
    pub fn heard(&self) -> u64 {
        self.heard
    }
    /// Whether the controller declares that it draws.
    pub fn draws(&self) -> bool {
        self.controller.draws()
    }
    /// Limits pauses to this many bits of nanoseconds; initially 40, some 18 minutes.
    pub fn pause_at_most(&mut self, bits: u64) {
        self.longest = bits;
    }
    /// The size of a full packet in bytes.
    pub fn datagram(&self) -> u64 {
        self.datagram
    }

    /// The bytes that a clean path of 20 ms delivers in this time: whatever happened before, the path is used.
    pub fn carry_on(&mut self, span: Duration) -> u64 {
        let (end, round_trip) = (self.now + span, Duration::from_millis(20));
        self.ack(1.0, 0.0, false);
        let before = self.rate.delivered();
        while self.now < end {
            self.send(1000);
            self.wait(round_trip);
            self.ack(1.0, 0.0, false);
        }
        self.rate.delivered() - before
    }
}
