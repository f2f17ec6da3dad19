//! Two endpoints that pass their datagrams directly to each other, without a network.

use std::sync::Arc;

use quic::{Config, Connection, Data, Datagram, Endpoint, EndpointOptions, Event, Handle, Transmit};
use random::Generator;
use transport::Outgoing;
use units::{Duration, Time};
use wire::Direction;

use super::scenario::scenario;
use crate::case::Protection;
use units::parameter::Options as _;

const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 34_433);
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 4433);

/// A pair is at rest when its next timer is at least this far away: then only the idle timeout is left.
const REST: Duration = Duration::from_secs(5);

/// Bytes of the transfer after the handshake.
const SIZE: u64 = 1000;

/// The objects that pairs share.
pub(crate) struct Contexts {
    tls: tls::Context,
    config: Arc<Config>,
}

impl Contexts {
    /// Certificates and options.
    pub(crate) fn new(protection: Protection) -> Contexts {
        let scenario = scenario(protection, 1000, &[]);
        let options = tls::Options::from(&scenario.tls);
        let tls = tls::Context::new(&options, &[b"quiclab"], scenario.seed).expect("the options are sound");
        Contexts { tls, config: Arc::new(Config::of(&scenario.flows[0].transport)) }
    }
}

/// Two endpoints with a connection between them.
pub(crate) struct Pair {
    now: Time,
    client: Endpoint,
    server: Endpoint,
    handle: Handle,
    received: u64,
}

impl Pair {
    /// A pair at rest: the handshake is confirmed, a stream of 1000 bytes is complete, and everything is
    /// acknowledged.
    pub(crate) fn at_rest(contexts: &Contexts) -> Pair {
        let endpoint = |local: ([u8; 4], u16), accept| {
            let options =
                EndpointOptions { accept, ..EndpointOptions::new(local.into(), contexts.tls.clone()) };
            Endpoint::new(options, Generator::new(1, "pair"))
        };
        let (mut client, server) = (endpoint(CLIENT, None), endpoint(SERVER, Some(contexts.config.clone())));
        let handle = client
            .connect(Time::ZERO, quic::Opening::new(SERVER.into(), contexts.config.clone()))
            .expect("there is room");
        let mut pair = Pair { now: Time::ZERO, client, server, handle, received: 0 };
        pair.settle();
        pair.send();
        pair.settle();
        assert_eq!(pair.received, SIZE, "all bytes arrive");
        pair
    }

    fn send(&mut self) {
        let connection = self.client.get_mut(self.handle).expect("the connection lives");
        assert!(connection.is_established(), "the handshake is complete");
        let stream = connection.open(Direction::Unidirectional).expect("the peer admits a stream");
        let written = connection.write(self.now, stream, Data::Virtual(SIZE));
        assert_eq!(written, Ok(SIZE));
        connection.finish(self.now, stream).expect("the stream is open");
    }

    /// Exchanges datagrams until no timer is near.
    fn settle(&mut self) {
        loop {
            while self.hand_over() {}
            let next = [self.client.wake_at(), self.server.wake_at()].into_iter().flatten().min();
            let Some(next) = next.filter(|at| *at < self.now + REST) else { return };
            self.now = self.now.max(next);
            self.client.wake(self.now);
            self.server.wake(self.now);
        }
    }

    /// Delivers the pending datagrams of each end to the other; returns whether there were any.
    fn hand_over(&mut self) -> bool {
        let Pair { now, client, server, received, .. } = self;
        let there = pass(*now, client, server, received);
        pass(*now, server, client, received) || there
    }
}

fn pass(now: Time, from: &mut Endpoint, to: &mut Endpoint, received: &mut u64) -> bool {
    let mut end = End { received, sent: Vec::new() };
    transport::serve(from, &mut end, now);
    let there = !end.sent.is_empty();
    for (transmit, mut bytes) in end.sent {
        let datagram = Datagram {
            local: transmit.remote,
            remote: transmit.local,
            ecn: transmit.ecn,
            bytes: &mut bytes,
            hole: transmit.hole,
            damage: None,
        };
        to.receive(now, datagram);
    }
    there
}

/// The environment of an endpoint: an application that reads everything, and the datagrams for the other end.
struct End<'e> {
    received: &'e mut u64,
    sent: Vec<(Transmit, Vec<u8>)>,
}

impl transport::Environment<Endpoint> for End<'_> {
    type Key = ();
    type Buffer = Vec<u8>;

    fn attend(&mut self, _: Time, _: Handle, connection: &mut Connection) {
        while let Some(event) = connection.poll_event() {
            if let Event::Readable(stream) = event {
                *self.received += connection.discard(stream).map_or(0, |read| read.bytes);
            }
        }
    }
    fn buffer(&mut self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
    fn outgoing(buffer: &mut Vec<u8>) -> Outgoing<'_> {
        Outgoing::bytes(buffer)
    }
    fn recycle(&mut self, _: Vec<u8>) {}
    fn sender(&mut self, _: Option<Handle>) {}
    fn send(&mut self, _: Time, (): (), transmit: &Transmit, bytes: Vec<u8>) {
        self.sent.push((*transmit, bytes));
    }
}
