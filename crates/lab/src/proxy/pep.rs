//! A performance-enhancing proxy: it splits the TCP connections that pass (RFC 3135 sections 2.4 and 3.1).
//!
//! It is transparent on both sides. To the client it answers as the server, with the server's address and port, and to the
//! server it opens a connection with the client's; a route, a NAT and another proxy on the way see what they would see
//! without it. It answers the client's SYN at once and opens its own connection in parallel. Everything else passes:
//! other protocols, and TCP connections whose SYN it has not seen.

use super::options::{Configs, PepOptions, side_config};
use super::splice::{Half, Side, Splice};
use super::{MIN_MSS, Profile, ProxyOptions};
use crate::capture::Tap;
use crate::ends::number_of_other_end;
use congestion::PathStore;
use network::middlebox::Middlebox;
use network::{BuildError, Exits, Node, NodeId, Packet, PacketBooks, Port, Protocol, node_of, port_of};
use random::Generator;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use tcp::{Connection, ConnectionInputs, TlsSizes};
use trace::{Event, Log};
use units::parameter::{Arguments, Component, Options, Row};
use units::{Time, Timers};
use wire::tcp::{Flags, Header};

pub(super) const ROW: Row<Profile> = Row {
    name: "pep",
    about: "performance-enhancing proxy: terminates passing TCP connections on each side, and relays their data (RFC 3135)",
    parameters: PepOptions::PARAMETERS,
    build: Profile { controllers, build: |options| Ok(Box::new(Pep::new(options)?)) },
};

/// The headers of IPv4 and IPv6 together with that of TCP, without options.
const HEADERS: [u64; 2] = [40, 60];

fn controllers(arguments: &Arguments) -> Vec<Component> {
    Side::BOTH.iter().map(|side| side_config(arguments, *side).controller).collect()
}

/// The addresses of a connection's client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    client: SocketAddr,
    server: SocketAddr,
}

#[derive(Debug, Default)]
struct Counters {
    split: u64,
    unsplit: u64,
    reset: u64,
    taken: u64,
    sent: u64,
    passed: u64,
    relayed: [u64; 2],
    /// Retransmitted by connections that are gone.
    retransmitted: u64,
    most_buffered: u64,
}

struct Pep {
    /// The prefix of the names of its random streams.
    name: String,
    seed: u64,
    cookie_keys: Rc<[u64]>,
    taps: [Option<Tap>; 2],
    mtus: Vec<u64>,
    /// The ports by which the routes to addresses leave.
    routes: BTreeMap<(NodeId, Option<Port>), Port>,
    configs: [Configs; 2],
    most: usize,
    slots: Vec<Option<Box<Splice>>>,
    free: Vec<usize>,
    by_addresses: BTreeMap<Ends, usize>,
    /// The connections split so far of each flow, by the number of its client.
    of_flow: BTreeMap<u32, u32>,
    /// The timers of the splices, by slot.
    timers: Timers,
    known_paths: PathStore,
    /// The bytes in all buffers.
    buffered: u64,
    counters: Counters,
    log: Log,
    /// The logs of connections that are gone, with the numbers of sender and connection.
    left: Vec<(u32, u32, Log)>,
    /// The packets that it has made and taken.
    books: PacketBooks,
}

impl Pep {
    fn new(options: &ProxyOptions<'_>) -> Result<Pep, BuildError> {
        let ProxyOptions { middlebox, mtus, run } = options;
        let tap = |side: Side| {
            let name = format!("{} {} side", middlebox.name, side.name());
            let tap = run.tap.as_ref().map(|tap| tap.interface(&name)).transpose();
            tap.map_err(|error| BuildError::Option { option: "type", problem: error.to_string() })
        };
        Ok(Pep {
            name: middlebox.name.to_owned(),
            seed: run.seed,
            cookie_keys: Rc::clone(&run.cookie_keys),
            taps: [tap(Side::Client)?, tap(Side::Server)?],
            mtus: mtus.to_vec(),
            routes: BTreeMap::new(),
            configs: Side::BOTH.map(|side| Configs::new(side_config(middlebox.arguments, side))),
            most: PepOptions::of(middlebox.arguments).connections,
            slots: Vec::new(),
            free: Vec::new(),
            by_addresses: BTreeMap::new(),
            of_flow: BTreeMap::new(),
            timers: Timers::default(),
            known_paths: PathStore::default(),
            buffered: 0,
            counters: Counters::default(),
            log: Log::new(middlebox.interest),
            left: Vec::new(),
            books: PacketBooks::default(),
        })
    }

    /// The slot and the side of the connection that a packet belongs to.
    fn find(&self, packet: &Packet) -> Option<(usize, Side)> {
        let known = |client, server| self.by_addresses.get(&Ends { client, server }).copied();
        let from_client = known(packet.source, packet.destination).map(|slot| (slot, Side::Client));
        from_client.or_else(|| Some((known(packet.destination, packet.source)?, Side::Server)))
    }

    /// The largest segment on the carrier to an address.
    fn segment_size(&self, to: IpAddr) -> u64 {
        let route = node_of(to).and_then(|node| self.routes.get(&(node, port_of(to))));
        let mtu = route.and_then(|port| self.mtus.get(usize::from(port.0))).copied().unwrap_or(u64::MAX);
        mtu.saturating_sub(HEADERS[usize::from(to.is_ipv6())]).max(MIN_MSS)
    }

    /// Splits the connection that a SYN opens, and returns its slot. `None` if there is no room for it.
    fn split(&mut self, now: Time, packet: &Packet) -> Option<usize> {
        if self.by_addresses.len() >= self.most && !self.make_room() {
            self.counters.unsplit += 1;
            return None;
        }
        let ends = Ends { client: packet.source, server: packet.destination };
        let number = self.of_flow.entry(packet.flow).or_default();
        let index = *number;
        *number += 1;
        let accepted = Connection::listen(self.setup(Side::Client, ends, packet.flow, index));
        let accepted = accepted.expect("the reader refuses unknown controllers");
        let setup = self.setup(Side::Server, ends, packet.flow, index);
        let opened = Connection::connect(now, setup, ends.server);
        let opened = opened.expect("the reader refuses unknown controllers");
        let other = number_of_other_end(packet.flow);
        let accepted = Half { connection: accepted, local: ends.server, flow: other };
        let opened = Half { connection: opened, local: ends.client, flow: packet.flow };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Box::new(Splice::new(accepted, opened, index)));
        let before = self.by_addresses.insert(ends, slot);
        assert_eq!(before, None, "a connection that is known is not split anew");
        self.counters.split += 1;
        self.note_connections(now);
        Some(slot)
    }

    /// The inputs of the connection on a side of a flow's connection with this number.
    fn setup(
        &mut self,
        side: Side,
        Ends { client, server }: Ends,
        flow: u32,
        number: u32,
    ) -> ConnectionInputs {
        let (local, remote) = if side == Side::Client { (server, client) } else { (client, server) };
        let size = self.segment_size(remote.ip());
        let stream = format!("{} flow {} connection {number} {} side", self.name, flow / 2, side.name());
        ConnectionInputs {
            local,
            config: self.configs[side as usize].fitting(size),
            random: Generator::new(self.seed, &stream),
            interest: self.log.interest(),
            tls: TlsSizes::default(),
            // Who is no part of the scenario has no server in it either.
            cookie_key: self.cookie_keys.get(flow as usize / 2).copied().unwrap_or_default(),
            known_paths: tcp::DatedPaths {
                store: self.known_paths.clone(),
                epoch_ms: tls::EPOCH.as_millis() as u64,
            },
            initial_sequence: None,
        }
    }

    /// Frees a connection that has ended and only waits for late segments. Returns whether there was one.
    fn make_room(&mut self) -> bool {
        let ended = |slot: &&usize| self.slots[**slot].as_ref().is_some_and(|splice| splice.has_ended());
        let Some(slot) = self.by_addresses.values().find(ended).copied() else { return false };
        self.remove(slot);
        true
    }

    fn remove(&mut self, slot: usize) {
        let mut splice = self.slots[slot].take().expect("a slot that is freed has a connection");
        let [client, server] = Side::BOTH.map(|side| splice.half(side));
        let known = self.by_addresses.remove(&Ends { client: server.local, server: client.local });
        assert_eq!(known, Some(slot), "a connection is found by its addresses");
        self.counters.retransmitted += retransmitted(&splice);
        self.buffered -= splice.buffered;
        self.free.push(slot);
        self.timers.set(slot, None);
        let number = splice.number;
        for (flow, log) in splice.logs() {
            if !log.is_empty() {
                let log = std::mem::replace(log, Log::new(self.log.interest()));
                self.left.push((flow, number, log));
            }
        }
    }

    /// Serves a splice after a packet or a timer.
    fn serve(&mut self, now: Time, slot: usize, exits: &mut Exits) {
        let splice = self.slots[slot].as_mut().expect("a slot that is served has a connection");
        let before = splice.buffered;
        let served = splice.serve(now, self.taps.each_ref().map(Option::as_ref), &mut self.books.sent, exits);
        self.buffered = self.buffered + splice.buffered - before;
        self.counters.sent += served.packets;
        self.counters.reset += u64::from(served.reset);
        self.counters.relayed[0] += served.relayed[0];
        self.counters.relayed[1] += served.relayed[1];
        self.counters.most_buffered = self.counters.most_buffered.max(self.buffered);
        let (over, changed) = (splice.is_over(), splice.buffered != before);
        if changed && self.log.interest().metrics {
            self.log.push(now, Event::Gauge { name: "buffered_bytes", value: self.buffered as f64 });
        }
        if over {
            self.remove(slot);
            self.note_connections(now);
        } else {
            let at = splice.wake_at(now);
            self.timers.set(slot, at);
        }
    }

    fn note_connections(&mut self, now: Time) {
        if self.log.interest().metrics {
            let count = self.by_addresses.len() as f64;
            self.log.push(now, Event::Gauge { name: "connections", value: count });
        }
    }
}

fn retransmitted(splice: &Splice) -> u64 {
    Side::BOTH.map(|side| splice.half(side).connection.stats().retransmitted_bytes).iter().sum()
}

/// Whether a packet is the intact SYN of a client.
fn opens(packet: &Packet) -> bool {
    let is_first = |header: &Header| {
        header.flags.has(Flags::SYN)
            && ![Flags::ACK, Flags::RST, Flags::FIN].iter().any(|flag| header.flags.has(*flag))
    };
    packet.damage().is_none() && Header::decode(&packet.bytes).is_ok_and(|(header, _)| is_first(&header))
}

impl Node for Pep {
    fn accept(&mut self, now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        let found = if packet.protocol() == Protocol::Tcp { self.find(&packet) } else { None };
        let is_new = found.is_none() && packet.protocol() == Protocol::Tcp && opens(&packet);
        let found = if is_new { self.split(now, &packet).map(|slot| (slot, Side::Client)) } else { found };
        let Some((slot, side)) = found else {
            self.counters.passed += 1;
            return exits.send(packet);
        };
        self.counters.taken += 1;
        self.books.taken.add(packet.flow, packet.size);
        let splice = self.slots[slot].as_mut().expect("a connection that is known has a slot");
        splice.receive(now, side, packet, self.taps[side as usize].as_ref(), exits);
        self.serve(now, slot, exits);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while let Some((at, slot)) = self.timers.next() {
            if at > now {
                break;
            }
            self.slots[slot].as_mut().expect("a timer that runs is that of a connection").wake(now);
            self.serve(now, slot, exits);
        }
    }
    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }
    fn takes_transit(&self) -> bool {
        true
    }
    fn account(&self, books: &mut PacketBooks) {
        books.merge(&self.books);
    }
}

impl Middlebox for Pep {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        let live: u64 = self.slots.iter().flatten().map(|splice| retransmitted(splice)).sum();
        vec![
            ("split_connections", counters.split),
            ("unsplit_connections", counters.unsplit),
            ("reset_connections", counters.reset),
            ("remaining_connections", self.by_addresses.len() as u64),
            ("upward_bytes", counters.relayed[0]),
            ("downward_bytes", counters.relayed[1]),
            ("retransmitted_bytes", counters.retransmitted + live),
            ("buffered_max_bytes", counters.most_buffered),
            ("taken_packets", counters.taken),
            ("sent_packets", counters.sent),
            ("passed_packets", counters.passed),
        ]
    }
    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    fn learn_route(&mut self, to: NodeId, address_of: Option<Port>, exit: Port) {
        self.routes.insert((to, address_of), exit);
    }
    fn check(&self) {
        let used = self.slots.iter().flatten();
        assert_eq!(used.clone().count(), self.by_addresses.len(), "each connection has its addresses");
        assert_eq!(self.slots.len(), self.by_addresses.len() + self.free.len(), "a slot is in use or free");
        assert!(self.by_addresses.len() <= self.most, "no more connections are split than may be");
        let buffered: u64 = used.map(|splice| splice.buffered).sum();
        assert_eq!(self.buffered, buffered, "the buffered bytes are those of all connections");
        assert!(self.buffered <= self.counters.most_buffered, "no more is buffered than ever was");
    }
    fn connection_logs(&mut self, take: &mut dyn FnMut(u32, u32, &mut Log)) {
        for (flow, number, log) in &mut self.left {
            take(*flow, *number, log);
        }
        self.left.clear();
        for splice in self.slots.iter_mut().flatten() {
            let number = splice.number;
            for (flow, log) in splice.logs() {
                if !log.is_empty() {
                    take(flow, number, log);
                }
            }
        }
    }
}
