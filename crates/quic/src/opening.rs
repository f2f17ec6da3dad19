//! What a client says when it opens a connection.

use crate::config::Config;
use random::Stream;
use std::net::SocketAddr;
use std::sync::Arc;

/// Where to, how, and with what of that which is remembered: see [`crate::Endpoint::connect`].
///
/// [`Opening::new`] has the defaults; fields are changed where they shall be different.
#[derive(Clone)]
pub struct Opening {
    /// The address of the server.
    pub remote: SocketAddr,
    /// The options of the connection.
    pub config: Arc<Config>,
    /// The host that is asked for (SNI, RFC 6066 section 3) and that the certificate must be for. Default: `None`, the
    /// one in the options of the TLS context.
    pub server_name: Option<String>,
    /// Whether a TLS session is taken up again that the endpoint's [`Memory`](crate::Memory) has for this server
    /// (RFC 8446 section 2.2). Default: yes. Without one the handshake is a full one.
    pub resume: bool,
    /// Whether data may be sent before the handshake is complete, where the remembered session admits it (0-RTT,
    /// RFC 9001 section 4.6). Default: no, because such data can be replayed (RFC 9001 section 9.2): the application
    /// must ask for it (RFC 8446 appendix E.5). [`Event::EarlyDataReady`](crate::Event::EarlyDataReady) tells when it
    /// can begin.
    pub early_data: bool,
    /// What the server goes by in the endpoint's [`Memory`](crate::Memory). Default: `None`, the host that is asked for and the
    /// port.
    pub authority: Option<String>,
    /// The address that the connection's packets leave from. Default: `None`, that of the endpoint.
    pub local: Option<SocketAddr>,
    /// Certificates, keys and packet protection of this connection. Default: `None`, those of the endpoint.
    pub tls: Option<tls::Context>,
    /// What the connection draws from. Default: `None`, the stream of the endpoint, from which all connections draw in turn.
    pub random: Option<Stream>,
}

impl Opening {
    /// A connection to `remote` with everything as it is by default.
    pub fn new(remote: SocketAddr, config: Arc<Config>) -> Opening {
        Opening {
            remote,
            config,
            server_name: None,
            resume: true,
            early_data: false,
            authority: None,
            local: None,
            tls: None,
            random: None,
        }
    }

    /// The same to a host of this name.
    #[must_use]
    pub fn to_host(self, server_name: impl Into<String>) -> Opening {
        Opening { server_name: Some(server_name.into()), ..self }
    }

    /// The same with 0-RTT, where it is possible.
    #[must_use]
    pub fn with_early_data(self) -> Opening {
        Opening { early_data: true, ..self }
    }
}
