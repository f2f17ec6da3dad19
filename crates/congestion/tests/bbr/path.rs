//! A path for tests of controllers: one sender, one bottleneck with a queue, one acknowledgement per packet.
//!
//! The sender consists of the same parts as those of the transports: delivery rate, RTT estimate, pacer. Losses are
//! detected by packet numbers (RFC 9002 section 6.1.1) and, if nothing arrives, by a timer.

use congestion::{
    AckSample, Allowance, CONTROLLERS, Controller, DeliveryRate, Limit, LostPacket, Pacer, RttEstimate, Sent,
    SentState, Setup, Signal,
};
use random::Generator;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use units::{Duration, Rate, Size, Time};

/// The size of each packet in bytes.
pub(crate) const PACKET: u64 = 1200;
/// A packet is lost when this many packets sent later are acknowledged.
const THRESHOLD: u64 = 3;

#[derive(Debug, Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: Time,
    state: SentState,
}

/// The data from the application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Application {
    /// Unlimited.
    Bulk,
    /// At this rate.
    Limited(Rate),
    /// Nothing.
    Silent,
}

/// A selection of packets by number.
pub(crate) type Numbers = Rc<dyn Fn(u64) -> bool>;

/// A bottleneck, which can change during a run.
#[derive(Clone)]
pub(crate) struct Link {
    pub rate: Rate,
    /// The round trip without queueing and transmission.
    pub round_trip: Duration,
    /// The queue limit in bytes.
    pub buffer: u64,
    /// The random loss rate.
    pub loss: f64,
    /// Acknowledgements arrive in batches, this far apart.
    pub batch: Duration,
    /// Packets with these numbers arrive this much late.
    pub late: Option<(Numbers, Duration)>,
    /// Packets with these numbers are lost.
    pub dropped: Option<Numbers>,
    /// A policer: token rate and bucket size in bytes.
    pub policer: Option<(Rate, u64)>,
    /// Packets that find more than this many bytes in the queue are marked CE.
    pub mark_above: u64,
}

impl Link {
    /// A link with this rate and delay, and a queue of this many bandwidth-delay products.
    pub(crate) fn new(rate: &str, round_trip: &str, products: f64) -> Link {
        let (rate, round_trip): (Rate, Duration) = (rate.parse().unwrap(), round_trip.parse().unwrap());
        let product = rate.bytes_in(round_trip).as_bytes();
        Link {
            rate,
            round_trip,
            buffer: ((product as f64 * products) as u64).max(20 * PACKET),
            loss: 0.0,
            batch: Duration::ZERO,
            late: None,
            dropped: None,
            policer: None,
            mark_above: u64::MAX,
        }
    }
    /// The bandwidth-delay product in bytes.
    pub(crate) fn product(&self) -> u64 {
        self.rate.bytes_in(self.round_trip).as_bytes()
    }
}

/// A sender on a link.
pub(crate) struct Path {
    pub controller: Box<dyn Controller>,
    pub link: Link,
    pub application: Application,
    pub now: Time,
    pub in_flight: u64,
    /// Packets declared lost, and those of them that arrived after all.
    pub lost: u64,
    pub spurious: u64,
    /// Acknowledged packets with CE.
    pub marked: u64,
    /// The states, and when each was entered.
    pub states: Vec<(Time, &'static str)>,
    pub next_number: u64,
    pacer: Pacer,
    rate: DeliveryRate,
    pub rtt: RttEstimate,
    flight: VecDeque<Packet>,
    /// Declared lost, but possibly only late.
    gone: BTreeMap<u64, Packet>,
    /// Arrival times of packets.
    arrivals: BTreeMap<Time, Vec<u64>>,
    /// Marked packets that have not arrived yet.
    with_ce: BTreeSet<u64>,
    busy_until: Time,
    tokens: f64,
    tokens_at: Time,
    written_at: Time,
    largest_acked: u64,
    progress_at: Time,
    limit: Limit,
    random: Generator,
}

impl Path {
    /// Creates a sender of this name with changed options.
    pub(crate) fn new(name: &str, changed: &[(&str, &str)], link: Link) -> Path {
        let row = CONTROLLERS.iter().find(|row| row.name == name).unwrap();
        let arguments = congestion::fuzz::arguments(row.parameters, changed);
        let setup = Setup {
            max_datagram_size: PACKET,
            initial_window: 10 * PACKET,
            initial_packets: Some(10),
            initial_rtt: Duration::from_millis(333),
            seed: 1,
        };
        let controller = (row.build)(&arguments, setup);
        Path {
            states: vec![(Time::ZERO, controller.state())],
            controller,
            link,
            application: Application::Bulk,
            now: Time::ZERO,
            in_flight: 0,
            lost: 0,
            spurious: 0,
            marked: 0,
            with_ce: BTreeSet::new(),
            next_number: 1,
            pacer: Pacer::new(PACKET, 10, 1),
            rate: DeliveryRate::default(),
            rtt: RttEstimate::new(Duration::from_millis(333)),
            flight: VecDeque::new(),
            gone: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            busy_until: Time::ZERO,
            // The bucket is initially full.
            tokens: f64::MAX,
            tokens_at: Time::ZERO,
            written_at: Time::ZERO,
            largest_acked: 0,
            progress_at: Time::ZERO,
            limit: Limit::Window,
            random: Generator::new(1, "path"),
        }
    }

    // ---- queries ----

    pub(crate) fn state(&self) -> &'static str {
        self.controller.state()
    }
    /// A gauge; infinity if there is none of this name.
    pub(crate) fn gauge(&self, name: &str) -> f64 {
        let mut found = f64::INFINITY;
        self.controller.gauges(&mut |gauge, value| {
            if gauge == name {
                found = value;
            }
        });
        found
    }
    pub(crate) fn window(&self) -> u64 {
        self.controller.allowance().window
    }
    pub(crate) fn pacing(&self) -> f64 {
        self.controller.allowance().pacing.map_or(f64::INFINITY, |rate| rate.as_bits_per_sec() as f64)
    }
    pub(crate) fn delivered(&self) -> u64 {
        self.rate.delivered()
    }
    /// Bytes in the queue.
    pub(crate) fn queue(&self) -> u64 {
        self.link.rate.bytes_in(self.busy_until.since(self.now)).as_bytes()
    }
    /// Runs for this time and returns the utilization of the link.
    pub(crate) fn use_over(&mut self, span: Duration) -> f64 {
        let before = self.delivered();
        self.run(span);
        (self.delivered() - before) as f64 / self.link.rate.bytes_in(span).as_bytes() as f64
    }

    // ---- actions ----

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if rate < self.link.rate {
            // The queued packets take longer from now on.
            let waiting = Size::from_bytes(self.queue());
            self.busy_until = self.now + rate.time_for(waiting);
        }
        self.link.rate = rate;
    }
    pub(crate) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.step(end);
        }
    }
    /// Runs until this condition holds; fails after this many seconds.
    #[track_caller]
    pub(crate) fn until(&mut self, seconds: u64, mut reached: impl FnMut(&Path) -> bool) {
        let end = self.now + Duration::from_secs(seconds);
        while !reached(self) {
            assert!(self.now < end, "not within {seconds} s: {:?}", self.states);
            self.step(end);
        }
    }
    #[track_caller]
    pub(crate) fn until_state(&mut self, seconds: u64, state: &str) {
        self.until(seconds, |path| path.state() == state);
    }
    /// Persistent congestion: everything in flight is given up.
    pub(crate) fn lose_all(&mut self) {
        self.give_up(u64::MAX);
        self.controller.on_signal(&Signal::PersistentCongestion);
        self.note_state();
    }

    // ---- simulation ----

    /// Advances to the next event, but not beyond `end`.
    fn step(&mut self, end: Time) {
        let wake = self.send();
        let arrival = self.arrivals.keys().next().copied().unwrap_or(Time::NEVER);
        let timer = if self.flight.is_empty() { Time::NEVER } else { self.progress_at + self.patience() };
        self.now = wake.min(arrival).min(timer).min(end).max(self.now);
        if let Some(numbers) = self.arrivals.remove(&self.now) {
            self.acknowledge(numbers);
        } else if self.now == timer {
            self.progress_at = self.now;
            self.give_up(u64::MAX);
        }
        self.note_state();
    }

    fn patience(&self) -> Duration {
        self.rtt.pto() * 2
    }

    fn note_state(&mut self) {
        let state = self.controller.state();
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((self.now, state));
        }
    }

    /// Sends as much as allowed; returns when to try again.
    fn send(&mut self) -> Time {
        loop {
            let Allowance { window, pacing, quantum } = self.controller.allowance();
            if let Some(bytes) = quantum {
                self.pacer.set_quantum(bytes);
            }
            self.pacer.set_rate(self.now, pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
            if self.in_flight + PACKET > window {
                self.limit = Limit::Window;
                return Time::NEVER;
            }
            if let Some(at) = self.next_data().filter(|at| *at > self.now) {
                self.limit = Limit::Application;
                self.rate.on_app_limited(self.in_flight);
                return at;
            }
            if pacing.is_some()
                && let Some(at) = self.pacer.blocked_until(self.now)
            {
                self.limit = Limit::Pacer;
                return at;
            }
            self.send_one();
        }
    }

    fn next_data(&self) -> Option<Time> {
        match self.application {
            Application::Bulk => None,
            Application::Limited(rate) => Some(self.written_at + rate.time_for(Size::from_bytes(PACKET))),
            Application::Silent => Some(Time::NEVER),
        }
    }

    fn send_one(&mut self) {
        self.written_at = self.now;
        let state = self.rate.on_sent(self.now, PACKET, self.in_flight);
        if self.in_flight == 0 {
            self.progress_at = self.now;
        }
        self.in_flight += PACKET;
        let number = self.next_number;
        self.next_number += 1;
        self.flight.push_back(Packet { number, sent_at: self.now, state });
        self.pacer.on_sent(self.now, PACKET);
        self.controller.on_sent(&Sent {
            now: self.now,
            bytes: PACKET,
            bytes_in_flight: self.in_flight,
            app_limited: state.app_limited(),
        });
        if let Some(at) = self.arrival(number) {
            self.arrivals.entry(at).or_default().push(number);
        }
    }

    /// The arrival of its acknowledgement, unless dropped.
    fn arrival(&mut self, number: u64) -> Option<Time> {
        let dropped = self.link.dropped.as_ref().is_some_and(|dropped| dropped(number));
        if self.random.chance(self.link.loss) || dropped {
            return None;
        }
        if let Some((rate, burst)) = self.link.policer {
            let gained = rate.as_bits_per_sec() as f64 / 8.0 * self.now.since(self.tokens_at).as_secs_f64();
            self.tokens = (self.tokens + gained).min(burst as f64);
            self.tokens_at = self.now;
            if self.tokens < PACKET as f64 {
                return None;
            }
            self.tokens -= PACKET as f64;
        }
        if self.queue() + PACKET > self.link.buffer {
            return None;
        }
        if self.queue() > self.link.mark_above {
            self.with_ce.insert(number);
        }
        self.busy_until = self.busy_until.max(self.now) + self.link.rate.time_for(Size::from_bytes(PACKET));
        let mut at = self.busy_until + self.link.round_trip;
        if let Some((numbers, delay)) = &self.link.late
            && numbers(number)
        {
            at += *delay;
        }
        let batch = self.link.batch.as_nanos();
        if batch > 0 {
            at = Time::from_nanos(at.as_nanos().div_ceil(batch) * batch);
        }
        Some(at)
    }

    fn acknowledge(&mut self, numbers: Vec<u64>) {
        let (prior_in_flight, prior_lost) = (self.in_flight, self.rate.lost());
        let mut newly: Vec<Packet> = Vec::new();
        let mut late: Vec<Packet> = Vec::new();
        let mut marked = 0;
        for number in numbers {
            marked += u64::from(self.with_ce.remove(&number));
            if let Some(index) = self.flight.iter().position(|packet| packet.number == number) {
                newly.extend(self.flight.remove(index));
            } else {
                late.extend(self.gone.remove(&number));
            }
        }
        for packet in newly.iter().chain(&late) {
            self.rate.on_acked(self.now, PACKET, packet.sent_at, &packet.state);
        }
        self.in_flight -= PACKET * newly.len() as u64;
        self.progress_at = self.now;
        if let Some(newest) = newly.last() {
            self.largest_acked = self.largest_acked.max(newest.number);
            self.rtt.update(self.now.since(newest.sent_at), Duration::ZERO);
            if marked > 0 {
                self.marked += marked;
                self.controller.on_signal(&Signal::Marked {
                    now: self.now,
                    packets: marked,
                    newest_sent_at: newest.sent_at,
                });
                self.note_state();
            }
            self.give_up(self.largest_acked.saturating_sub(THRESHOLD - 1));
        }
        if let Some(newest) = late.last() {
            self.spurious += late.len() as u64;
            self.controller.on_signal(&Signal::Spurious {
                now: self.now,
                packets: late.len() as u64,
                bytes: PACKET * late.len() as u64,
                newest_sent_at: newest.sent_at,
            });
            self.note_state();
        }
        let rate = self.rate.sample(self.now, self.rtt.min());
        let Some(newest) = newly.last() else { return };
        self.controller.on_ack(&AckSample {
            now: self.now,
            acked_bytes: PACKET * newly.len() as u64,
            newest_sent_at: newest.sent_at,
            oldest_sent_at: newly[0].sent_at,
            bytes_in_flight: self.in_flight,
            prior_in_flight,
            lost_bytes: self.rate.lost() - prior_lost,
            acked_packets: newly.len() as u64,
            marked_packets: marked,
            delivered: self.rate.delivered(),
            limit: self.limit,
            rtt: &self.rtt,
            rtt_sample: Some(self.rtt.latest()),
            rate,
        });
    }

    /// Declares all packets below this number lost.
    fn give_up(&mut self, below: u64) {
        let mut told: Vec<LostPacket> = Vec::new();
        let mut newest_sent_at = Time::ZERO;
        while let Some(packet) = self.flight.front().copied().filter(|packet| packet.number < below) {
            self.flight.pop_front();
            self.in_flight -= PACKET;
            self.lost += 1;
            newest_sent_at = packet.sent_at;
            told.push(self.rate.on_lost(PACKET, packet.sent_at, &packet.state));
            self.gone.insert(packet.number, packet);
        }
        if !told.is_empty() {
            self.controller.on_signal(&Signal::Lost {
                now: self.now,
                bytes: PACKET * told.len() as u64,
                newest_sent_at,
                bytes_in_flight: self.in_flight,
                packets: &told,
            });
            self.note_state();
        }
    }
}
