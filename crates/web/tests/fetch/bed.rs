//! A test bed: two endpoints with a web client and a web server, and a link of 10 ms between them.

use quic::{CloseReason, Config, Datagram, Endpoint, EndpointOptions, Handle, Opening, QuicTransport};
use random::Generator;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tls::{Context, Options};
use transport::Application;
use units::parameter::Value;
use units::{Duration, Size, Time};
use web::{WebClient, WebServer};

const CLIENT: &str = "10.0.0.1:50000";
const SERVER: &str = "10.0.0.2:443";
const DELAY: Duration = Duration::from_millis(10);

/// A context with only this protocol at both ends, and without cryptography.
pub(crate) fn context(alpn: &'static [u8]) -> Context {
    static MADE: OnceLock<[Context; 2]> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        [&b"h3"[..], b"hq-interop"].map(|alpn| Context::new(&Options::default(), &[alpn], 7).unwrap())
    });
    made[usize::from(alpn != b"h3")].clone()
}

pub(crate) fn size(bytes: u64) -> Value {
    Value::Size(Size::from_bytes(bytes))
}

/// The default options of a connection with some changes.
pub(crate) fn config(changes: &[(&str, Value)]) -> Config {
    Config::with(changes).unwrap()
}

struct Flying {
    to_server: bool,
    bytes: Vec<u8>,
    hole: Option<wire::Hole>,
}

pub(crate) struct Bed {
    pub(crate) now: Time,
    client: Endpoint,
    server: Endpoint,
    handles: [Option<Handle>; 2],
    pub(crate) web_client: WebClient,
    pub(crate) web_server: WebServer,
    /// One datagram in this many is lost in each direction; 0: none.
    pub(crate) lose_every: u64,
    sent: u64,
    flying: BTreeMap<(Time, u64), Flying>,
    /// Why each end closed: client, server.
    pub(crate) closes: [Option<CloseReason>; 2],
    /// The maximum number of streams that either end had open at a time.
    pub(crate) most_streams: usize,
}

impl Bed {
    pub(crate) fn new(alpn: &'static [u8], client: WebClient, server: WebServer) -> Bed {
        Bed::with(context(alpn), [config(&[]), config(&[])], client, server)
    }

    /// Creates ends with these configurations: client, server.
    pub(crate) fn with(
        tls: Context,
        [client_config, server_config]: [Config; 2],
        web_client: WebClient,
        web_server: WebServer,
    ) -> Bed {
        let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let options = EndpointOptions::new(address(CLIENT), tls.clone());
        let mut client = Endpoint::new(options, Generator::new(1, "client"));
        let options = EndpointOptions {
            accept: Some(Arc::new(server_config)),
            ..EndpointOptions::new(address(SERVER), tls)
        };
        let server = Endpoint::new(options, Generator::new(1, "server"));
        let handle =
            client.connect(Time::ZERO, Opening::new(address(SERVER), Arc::new(client_config))).unwrap();
        Bed {
            now: Time::ZERO,
            client,
            server,
            handles: [Some(handle), None],
            web_client,
            web_server,
            lose_every: 0,
            sent: 0,
            flying: BTreeMap::new(),
            closes: [None, None],
            most_streams: 0,
        }
    }

    /// Calls a function with the client or the server and its transport.
    pub(crate) fn on_client<T>(
        &mut self,
        act: impl FnOnce(&mut WebClient, &mut QuicTransport<'_>) -> T,
    ) -> T {
        let connection = self.client.get_mut(self.handles[0].unwrap()).unwrap();
        act(&mut self.web_client, &mut QuicTransport { connection, now: self.now })
    }
    pub(crate) fn on_server<T>(
        &mut self,
        act: impl FnOnce(&mut WebServer, &mut QuicTransport<'_>) -> T,
    ) -> T {
        let connection = self.server.get_mut(self.handles[1].unwrap()).unwrap();
        act(&mut self.web_server, &mut QuicTransport { connection, now: self.now })
    }

    fn attend(&mut self, at_server: bool) {
        let endpoint = if at_server { &mut self.server } else { &mut self.client };
        let side = usize::from(at_server);
        let Some(handle) = endpoint.next_active().or(self.handles[side]) else { return };
        self.handles[side] = Some(handle);
        let Some(connection) = endpoint.get_mut(handle) else { return };
        let application: &mut dyn Application =
            if at_server { &mut self.web_server } else { &mut self.web_client };
        while let Some(event) = connection.poll_event() {
            application.on_event(self.now, &event, &mut QuicTransport { connection, now: self.now });
        }
        if application.wake_at().is_some_and(|at| at <= self.now) {
            application.on_wake(self.now, &mut QuicTransport { connection, now: self.now });
        }
        self.most_streams = self.most_streams.max(connection.open_streams());
        self.closes[side] = connection.close_reason().cloned();
    }

    fn drain(&mut self) {
        for at_server in [false, true] {
            loop {
                self.attend(at_server);
                let endpoint = if at_server { &mut self.server } else { &mut self.client };
                let mut bytes = Vec::new();
                let Some(transmit) = endpoint.transmit(self.now, &mut bytes) else {
                    if endpoint.next_active().is_some() {
                        continue;
                    }
                    break;
                };
                self.sent += 1;
                if self.lose_every == 0 || !self.sent.is_multiple_of(self.lose_every) {
                    let flying = Flying { to_server: !at_server, bytes, hole: transmit.hole };
                    self.flying.insert((self.now + DELAY, self.sent), flying);
                }
            }
        }
    }

    fn next_at(&self) -> Option<Time> {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let applications = [self.web_client.wake_at(), self.web_server.wake_at()];
        let endpoints = [arrival, self.client.wake_at(), self.server.wake_at()];
        let next = applications.into_iter().chain(endpoints).flatten().min();
        next.map(|at| at.max(self.now))
    }

    /// Runs until `done` or until the limit. Returns whether it was done.
    pub(crate) fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Bed) -> bool) -> bool {
        let end = self.now + limit;
        for _ in 0..5_000_000 {
            self.drain();
            if done(self) {
                return true;
            }
            let Some(at) = self.next_at().filter(|at| *at <= end) else { return false };
            self.now = at;
            self.client.wake(at);
            self.server.wake(at);
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= at) {
                let mut flying = entry.remove();
                let [local, remote] = if flying.to_server { [SERVER, CLIENT] } else { [CLIENT, SERVER] };
                let datagram = Datagram {
                    local: local.parse().unwrap(),
                    remote: remote.parse().unwrap(),
                    ecn: wire::Ecn::NotEct,
                    bytes: &mut flying.bytes,
                    hole: flying.hole,
                    damage: None,
                };
                let endpoint = if flying.to_server { &mut self.server } else { &mut self.client };
                endpoint.receive(at, datagram);
            }
        }
        panic!("livelock at {}", self.now);
    }

    /// Runs until both ends are closed, for at most 100 s.
    pub(crate) fn run(&mut self) -> &mut Bed {
        self.run_until(Duration::from_secs(100), |bed| bed.closes.iter().all(Option::is_some));
        self
    }
}
