//! A network address and port translator (RFC 3022, in the terms of RFC 4787).
//!
//! The source of a packet from inside becomes the address of the NAT with a port of its own: one for each
//! inside address, port and protocol, for all destinations (endpoint-independent mapping, RFC 4787 REQ-1). The
//! destination of a packet to that port from anywhere (endpoint-independent filtering) becomes the inside
//! address. A packet from inside to a mapped port is translated both ways (hairpinning, REQ-9). A packet from
//! inside to an inside address passes unchanged. All other packets from outside are dropped.
//!
//! Packets of real programs may be ICMP, too (`nat/icmp.rs`). What has neither ports nor an identifier cannot be translated and is
//! dropped: later fragments, other protocols.
//!
//! A mapping ends after a timeout without packets from inside, or when the NAT forgets, at times given by the
//! scenario. The next packet from inside then gets another port, so that the address of the client changes
//! during a connection.
//!
//! Ports are assigned in turn from 1024 on, so that nothing is drawn.

mod icmp;

use super::{Middlebox, MiddleboxOptions, Profile};
use crate::address::{NodeId, Port, node_address, node_of, port_of};
use crate::books::{Ledger, PacketBooks};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::node::Node;
use crate::packet::{Packet, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use trace::{Event, Log};
use units::parameter::{Component, Options, Row};
use units::{Duration, Time};

/// The options of NATs.
#[derive(Debug, Clone, Options)]
struct NatOptions {
    /// links and media whose nodes are inside (default: the first of two links, or of two media; required
    /// otherwise)
    inside: Option<Vec<String>>,
    /// times at which all mappings are forgotten, in rising order
    #[option(default = [])]
    rebind: Vec<Duration>,
    /// silence from inside after which a UDP mapping expires (RFC 4787 REQ-5); above zero
    #[option(default = "5 min")]
    timeout: Duration,
    /// the same for TCP (RFC 5382 REQ-5); above zero
    #[option(default = "124 min")]
    tcp_timeout: Duration,
    /// the same for ICMP queries such as echo requests (RFC 5508 REQ-2); above zero
    #[option(default = "60 s")]
    icmp_timeout: Duration,
    /// maximum number of mappings per protocol; a packet that would need one more is dropped
    #[option(default = 10000, within = 1..=MOST_MAPPINGS)]
    mappings: usize,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "nat",
    about: "translates inside addresses and ports into its own; mappings expire after silence or at given times",
    parameters: NatOptions::PARAMETERS,
    build: Profile { remembers: true, at_hosts: false, build: &|options| Ok(Box::new(Nat::new(options)?)) },
};

/// The silence from inside after which a middlebox forgets a connection over UDP or TCP; `None` if it is no NAT.
pub fn forgets_after(kind: &Component, protocol: Protocol) -> Option<Duration> {
    if kind.name != ROW.name {
        return None;
    }
    let options = NatOptions::of(&kind.arguments);
    Some(if protocol == Protocol::Tcp { options.tcp_timeout } else { options.timeout })
}

/// The protocols that are translated, as indices.
const UDP: usize = 0;
const TCP: usize = 1;
const ICMP: usize = 2;
const PROTOCOLS: usize = 3;

const FIRST_PORT: u16 = 1024;
/// The number of mappings of a table that are compared in each check.
const CHECKED: usize = 32;
/// The number of ports from the first one on.
const MOST_MAPPINGS: u64 = 64_512;

/// A port of the NAT, or of ICMP an identifier, that represents an address and a port inside.
#[derive(Debug, Clone, Copy)]
struct Mapping {
    inside: SocketAddr,
    /// When the last packet was sent from it.
    used: Time,
}

/// The mappings of one protocol over one version of IP.
#[derive(Debug, Default)]
struct Table {
    by_port: BTreeMap<u16, Mapping>,
    by_inside: BTreeMap<SocketAddr, u16>,
    /// Where the search for a free port starts.
    next: u16,
}

impl Table {
    /// Stops unless both directions are the same mappings, none of which times out before `expiry`.
    fn check(&self, expiry: Time, timeout: Duration) {
        assert_eq!(self.by_port.len(), self.by_inside.len(), "each mapping is found from both sides");
        // The rest takes as long as the table is: that of a large one is as certain as that of a small one.
        for (port, mapping) in self.by_port.iter().take(CHECKED) {
            assert_eq!(self.by_inside.get(&mapping.inside), Some(port), "both sides are the same mapping");
            assert!(mapping.used + timeout >= expiry, "the timer comes no later than a mapping times out");
        }
    }
}

/// The reason for dropping a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It comes from outside and is addressed to an unmapped port.
    Unsolicited,
    /// No port is free for it.
    Full,
    /// It has neither ports nor an identifier.
    Untranslatable,
}

impl Refusal {
    fn name(self) -> &'static str {
        match self {
            Refusal::Unsolicited => "no_mapping",
            Refusal::Full => "mappings",
            Refusal::Untranslatable => "no_port",
        }
    }
}

#[derive(Debug, Default)]
struct Counters {
    out: u64,
    back: u64,
    unsolicited: u64,
    full: u64,
    untranslatable: u64,
    made: u64,
    forgotten: u64,
}

struct Nat {
    /// The IPv4 and the IPv6 address of the node.
    own: [IpAddr; 2],
    /// Whether each port of the node leads inside.
    inside: Vec<bool>,
    /// Whether the route to the own address of each node leads inside.
    inside_nodes: Vec<bool>,
    /// The addresses of ports whose routes lead inside.
    inside_ports: BTreeSet<(NodeId, Port)>,
    /// The times at which it forgets, the next one last.
    rebind: Vec<Time>,
    /// The timeouts for UDP, TCP and ICMP.
    timeouts: [Duration; PROTOCOLS],
    most: usize,
    /// The tables for UDP, TCP and ICMP, over IPv4 and IPv6.
    tables: [[Table; 2]; PROTOCOLS],
    /// The earliest time at which a mapping can time out.
    expiry: Time,
    counters: Counters,
    drops: Ledger,
    log: Log,
}

/// An unusable option of a NAT.
fn problem(option: &'static str, problem: String) -> BuildError {
    BuildError::Option { option, problem }
}

impl Nat {
    fn new(options: &MiddleboxOptions<'_>) -> Result<Nat, BuildError> {
        let own = NatOptions::of(options.arguments);
        let mut inside = vec![false; options.carriers.len()];
        if let Some(names) = &own.inside {
            for name in names {
                let port = options.carriers.iter().position(|carrier| carrier == name);
                let Some(port) = port else {
                    let carriers = options.carriers.join(", ");
                    let found = format!("found {name:?}; expected one of {carriers}");
                    return Err(problem("inside", format!("not a link or medium of this node, {found}")));
                };
                inside[port] = true;
            }
        } else if inside.len() > 2 || (1..inside.len()).contains(&options.links) {
            let carriers = options.carriers.join(", ");
            let missing = format!("missing, and it is unclear what is inside; expected some of {carriers}");
            return Err(problem("inside", missing));
        } else if let Some(first) = inside.first_mut() {
            *first = true;
        }
        if inside.iter().all(|is| *is) {
            let wrong = "nothing is outside; expected another link or medium of this node besides";
            return Err(problem("inside", wrong.to_owned()));
        }
        if inside.iter().all(|is| !is) {
            return Err(problem("inside", "nothing is inside; expected a link or a medium".to_owned()));
        }
        let mut rebind: Vec<Time> = Vec::new();
        for at in own.rebind {
            let at = Time::ZERO + at;
            if rebind.last().is_some_and(|last| *last >= at) {
                let wrong = format!("times do not rise, found {at}; expected a time after the one before it");
                return Err(problem("rebind", wrong));
            }
            rebind.push(at);
        }
        rebind.reverse();
        let timeouts =
            [("timeout", own.timeout), ("tcp_timeout", own.tcp_timeout), ("icmp_timeout", own.icmp_timeout)];
        if let Some((option, _)) = timeouts.iter().find(|(_, timeout)| timeout.is_zero()) {
            return Err(problem(option, "zero; expected a duration above zero".to_owned()));
        }
        Ok(Nat {
            own: [false, true].map(|ipv6| node_address(options.node, ipv6)),
            inside,
            inside_nodes: Vec::new(),
            inside_ports: BTreeSet::new(),
            rebind,
            timeouts: timeouts.map(|(_, timeout)| timeout),
            most: own.mappings,
            tables: <[[Table; 2]; PROTOCOLS]>::default(),
            expiry: Time::NEVER,
            counters: Counters::default(),
            drops: Ledger::default(),
            log: Log::new(options.interest),
        })
    }

    /// Updates the mappings to the current time.
    fn catch_up(&mut self, now: Time) {
        let mut forgets = false;
        while self.rebind.last().is_some_and(|at| *at <= now) {
            self.rebind.pop();
            forgets = true;
        }
        if forgets {
            self.forget(now);
        }
        if self.expiry <= now {
            self.expire(now);
        }
    }

    /// Removes the mappings that have been silent for too long.
    fn expire(&mut self, now: Time) {
        let before = self.mappings();
        self.expiry = Time::NEVER;
        for (tables, timeout) in self.tables.iter_mut().zip(self.timeouts) {
            for table in tables {
                let expired = |mapping: &Mapping| mapping.used + timeout <= now;
                let of = |port: &u16| table.by_port.get(port).expect("a port in use has its mapping");
                table.by_inside.retain(|_, port| !expired(of(port)));
                table.by_port.retain(|_, mapping| !expired(mapping));
                let next = table.by_port.values().map(|mapping| mapping.used + timeout).min();
                self.expiry = self.expiry.min(next.unwrap_or(Time::NEVER));
            }
        }
        self.note_forgotten(now, before);
    }

    fn mappings(&self) -> usize {
        self.tables.iter().flatten().map(|table| table.by_port.len()).sum()
    }

    fn note_forgotten(&mut self, now: Time, before: usize) {
        let gone = before - self.mappings();
        self.counters.forgotten += gone as u64;
        if gone > 0 {
            self.note_mappings(now);
        }
    }

    fn note_mappings(&mut self, now: Time) {
        if self.log.interest().metrics {
            self.log.push(now, Event::Gauge { name: "mappings", value: self.mappings() as f64 });
        }
    }

    /// The port for packets from this address inside.
    fn map(&mut self, now: Time, protocol: usize, inside: SocketAddr) -> Result<u16, Refusal> {
        let table = &mut self.tables[protocol][usize::from(inside.is_ipv6())];
        let until = now + self.timeouts[protocol];
        if let Some(port) = table.by_inside.get(&inside) {
            table.by_port.get_mut(port).expect("a port in use has its mapping").used = now;
            return Ok(*port);
        }
        if table.by_port.len() >= self.most {
            return Err(Refusal::Full);
        }
        let mut port = table.next.max(FIRST_PORT);
        while table.by_port.contains_key(&port) {
            port = port.checked_add(1).unwrap_or(FIRST_PORT);
        }
        table.next = port.checked_add(1).unwrap_or(FIRST_PORT);
        table.by_port.insert(port, Mapping { inside, used: now });
        table.by_inside.insert(inside, port);
        self.expiry = self.expiry.min(until);
        self.counters.made += 1;
        self.note_mappings(now);
        Ok(port)
    }

    fn leads_inside(&self, port: Port) -> bool {
        *self.inside.get(usize::from(port.0)).expect("each port leads to a carrier of the node")
    }

    /// Whether the route to this address leads inside.
    fn is_inside(&self, address: IpAddr) -> bool {
        let Some(node) = node_of(address) else { return false };
        match port_of(address) {
            None => self.inside_nodes.get(node.0 as usize).is_some_and(|inside| *inside),
            Some(port) => self.inside_ports.contains(&(node, port)),
        }
    }

    /// Translates a packet, or returns the reason for dropping it.
    fn translate(&mut self, now: Time, port: Port, packet: &mut Packet) -> Result<(), Refusal> {
        let version = usize::from(packet.destination.is_ipv6());
        let from_inside = self.leads_inside(port);
        if from_inside && self.is_inside(packet.destination.ip()) {
            return Ok(());
        }
        let protocol = match packet.protocol() {
            Protocol::Udp => UDP,
            Protocol::Tcp => TCP,
            Protocol::Ip => return self.translate_icmp(now, from_inside, packet),
        };
        let to_itself = packet.destination.ip() == self.own[version];
        let target = self.tables[protocol][version].by_port.get(&packet.destination.port());
        let target = target.filter(|_| to_itself).map(|mapping| mapping.inside);
        if target.is_none() && (to_itself || !from_inside) {
            return Err(Refusal::Unsolicited);
        }
        if from_inside {
            let mapped = self.map(now, protocol, packet.source)?;
            packet.readdress(SocketAddr::new(self.own[version], mapped), packet.destination);
            self.counters.out += 1;
        }
        if let Some(target) = target {
            packet.readdress(packet.source, target);
            self.counters.back += 1;
        }
        Ok(())
    }

    fn refuse(&mut self, now: Time, packet: &Packet, refusal: Refusal) {
        match refusal {
            Refusal::Unsolicited => self.counters.unsolicited += 1,
            Refusal::Full => self.counters.full += 1,
            Refusal::Untranslatable => self.counters.untranslatable += 1,
        }
        self.drops.add(packet.flow, packet.size);
        if self.log.interest().losses() {
            self.log.push(now, Event::NetworkDrop { length: packet.size, reason: refusal.name() });
        }
    }
}

impl Node for Nat {
    fn accept(&mut self, now: Time, port: Port, mut packet: Box<Packet>, exits: &mut Exits) {
        self.catch_up(now);
        match self.translate(now, port, &mut packet) {
            Ok(()) => exits.send(packet),
            Err(refusal) => {
                self.refuse(now, &packet, refusal);
                exits.discard(packet);
            }
        }
    }
    fn wake(&mut self, now: Time, _: &mut Exits) {
        self.catch_up(now);
    }
    fn wake_at(&self) -> Option<Time> {
        let at = self.rebind.last().copied().unwrap_or(Time::NEVER).min(self.expiry);
        (at != Time::NEVER).then_some(at)
    }
    fn takes_transit(&self) -> bool {
        true
    }
    fn account(&self, books: &mut PacketBooks) {
        books.dropped.merge(&self.drops);
    }
}

impl Middlebox for Nat {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        vec![
            ("outward_packets", counters.out),
            ("inward_packets", counters.back),
            ("unsolicited_packets", counters.unsolicited),
            ("refused_packets", counters.full),
            ("untranslatable_packets", counters.untranslatable),
            ("mappings_made", counters.made),
            ("mappings_forgotten", counters.forgotten),
        ]
    }
    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    fn stops(&self, entry: Port, exit: Port) -> Option<&'static str> {
        (!self.leads_inside(entry) && self.leads_inside(exit))
            .then_some("drops packets from outside until a packet from inside has passed")
    }
    fn learn_route(&mut self, to: NodeId, address_of: Option<Port>, exit: Port) {
        if !self.leads_inside(exit) {
            return;
        }
        match address_of {
            Some(port) => {
                self.inside_ports.insert((to, port));
            }
            None => {
                let index = to.0 as usize;
                self.inside_nodes.resize(self.inside_nodes.len().max(index + 1), false);
                self.inside_nodes[index] = true;
            }
        }
    }
    fn forget(&mut self, now: Time) {
        let before = self.mappings();
        for table in self.tables.iter_mut().flatten() {
            // The ports that were in use are not reused first.
            *table = Table { next: table.next, ..Table::default() };
        }
        self.expiry = Time::NEVER;
        self.note_forgotten(now, before);
    }
    fn check(&self) {
        for (tables, timeout) in self.tables.iter().zip(self.timeouts) {
            tables.iter().for_each(|table| table.check(self.expiry, timeout));
        }
        assert!(self.rebind.is_sorted_by(|one, next| one > next), "the next time to forget is the last");
        let gone = self.counters.made.checked_sub(self.counters.forgotten);
        assert_eq!(gone, Some(self.mappings() as u64), "a mapping that was made is there or forgotten");
    }
}

#[cfg(test)]
mod tests;
