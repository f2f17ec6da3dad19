//! Shared by the tests and the example: arguments for links, and hosts that only send and count.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

pub mod cell;

use network::{
    Carriers, Exits, LINK, Link, LinkOptions, Node, NodeId, Packet, Port, Topology, World, node_address,
};
use std::net::SocketAddr;
use trace::Interest;
use units::parameter::{Arguments, Component, File, Kind, Parameter, Value};
use units::{Duration, Time};

pub fn ms(n: u64) -> Time {
    us(1000 * n)
}
pub fn us(n: u64) -> Time {
    Time::from_nanos(1000 * n)
}

/// The value of an option as written in a scenario file, without the quotes: `"20 ms"`, `"0.1"`, `"[1, 2]"`. A
/// component is a row's name, or the row's name and its options.
pub fn value(kind: Kind, text: &str) -> Value {
    let text = text.trim_matches('"');
    let list = || text.split([',', '[', ']']).map(str::trim).filter(|part| !part.is_empty());
    match kind {
        Kind::Duration => Value::Duration(text.parse().unwrap()),
        Kind::Rate => Value::Rate(text.parse().unwrap()),
        Kind::Size => Value::Size(text.parse().unwrap()),
        Kind::Limit => Value::Limit(text.parse().unwrap()),
        Kind::Integer(..) => Value::Integer(text.parse().unwrap()),
        Kind::Number(..) | Kind::Probability => Value::Number(text.parse().unwrap()),
        Kind::Flag => Value::Flag(text.parse().unwrap()),
        Kind::Text | Kind::Choice(_) => Value::Text(text.to_owned()),
        Kind::File(_) => Value::File(File { path: "a.trace".to_owned(), text: text.into() }),
        Kind::Preference(_) => Value::List(list().map(|part| Value::Text(part.to_owned())).collect()),
        Kind::List(kind) => Value::List(list().map(|part| value(*kind, part)).collect()),
        Kind::Pairs(first, second) => {
            let parts: Vec<&str> = list().collect();
            let pair = |pair: &[&str]| Value::List(vec![value(*first, pair[0]), value(*second, pair[1])]);
            Value::List(parts.chunks_exact(2).map(pair).collect())
        }
        Kind::Component(room) => Value::Component(component(room, text)),
    }
}

/// A component given by its row and options: `"random probability=0.1"`; options are separated by `;`.
pub fn component(room: &str, text: &str) -> Component {
    let (name, options) = text.split_once(' ').unwrap_or((text, ""));
    let room = network::rooms().into_iter().find(|known| known.name == room).unwrap();
    let row = room.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no {name:?}"));
    let given: Vec<(&str, &str)> = options.split(';').filter_map(|option| option.split_once('=')).collect();
    Component { room: room.name, name: row.name, arguments: arguments(row.parameters, &given) }
}

/// The options of a row: the given ones, and the defaults of the others.
pub fn arguments(parameters: &'static [Parameter], given: &[(&str, &str)]) -> Arguments {
    let read = |(key, text): &(&str, &str)| {
        let row = parameters.iter().find(|row| row.name == key.trim());
        let row = row.unwrap_or_else(|| panic!("there is no option {key:?}"));
        (row.name, value(row.kind, text))
    };
    let given: Vec<(&str, Value)> = given.iter().map(read).collect();
    Arguments::filled(parameters, &given, &network::rooms()).unwrap()
}

/// A direction of a link with these options, seed 1 and a base RTT of 20 ms.
pub fn link(name: &str, given: &[(&str, &str)]) -> Link {
    traced(name, given, 1, Interest::NONE)
}

/// Names that a scenario could give to flows.
pub fn flows() -> Vec<(String, u32)> {
    ["call", "call", "film"].map(str::to_owned).into_iter().zip(0..).collect()
}

pub fn traced(name: &str, given: &[(&str, &str)], seed: u64, interest: Interest) -> Link {
    let arguments = arguments(LINK, given);
    let round_trip = Duration::from_millis(20);
    Link::new(&LinkOptions {
        arguments: &arguments,
        round_trip,
        seed,
        name,
        shared: name,
        flows: &flows(),
        delays: interest.metrics,
        interest,
    })
    .unwrap()
}

pub fn address(node: u32) -> SocketAddr {
    SocketAddr::new(node_address(NodeId(node), false), 443)
}

/// A packet of this size on the wire from node 0 to node 1; its flow is its number.
pub fn packet(number: u32, size: u32) -> Packet {
    let mut packet = Packet::new(address(0), address(1), vec![0; size as usize - 28], None);
    packet.flow = number;
    packet
}

/// All packets that leave a direction up to a time: the time and the number of each.
pub fn deliveries(link: &mut Link, until: Time, exits: &mut Exits) -> Vec<(Time, u32)> {
    let mut seen = Vec::new();
    while let Some(at) = link.wake_at().filter(|at| *at <= until) {
        link.wake(at, exits);
        seen.extend(std::iter::from_fn(|| exits.take()).map(|packet| (at, packet.flow)));
    }
    seen
}

/// Offers packets (at, number, size) to a direction; returns the time and the number of each arrival.
pub fn play(link: &mut Link, offered: &[(Time, u32, u32)]) -> Vec<(Time, u32)> {
    let (mut exits, mut seen) = (Exits::default(), Vec::new());
    for (at, number, size) in offered {
        // Deliveries at the same instant come later, like the timers of links in a world.
        if let Some(before) = at.as_nanos().checked_sub(1) {
            seen.extend(deliveries(link, Time::from_nanos(before), &mut exits));
        }
        link.accept(*at, packet(*number, *size), &mut exits);
    }
    seen.extend(deliveries(link, Time::from_nanos(u64::MAX - 1), &mut exits));
    seen
}

/// A host that sends packets of one size at an interval, and counts what it receives.
#[derive(Debug)]
pub struct Source {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub interval: Duration,
    pub size: u32,
    pub next: Option<Time>,
    pub left: u64,
    pub received: u64,
}

impl Source {
    pub fn new(from: u32, to: u32, interval: Duration, left: u64) -> Source {
        let next = (left > 0).then_some(Time::ZERO);
        Source { from: address(from), to: address(to), interval, size: 1500, next, left, received: 0 }
    }
}

impl Node for Source {
    fn accept(&mut self, _now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.received += 1;
        exits.discard(packet);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        let mut bytes = exits.buffer();
        bytes.resize(40, 0);
        exits.send_new(self.from, self.to, bytes, None).size = self.size;
        self.left -= 1;
        self.next = (self.left > 0).then_some(now + self.interval);
    }
    fn wake_at(&self) -> Option<Time> {
        self.next
    }
}

/// A chain of nodes 0, 1, 2, ... with one link between neighbours, equal in both directions, and hosts at its
/// ends.
pub fn chain<H: Node>(links: u32, options: &[(&str, &str)], first: H, last: H) -> World<H> {
    let mut topology = Topology::default();
    for node in 0..=links {
        topology.add_node(&node.to_string()).unwrap();
    }
    let mut directions = Vec::new();
    for n in 0..links {
        topology.add_link(&n.to_string(), &n.to_string(), &(n + 1).to_string()).unwrap();
        directions.push(link(&format!("{n} forward"), options));
        directions.push(link(&format!("{n} backward"), options));
    }
    let mut hosts: Vec<Option<H>> = (0..=links).map(|_| None).collect();
    hosts[0] = Some(first);
    hosts[links as usize] = Some(last);
    World::new(
        &topology,
        Carriers { links: directions, ..Carriers::default() },
        hosts.into_iter().map(Into::into).collect(),
    )
}
