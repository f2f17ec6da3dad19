//! Two hosts, two links, and the loop over virtual time.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use quinn_proto::{
    ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt, congestion::NewRenoConfig,
};

use super::host::{Application, CLIENT, Host, SERVER};
use super::link::Link;
use super::{null, tls};
use crate::case::{Protection, Transfer};

/// UDP payload of a full packet: an MTU of 1500 bytes without the IPv4 and UDP headers.
const PAYLOAD: u16 = 1472;

/// Large enough that flow control never blocks: more than ten bandwidth-delay products with a full queue.
const RECEIVE_WINDOW: u32 = 16 << 20;

/// The maximum of written and unacknowledged bytes: several times a full path and a full queue.
const SEND_WINDOW: u64 = 4 << 20;

/// The number of bytes that the application writes at once.
const CHUNK: usize = 256 << 10;

/// What is built once and shared by many runs: configurations, certificates, keys, the application's bytes.
pub(crate) struct Contexts {
    endpoint: Arc<EndpointConfig>,
    client: ClientConfig,
    server: Arc<ServerConfig>,
    chunk: Bytes,
}

impl Contexts {
    /// The contexts for one kind of protection.
    pub(crate) fn new(protection: Protection) -> Contexts {
        let (mut client, mut server) = match protection {
            Protection::Null => null::configurations(),
            Protection::Tls => tls::configurations(),
        };
        let transport = Arc::new(transport());
        client.transport_config(transport.clone());
        server.transport_config(transport);
        let mut endpoint = EndpointConfig::default();
        endpoint.rng_seed(Some([1; 32]));
        Contexts {
            endpoint: Arc::new(endpoint),
            client,
            server: Arc::new(server),
            chunk: Bytes::from(vec![0; CHUNK]),
        }
    }
}

/// NewReno, fixed packet size; acknowledgements are quinn-proto's default: every second packet, unless
/// reordered.
fn transport() -> TransportConfig {
    let mut reno = NewRenoConfig::default();
    reno.initial_window(10 * u64::from(PAYLOAD));
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(Arc::new(reno))
        .initial_mtu(PAYLOAD)
        .mtu_discovery_config(None)
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .send_window(SEND_WINDOW);
    transport
}

/// One complete run: a connection, and a transfer of `size` bytes from the server to the client until the last
/// byte is acknowledged.
pub(crate) fn transfer(contexts: &Contexts, size: usize) -> Transfer {
    let epoch = epoch();
    let mut now = epoch;
    let endpoint = |server| Endpoint::new(contexts.endpoint.clone(), server, false, None);
    let receive = Application::Receive { bytes: 0, finished: false };
    let chunk = contexts.chunk.clone();
    let send = Application::Send { left: size, chunk, acknowledged: false };
    let mut client = Host::new(endpoint(None), SERVER, receive);
    let mut server = Host::new(endpoint(Some(contexts.server.clone())), CLIENT, send);
    let (mut up, mut down) = (Link::new(now), Link::new(now));
    let mut buffer = Vec::with_capacity(usize::from(PAYLOAD) * 16);

    client.connect(now, contexts.client.clone());
    client.pump(now, &mut up, &mut buffer);
    while !(client.application.is_done() && server.application.is_done()) {
        let times = [down.next_arrival(), up.next_arrival(), client.timeout, server.timeout];
        now = times.into_iter().flatten().min().expect("something is to come until all is done");
        if let Some(datagram) = down.receive(now) {
            client.receive(now, datagram, &mut buffer);
            client.pump(now, &mut up, &mut buffer);
        }
        if let Some(datagram) = up.receive(now) {
            server.receive(now, datagram, &mut buffer);
            server.pump(now, &mut down, &mut buffer);
        }
        if client.timeout.is_some_and(|at| at <= now) {
            client.wake(now);
            client.pump(now, &mut up, &mut buffer);
        }
        if server.timeout.is_some_and(|at| at <= now) {
            server.wake(now);
            server.pump(now, &mut down, &mut buffer);
        }
    }
    outcome(&client, &server, (now - epoch).as_secs_f64())
}

fn outcome(client: &Host, server: &Host, seconds: f64) -> Transfer {
    let receiver = client.connection().expect("the transfer is over").stats();
    let sender = server.connection().expect("the transfer is over").stats();
    let Application::Receive { bytes, .. } = client.application else { unreachable!("the client receives") };
    Transfer {
        data_packets: receiver.udp_rx.datagrams,
        ack_packets: sender.udp_rx.datagrams,
        dropped: sender.udp_tx.datagrams.saturating_sub(receiver.udp_rx.datagrams),
        bytes,
        seconds,
    }
}

/// The zero of virtual time. quinn-proto measures time as `Instant`, which the standard library provides only
/// by reading the clock; nothing depends on its value.
#[expect(clippy::disallowed_methods, reason = "quinn-proto's type of time has no other constructor")]
fn epoch() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_affect_the_transfer() {
        let null = transfer(&Contexts::new(Protection::Null), 10_000_000);
        let tls = transfer(&Contexts::new(Protection::Tls), 10_000_000);
        assert_eq!(null.bytes, 10_000_000);
        // The handshakes differ by some bytes, hence by some microseconds.
        assert!((null.seconds - tls.seconds).abs() < 1e-3, "{null:?} {tls:?}");
        assert_eq!(Transfer { seconds: 0.0, ..null }, Transfer { seconds: 0.0, ..tls });
    }

    #[test]
    fn runs_are_reproducible() {
        let contexts = Contexts::new(Protection::Null);
        assert_eq!(transfer(&contexts, 3_000_000), transfer(&contexts, 3_000_000));
    }

    #[test]
    fn packets_are_full_and_every_second_one_is_acknowledged() {
        let outcome = transfer(&Contexts::new(Protection::Null), 10_000_000);
        // 1472 bytes less header (1 + 8 + 2), tag (16) and the STREAM frame's type, id and offset (1 + 1 + 4).
        let full = 10_000_000_u64.div_ceil(1439);
        assert!((full..full + full / 50).contains(&outcome.data_packets), "{outcome:?}");
        let ratio = outcome.data_packets as f64 / outcome.ack_packets as f64;
        assert!((1.8..2.05).contains(&ratio), "{outcome:?}");
    }

    #[test]
    fn the_link_is_the_bottleneck() {
        let outcome = transfer(&Contexts::new(Protection::Null), 50_000_000);
        let shortest = outcome.data_packets as f64 * 1500.0 * 8.0 / 100e6;
        assert!((shortest..shortest * 1.05).contains(&outcome.seconds), "{outcome:?}");
        assert!(outcome.dropped > 0, "NewReno fills the queue: {outcome:?}");
    }
}
