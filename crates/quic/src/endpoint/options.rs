//! The options of an endpoint.

use crate::config::Config;
use crate::ids::MAX_SLOTS;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::Interest;

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
    /// The maximum number of open connections, by default and at most 2^24. A server refuses further clients with
    /// CONNECTION_REFUSED (RFC 9000 section 5.2.2).
    pub max_connections: usize,
    /// The maximum number of accepted connections whose handshake is in progress; further ones are refused as for
    /// [`max_connections`](EndpointOptions::max_connections). Default: 10 000. A server that sends Retry below this
    /// limit (options `retry` and `retry_above`) reserves the room for clients with validated addresses.
    pub max_half_open: usize,
    /// The maximum number of open connections from one client network, given by the source of their first packet: the
    /// first 24 bits of an IPv4 address, the first 56 of an IPv6 address. Further ones are refused as for
    /// [`max_connections`](EndpointOptions::max_connections). Default: no limit.
    pub max_connections_of_source: usize,
    /// The maximum number of handshakes in progress from one client network. From half of it on, clients of that
    /// network must validate their address if the option `retry` is `busy`, so that a sender of forged addresses
    /// cannot use up the limit. Default: no limit.
    pub max_half_open_of_source: usize,
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
    /// The default options for an endpoint with this address, which accepts no connections.
    pub fn new(local: SocketAddr, tls: tls::Context) -> EndpointOptions {
        EndpointOptions {
            local,
            accept: None,
            tls,
            max_connections: MAX_SLOTS,
            max_half_open: 10_000,
            max_connections_of_source: usize::MAX,
            max_half_open_of_source: usize::MAX,
            max_resets_per_second: 100,
            key: None,
            interest: Interest::NONE,
        }
    }
}
