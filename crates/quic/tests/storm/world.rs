//! Some clients, one server, and a network controlled by an attacker.

use crate::allocator::{held, inside};
use crate::applications::{Applications, End};
use crate::laws::Laws;
use crate::wiretap::Wiretap;
use quic::{
    CloseReason, Config, Connection, Datagram, Endpoint, EndpointOptions, Handle, Migration, Opening,
};
use random::Generator;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use trace::{Event, Interest};
use units::{Duration, Time};
use wire::{ConnectionId, Damage, Ecn, Header, Hole, PacketKind};

/// The length of the ids that endpoints choose.
pub(crate) const ID_LENGTH: usize = 8;
/// The maximum number of connections of the server.
pub(crate) const MAX_CONNECTIONS: usize = 6;
/// The maximum size of a datagram.
const LARGEST_DATAGRAM: usize = 65_527;

pub(crate) fn server_address() -> SocketAddr {
    "10.0.0.2:443".parse().unwrap()
}

/// The address of a client before translation.
pub(crate) fn client_address(index: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, index as u8 + 1], 50_000))
}

/// A datagram in flight.
#[derive(Debug, Clone)]
pub(crate) struct DatagramInFlight {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
    pub hole: Option<Hole>,
    pub damage: Option<Damage>,
    pub ecn: Ecn,
    /// The client that sent it, if any, and whether that had received anything before.
    pub client: Option<(usize, bool)>,
}

impl DatagramInFlight {
    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + self.hole.map_or(0, |hole| hole.length as usize)
    }
}

/// The ids of the newest packets of a connection, as an eavesdropper sees them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservedIds {
    pub to_server: bool,
    /// The client of the connection.
    pub client: usize,
    pub destination: ConnectionId,
    pub source: ConnectionId,
    /// The id from which both ends derive their Initial keys (RFC 9001 section 5.2).
    pub original: ConnectionId,
    pub kind: PacketKind,
    pub version: wire::Version,
}

/// One client with its connection.
pub(crate) struct Client {
    pub endpoint: Endpoint,
    pub handle: Option<Handle>,
    pub config: Arc<Config>,
    pub opens_at: Time,
    /// The number of connections opened so far, and the total, one after the other.
    pub rounds: usize,
    planned: usize,
    /// The public address: the last one given by a translator.
    pub outside: SocketAddr,
    pub has_received: bool,
    /// The probabilities per step of migrating to another local address, and of updating keys.
    restless: f64,
    /// The number of local addresses to which it has migrated.
    own: Vec<SocketAddr>,
    /// The ends of its connections, except the one still open.
    pub closes: Vec<Option<CloseReason>>,
}

/// The maximum number of migrations of a client.
const MOST_MOVES: usize = 100;
/// The maximum number of connections of a client, one after the other.
pub(crate) const MOST_ROUNDS: usize = 3;

/// The number of a client's connection over all clients.
pub(crate) fn connection_number(client: usize, round: usize) -> usize {
    client * MOST_ROUNDS + round
}

impl Client {
    /// Whether it has none open, and another one to open.
    fn opens_next(&self) -> bool {
        self.endpoint.is_empty() && self.rounds < self.planned
    }
}

/// An attacker. It alters a datagram in place; each returned delay is a copy that arrives.
pub(crate) trait Attacker {
    fn on_datagram(&mut self, now: Time, flying: &mut DatagramInFlight, delays: &mut Vec<Duration>);
}

/// Clients, server and network.
pub(crate) struct World<A> {
    pub now: Time,
    pub clients: Vec<Client>,
    pub server: Endpoint,
    pub accepted: Vec<(Handle, Option<CloseReason>)>,
    pub applications: A,
    /// The server's end of each client's connection.
    partners: BTreeMap<usize, usize>,
    /// The number of the server's completed handshakes.
    joined: BTreeSet<usize>,
    pub laws: Laws,
    pub overheard: Vec<ObservedIds>,
    /// The secrets, for an attacker with the keys.
    pub wiretap: Option<Wiretap>,
    flying: BTreeMap<(Time, u64), DatagramInFlight>,
    order: u64,
    random: Generator,
    /// Memory shared by the endpoints that outlives them.
    kept: Vec<Arc<Config>>,
    /// The number of saved capacities that were presented or known and traced, by what became of them.
    pub saved_paths: BTreeMap<&'static str, u64>,
    /// Old public addresses, which still lead to their clients.
    translated: BTreeMap<SocketAddr, usize>,
}

impl<A: Applications> World<A> {
    pub(crate) fn new(
        seed: u64,
        context: &tls::Context,
        mut config: impl FnMut() -> Config,
        applications: A,
    ) -> World<A> {
        let mut random = Generator::new(seed, "world");
        let options = |local, accept: Option<Arc<Config>>| EndpointOptions {
            accept,
            max_connections: MAX_CONNECTIONS,
            interest: if seed.is_multiple_of(4) { Interest::ALL } else { Interest::NONE },
            ..EndpointOptions::new(local, context.clone())
        };
        let server = Arc::new(config());
        let mut kept = vec![server.clone()];
        let mut laws = Laws::new();
        laws.admit(&server, MAX_CONNECTIONS as u64, applications.most_memory(&server));
        let mut clients = Vec::new();
        for index in 0..1 + random.below(3) as usize {
            let config = Arc::new(config());
            kept.push(config.clone());
            laws.admit(&config, 1, applications.most_memory(&config));
            let local = client_address(index);
            let name = format!("client {index}");
            let endpoint = inside(|| Endpoint::new(options(local, None), Generator::new(seed, &name)));
            clients.push(Client {
                endpoint,
                handle: None,
                config,
                opens_at: Time::ZERO + Duration::from_micros(random.below(60_000)),
                outside: local,
                has_received: false,
                restless: [0.0, 0.001, 0.01, 0.1][random.below(4) as usize],
                own: Vec::new(),
                rounds: 0,
                planned: 1 + random.below(MOST_ROUNDS as u64) as usize,
                closes: Vec::new(),
            });
        }
        let translated = (0..clients.len()).map(|index| (client_address(index), index)).collect();
        World {
            now: Time::ZERO,
            server: inside(|| {
                Endpoint::new(options(server_address(), Some(server)), Generator::new(seed, "server"))
            }),
            applications,
            partners: BTreeMap::new(),
            joined: BTreeSet::new(),
            wiretap: None,
            clients,
            accepted: Vec::new(),
            laws,
            overheard: Vec::new(),
            flying: BTreeMap::new(),
            order: 0,
            random: Generator::new(seed, "rounds"),
            kept,
            saved_paths: BTreeMap::new(),
            translated,
        }
    }

    /// Drops the endpoints with all their memory.
    pub(crate) fn end(self) {
        let World { clients, server, accepted, kept, applications, .. } = self;
        inside(|| drop(server));
        applications.end();
        for client in clients {
            inside(|| drop(client.endpoint));
        }
        drop((accepted, kept));
    }

    /// The server's end of this client's connection, if it was established at both ends.
    pub(crate) fn partner(&self, number: usize) -> Option<usize> {
        self.partners.get(&number).copied()
    }

    /// Whether the work of this client's connection is complete.
    pub(crate) fn is_done(&self, number: usize) -> bool {
        self.partner(number).is_some_and(|accepted| self.applications.is_done(number, accepted))
    }

    /// Changes the client's public address; datagrams to the old one still reach it.
    pub(crate) fn translate(&mut self, client: usize, outside: SocketAddr) {
        self.clients[client].outside = outside;
        self.translated.insert(outside, client);
    }

    /// Sends a datagram.
    pub(crate) fn launch(&mut self, delay: Duration, flying: DatagramInFlight) {
        self.order += 1;
        self.flying.insert((self.now + delay, self.order), flying);
    }

    /// The number of datagrams in flight.
    pub(crate) fn in_flight(&self) -> impl ExactSizeIterator<Item = &DatagramInFlight> {
        self.flying.values()
    }

    /// Whether nothing can happen any more.
    pub(crate) fn is_over(&self) -> bool {
        self.clients.iter().all(|client| client.endpoint.is_empty() && !client.opens_next())
            && self.server.is_empty()
    }

    /// Processes the next event; returns `false` if none is left.
    pub(crate) fn step(&mut self, attacker: &mut dyn Attacker) -> bool {
        let opening = self.clients.iter().filter(|client| client.opens_next()).map(|client| client.opens_at);
        let timers = self.clients.iter().map(|client| client.endpoint.wake_at());
        let next = self.flying.keys().next().map(|(at, _)| *at);
        let next = timers.chain([next, self.server.wake_at()]).flatten().chain(opening).min();
        let Some(at) = next.map(|at| at.max(self.now)) else { return false };
        self.laws.tick(self.now, at);
        self.now = at;
        for (index, client) in self.clients.iter_mut().enumerate() {
            if client.opens_next() && client.opens_at <= at {
                let early_data = self.random.chance(0.7);
                let opening = Opening { early_data, ..Opening::new(server_address(), client.config.clone()) };
                let handle = inside(|| client.endpoint.connect(at, opening));
                client.handle = Some(handle.expect("a client can open its connection"));
                client.rounds += 1;
                client.closes.push(None);
            }
            // An application with nothing left to do closes the connection sooner or later.
            let number = connection_number(index, client.rounds.saturating_sub(1));
            let partner = self.partners.get(&number);
            if partner.is_some_and(|accepted| self.applications.is_done(number, *accepted))
                && self.random.chance(0.1)
            {
                let connection = client.handle.and_then(|handle| inside(|| client.endpoint.get_mut(handle)));
                connection.into_iter().for_each(|connection| inside(|| connection.close(at, 0, "done")));
            }
            if self.random.chance(client.restless) {
                let number = self.translated.len() as u32;
                let own =
                    SocketAddr::from(([10, 2, (number >> 8) as u8, number as u8], 50_000 + index as u16));
                let ways = [Migration::Probe, Migration::AtOnce, Migration::Rebound, Migration::Silent];
                let how = ways[self.random.below(4) as usize];
                let connection = client.handle.and_then(|handle| inside(|| client.endpoint.get_mut(handle)));
                if let Some(connection) = connection
                    && client.own.len() < MOST_MOVES
                {
                    client.own.push(own);
                    self.translated.insert(own, index);
                    let _ = inside(|| connection.migrate(at, own, how));
                }
            }
            if self.random.chance(client.restless) {
                let connection = client.handle.and_then(|handle| inside(|| client.endpoint.get_mut(handle)));
                connection.into_iter().for_each(Connection::update_keys);
            }
            inside(|| client.endpoint.wake(at));
        }
        inside(|| self.server.wake(at));
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= at) {
            let flying = entry.remove();
            self.deliver(flying);
        }
        self.drain(attacker);
        self.laws.check_memory(held());
        if self.laws.is_time_to_check() {
            self.server.check();
            self.clients.iter().for_each(|client| client.endpoint.check());
        }
        self.applications.check();
        true
    }

    fn deliver(&mut self, mut flying: DatagramInFlight) {
        let DatagramInFlight { from, to, .. } = flying;
        let length = flying.length();
        // A client behind a translator knows its local address, not the public one.
        let behind = self.translated.get(&to).filter(|index| !self.clients[**index].own.contains(&to));
        let local = behind.map_or(to, |index| client_address(*index));
        let endpoint = if to == server_address() {
            self.laws.server_received(from, length, flying.client);
            &mut self.server
        } else if let Some(&index) = self.translated.get(&to) {
            self.clients[index].has_received = true;
            &mut self.clients[index].endpoint
        } else {
            return;
        };
        let datagram = Datagram {
            local,
            remote: from,
            ecn: flying.ecn,
            bytes: &mut flying.bytes,
            hole: flying.hole,
            damage: flying.damage,
        };
        let now = self.now;
        inside(|| endpoint.receive(now, datagram));
    }

    /// Sends all that the endpoints may send now, and runs the applications.
    fn drain(&mut self, attacker: &mut dyn Attacker) {
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            let mut sent = Vec::new();
            let now = self.now;
            let applications = &mut self.applications;
            let wiretap = &mut self.wiretap;
            let number = connection_number(index, client.rounds.saturating_sub(1));
            let close = &mut client.closes;
            let saved_paths = &mut self.saved_paths;
            drain_endpoint(now, &mut client.endpoint, &mut sent, saved_paths, |handle, connection| {
                applications.attend(now, End::Client(number), handle, connection);
                if let Some(wiretap) = wiretap {
                    wiretap.listen(index, connection);
                }
                if let (Some(reason), Some(last)) = (connection.close_reason(), close.last_mut()) {
                    *last = Some(reason.clone());
                }
            });
            for mut flying in sent {
                if flying.from == client_address(index) {
                    flying.from = client.outside;
                }
                flying.client = Some((index, client.has_received));
                overhear(&mut self.overheard, true, index, &flying);
                Self::send(now, &mut self.order, &mut self.flying, attacker, flying);
            }
        }
        let mut sent = Vec::new();
        let now = self.now;
        let (accepted, translated) = (&mut self.accepted, &self.translated);
        let (applications, partners, joined) = (&mut self.applications, &mut self.partners, &mut self.joined);
        let number =
            |(index, client): (usize, &Client)| connection_number(index, client.rounds.saturating_sub(1));
        let numbers: Vec<usize> = self.clients.iter().enumerate().map(number).collect();
        let saved_paths = &mut self.saved_paths;
        drain_endpoint(now, &mut self.server, &mut sent, saved_paths, |handle, connection| {
            let at = accepted.iter().position(|(known, _)| *known == handle).unwrap_or_else(|| {
                accepted.push((handle, None));
                accepted.len() - 1
            });
            // The address identifies the client; a replayed handshake never completes.
            if connection.is_established()
                && joined.insert(at)
                && let Some(number) =
                    translated.get(&connection.remote()).and_then(|client| numbers.get(*client))
            {
                partners.entry(*number).or_insert(at);
            }
            applications.attend(now, End::Server(at), handle, connection);
            accepted[at].1 = connection.close_reason().cloned();
        });
        for flying in sent {
            self.laws.server_sent(flying.to, flying.length());
            if let Some(&client) = self.translated.get(&flying.to) {
                overhear(&mut self.overheard, false, client, &flying);
            }
            Self::send(now, &mut self.order, &mut self.flying, attacker, flying);
        }
    }

    fn send(
        now: Time,
        order: &mut u64,
        flying: &mut BTreeMap<(Time, u64), DatagramInFlight>,
        attacker: &mut dyn Attacker,
        mut datagram: DatagramInFlight,
    ) {
        assert!(datagram.length() <= LARGEST_DATAGRAM);
        let mut delays = Vec::new();
        attacker.on_datagram(now, &mut datagram, &mut delays);
        for delay in delays {
            *order += 1;
            flying.insert((now + delay, *order), datagram.clone());
        }
    }
}

/// Takes all pending datagrams and events from an endpoint.
fn drain_endpoint(
    now: Time,
    endpoint: &mut Endpoint,
    sent: &mut Vec<DatagramInFlight>,
    saved_paths: &mut BTreeMap<&'static str, u64>,
    mut attend: impl FnMut(Handle, &mut Connection),
) {
    // With enough capacity, so that nothing is allocated inside.
    let mut results: Vec<&'static str> = Vec::with_capacity(1000);
    loop {
        if let Some(handle) = endpoint.next_active()
            && let Some(connection) = inside(|| endpoint.get_mut(handle))
        {
            attend(handle, connection);
            inside(|| {
                for record in connection.log().drain() {
                    match record.event {
                        Event::SavedPath { result, .. } => results.push(result),
                        Event::ResumePhase(change) => results.push(change.new),
                        _ => {}
                    }
                }
            });
            results.drain(..).for_each(|result| *saved_paths.entry(result).or_default() += 1);
        }
        // With enough capacity, so that the endpoint does not allocate.
        let mut bytes = Vec::with_capacity(LARGEST_DATAGRAM);
        let Some(transmit) = inside(|| endpoint.transmit(now, &mut bytes)) else {
            if endpoint.next_active().is_some() {
                continue;
            }
            return;
        };
        let flying = DatagramInFlight {
            from: transmit.local,
            to: transmit.remote,
            bytes: bytes.clone(),
            hole: transmit.hole,
            damage: None,
            ecn: transmit.ecn,
            client: None,
        };
        assert_eq!(flying.length(), transmit.length);
        sent.push(flying);
        assert!(sent.len() < 100_000, "an endpoint sends without end");
    }
}

/// Records what an eavesdropper learns from a datagram.
fn overhear(overheard: &mut Vec<ObservedIds>, to_server: bool, client: usize, flying: &DatagramInFlight) {
    let Ok(header) = Header::parse_with_hole(&flying.bytes, ID_LENGTH, flying.hole) else { return };
    let at = overheard.iter().position(|known| known.to_server == to_server && known.client == client);
    let at = at.unwrap_or_else(|| {
        overheard.push(ObservedIds {
            to_server,
            client,
            destination: header.destination,
            source: header.source,
            original: header.destination,
            kind: header.kind,
            version: header.version,
        });
        overheard.len() - 1
    });
    // Another connection has started, or another first packet was asked for (RFC 9001 section 5.2).
    if header.kind == PacketKind::Initial && to_server && overheard[at].source != header.source {
        note_original(overheard, client, header.destination);
    } else if header.kind == PacketKind::Retry {
        note_original(overheard, client, header.source);
    }
    overheard[at].destination = header.destination;
    if header.kind != PacketKind::OneRtt {
        overheard[at].source = header.source;
        overheard[at].version = header.version;
    }
    overheard[at].kind = header.kind;
}

fn note_original(overheard: &mut [ObservedIds], client: usize, original: ConnectionId) {
    overheard.iter_mut().filter(|known| known.client == client).for_each(|known| known.original = original);
}
