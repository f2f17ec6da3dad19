//! The parameters for opening a connection.

use crate::config::Config;
use random::Generator;
use std::net::SocketAddr;
use std::sync::Arc;

/// The parameters for opening a connection: see [`crate::Endpoint::connect`].
///
/// [`Opening::new`] sets the defaults; change the fields that should differ.
#[derive(Clone)]
pub struct Opening {
    /// The address of the server.
    pub remote: SocketAddr,
    /// The options of the connection.
    pub config: Arc<Config>,
    /// The host name for SNI (RFC 6066 section 3) and for verifying the certificate. Default: `None`, the one in the
    /// options of the TLS context.
    pub server_name: Option<String>,
    /// Whether to resume a TLS session from the endpoint's [`Memory`](crate::Memory) (RFC 8446 section 2.2). Default:
    /// yes. If there is none, the handshake is a full one.
    pub resume: bool,
    /// Whether to send data before the handshake is complete if the remembered session permits it (0-RTT, RFC 9001
    /// section 4.6). Default: no, because such data can be replayed (RFC 9001 section 9.2), so the application must
    /// ask for it (RFC 8446 appendix E.5). [`Event::EarlyDataReady`](crate::Event::EarlyDataReady) reports that data
    /// can be sent.
    pub early_data: bool,
    /// The server's key in the endpoint's [`Memory`](crate::Memory). Default: `None`, the host name and the port.
    pub authority: Option<String>,
    /// The local address of the connection. Default: `None`, that of the endpoint.
    pub local: Option<SocketAddr>,
    /// Certificates, keys and packet protection of this connection. Default: `None`, those of the endpoint.
    pub tls: Option<tls::Context>,
    /// The connection's source of randomness. Default: `None`, the endpoint's stream, which its connections share.
    pub random: Option<Generator>,
}

impl Opening {
    /// The default parameters for a connection to `remote`.
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

    /// Sets the host name.
    #[must_use]
    pub fn to_host(self, server_name: impl Into<String>) -> Opening {
        Opening { server_name: Some(server_name.into()), ..self }
    }

    /// Enables 0-RTT.
    #[must_use]
    pub fn with_early_data(self) -> Opening {
        Opening { early_data: true, ..self }
    }
}
