//! A server with its default places, attackers of many addresses, and good clients, in virtual time on paths of 20 ms.

use quic::{Config, Datagram, Endpoint, EndpointOptions, EndpointStats, Event, Handle, Opening, Places};
use random::Generator;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use units::parameter::Value;
use units::{Duration, Size, Time};
use wire::{Direction, Ecn, StreamId};

const SERVER: &str = "203.0.113.1:443";
const DELAY: Duration = Duration::from_millis(10);
const TICK: Duration = Duration::from_millis(1);
/// How often the timers of clients are looked at.
const LOOK: u64 = 10;
/// The size of the response to a small request, and to a large one.
const SMALL: u64 = 2000;
const LARGE: u64 = 50_000_000;

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// It fetches a small object.
    Good,
    /// It receives nothing: its address is forged.
    Spoofed,
    /// It answers a Retry, and is gone after that.
    HalfOpen,
    /// It answers a Retry, but only at this time in milliseconds, and is gone after that.
    Hoards(u64),
    /// It completes the handshake two seconds late.
    Slow,
    /// It completes the handshake and is silent.
    Silent,
    /// It completes the handshake and sends PINGs.
    Pings,
    /// It asks for a large object and gives no credit.
    Blocks,
    /// It asks for a large object, and reads 500 bytes every 100 ms.
    Trickles,
    /// It begins a request, does not end it, and sends 5000 bytes every 100 ms on a unidirectional stream.
    Chatters,
    /// It begins a hundred requests and ends none.
    ManyStreams,
    /// It fetches a small object, and then sends PINGs.
    AsksOnce,
}

impl Conduct {
    fn is_gone_after_the_first_answer(self) -> bool {
        matches!(self, Conduct::Spoofed | Conduct::HalfOpen | Conduct::Hoards(_))
    }
    fn config(self) -> Config {
        let window = |bytes| Value::Size(Size::from_bytes(bytes));
        let pings = ("keep_alive", Value::Duration(Duration::from_millis(200)));
        match self {
            Conduct::Pings | Conduct::AsksOnce | Conduct::ManyStreams => Config::with(&[pings]).unwrap(),
            Conduct::Blocks => {
                Config::with(&[pings, ("initial_max_stream_data_bidi_local", window(0))]).unwrap()
            }
            Conduct::Trickles => {
                Config::with(&[pings, ("initial_max_stream_data_bidi_local", window(1000))]).unwrap()
            }
            _ => Config::default(),
        }
    }
}

/// A client.
pub(crate) struct Client {
    endpoint: Endpoint,
    handle: Handle,
    address: SocketAddr,
    conduct: Conduct,
    began: Time,
    asked: bool,
    /// When a good client had its response.
    pub(crate) served_after: Option<Duration>,
    /// What it has received and not read yet.
    held: Vec<(Time, Vec<u8>)>,
    received: u64,
    /// Its unidirectional stream.
    aside: Option<StreamId>,
}

impl Client {
    fn is_over(&self) -> bool {
        self.endpoint.get(self.handle).is_none_or(quic::Connection::is_over)
    }
}

/// Server, clients and network.
pub(crate) struct World {
    pub(crate) now: Time,
    tls: tls::Context,
    server: Endpoint,
    clients: Vec<Client>,
    by_address: BTreeMap<SocketAddr, usize>,
    awake: BTreeSet<usize>,
    flying: BTreeMap<(Time, u64), (SocketAddr, Vec<u8>, bool)>,
    order: u64,
    responses: BTreeMap<(Handle, StreamId), u64>,
    /// The most connections that the server had at a time.
    pub(crate) most_connections: usize,
}

impl World {
    /// A server with the places of `quiclab real serve --max-connections N`.
    pub(crate) fn new(clients: usize) -> World {
        let tls = tls::Context::new(&tls::Options::default(), &[b"x"], 7).unwrap();
        let places = Places::of(clients);
        let busy = Config::with(&[
            ("retry", Value::Text("busy".to_owned())),
            ("retry_above", Value::Integer(places.half_open as u64 / 10)),
            ("skip_packet_numbers", Value::Flag(true)),
        ]);
        let options = EndpointOptions {
            accept: Some(Arc::new(busy.unwrap())),
            ..EndpointOptions::new(SERVER.parse().unwrap(), tls.clone())
        };
        let server = Endpoint::new(options.with_places(places), Generator::new(1, "server"));
        World {
            now: Time::ZERO,
            tls,
            server,
            clients: Vec::new(),
            by_address: BTreeMap::new(),
            awake: BTreeSet::new(),
            flying: BTreeMap::new(),
            order: 0,
            responses: BTreeMap::new(),
            most_connections: 0,
        }
    }

    pub(crate) fn stats(&self) -> EndpointStats {
        self.server.stats()
    }
    pub(crate) fn client(&self, number: usize) -> &Client {
        &self.clients[number]
    }
    /// The number of connections of the server.
    pub(crate) fn connections(&self) -> usize {
        self.server.len()
    }

    /// Opens a connection from this address. Returns the number of the client.
    pub(crate) fn open(&mut self, address: SocketAddr, conduct: Conduct) -> usize {
        let number = self.clients.len();
        let options = EndpointOptions::new(address, self.tls.clone());
        let mut endpoint = Endpoint::new(options, Generator::new(number as u64, "client"));
        let opening = Opening::new(SERVER.parse().unwrap(), Arc::new(conduct.config()));
        let handle = endpoint.connect(self.now, opening).unwrap();
        let (began, held) = (self.now, Vec::new());
        let client = Client {
            endpoint,
            handle,
            address,
            conduct,
            began,
            asked: false,
            served_after: None,
            held,
            received: 0,
            aside: None,
        };
        self.clients.push(client);
        self.by_address.insert(address, number);
        self.awake.insert(number);
        self.say(number);
        number
    }

    /// Sends a datagram to the server.
    pub(crate) fn send(&mut self, from: SocketAddr, bytes: Vec<u8>) {
        self.order += 1;
        self.flying.insert((self.now + DELAY, self.order), (from, bytes, true));
    }

    /// A first datagram of a client that then does nothing.
    pub(crate) fn first_datagram(&mut self, seed: u64) -> Vec<u8> {
        let address: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let options = EndpointOptions::new(address, self.tls.clone());
        let mut endpoint = Endpoint::new(options, Generator::new(seed, "first datagram"));
        endpoint
            .connect(self.now, Opening::new(SERVER.parse().unwrap(), Arc::new(Config::default())))
            .unwrap();
        let mut bytes = Vec::new();
        let transmit = endpoint.transmit(self.now, &mut bytes).unwrap();
        transmit.hole.into_iter().for_each(|hole| hole.write_out(&mut bytes));
        bytes
    }

    /// Sends what a client has to send, after its events.
    fn say(&mut self, number: usize) {
        let now = self.now;
        let client = &mut self.clients[number];
        if let Some(connection) = client.endpoint.get_mut(client.handle) {
            while let Some(event) = connection.poll_event() {
                let asks = match client.conduct {
                    Conduct::Good | Conduct::AsksOnce => 1,
                    Conduct::Blocks | Conduct::Trickles | Conduct::Chatters => 1,
                    Conduct::ManyStreams => 100,
                    _ => 0,
                };
                if event == Event::Connected && !client.asked {
                    client.asked = true;
                    for _ in 0..asks {
                        let stream = connection.open(Direction::Bidirectional).unwrap();
                        let large = matches!(client.conduct, Conduct::Blocks | Conduct::Trickles);
                        let request: &[u8] = if large { b"large" } else { b"small" };
                        connection.write(now, stream, transport::Data::Bytes(request)).unwrap();
                        if client.conduct == Conduct::Chatters {
                            client.aside = connection.open(Direction::Unidirectional).ok();
                        }
                        if !matches!(client.conduct, Conduct::ManyStreams | Conduct::Chatters) {
                            connection.finish(now, stream).unwrap();
                        }
                    }
                }
                if let Event::Readable(stream) = event
                    && client.conduct != Conduct::Trickles
                    && let Ok(read) = connection.discard(stream)
                {
                    client.received += read.bytes;
                    if read.finished && client.received == SMALL && client.conduct == Conduct::Good {
                        client.served_after = Some(now.since(client.began));
                        connection.close(now, 0, "thanks");
                    }
                }
            }
        }
        let mut bytes = Vec::new();
        let mut sent = Vec::new();
        while let Some(transmit) = client.endpoint.transmit(now, &mut bytes) {
            transmit.hole.into_iter().for_each(|hole| hole.write_out(&mut bytes));
            sent.push(std::mem::take(&mut bytes));
        }
        let from = client.address;
        sent.into_iter().for_each(|bytes| self.send(from, bytes));
    }

    /// A client receives a datagram.
    fn receive(&mut self, address: SocketAddr, mut bytes: Vec<u8>) {
        let Some(number) = self.by_address.get(&address).copied() else { return };
        let now = self.now;
        let client = &mut self.clients[number];
        // RFC 9000 section 17.2.5: the type of a Retry.
        let is_retry = bytes[0] & 0xf0 == 0xf0;
        match client.conduct {
            Conduct::Spoofed => return,
            Conduct::Hoards(ms) if is_retry && now < Time::ZERO + Duration::from_millis(ms) => {
                return client.held.push((Time::ZERO + Duration::from_millis(ms), bytes));
            }
            Conduct::Slow if !is_retry && now < client.began + Duration::from_millis(2000) => {
                return client.held.push((client.began + Duration::from_millis(2000), bytes));
            }
            conduct if conduct.is_gone_after_the_first_answer() && !is_retry => {
                self.awake.remove(&number);
                return;
            }
            _ => {}
        }
        let (local, remote, ecn) = (address, SERVER.parse().unwrap(), Ecn::NotEct);
        client
            .endpoint
            .receive(now, Datagram { local, remote, ecn, bytes: &mut bytes, hole: None, damage: None });
        self.say(number);
    }

    /// Looks at the timers of the clients.
    fn look(&mut self) {
        let now = self.now;
        for number in self.awake.clone() {
            let client = &mut self.clients[number];
            if client.is_over() {
                self.awake.remove(&number);
                continue;
            }
            let due = client.held.iter().position(|(at, _)| *at <= now).map(|at| client.held.remove(at).1);
            let address = client.address;
            if client.conduct == Conduct::Spoofed {
                self.awake.remove(&number);
                continue;
            }
            if client.conduct == Conduct::Trickles && now.as_nanos().is_multiple_of(100_000_000) {
                let stream = StreamId::from_value(0);
                if let Some(connection) = client.endpoint.get_mut(client.handle) {
                    let _ = connection.skip(stream, 500);
                }
            }
            if client.conduct == Conduct::Chatters
                && now.as_nanos().is_multiple_of(100_000_000)
                && let Some(stream) = client.aside
                && let Some(connection) = client.endpoint.get_mut(client.handle)
            {
                connection.write(now, stream, transport::Data::Bytes(&[0; 5000])).unwrap();
            }
            client.endpoint.wake(now);
            self.say(number);
            if let Some(bytes) = due {
                self.receive(address, bytes);
            }
        }
    }

    /// The server handles its events and sends.
    fn serve(&mut self) {
        let now = self.now;
        self.server.wake(now);
        loop {
            if let Some((handle, connection)) = self.server.active() {
                while let Some(event) = connection.poll_event() {
                    let Event::Readable(stream) = event else { continue };
                    let mut request = [0; 16];
                    let Ok(read) = connection.read(stream, &mut request) else { continue };
                    if read.bytes > 0 {
                        let length = if request.starts_with(b"large") { LARGE } else { SMALL };
                        self.responses.insert((handle, stream), length);
                    }
                    if read.finished
                        && let Some(length) = self.responses.remove(&(handle, stream))
                    {
                        let _ = connection.write(now, stream, transport::Data::Virtual(length));
                        let _ = connection.finish(now, stream);
                    }
                }
            }
            let mut bytes = Vec::new();
            let Some(transmit) = self.server.transmit(now, &mut bytes) else {
                if self.server.next_active().is_some() {
                    continue;
                }
                break;
            };
            transmit.hole.into_iter().for_each(|hole| hole.write_out(&mut bytes));
            self.order += 1;
            self.flying.insert((now + DELAY, self.order), (transmit.remote, bytes, false));
        }
        self.most_connections = self.most_connections.max(self.server.len());
    }

    /// Runs until this time in milliseconds; `each` is called at each millisecond.
    pub(crate) fn run_until(&mut self, end_ms: u64, mut each: impl FnMut(&mut World, u64)) {
        while self.now < Time::ZERO + Duration::from_millis(end_ms) {
            self.now += TICK;
            let ms = self.now.as_nanos() / 1_000_000;
            each(self, ms);
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (address, mut bytes, to_server) = entry.remove();
                if to_server {
                    let (local, remote, ecn) = (SERVER.parse().unwrap(), address, Ecn::NotEct);
                    let datagram =
                        Datagram { local, remote, ecn, bytes: &mut bytes, hole: None, damage: None };
                    self.server.receive(self.now, datagram);
                } else {
                    self.receive(address, bytes);
                }
            }
            if ms.is_multiple_of(LOOK) {
                self.look();
            }
            self.serve();
        }
    }
}
