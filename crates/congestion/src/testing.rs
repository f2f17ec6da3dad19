//! Test support for controllers: options from a table, and one-line events.

use crate::{
    AckSample, Controller, DeliveryRate, Limit, LostPacket, Pacer, RateSample, RttEstimate, SentState, Setup,
    Signal,
};
use random::Generator;
use std::collections::VecDeque;
use units::parameter::{Arguments, Parameter, Value};
use units::{Duration, Rate, Time};

/// Packets of 1000 bytes, ten of them initially, and 100 ms.
pub(crate) const SETUP: Setup = Setup {
    max_datagram_size: 1000,
    initial_window: 10_000,
    initial_packets: Some(10),
    initial_rtt: Duration::from_millis(100),
    seed: 0,
};

/// The defaults of a table with some changes.
pub(crate) fn arguments(parameters: &[Parameter], changes: &[(&'static str, Value)]) -> Arguments {
    Arguments::filled(parameters, changes, &[]).unwrap()
}

/// A time in milliseconds.
pub(crate) fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}
/// A span in milliseconds.
pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// An acknowledgement, with the properties that differ between tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ack {
    pub(crate) now: Time,
    pub(crate) sent: Time,
    pub(crate) bytes: u64,
    pub(crate) rtt: Duration,
    pub(crate) limit: Limit,
    pub(crate) marked: u64,
    /// Bytes delivered when the packet was sent, and now.
    pub(crate) delivered: (u64, u64),
    pub(crate) in_flight: u64,
}

impl Ack {
    /// Acknowledges this number of bytes, 100 ms after they were sent, with a full window.
    pub(crate) fn new(now: Time, bytes: u64) -> Ack {
        let sent = Time::ZERO + now.since(at(100));
        Ack {
            now,
            sent,
            bytes,
            rtt: ms(100),
            limit: Limit::Window,
            marked: 0,
            delivered: (0, bytes),
            in_flight: bytes,
        }
    }
    /// Reports it to the controller.
    pub(crate) fn tell(&self, sender: &mut dyn Controller) {
        let mut rtt = RttEstimate::new(ms(100));
        rtt.update(self.rtt, Duration::ZERO);
        self.tell_with(sender, &rtt);
    }
    /// Reports it with this RTT estimate.
    pub(crate) fn tell_with(&self, sender: &mut dyn Controller, rtt: &RttEstimate) {
        let delivered = self.delivered.1 - self.delivered.0;
        let rate = RateSample {
            delivered,
            interval: self.rtt,
            rate: Some(Rate::of(units::Size::from_bytes(delivered), self.rtt)),
            prior_delivered: self.delivered.0,
            in_flight: self.in_flight,
            lost: 0,
            app_limited: self.limit == Limit::Application,
        };
        sender.on_ack(&AckSample {
            now: self.now,
            acked_bytes: self.bytes,
            newest_sent_at: self.sent,
            oldest_sent_at: self.sent,
            bytes_in_flight: self.in_flight,
            prior_in_flight: self.in_flight + self.bytes,
            lost_bytes: 0,
            acked_packets: self.bytes.div_ceil(1000),
            marked_packets: self.marked,
            delivered: self.delivered.1,
            limit: self.limit,
            rtt,
            rtt_sample: Some(self.rtt),
            rate: Some(rate),
        });
    }
}

/// A number of packets of 1000 bytes, all sent at `sent`, are declared lost.
pub(crate) fn lose(sender: &mut dyn Controller, now: Time, sent: Time, packets: usize) {
    let packet = LostPacket {
        bytes: 1000,
        sent_at: sent,
        prior_delivered: 0,
        in_flight: 1000,
        lost: 1000,
        delivered: 0,
        sent: 1000,
        app_limited: false,
    };
    sender.on_signal(&Signal::Lost {
        now,
        bytes: 1000 * packets as u64,
        newest_sent_at: sent,
        bytes_in_flight: 0,
        packets: &vec![packet; packets],
    });
}

/// An ACK frame told of a mark.
pub(crate) fn mark(sender: &mut dyn Controller, now: Time, sent: Time) {
    sender.on_signal(&Signal::Marked { now, packets: 1, newest_sent_at: sent });
}

/// A path that answers round by round: the whole window is sent at once and acknowledged packet by packet, evenly
/// spread over the following round trip.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) now: Time,
    pub(crate) delivered: u64,
    pub(crate) rtt: RttEstimate,
}

impl Path {
    pub(crate) fn new() -> Path {
        Path { now: at(1000), delivered: 0, rtt: RttEstimate::new(ms(100)) }
    }
    /// Runs one round trip of this length and marks this many of the packets.
    pub(crate) fn round(&mut self, sender: &mut dyn Controller, rtt: Duration, mut marked: u64) {
        let (sent, before) = (self.now, self.delivered);
        let packets = (sender.allowance().window / 1000).max(1);
        for i in 0..packets {
            let now = sent + rtt + rtt.scale(i, packets * 4);
            self.rtt.update(rtt, Duration::ZERO);
            self.delivered += 1000;
            let mark = u64::from(marked > 0);
            marked -= mark;
            if mark > 0 {
                sender.on_signal(&Signal::Marked { now, packets: 1, newest_sent_at: sent });
            }
            let in_flight = (packets - i - 1) * 1000;
            let delivered = (before, self.delivered);
            let ack =
                Ack { now, sent, bytes: 1000, rtt, limit: Limit::Window, marked: mark, delivered, in_flight };
            ack.tell_with(sender, &self.rtt);
            self.now = now;
        }
        self.now = self.now.max(sent + rtt) + Duration::from_nanos(1);
    }
}

/// A sender of [`Bottleneck`]: its start, and its round trip without a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    pub(crate) at: Time,
    pub(crate) propagation: Duration,
}

/// Senders with unlimited data behind one bottleneck, whose queue is unlimited unless set otherwise. Each packet is
/// acknowledged. A dropped one is declared lost with the third packet sent after it.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    /// The time a packet takes at the bottleneck.
    packet: Duration,
    free_at: Time,
    /// The queue limit in packets.
    pub(crate) limit: f64,
    /// The random loss rate before the queue.
    pub(crate) loss: f64,
    random: Generator,
    ends: Vec<End>,
}

/// One sender.
#[derive(Debug)]
struct End {
    now: Time,
    propagation: Duration,
    /// For each packet: when it was sent, the state recorded then, its number, and when it is acknowledged.
    flight: VecDeque<(Time, SentState, u64, Time)>,
    /// When dropped packets were sent, and their numbers.
    dropped: VecDeque<(Time, u64)>,
    packets: u64,
    delivery: DeliveryRate,
    rtt: RttEstimate,
    pacer: Pacer,
}

/// The next event of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Send,
    Acknowledge,
    GiveUp,
}

/// A packet at the bottleneck: its sender, and the queue in front of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) sender: usize,
    pub(crate) queue: f64,
}

impl Bottleneck {
    /// A bottleneck for one sender, which starts at once.
    pub(crate) fn new(packet: Duration, propagation: Duration) -> Bottleneck {
        Bottleneck::shared(packet, &[Begin { at: Time::ZERO, propagation }])
    }
    /// A bottleneck for several senders.
    pub(crate) fn shared(packet: Duration, begins: &[Begin]) -> Bottleneck {
        let ends = begins.iter().map(End::new).collect();
        let random = Generator::new(1, "loss");
        Bottleneck { packet, free_at: Time::ZERO, limit: f64::MAX, loss: 0.0, random, ends }
    }

    /// Runs one sender; `sent` receives the queue in front of each packet.
    pub(crate) fn run(&mut self, sender: &mut dyn Controller, until: Time, sent: &mut dyn FnMut(f64)) {
        self.run_all(&mut [sender], until, &mut |arrival| sent(arrival.queue));
    }

    /// Runs all senders, which are sorted by start.
    pub(crate) fn run_all(
        &mut self,
        senders: &mut [&mut dyn Controller],
        until: Time,
        sent: &mut dyn FnMut(Arrival),
    ) {
        loop {
            let next = (0..senders.len()).map(|i| (self.ends[i].next(&*senders[i]), i)).min();
            let Some(((now, step), sender)) = next else { return };
            if now >= until {
                return;
            }
            let end = &mut self.ends[sender];
            end.now = now;
            match step {
                Step::Acknowledge => end.acknowledge(senders[sender]),
                Step::GiveUp => end.give_up(senders[sender]),
                Step::Send => {
                    self.free_at = self.free_at.max(now);
                    let queue = self.free_at.since(now).as_secs_f64() / self.packet.as_secs_f64();
                    let taken = queue < self.limit && !self.random.chance(self.loss);
                    if taken {
                        sent(Arrival { sender, queue });
                        self.free_at += self.packet;
                    }
                    end.send(taken.then_some(self.free_at));
                }
            }
        }
    }
}

impl End {
    fn new(begin: &Begin) -> End {
        End {
            now: begin.at,
            propagation: begin.propagation,
            flight: VecDeque::new(),
            dropped: VecDeque::new(),
            packets: 0,
            delivery: DeliveryRate::default(),
            rtt: RttEstimate::new(ms(100)),
            pacer: Pacer::new(1000, 10, 1),
        }
    }

    fn in_flight(&self) -> u64 {
        (self.flight.len() + self.dropped.len()) as u64 * 1000
    }

    /// The next event of this sender and its time.
    fn next(&mut self, sender: &dyn Controller) -> (Time, Step) {
        let allowance = sender.allowance();
        self.pacer.set_rate(self.now, allowance.pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
        let released = self.pacer.blocked_until(self.now).unwrap_or(self.now);
        // Nothing in flight could reveal a loss.
        let given_up =
            || self.dropped.back().map_or(Time::NEVER, |last| self.now.max(last.0 + self.rtt.smoothed() * 2));
        let (told, step) = self
            .flight
            .front()
            .map_or_else(|| (given_up(), Step::GiveUp), |front| (front.3, Step::Acknowledge));
        if self.in_flight() + 1000 <= allowance.window && released < told {
            (released, Step::Send)
        } else {
            (told, step)
        }
    }

    /// Everything in flight was dropped.
    fn give_up(&mut self, sender: &mut dyn Controller) {
        for (sent_at, _) in std::mem::take(&mut self.dropped) {
            lose(sender, self.now, sent_at, 1);
        }
    }

    fn send(&mut self, leaves_at: Option<Time>) {
        let state = self.delivery.on_sent(self.now, 1000, self.in_flight());
        match leaves_at {
            Some(at) => self.flight.push_back((self.now, state, self.packets, at + self.propagation)),
            None => self.dropped.push_back((self.now, self.packets)),
        }
        self.packets += 1;
        self.pacer.on_sent(self.now, 1000);
    }

    fn acknowledge(&mut self, sender: &mut dyn Controller) {
        let (sent_at, state, number, _) = self.flight.pop_front().unwrap();
        while let Some((sent_at, _)) = self.dropped.pop_front_if(|(_, dropped)| *dropped + 3 <= number) {
            lose(sender, self.now, sent_at, 1);
        }
        self.rtt.update(self.now.since(sent_at), Duration::ZERO);
        self.delivery.on_acked(self.now, 1000, sent_at, &state);
        let in_flight = self.in_flight();
        sender.on_ack(&AckSample {
            now: self.now,
            acked_bytes: 1000,
            newest_sent_at: sent_at,
            oldest_sent_at: sent_at,
            bytes_in_flight: in_flight,
            prior_in_flight: in_flight + 1000,
            lost_bytes: 0,
            acked_packets: 1,
            marked_packets: 0,
            delivered: self.delivery.delivered(),
            limit: Limit::Window,
            rtt: &self.rtt,
            rtt_sample: Some(self.rtt.latest()),
            rate: self.delivery.sample(self.now, self.rtt.min()),
        });
    }
}
