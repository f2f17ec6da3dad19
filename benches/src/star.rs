//! Terminals around a station, over a medium or over a link: packets from hosts that only send and count, without
//! endpoints.

use network::medium::{self, MediumOptions};
use network::{
    Carriers, Exits, LINK, Link, LinkOptions, Node, NodeId, Occupant, Packet, Port, Step, Topology, World,
    node_address,
};
use random::Generator;
use std::net::SocketAddr;
use trace::Interest;
use units::parameter::{Arguments, Component, Parameter, Value};
use units::{Duration, Time};

/// Bytes of a packet, and how many fit into a queue.
const SIZE: u32 = 1500;
pub(crate) const QUEUE: u32 = 100;

/// What is between the terminals and the station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Air {
    /// A link of 73 Mbit/s, with one terminal.
    Link,
    /// A cell of LTE with the scheme 28 (73 Mbit/s), the acknowledged mode, and errors in one block of ten.
    Lte,
    /// A WLAN of 802.11g at 54 Mbit/s.
    Wlan,
}

/// A network and its traffic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Star {
    pub(crate) air: Air,
    pub(crate) terminals: u32,
    /// Whether the terminals send, or the servers behind the station, of which each terminal has one.
    pub(crate) up: bool,
    /// Between two packets of all senders together.
    pub(crate) interval: Duration,
    /// With how many packets each sender begins.
    pub(crate) burst: u32,
}

/// A network that is built and running.
pub(crate) struct Running(World<Source>);

impl Running {
    /// Sends this many packets, from all senders together. Returns the number that arrived.
    pub(crate) fn run(&mut self, star: &Star, packets: u64) -> u64 {
        let before = self.arrived();
        let end = self.0.now() + Duration::from_nanos(star.interval.as_nanos() * packets);
        while self.0.run(end, 1 << 20).expect("no queue is unlimited") == Step::Budget {}
        self.arrived() - before
    }

    fn arrived(&self) -> u64 {
        self.0.hosts().map(|host| host.arrived).sum()
    }
}

impl Star {
    /// Builds it.
    pub(crate) fn build(&self) -> Running {
        let mut topology = Topology::default();
        let [terminals, servers] = ["terminal", "server"]
            .map(|kind| (0..self.terminals).map(|n| format!("{kind} {n}")).collect::<Vec<_>>());
        for name in std::iter::once("station").chain(terminals.iter().chain(&servers).map(String::as_str)) {
            topology.add_node(name).expect("a name of its own");
        }
        let mut carriers = Carriers::default();
        let mut link = |name: &str, ends: [&str; 2], rate: &str| {
            topology.add_link(name, ends[0], ends[1]).expect("a name of its own");
            carriers.links.extend(["forward", "backward"].map(|way| link(&format!("{name} {way}"), rate)));
        };
        for server in &servers {
            link(&format!("wire of {server}"), [server, "station"], "1 Gbit/s");
        }
        if self.air == Air::Link {
            link("air", ["terminal 0", "station"], "73 Mbit/s");
        } else {
            let attached: Vec<&str> =
                std::iter::once("station").chain(terminals.iter().map(String::as_str)).collect();
            topology.add_medium("air", &attached, true).expect("a name of its own");
            carriers.media.push(self.medium());
        }
        let mut places = vec![Occupant::Router];
        for (first, other, sends) in [(1, 1 + self.terminals, self.up), (1 + self.terminals, 1, !self.up)] {
            let host = |n: u32| Occupant::Host(self.host(n, [first + n, other + n], sends));
            places.extend((0..self.terminals).map(host));
        }
        Running(World::new(&topology, carriers, places))
    }

    /// The senders take turns, so that not all send at one instant.
    fn host(&self, number: u32, nodes: [u32; 2], sends: bool) -> Source {
        let [own, other] = nodes.map(|node| SocketAddr::new(node_address(NodeId(node), false), 443));
        let at = |turns: u32| Duration::from_nanos(self.interval.as_nanos() * u64::from(turns));
        let next = sends.then_some(Time::ZERO + at(number));
        Source { own, other, interval: at(self.terminals), next, burst: self.burst, arrived: 0 }
    }

    fn medium(&self) -> Box<dyn medium::Medium> {
        let (name, option) = match self.air {
            Air::Wlan => ("wlan", ("standard", "g")),
            Air::Lte | Air::Link => ("lte", ("mcs", "28")),
        };
        let row = medium::MEDIA.iter().find(|row| row.name == name).expect("a row of the table");
        let arguments = arguments(row.parameters, &[option], &[("queue", queue())]);
        let attachments: Vec<(String, Arguments)> =
            (0..=self.terminals).map(|n| (format!("medium air {n}"), arguments.clone())).collect();
        let options = MediumOptions {
            arguments: &arguments,
            attachments: &attachments,
            station: true,
            name: "medium air",
            stream: &|name| Generator::new(1, name),
            flows: &[],
            delays: false,
            interest: Interest::NONE,
        };
        medium::build(name, &options).expect("the options fit together")
    }
}

fn link(name: &str, rate: &str) -> Link {
    let rate = component("rates", "fixed", &[("rate", rate)]);
    let arguments = arguments(LINK, &[("delay", "1 ms")], &[("rate", rate), ("queue", queue())]);
    let options = LinkOptions {
        arguments: &arguments,
        round_trip: Duration::from_millis(4),
        seed: 1,
        name,
        shared: name,
        flows: &[],
        delays: false,
        interest: Interest::NONE,
    };
    Link::new(&options).expect("the options fit together")
}

fn queue() -> Value {
    component("queues", "drop-tail", &[("limit", &format!("{QUEUE} packets"))])
}

fn component(room: &str, name: &str, given: &[(&str, &str)]) -> Value {
    let rooms = network::rooms();
    let room = rooms.iter().find(|known| known.name == room).expect("a room");
    let row = room.rows.iter().find(|row| row.name == name).expect("a row of the room");
    let arguments = arguments(row.parameters, given, &[]);
    Value::Component(Component { room: room.name, name: row.name, arguments })
}

/// The options of a row, some as text and some as values; the others have their defaults.
fn arguments(parameters: &[Parameter], written: &[(&str, &str)], given: &[(&str, Value)]) -> Arguments {
    let rooms = network::rooms();
    let mut all: Vec<(&str, Value)> = given.to_vec();
    for (name, text) in written {
        let row = parameters.iter().find(|row| row.name == *name).expect("an option of the row");
        all.push((name, row.kind.read(text, &rooms).expect("a value of the option")));
    }
    Arguments::filled(parameters, &all, &rooms).expect("all options have values")
}

/// A host that sends packets at an interval, or none, and counts those that arrive.
#[derive(Debug)]
struct Source {
    own: SocketAddr,
    other: SocketAddr,
    interval: Duration,
    next: Option<Time>,
    /// The packets that it sends next.
    burst: u32,
    arrived: u64,
}

impl Node for Source {
    fn accept(&mut self, _: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.arrived += 1;
        exits.discard(packet);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        for _ in 0..std::mem::replace(&mut self.burst, 1) {
            let mut bytes = exits.buffer();
            bytes.resize(40, 0);
            exits.send_new(self.own, self.other, bytes, None).size = SIZE;
        }
        self.next = Some(now + self.interval);
    }
    fn wake_at(&self) -> Option<Time> {
        self.next
    }
}
