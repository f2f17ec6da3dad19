//! What an endpoint is made from.

use crate::config::Config;
use crate::ids::MAX_SLOTS;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::Interest;

/// What an endpoint is made from: [`EndpointOptions::new`] has the defaults, and fields are changed where they shall be
/// different.
#[derive(Clone)]
pub struct EndpointOptions {
    /// The address that clients' packets leave from, if their [`Opening`](crate::Opening) names no other; where its IP
    /// address is unspecified (0.0.0.0, ::) the system chooses.
    pub local: SocketAddr,
    /// How connections that this side accepts are configured; `None`, the default: it accepts none.
    pub accept: Option<Arc<Config>>,
    /// Certificates, keys and packet protection.
    pub tls: tls::Context,
    /// How many connections may be open at a time, 2^24 at most and by default. A server refuses the clients beyond
    /// that with CONNECTION_REFUSED (RFC 9000 section 5.2.2).
    pub max_connections: usize,
    /// How many connections that clients opened may be in their handshakes at a time; those beyond are refused like
    /// those beyond [`max_connections`](EndpointOptions::max_connections). Default: 10 000. A server that asks for Retry
    /// before that (the options `retry` and `retry_above`) keeps the room for clients that have shown their address.
    pub max_half_open: usize,
    /// How many connections of one client network may be open at a time, judged by the source of their first packet: the
    /// first 24 bits of an IPv4 address, the first 56 of an IPv6 address. Those beyond are refused like those beyond
    /// [`max_connections`](EndpointOptions::max_connections). Default: as many as there are.
    pub max_connections_of_source: usize,
    /// How many of these may be in their handshakes. From half of it on, clients of that network must show their address first,
    /// if the option `retry` is `busy`: so a sender that forges addresses cannot take all of their places. Default: as many
    /// as there are.
    pub max_half_open_of_source: usize,
    /// How many stateless resets may be sent in a second (RFC 9000 section 10.3.3); after a pause so many may go at
    /// once. Default: 100; 0: none are sent.
    pub max_resets_per_second: u32,
    /// The secret that address tokens, stateless reset tokens and connection ids are made under. `None`, the default:
    /// one that is drawn from the endpoint's random stream. An endpoint that is started again with the secret of the one
    /// before takes its tokens, and can reset the connections that were lost with it (RFC 9000 section 10.3.2).
    pub key: Option<[u8; 32]>,
    /// What connections note in their logs. Default: nothing.
    pub interest: Interest,
}

impl EndpointOptions {
    /// An endpoint at this address that accepts no connections, with everything else as it is by default.
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
