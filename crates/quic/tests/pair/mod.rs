//! Two endpoints on a virtual link, for tests of behaviour.

use quic::{Config, Connection, Datagram, Endpoint, EndpointOptions, Event, Handle};
use random::Stream;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::Interest;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Value};
use units::{Duration, Time};
use wire::{Damage, Ecn, Hole};

/// A datagram underway.
#[derive(Debug, Clone)]
pub(crate) struct Flying {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hole: Option<Hole>,
    pub(crate) damage: Option<Damage>,
    pub(crate) ecn: Ecn,
    pub(crate) from: SocketAddr,
}

impl Flying {
    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + self.hole.map_or(0, |hole| hole.length as usize)
    }
}

/// What the link does to a datagram: (to server?, its number in that direction, the datagram) to the delays of its
/// copies; an empty list loses it.
pub(crate) type Link = Box<dyn FnMut(bool, u64, &mut Flying) -> Vec<Duration>>;

/// Options with their defaults out of the table, some of them changed.
pub(crate) fn config(changes: &[(&str, Value)]) -> Config {
    let arguments = quic::PARAMETERS
        .iter()
        .filter_map(|parameter| {
            let given = changes.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.clone());
            Some((parameter.name, given.or_else(|| default_of(parameter))?))
        })
        .collect();
    Config::from(&Arguments(arguments))
}

fn default_of(parameter: &Parameter) -> Option<Value> {
    let Default::Is(text) = parameter.default else { return None };
    let text = text.trim_matches('"');
    Some(match parameter.kind {
        Kind::Duration => Value::Duration(text.parse().unwrap()),
        Kind::Size => Value::Size(text.parse().unwrap()),
        Kind::Integer(..) => Value::Integer(text.parse().unwrap()),
        Kind::Number(..) => Value::Number(text.parse().unwrap()),
        Kind::Flag => Value::Flag(text.parse().unwrap()),
        Kind::Component(room) => {
            let row = match room {
                "controllers" => congestion::CONTROLLERS.iter().find(|row| row.name == text).map(|r| (r.name, r.parameters)),
                _ => quic::schedule::SCHEDULERS.iter().find(|row| row.name == text).map(|r| (r.name, r.parameters)),
            };
            let (name, parameters) = row.unwrap();
            let arguments = parameters.iter().filter_map(|p| Some((p.name, default_of(p)?))).collect();
            Value::Component(Component { room, name, arguments: Arguments(arguments) })
        }
        other => panic!("{other:?}"),
    })
}

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) link: Link,
    sent: [u64; 2],
    flying: BTreeMap<(Time, u64), (bool, Flying)>,
    order: u64,
    pub(crate) handle: Handle,
    /// The server's connections, in the order in which they came.
    pub(crate) accepted: Vec<Handle>,
    pub(crate) client_events: Vec<Event>,
    pub(crate) server_events: Vec<Event>,
    /// Every datagram that was sent: when, to the server?, length.
    pub(crate) wire: Vec<(Time, bool, usize)>,
}

pub(crate) const CLIENT: &str = "10.0.0.1:50000";
pub(crate) const SERVER: &str = "10.0.0.2:443";

impl Pair {
    pub(crate) fn new(tls: tls::Context, client: Config, server: Config, link: Link) -> Pair {
        let options = |local: &str, accept| EndpointOptions {
            local: local.parse().unwrap(),
            accept,
            tls: tls.clone(),
            max_connections: 100,
            interest: Interest::NONE,
        };
        let mut endpoint = Endpoint::new(options(CLIENT, None), Stream::new(1, "client"));
        let handle = endpoint.connect(Time::ZERO, SERVER.parse().unwrap(), Arc::new(client)).unwrap();
        Pair {
            now: Time::ZERO,
            client: endpoint,
            server: Endpoint::new(options(SERVER, Some(Arc::new(server))), Stream::new(1, "server")),
            link,
            sent: [0; 2],
            flying: BTreeMap::new(),
            order: 0,
            handle,
            accepted: Vec::new(),
            client_events: Vec::new(),
            server_events: Vec::new(),
            wire: Vec::new(),
        }
    }

    pub(crate) fn client(&mut self) -> &mut Connection {
        self.client.get_mut(self.handle).unwrap()
    }
    pub(crate) fn server(&mut self) -> &mut Connection {
        self.server.get_mut(self.accepted[0]).unwrap()
    }

    /// Lets both ends send what they may send now and collects events.
    pub(crate) fn drain(&mut self) {
        for to_server in [true, false] {
            let endpoint = if to_server { &mut self.client } else { &mut self.server };
            loop {
                if let Some(handle) = endpoint.next_active() {
                    if !to_server && !self.accepted.contains(&handle) {
                        self.accepted.push(handle);
                    }
                    let events = if to_server { &mut self.client_events } else { &mut self.server_events };
                    while let Some(event) = endpoint.get_mut(handle).and_then(Connection::poll_event) {
                        events.push(event);
                    }
                }
                let mut bytes = Vec::new();
                let Some(transmit) = endpoint.transmit(self.now, &mut bytes) else { break };
                let from = if to_server { CLIENT } else { SERVER }.parse().unwrap();
                let mut flying = Flying { bytes, hole: transmit.hole, damage: None, ecn: transmit.ecn, from };
                assert_eq!(flying.length(), transmit.length);
                self.wire.push((self.now, to_server, transmit.length));
                let number = self.sent[usize::from(to_server)];
                self.sent[usize::from(to_server)] += 1;
                for delay in (self.link)(to_server, number, &mut flying) {
                    self.order += 1;
                    self.flying.insert((self.now + delay, self.order), (to_server, flying.clone()));
                }
            }
        }
    }

    /// Lets the next thing happen; `false` if nothing is left to.
    pub(crate) fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let Some(at) = [arrival, self.client.wake_at(), self.server.wake_at()].into_iter().flatten().min() else {
            return false;
        };
        // A timer may come to lie in the past when the RTT estimate falls: it is due at once.
        let at = at.max(self.now);
        self.now = at;
        self.client.wake(at);
        self.server.wake(at);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= at) {
            let (to_server, mut flying) = entry.remove();
            let datagram = Datagram {
                remote: flying.from,
                ecn: flying.ecn,
                bytes: &mut flying.bytes,
                hole: flying.hole,
                damage: flying.damage,
            };
            let endpoint = if to_server { &mut self.server } else { &mut self.client };
            endpoint.receive(at, datagram);
        }
        self.drain();
        true
    }

    /// Goes on until `done` or the time is over; whether it was done.
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
}

/// A link of this one-way delay that does nothing else.
pub(crate) fn delay(ms: u64) -> Link {
    Box::new(move |_, _, _| vec![Duration::from_millis(ms)])
}
