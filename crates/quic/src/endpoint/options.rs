//! The options of an endpoint.

use crate::config::Config;
use crate::ids::MAX_SLOTS;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::Interest;
use units::Duration;

/// The places of a public server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// See [`EndpointOptions::max_connections`].
    pub clients: usize,
    /// See [`EndpointOptions::max_half_open`].
    pub half_open: usize,
    /// See [`EndpointOptions::max_connections_of_source`].
    pub clients_of_source: usize,
    /// See [`EndpointOptions::max_half_open_of_source`].
    pub half_open_of_source: usize,
    /// See [`EndpointOptions::handshake_timeout`].
    pub handshake_timeout: Option<Duration>,
}

impl Places {
    /// The places of a server for this many clients at a time. Handshakes in progress have places of their own: a tenth as
    /// many, but at least 128, so that a small server stays open too, and at most 10 000. One customer's network may have
    /// a tenth of the clients, at least 16, and a quarter of the handshakes. While half of these places are taken, a
    /// handshake may take 10 s: its flights may be lost three times, with the probe timeouts of RFC 9002 for an unknown
    /// path (1, 2 and 4 s). Otherwise it may take 30 s.
    pub fn of(clients: usize) -> Places {
        let half_open = (clients / 10).clamp(128, EndpointOptions::MAX_HALF_OPEN);
        Places {
            clients,
            half_open,
            clients_of_source: (clients / 10).max(16).min(clients),
            half_open_of_source: half_open / 4,
            handshake_timeout: Some(Duration::from_secs(10)),
        }
    }
}

/// The options of an endpoint. [`EndpointOptions::new`] sets the defaults; change the fields that should differ.
#[derive(Clone)]
pub struct EndpointOptions {
    /// The local address of client connections whose [`Opening`](crate::Opening) specifies none. If its IP address is
    /// unspecified (0.0.0.0, ::), the system chooses.
    pub local: SocketAddr,
    /// The configuration of accepted connections. Default: `None`, no connections are accepted.
    pub accept: Option<Arc<Config>>,
    /// Certificates, keys and packet protection.
    pub tls: tls::Context,
    /// The maximum number of open connections, by default and at most 2^24. Of a server's connections those count whose
    /// handshake is complete. If all places are taken, a client without a request in progress gives way to a new one,
    /// then one whose requests make no progress (4096 bytes within a second, the first within three probe
    /// timeouts), then one of the network with the most clients, if that still has as many as the new one's network, then
    /// one whose requests have moved nothing since they began two round trips ago. If nobody gives way, the server refuses the new one with CONNECTION_REFUSED (RFC 9000 section 5.2.2).
    pub max_connections: usize,
    /// The maximum number of accepted connections whose handshake is in progress, in addition to
    /// [`max_connections`](EndpointOptions::max_connections). Beyond it the oldest handshake of the network with the most
    /// gives way to a new one. Default: [`EndpointOptions::MAX_HALF_OPEN`]; an endpoint without any limit refuses
    /// further ones.
    pub max_half_open: usize,
    /// The maximum number of open connections from one customer's network, given by the source of their first packet: the
    /// first 24 bits of an IPv4 address, the first 56 of an IPv6 address. An IPv6 /48 may have twice as many. Beyond
    /// it only connections of that network give way. Default: no limit.
    pub max_connections_of_source: usize,
    /// The same for handshakes in progress. From half of it on, clients of that network must validate their address if
    /// the option `retry` is `busy`, so that a sender of forged addresses cannot use up the limit. Default: no limit.
    pub max_half_open_of_source: usize,
    /// The time after which a server gives up a handshake while half of the places for handshakes are taken, in all or of
    /// the client's network. Otherwise it may take three times as long. Default: none, it ends with the idle timeout.
    pub handshake_timeout: Option<Duration>,
    /// The maximum rate of stateless resets per second (RFC 9000 section 10.3.3), and the maximum burst. Default:
    /// 100; 0: none are sent.
    pub max_resets_per_second: u32,
    /// The secret for address tokens, stateless reset tokens and connection ids. Default: `None`, a secret drawn from
    /// the endpoint's random stream. An endpoint restarted with the same secret accepts its earlier tokens, and can
    /// reset the connections that the restart lost (RFC 9000 section 10.3.2).
    pub key: Option<[u8; 32]>,
    /// The events that connections log. Default: none.
    pub interest: Interest,
}

impl EndpointOptions {
    /// The default of [`max_half_open`](EndpointOptions::max_half_open).
    pub const MAX_HALF_OPEN: usize = 10_000;

    /// The same options with these places.
    pub fn with_places(self, places: Places) -> EndpointOptions {
        EndpointOptions {
            max_connections: places.clients,
            max_half_open: places.half_open,
            max_connections_of_source: places.clients_of_source,
            max_half_open_of_source: places.half_open_of_source,
            handshake_timeout: places.handshake_timeout,
            ..self
        }
    }

    /// The default options for an endpoint with this address, which accepts no connections.
    pub fn new(local: SocketAddr, tls: tls::Context) -> EndpointOptions {
        EndpointOptions {
            local,
            accept: None,
            tls,
            max_connections: MAX_SLOTS,
            max_half_open: EndpointOptions::MAX_HALF_OPEN,
            max_connections_of_source: usize::MAX,
            max_half_open_of_source: usize::MAX,
            handshake_timeout: None,
            max_resets_per_second: 100,
            key: None,
            interest: Interest::NONE,
        }
    }
}
