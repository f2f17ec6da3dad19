//! An access node that paces uplink packets with acknowledgements only: what arrives in bursts, as after a grant of the
//! uplink or a retransmission, leaves evenly spaced. It shares with [`super::ldad`] the means to tell such packets, and is what
//! that is compared with.
//!
//! The spacing is the mean time between the last acknowledgements of the flow. None waits longer than a limit, none is
//! dropped, and no packet of a flow overtakes another: a packet with data sends the waiting ones ahead of it.

use super::quic_flows::{AckOnly, Classifier, Direction, FlowOptions, Flows, Found, problem};
use super::{Middlebox, MiddleboxOptions, Profile};
use crate::address::Port;
use crate::books::PacketBooks;
use crate::error::BuildError;
use crate::exits::Exits;
use crate::node::Node;
use crate::packet::Packet;
use std::collections::VecDeque;
use trace::{Event, Log};
use units::parameter::{Options, Row};
use units::{Duration, Time, Timers};

/// The options of the pacer of acknowledgements.
#[derive(Debug, Clone, Options)]
struct AckPacerOptions {
    #[options]
    flow: FlowOptions,
    /// time between acknowledgements of a flow; above zero (default: the mean of the last window)
    spacing: Option<Duration>,
    /// number of times between acknowledgements in the mean; nothing is paced before
    #[option(default = 16, within = 1..=1000)]
    window: usize,
    /// longest time that an acknowledgement waits
    #[option(default = "20 ms")]
    longest_delay: Duration,
    /// maximum number of waiting acknowledgements of a flow; one more releases the first at once
    #[option(default = 64, within = 1..=10_000)]
    queue: usize,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "ack-pacer",
    about: "spaces out QUIC acknowledgements that arrive in bursts",
    parameters: AckPacerOptions::PARAMETERS,
    build: Profile {
        remembers: false,
        at_hosts: true,
        build: &|options| Ok(Box::new(AckPacer::new(options)?)),
    },
};

/// One flow.
#[derive(Debug)]
struct Flow {
    up: AckOnly,
    /// When the last acknowledgements arrived, the oldest first.
    arrivals: VecDeque<Time>,
    /// When the last acknowledgement left.
    left: Option<Time>,
    waiting: VecDeque<(Time, Box<Packet>)>,
}

#[derive(Debug, std::default::Default)]
struct Counters {
    uplink: u64,
    ack_only: u64,
    delayed: u64,
    time_delayed: Duration,
}

struct AckPacer {
    classifier: Classifier,
    ack_only: AckOnly,
    spacing: Option<Duration>,
    window: usize,
    longest_delay: Duration,
    most: usize,
    flows: Flows<Flow>,
    /// The timers of flows with waiting acknowledgements, by slot.
    timers: Timers,
    counters: Counters,
    log: Log,
}

impl AckPacer {
    fn new(options: &MiddleboxOptions<'_>) -> Result<AckPacer, BuildError> {
        let own = AckPacerOptions::of(options.arguments);
        let spacing = own.spacing;
        if spacing.is_some_and(Duration::is_zero) {
            return Err(problem("spacing", "zero; expected a duration above zero".to_owned()));
        }
        Ok(AckPacer {
            classifier: Classifier::new(&own.flow, options)?,
            ack_only: AckOnly::new(&own.flow),
            spacing,
            window: own.window,
            longest_delay: own.longest_delay,
            most: own.queue,
            flows: Flows::new(&own.flow),
            timers: Timers::default(),
            counters: Counters::default(),
            log: Log::new(options.interest),
        })
    }

    /// Sends the first waiting acknowledgement of a flow, if any. Returns whether there was one.
    fn send_first(&mut self, now: Time, slot: usize, exits: &mut Exits) -> bool {
        let flow = self.flows.state(slot);
        let Some((arrived, packet)) = flow.waiting.pop_front() else { return false };
        flow.left = Some(now);
        let delay = now.since(arrived);
        if !delay.is_zero() {
            self.counters.delayed += 1;
            self.counters.time_delayed += delay;
        }
        if self.log.interest().metrics {
            let value = delay.as_secs_f64() * 1000.0;
            self.log.push(now, Event::Gauge { name: "ack_delay_ms", value });
        }
        exits.send(packet);
        true
    }

    /// The time between acknowledgements; zero before the window is full.
    fn spacing(&mut self, slot: usize) -> Duration {
        let arrivals = &self.flows.state(slot).arrivals;
        let mean = match (arrivals.front(), arrivals.back()) {
            (Some(first), Some(last)) if arrivals.len() > self.window => {
                last.since(*first) / self.window as u64
            }
            _ => Duration::ZERO,
        };
        self.spacing.unwrap_or(mean)
    }

    /// Sends what is due, and sets the timer of the flow.
    fn attend(&mut self, now: Time, slot: usize, exits: &mut Exits) {
        let (spacing, longest) = (self.spacing(slot), self.longest_delay);
        loop {
            let flow = self.flows.state(slot);
            let Some((arrived, _)) = flow.waiting.front() else {
                self.timers.set(slot, None);
                return;
            };
            let even = flow.left.map_or(now, |left| left + spacing);
            let at = even.min(*arrived + longest);
            if at > now {
                self.timers.set(slot, Some(at));
                return;
            }
            self.send_first(now, slot, exits);
        }
    }

    fn uplink(&mut self, now: Time, slot: usize, packet: Box<Packet>, exits: &mut Exits) {
        self.counters.uplink += 1;
        let flow = self.flows.state(slot);
        if !flow.up.judge(&packet) {
            while self.send_first(now, slot, exits) {}
            exits.send(packet);
            return;
        }
        self.counters.ack_only += 1;
        if flow.arrivals.len() > self.window {
            flow.arrivals.pop_front();
        }
        flow.arrivals.push_back(now);
        let full = flow.waiting.len() == self.most;
        flow.waiting.push_back((now, packet));
        if full {
            self.send_first(now, slot, exits);
        }
    }
}

impl Node for AckPacer {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        let Some((Direction::Up, ends)) = self.classifier.of(port, &packet) else {
            exits.send(packet);
            return;
        };
        let fresh = || Flow {
            up: self.ack_only.clone(),
            arrivals: VecDeque::new(),
            left: None,
            waiting: VecDeque::new(),
        };
        let slot = match self.flows.find(now, ends, fresh) {
            Found::Known(slot) => slot,
            Found::New(slot) => {
                while self.send_first(now, slot, exits) {}
                let flow = self.flows.state(slot);
                flow.up = self.ack_only.clone();
                flow.arrivals.clear();
                flow.left = None;
                slot
            }
        };
        self.uplink(now, slot, packet, exits);
        self.attend(now, slot, exits);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while let Some((_, slot)) = self.timers.next().filter(|(at, _)| *at <= now) {
            self.attend(now, slot, exits);
        }
    }
    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }
    fn takes_transit(&self) -> bool {
        true
    }
    fn account(&self, books: &mut PacketBooks) {
        let waiting = self.flows.states().flat_map(|flow| &flow.waiting);
        waiting.for_each(|(_, packet)| books.hold(packet));
    }
}

impl Middlebox for AckPacer {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        vec![
            ("uplink_packets", counters.uplink),
            ("ack_only_packets", counters.ack_only),
            ("delayed_packets", counters.delayed),
            ("delayed_ms", counters.time_delayed.as_millis()),
        ]
    }
    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    fn check(&self) {
        let (mut waiting, mut first) = (0, None);
        self.flows.check(|_, flow| {
            waiting += flow.waiting.len();
            first = [first, flow.waiting.front().map(|(at, _)| *at)].into_iter().flatten().min();
            assert!(flow.waiting.len() <= self.most, "no more acknowledgements wait than may");
            assert!(flow.arrivals.len() <= self.window + 1, "a window of times has two ends");
            assert!(flow.arrivals.iter().is_sorted(), "acknowledgements arrive in the order of time");
        });
        assert_eq!(self.timers.at().is_some(), waiting > 0, "a timer runs while acknowledgements wait");
        let latest = first.map(|at| at + self.longest_delay);
        assert!(self.timers.at() <= latest, "no acknowledgement waits for longer than it may");
        let passed = self.counters.ack_only.checked_sub(self.counters.delayed + waiting as u64);
        assert!(passed.is_some(), "only acknowledgements that came wait or were delayed");
    }
}

#[cfg(test)]
mod tests;
