//! A bed for middleboxes that tell QUIC by ports and sizes: packets at given times, and what leaves when.

use super::super::{Middlebox, MiddleboxOptions, Profile};
use crate::address::{NodeId, Port};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use trace::{Event, Interest};
use units::parameter::{Arguments, Row, Value};
use units::{Duration, Time};

pub(crate) const TERMINAL: &str = "10.0.0.1:7";
pub(crate) const SERVER: &str = "10.0.0.9:443";

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A packet that arrives: when in ms, whether it is uplink, the bytes of its UDP payload.
pub(crate) type Arrival = (u64, bool, usize);

/// A packet of the flow between TERMINAL and SERVER.
pub(crate) fn packet(up: bool, payload: usize) -> Packet {
    between(TERMINAL, SERVER, up, payload)
}

/// A packet of another flow.
pub(crate) fn between(terminal: &str, server: &str, up: bool, payload: usize) -> Packet {
    let (terminal, server) = (terminal.parse().unwrap(), server.parse().unwrap());
    let (from, to) = if up { (terminal, server) } else { (server, terminal) };
    Packet::new(from, to, vec![0; payload], None)
}

/// Builds a middlebox between the links `radio` to the terminals and `backhaul`.
pub(crate) fn build(
    row: &'static Row<Profile>,
    given: &[(&'static str, Value)],
) -> Result<Box<dyn Middlebox>, BuildError> {
    let arguments = Arguments::filled(row.parameters, given, &crate::rooms()).unwrap();
    let carriers = ["radio", "backhaul"].map(str::to_owned);
    (row.build.build)(&MiddleboxOptions {
        arguments: &arguments,
        node: NodeId(4),
        carriers: &carriers,
        links: carriers.len(),
        name: "node ap",
        stream: &|name| random::Generator::new(1, name),
        interest: Interest::ALL,
    })
}

/// A middlebox and what has left it.
pub(crate) struct Bed {
    pub node: Box<dyn Middlebox>,
    exits: Exits,
    /// When and what.
    pub out: Vec<(Time, Packet)>,
}

impl Bed {
    pub(crate) fn new(row: &'static Row<Profile>, given: &[(&'static str, Value)]) -> Bed {
        Bed { node: build(row, given).unwrap(), exits: Exits::default(), out: Vec::new() }
    }
    /// Lets the timers up to a time expire.
    pub(crate) fn wait(&mut self, until: Time) {
        while let Some(at) = self.node.wake_at().filter(|at| *at <= until) {
            self.node.wake(at, &mut self.exits);
            self.collect(at);
        }
    }
    fn collect(&mut self, now: Time) {
        self.out.extend(std::iter::from_fn(|| self.exits.take()).map(|packet| (now, *packet)));
        self.node.check();
    }
    pub(crate) fn accept(&mut self, now: Time, up: bool, packet: Packet) {
        self.wait(now);
        self.node.accept(now, Port(u16::from(!up)), Box::new(packet), &mut self.exits);
        self.collect(now);
    }
    pub(crate) fn play(&mut self, arrivals: &[Arrival]) {
        for (at, up, payload) in arrivals {
            self.accept(Time::ZERO + ms(*at), *up, packet(*up, *payload));
        }
    }
    /// When uplink packets have left, in ms, and their payloads in bytes; after all timers.
    pub(crate) fn uplink(&mut self) -> Vec<(u64, usize)> {
        self.wait(Time::NEVER);
        let up = self.out.iter().filter(|(_, packet)| packet.source.port() == 7);
        up.map(|(at, packet)| (at.since(Time::ZERO).as_millis(), packet.payload())).collect()
    }
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.node.counters().into_iter().find(|(known, _)| *known == name).unwrap().1
    }
    /// The values of a gauge.
    pub(crate) fn gauge(&mut self, wanted: &str) -> Vec<f64> {
        let values = self.node.log().drain().filter_map(|record| match record.event {
            Event::Gauge { name, value } if name == wanted => Some(value),
            _ => None,
        });
        values.collect()
    }
}

/// The problem of options with which a middlebox cannot be built.
pub(crate) fn refusal(row: &'static Row<Profile>, option: &'static str, value: Value) -> String {
    match build(row, &[(option, value)]) {
        Err(BuildError::Option { option: found, problem }) if found == option => problem,
        Err(error) => panic!("{option}: {error}"),
        Ok(_) => panic!("{option} was accepted"),
    }
}

/// A list of texts.
pub(crate) fn texts(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|text| Value::Text((*text).to_owned())).collect())
}
