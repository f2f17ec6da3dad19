//! Large-delay ACK discarding (J. Zhao et al., "Designing and Testing of a Semi-Physical QUIC Video Streaming Simulation
//! Platform", 2020, section 3): a base station or access point holds back uplink packets with acknowledgements only that
//! come abnormally late, so that sudden interference does not raise the server's smoothed RTT and lower its pacing rate.
//!
//! It knows sizes, ports, addresses and times, and nothing of what is encrypted. A held acknowledgement is superseded by the
//! next one; it is sent when one of two timers expires, or ahead of a packet with data.

mod estimate;
mod flow;
mod interception;
mod mapping;
mod options;
mod timers;

use super::quic_flows::{Classifier, Direction, Flows, Found};
use super::{Middlebox, MiddleboxOptions, Profile};
use crate::address::Port;
use crate::books::{Ledger, PacketBooks};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::node::Node;
use crate::packet::Packet;
use flow::{Flow, Verdict};
use options::{LdadOptions, Settings};
use timers::Expiry;
use trace::{Event, Log};
use units::parameter::{Options, Row};
use units::{Duration, Time, Timers};

pub(crate) const ROW: Row<Profile> = Row {
    name: "ldad",
    about: "holds back acknowledgements of QUIC that come abnormally late (Zhao et al. 2020)",
    parameters: LdadOptions::PARAMETERS,
    build: Profile { remembers: false, at_hosts: true, build: &|options| Ok(Box::new(Ldad::new(options)?)) },
};

#[derive(Debug, Default)]
struct Counters {
    downlink: u64,
    uplink: u64,
    ack_only: u64,
    mapped: u64,
    held: u64,
    expired: u64,
    superseded: u64,
    by_timeout: u64,
    by_congestion: u64,
    by_data: u64,
    forgotten: u64,
    judgments: u64,
    time_held: Duration,
}

/// Why a held acknowledgement is sent.
#[derive(Debug, Clone, Copy)]
enum Reason {
    Timer(Expiry),
    /// A packet with data follows, which must not overtake it.
    Data,
    /// Its flow is forgotten for a new one.
    Forgotten,
}

struct Ldad {
    classifier: Classifier,
    options: Settings,
    flows: Flows<Flow>,
    /// The timers of flows with a held acknowledgement, by slot.
    timers: Timers,
    counters: Counters,
    drops: Ledger,
    log: Log,
}

impl Ldad {
    fn new(options: &MiddleboxOptions<'_>) -> Result<Ldad, BuildError> {
        let own = LdadOptions::of(options.arguments);
        Ok(Ldad {
            classifier: Classifier::new(&own.flow, options)?,
            options: Settings::new(&own, options)?,
            flows: Flows::new(&own.flow),
            timers: Timers::default(),
            counters: Counters::default(),
            drops: Ledger::default(),
            log: Log::new(options.interest),
        })
    }

    fn gauge(&mut self, now: Time, name: &'static str, value: Duration) {
        if self.log.interest().metrics {
            self.log.push(now, Event::Gauge { name, value: value.as_secs_f64() * 1000.0 });
        }
    }

    /// Counts the end of a held acknowledgement.
    fn note_held(&mut self, now: Time, held_for: Duration) {
        self.counters.time_held += held_for;
        self.gauge(now, "held_ms", held_for);
    }

    /// Drops an acknowledgement that a newer one supersedes.
    fn supersede(&mut self, now: Time, old: Option<(Duration, Box<Packet>)>, exits: &mut Exits) {
        let Some((held_for, packet)) = old else { return };
        self.counters.superseded += 1;
        self.note_held(now, held_for);
        self.drops.add(packet.flow, packet.size);
        if self.log.interest().losses() {
            self.log.push(now, Event::NetworkDrop { length: packet.size, reason: "superseded" });
        }
        exits.discard(packet);
    }

    /// Sends what a flow keeps, if anything.
    fn release(&mut self, now: Time, slot: usize, reason: Reason, exits: &mut Exits) {
        let Some((held_for, packet)) = self.flows.state(slot).cache.take(now) else { return };
        let counter = match reason {
            Reason::Timer(Expiry::Timeout) => &mut self.counters.by_timeout,
            Reason::Timer(Expiry::Congestion) => &mut self.counters.by_congestion,
            Reason::Data => &mut self.counters.by_data,
            Reason::Forgotten => &mut self.counters.forgotten,
        };
        *counter += 1;
        self.note_held(now, held_for);
        exits.send(packet);
    }

    fn downlink(&mut self, now: Time, slot: usize, packet: Box<Packet>, exits: &mut Exits) {
        self.counters.downlink += 1;
        self.flows.state(slot).on_downlink(now, &packet, &self.options);
        exits.send(packet);
    }

    fn uplink(&mut self, now: Time, slot: usize, packet: Box<Packet>, exits: &mut Exits) {
        self.counters.uplink += 1;
        let flow = self.flows.state(slot);
        if !flow.up.judge(&packet) {
            _ = flow.acknowledge(now, &self.options);
            self.release(now, slot, Reason::Data, exits);
            exits.send(packet);
            return;
        }
        self.counters.ack_only += 1;
        let sample = flow.measure(now, &self.options);
        let verdict = flow.judge(now, sample, &self.options);
        let usual = flow.estimate.usual();
        if let (Some(rtt), Some(usual)) = (sample, usual) {
            self.counters.mapped += 1;
            self.gauge(now, "rtt_ms", rtt);
            self.gauge(now, "usual_rtt_ms", usual);
        }
        if let Verdict::Expired(expiry) = verdict {
            self.counters.expired += 1;
            self.counters.judgments += u64::from(expiry == Expiry::Congestion);
        }
        match verdict {
            Verdict::Pass | Verdict::Expired(_) => {
                let old = self.flows.state(slot).cache.take(now);
                self.supersede(now, old, exits);
                exits.send(packet);
            }
            Verdict::Hold => {
                self.counters.held += 1;
                let old = self.flows.state(slot).cache.keep(now, packet);
                self.supersede(now, old, exits);
            }
        }
    }

    /// Ends what the timers of a flow end now, and sets its timer again.
    fn attend(&mut self, now: Time, slot: usize, exits: &mut Exits) {
        let flow = self.flows.state(slot);
        let due = flow.next_timer(&self.options);
        let Some((_, expiry)) = due.filter(|(at, _)| *at <= now) else {
            self.timers.set(slot, due.map(|(at, _)| at));
            return;
        };
        if expiry == Expiry::Congestion {
            flow.judge_congestion();
            self.counters.judgments += 1;
        }
        self.release(now, slot, Reason::Timer(expiry), exits);
        self.timers.set(slot, None);
    }
}

impl Node for Ldad {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        let Some((direction, ends)) = self.classifier.of(port, &packet) else {
            exits.send(packet);
            return;
        };
        let options = &self.options;
        let slot = match self.flows.find(now, ends, || Flow::new(ends, options)) {
            Found::Known(slot) => slot,
            Found::New(slot) => {
                self.release(now, slot, Reason::Forgotten, exits);
                self.flows.state(slot).restart(ends, &self.options);
                slot
            }
        };
        match direction {
            Direction::Down => self.downlink(now, slot, packet, exits),
            Direction::Up => self.uplink(now, slot, packet, exits),
        }
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
        books.dropped.merge(&self.drops);
        self.flows.states().filter_map(|flow| flow.cache.packet()).for_each(|packet| books.hold(packet));
    }
}

impl Middlebox for Ldad {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        vec![
            ("downlink_packets", counters.downlink),
            ("uplink_packets", counters.uplink),
            ("ack_only_packets", counters.ack_only),
            ("mapped_packets", counters.mapped),
            ("held_packets", counters.held),
            ("superseded_packets", counters.superseded),
            ("timeout_packets", counters.by_timeout),
            ("congestion_packets", counters.by_congestion),
            ("ahead_of_data_packets", counters.by_data),
            ("forgotten_packets", counters.forgotten),
            ("late_passed_packets", counters.expired),
            ("congestion_judgments", counters.judgments),
            ("held_ms", counters.time_held.as_millis()),
        ]
    }
    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    fn check(&self) {
        let mut kept = 0;
        self.flows.check(|_, flow| {
            flow.check();
            kept += u64::from(!flow.cache.is_empty());
            let timer = flow.next_timer(&self.options).is_some();
            assert_eq!(timer, !flow.cache.is_empty(), "a timer runs while an acknowledgement is held");
        });
        assert_eq!(self.timers.at().is_some(), kept > 0, "a timer runs while an acknowledgement is held");
        let Counters { held, by_timeout, by_congestion, by_data, forgotten, .. } = self.counters;
        let sent = by_timeout + by_congestion + by_data + forgotten;
        assert!(held >= kept + sent, "only what was held is kept or sent");
    }
}

#[cfg(test)]
mod tests;
