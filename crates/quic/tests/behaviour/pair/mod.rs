//! Two endpoints on a virtual link, for tests of behaviour.

mod again;
pub(crate) mod forge;
mod frame;
mod options;
pub(crate) mod roads;
mod view;

pub(crate) use again::opening;
pub(crate) use frame::Frame;
pub(crate) use options::{config, context, contexts, controller, count, null, resume, size, span};
pub(crate) use view::{Packet, Seen};

use crate::allocator::inside;
use quic::{Config, Connection, Data, Datagram, Endpoint, EndpointOptions, Event, Handle, Opening};
use random::Generator;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use units::{Duration, Time};
use wire::{ConnectionId, Damage, Direction, Ecn, Header, Hole, PacketKind, StreamId};

/// A datagram in flight.
#[derive(Debug, Clone)]
pub(crate) struct DatagramInFlight {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hole: Option<Hole>,
    pub(crate) damage: Option<Damage>,
    pub(crate) ecn: Ecn,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

impl DatagramInFlight {
    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + self.hole.map_or(0, |hole| hole.length as usize)
    }
    /// The whole datagram.
    pub(crate) fn written_out(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(hole) = self.hole {
            hole.write_out(&mut bytes);
        }
        bytes
    }
}

/// The effect of the link on a datagram: maps (to server?, its number in that direction, the datagram) to the delays
/// of its copies; an empty list loses it.
pub(crate) type Link = Box<dyn FnMut(bool, u64, &mut DatagramInFlight) -> Vec<Duration>>;

/// A link with this one-way delay and no other effect.
pub(crate) fn delay(ms: u64) -> Link {
    Box::new(move |_, _, _| vec![Duration::from_millis(ms)])
}

/// A link with this one-way delay that loses the datagrams given by `lost`: (to server?, number).
pub(crate) fn losing(ms: u64, mut lost: impl FnMut(bool, u64) -> bool + 'static) -> Link {
    Box::new(move |to_server, number, _| match lost(to_server, number) {
        true => Vec::new(),
        false => vec![Duration::from_millis(ms)],
    })
}

pub(crate) const CLIENT: &str = "10.0.0.1:50000";
pub(crate) const SERVER: &str = "10.0.0.2:443";
/// The source and the destination of datagrams in this direction.
pub(crate) fn ends(to_server: bool) -> (SocketAddr, SocketAddr) {
    let (from, to) = if to_server { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    (from.parse().unwrap(), to.parse().unwrap())
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub(crate) fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// The number of datagrams that an endpoint has sent outside of connections.
fn answers(endpoint: &Endpoint) -> u64 {
    let stats = endpoint.stats();
    let refused = stats.refused + stats.invalid_tokens;
    stats.retries_sent + stats.resets_sent + stats.version_negotiations_sent + refused
}

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) link: Link,
    sent: [u64; 2],
    flying: BTreeMap<(Time, u64), (bool, DatagramInFlight)>,
    order: u64,
    pub(crate) handle: Handle,
    /// The server's connections, in order of acceptance.
    pub(crate) accepted: Vec<Handle>,
    pub(crate) client_events: Vec<Event>,
    pub(crate) server_events: Vec<Event>,
    /// All sent datagrams.
    pub(crate) wire: Vec<Seen>,
    /// Whether their bytes are kept.
    pub(crate) keeps_bytes: bool,
    forged: u64,
    /// The number of datagrams outside of connections, by direction, to the client first.
    answered: [u64; 2],
    /// By direction, to the client first: the destination id of the newest packet and the source id of the newest long
    /// header.
    ids: [(ConnectionId, ConnectionId); 2],
}

impl Pair {
    pub(crate) fn new(tls: tls::Context, client: Config, server: Config, link: Link) -> Pair {
        Pair::seeded(1, tls, client, server, link)
    }

    pub(crate) fn seeded(seed: u64, tls: tls::Context, client: Config, server: Config, link: Link) -> Pair {
        let options = |local: &str, accept| EndpointOptions {
            accept,
            max_connections: 100,
            ..EndpointOptions::new(local.parse().unwrap(), tls.clone())
        };
        let mut endpoint = Endpoint::new(options(CLIENT, None), Generator::new(seed, "client"));
        let handle =
            endpoint.connect(Time::ZERO, Opening::new(SERVER.parse().unwrap(), Arc::new(client))).unwrap();
        Pair {
            now: Time::ZERO,
            client: endpoint,
            server: Endpoint::new(options(SERVER, Some(Arc::new(server))), Generator::new(seed, "server")),
            link,
            sent: [0; 2],
            flying: BTreeMap::new(),
            order: 0,
            handle,
            accepted: Vec::new(),
            client_events: Vec::new(),
            server_events: Vec::new(),
            wire: Vec::new(),
            keeps_bytes: true,
            forged: 0,
            answered: [0; 2],
            ids: [(ConnectionId::EMPTY, ConnectionId::EMPTY); 2],
        }
    }

    /// A pair with null protection and default options, over a link of 10 ms in each direction.
    pub(crate) fn plain() -> Pair {
        Pair::new(null(), config(&[]), config(&[]), delay(10))
    }

    /// The same after the handshake, with nothing in flight.
    pub(crate) fn established() -> Pair {
        let mut pair = Pair::plain();
        pair.establish();
        pair
    }

    /// Completes the handshake and waits until the link is silent.
    pub(crate) fn establish(&mut self) {
        self.run_for(ms(500));
        assert!(self.client().is_established() && self.server().is_established());
        assert!(self.flying.is_empty());
        self.client_events.clear();
        self.server_events.clear();
    }

    /// Opens a stream at the client and writes this many bytes.
    pub(crate) fn upload(&mut self, bytes: u64) -> StreamId {
        let now = self.now;
        let stream = self.client().open(Direction::Unidirectional).unwrap();
        self.client().write(now, stream, Data::Virtual(bytes)).unwrap();
        self.drain();
        stream
    }
    /// Writes more bytes at the client.
    pub(crate) fn upload_more(&mut self, stream: StreamId, bytes: u64) {
        let now = self.now;
        self.client().write(now, stream, Data::Virtual(bytes)).unwrap();
        self.drain();
    }

    pub(crate) fn client(&mut self) -> &mut Connection {
        self.client.get_mut(self.handle).expect("the client's connection is gone")
    }
    pub(crate) fn server(&mut self) -> &mut Connection {
        self.server.get_mut(self.accepted[0]).expect("the server's connection is gone")
    }
    pub(crate) fn client_is_gone(&self) -> bool {
        self.client.get(self.handle).is_none()
    }
    pub(crate) fn server_is_gone(&self) -> bool {
        self.server.get(self.accepted[0]).is_none()
    }

    /// Sends all that both endpoints may send now, and collects events.
    pub(crate) fn drain(&mut self) {
        for to_server in [true, false] {
            let endpoint = if to_server { &mut self.client } else { &mut self.server };
            loop {
                if let Some(handle) = endpoint.next_active() {
                    if !to_server && endpoint.get(handle).is_some() && !self.accepted.contains(&handle) {
                        self.accepted.push(handle);
                    }
                    let events = if to_server { &mut self.client_events } else { &mut self.server_events };
                    while let Some(event) = endpoint.get_mut(handle).and_then(Connection::poll_event) {
                        events.push(event);
                    }
                }
                let mut bytes = Vec::new();
                let Some(transmit) = endpoint.transmit(self.now, &mut bytes) else {
                    if endpoint.next_active().is_some() {
                        continue;
                    }
                    break;
                };
                let mut flying = DatagramInFlight {
                    bytes,
                    hole: transmit.hole,
                    damage: None,
                    ecn: transmit.ecn,
                    from: transmit.local,
                    to: transmit.remote,
                };
                assert_eq!(flying.length(), transmit.length);
                // Datagrams outside of connections come first.
                let answered = &mut self.answered[usize::from(to_server)];
                let is_answer = *answered < answers(endpoint);
                *answered += u64::from(is_answer);
                if !is_answer
                    && let Ok(header) =
                        Header::parse_with_any_quic_bit(&flying.bytes, view::ID_LENGTH, flying.hole)
                {
                    let ids = &mut self.ids[usize::from(to_server)];
                    ids.0 = header.destination;
                    if header.kind != PacketKind::OneRtt {
                        ids.1 = header.source;
                    }
                }
                let number = self.sent[usize::from(to_server)];
                self.wire.push(Seen {
                    at: self.now,
                    to_server,
                    number,
                    length: transmit.length,
                    from: transmit.local,
                    to: transmit.remote,
                    bytes: if self.keeps_bytes { flying.written_out() } else { Vec::new() },
                });
                self.sent[usize::from(to_server)] += 1;
                for delay in (self.link)(to_server, number, &mut flying) {
                    self.order += 1;
                    self.flying.insert((self.now + delay, self.order), (to_server, flying.clone()));
                }
            }
        }
    }

    /// The time of the next event.
    pub(crate) fn next_at(&self) -> Option<Time> {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let next = [arrival, self.client.wake_at(), self.server.wake_at()].into_iter().flatten().min();
        // A timer may be in the past after the RTT estimate has fallen: it is due immediately.
        next.map(|at| at.max(self.now))
    }

    /// Processes the next event; returns `false` if none is left.
    pub(crate) fn step(&mut self) -> bool {
        self.drain();
        let Some(at) = self.next_at() else { return false };
        self.now = at;
        self.client.wake(at);
        self.server.wake(at);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= at) {
            let (to_server, flying) = entry.remove();
            self.deliver(to_server, flying);
        }
        self.drain();
        true
    }

    /// Delivers a datagram to an endpoint now.
    pub(crate) fn deliver(&mut self, to_server: bool, mut flying: DatagramInFlight) {
        let datagram = Datagram {
            local: flying.to,
            remote: flying.from,
            ecn: flying.ecn,
            bytes: &mut flying.bytes,
            hole: flying.hole,
            damage: flying.damage,
        };
        let endpoint = if to_server { &mut self.server } else { &mut self.client };
        let now = self.now;
        inside(|| endpoint.receive(now, datagram));
    }

    /// Runs until `done` or the time is over; returns whether it was done.
    pub(crate) fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Pair) -> bool) -> bool {
        let end = self.now + limit;
        for _ in 0..5_000_000 {
            if done(self) {
                return true;
            }
            if self.now > end || !self.step() {
                return done(self);
            }
        }
        panic!("livelock at {}", self.now);
    }

    /// Runs for exactly this time.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        self.drain();
        for _ in 0..5_000_000 {
            if self.next_at().is_none_or(|at| at > end) {
                self.now = end;
                return;
            }
            self.step();
        }
        panic!("livelock at {}", self.now);
    }

    /// Runs up to this time.
    pub(crate) fn run_to(&mut self, to: Time) {
        assert!(to >= self.now, "{to} is over, it is {}", self.now);
        self.run_for(to.since(self.now));
    }

    /// From now on nothing arrives.
    pub(crate) fn cut(&mut self) {
        self.link = losing(0, |_, _| true);
        self.flying.clear();
    }
}
