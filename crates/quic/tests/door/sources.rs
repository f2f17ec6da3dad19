//! The limits on a server's connections from one client network.

use quic::{Config, Datagram, Endpoint, EndpointOptions, Handle, Opening};
use random::Generator;
use std::net::SocketAddr;
use std::sync::Arc;
use units::parameter::Value;
use units::{Duration, Time};
use wire::Ecn;

const SERVER: &str = "203.0.113.1:443";

fn config(changes: &[(&str, Value)]) -> Config {
    Config::with(changes).unwrap()
}
fn null() -> tls::Context {
    tls::Context::new(&tls::Options::default(), &[b"x"], 7).unwrap()
}
fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn server(config: Config, connections: usize, half_open: usize) -> Endpoint {
    let options = EndpointOptions {
        accept: Some(Arc::new(config)),
        max_connections: 100,
        max_connections_of_source: connections,
        max_half_open_of_source: half_open,
        ..EndpointOptions::new(SERVER.parse().unwrap(), null())
    };
    Endpoint::new(options, Generator::new(1, "server"))
}

/// A client with its source address.
struct Client {
    endpoint: Endpoint,
    handle: Handle,
    address: SocketAddr,
}

impl Client {
    fn new(address: String, now: Time) -> Client {
        let address: SocketAddr = address.parse().unwrap();
        let options = EndpointOptions::new(address, null());
        let mut endpoint = Endpoint::new(options, Generator::new(7, &address.to_string()));
        let opening = Opening::new(SERVER.parse().unwrap(), Arc::new(config(&[])));
        let handle = endpoint.connect(now, opening).unwrap();
        Client { endpoint, handle, address }
    }
    fn is_established(&self) -> bool {
        self.endpoint.get(self.handle).is_some_and(quic::Connection::is_established)
    }
    /// Sends all pending datagrams.
    fn say(&mut self, now: Time, server: &mut Endpoint) {
        let mut bytes = Vec::new();
        while let Some(transmit) = self.endpoint.transmit(now, &mut bytes) {
            if let Some(hole) = transmit.hole {
                hole.write_out(&mut bytes);
            }
            server.receive(now, datagram(self.address, SERVER.parse().unwrap(), &mut bytes));
            bytes.clear();
        }
    }
    /// Sends a byte. Returns whether the server knows its connection.
    fn is_known(&mut self, now: Time, server: &mut Endpoint) -> bool {
        let connection = self.endpoint.get_mut(self.handle).unwrap();
        let stream = connection.open(wire::Direction::Bidirectional).unwrap();
        connection.write(now, stream, quic::Data::Bytes(b"x")).unwrap();
        let dropped = server.dropped() + server.stats().resets_sent;
        self.say(now, server);
        server.dropped() + server.stats().resets_sent == dropped
    }
    /// Exchanges datagrams until the handshake is complete or no more are sent.
    fn shake_hands(&mut self, now: Time, server: &mut Endpoint) -> bool {
        for _ in 0..10 {
            self.say(now, server);
            let mut bytes = Vec::new();
            while server.next_active().is_some() {
                let Some(transmit) = server.transmit(now, &mut bytes) else { continue };
                if let Some(hole) = transmit.hole {
                    hole.write_out(&mut bytes);
                }
                if transmit.remote == self.address {
                    self.endpoint.receive(now, datagram(SERVER.parse().unwrap(), self.address, &mut bytes));
                }
                bytes.clear();
            }
        }
        self.is_established()
    }
}

/// Handles what is pending at a server, and drops what it sends. Returns the number of its connections.
fn settle(server: &mut Endpoint, now: Time) -> usize {
    for _ in 0..2 {
        server.wake(now);
        while server.next_active().is_some() {
            while server.active().and_then(|(_, connection)| connection.poll_event()).is_some() {}
            server.transmit(now, &mut Vec::new());
        }
    }
    server.len()
}

fn datagram(remote: SocketAddr, local: SocketAddr, bytes: &mut [u8]) -> Datagram<'_> {
    Datagram { local, remote, ecn: Ecn::NotEct, bytes, hole: None, damage: None }
}

#[test]
fn one_network_cannot_have_all_connections() {
    let mut server = server(config(&[]), 10, usize::MAX);
    let mut other = Client::new("198.51.100.1:5000".to_owned(), Time::ZERO);
    assert!(other.shake_hands(Time::ZERO, &mut server));
    for number in 1..=50 {
        let now = Time::ZERO + ms(number);
        assert!(Client::new(format!("192.0.2.{number}:5000"), now).shake_hands(now, &mut server));
        settle(&mut server, now);
    }
    // Its clients, which ask for nothing, give way to each other, and to nobody else's.
    let stats = server.stats();
    assert_eq!((stats.accepted, stats.refused, stats.clients_gave_way, server.len()), (51, 0, 40, 11));
    let now = Time::ZERO + ms(60);
    assert!(other.is_known(now, &mut server));
}

/// A client whose request makes progress keeps its place: then a newcomer of its network is refused.
#[test]
fn a_client_with_a_request_keeps_its_place() {
    let mut server = server(config(&[]), 1, usize::MAX);
    let mut first = Client::new("192.0.2.1:5000".to_owned(), Time::ZERO);
    assert!(first.shake_hands(Time::ZERO, &mut server));
    let connection = first.endpoint.get_mut(first.handle).unwrap();
    let stream = connection.open(wire::Direction::Bidirectional).unwrap();
    connection.write(Time::ZERO, stream, quic::Data::Bytes(b"request")).unwrap();
    assert!(first.shake_hands(Time::ZERO, &mut server));
    let come = |host: u64, at, server: &mut Endpoint| {
        let now = Time::ZERO + ms(at);
        let accepted = server.stats().accepted;
        Client::new(format!("192.0.2.{host}:5000"), now).shake_hands(now, server);
        server.stats().accepted > accepted
    };
    assert!(!come(2, 50, &mut server), "refused before there is state");
    assert_eq!(server.stats().refused, 1);
    // Its request has made no progress for long.
    assert!(come(3, 1001, &mut server));
    assert_eq!(server.stats().clients_gave_way, 1);
}

/// A server for ten clients at a time with `count` handshakes, which began at 0 s. With `apart` each client has a network
/// of its own, otherwise all share one.
fn with_handshakes(count: usize, apart: bool) -> Endpoint {
    let options = EndpointOptions {
        accept: Some(Arc::new(config(&[]))),
        ..EndpointOptions::new(SERVER.parse().unwrap(), null())
    };
    let mut server = Endpoint::new(options.with_places(quic::Places::of(10)), Generator::new(1, "server"));
    for number in 0..count {
        let (network, host) = if apart { (number, 1) } else { (0, number + 1) };
        Client::new(format!("192.0.{network}.{host}:5000"), Time::ZERO).say(Time::ZERO, &mut server);
    }
    assert_eq!(settle(&mut server, Time::ZERO), count);
    server
}

/// A handshake has a few round trips and not an idle timeout, as soon as half of the places are taken: 64 of 128 in all, or
/// 16 of the 32 of a network.
#[test]
fn a_handshake_that_takes_too_long_is_given_up() {
    for (count, apart, gives_up_at) in
        [(1, true, 30_000), (63, true, 30_000), (64, true, 10_000), (15, false, 30_000), (16, false, 10_000)]
    {
        let mut server = with_handshakes(count, apart);
        for examined in (10_000..=gives_up_at).step_by(10_000) {
            assert_eq!(
                settle(&mut server, Time::ZERO + ms(examined - 1)),
                count,
                "{count} {apart} {examined}"
            );
            settle(&mut server, Time::ZERO + ms(examined));
        }
        // Those that give way leave places: the rest has more time.
        let rest = settle(&mut server, Time::ZERO + ms(gives_up_at + 1));
        let places = if apart { 63 } else { 15 };
        let expected = if gives_up_at == 30_000 { 0 } else { places };
        assert_eq!((rest, server.stats().handshakes_timed_out), (expected, (count - expected) as u64));
    }
}

/// RFC 9000 section 8.1.2: a sender of forged addresses gets at most half of a network's connections, the half that
/// requires no validation; real clients of the network validate their address and are accepted.
#[test]
fn one_network_cannot_have_all_handshakes_and_its_clients_are_accepted() {
    let busy = config(&[("retry", Value::Text("busy".to_owned())), ("retry_above", Value::Integer(90))]);
    let mut server = server(busy, usize::MAX, 10);
    let now = Time::ZERO + ms(1);
    for number in 1..=50 {
        Client::new(format!("[2001:db8:0:{number:x}::1]:5000"), now).say(now, &mut server);
    }
    assert_eq!((server.stats().accepted, server.stats().retries_sent), (5, 45));
    let mut of_them = Client::new("[2001:db8:0:77::1]:5000".to_owned(), now);
    assert!(of_them.shake_hands(now, &mut server));
    assert_eq!(server.stats().retry_tokens_accepted, 1);
    let retries = server.stats().retries_sent;
    let mut other = Client::new("[2001:db8:1::1]:5000".to_owned(), now);
    assert!(other.shake_hands(now, &mut server));
    assert_eq!(server.stats().retries_sent, retries, "others are not asked");
}

/// The same without address validation: the limit itself applies.
#[test]
fn without_retry_the_share_of_handshakes_holds() {
    let mut server = server(config(&[]), usize::MAX, 10);
    let now = Time::ZERO + ms(1);
    for number in 1..=50 {
        Client::new(format!("192.0.2.{number}:5000"), now).say(now, &mut server);
    }
    assert_eq!((server.stats().accepted, server.stats().handshakes_gave_way), (50, 40));
}

/// A host that handles the events of each active connection misses none: connections that end together are all
/// removed, and their slots are free again.
#[test]
fn connections_that_end_together_are_all_reported() {
    let mut server = server(config(&[]), 3, usize::MAX);
    let now = Time::ZERO + ms(1);
    let mut clients = [1, 2, 3].map(|number| Client::new(format!("192.0.2.{number}:5000"), now));
    for client in &mut clients {
        assert!(client.shake_hands(now, &mut server));
    }
    assert_eq!(server.len(), 3);
    let now = now + ms(100_000);
    server.wake(now);
    let (mut ended, mut bytes) = (0, Vec::new());
    while let Some(handle) = server.next_active() {
        while let Some(event) = server.get_mut(handle).and_then(quic::Connection::poll_event) {
            ended += usize::from(event == quic::Event::Ended);
        }
        server.transmit(now, &mut bytes);
    }
    assert_eq!((ended, server.len()), (3, 0));
    let mut next = Client::new("192.0.2.9:5000".to_owned(), now);
    assert!(next.shake_hands(now, &mut server), "the share of the network is free");
}
