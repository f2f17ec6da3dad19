//! What can go wrong: alerts of a handshake, and mistakes in the options of a context.

use std::fmt;

/// A fatal TLS alert: the end of a handshake, and of the connection with error 0x100 + code (RFC 9001 section 4.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// AlertDescription (RFC 8446 section 6).
    pub code: u8,
    /// What happened, for people.
    pub reason: String,
}

/// The alerts that are raised here and not by the library (RFC 8446 section 6; 120 is RFC 7301 section 3.2).
pub(crate) mod code {
    pub(crate) const UNEXPECTED_MESSAGE: u8 = 10;
    pub(crate) const HANDSHAKE_FAILURE: u8 = 40;
    pub(crate) const BAD_CERTIFICATE: u8 = 42;
    pub(crate) const ILLEGAL_PARAMETER: u8 = 47;
    pub(crate) const DECODE_ERROR: u8 = 50;
    pub(crate) const INTERNAL_ERROR: u8 = 80;
    pub(crate) const NO_APPLICATION_PROTOCOL: u8 = 120;
}

impl Alert {
    pub(crate) fn new(code: u8, reason: impl Into<String>) -> Alert {
        Alert { code, reason: reason.into() }
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS alert {}: {}", self.code, self.reason)
    }
}
impl std::error::Error for Alert {}

/// Why there is no context or no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The certificates cannot be as small as the option `certificate_chain` asks.
    ChainTooSmall {
        /// What was asked for, in bytes.
        wanted: u64,
        /// The smallest chain for this server name, in bytes.
        smallest: u64,
    },
    /// The certificates may not be as large as the option `certificate_chain` asks.
    ChainTooLarge {
        /// What was asked for, in bytes.
        wanted: u64,
        /// [`LARGEST_CHAIN`](crate::LARGEST_CHAIN).
        largest: u64,
    },
    /// Not the name of a host.
    ServerName(String),
    /// An application protocol whose name has not 1 to 255 bytes (RFC 7301 section 3.1), or too many of them.
    Protocols,
    /// The encoded transport parameters are too long.
    ParametersTooLong {
        /// Their length in bytes.
        length: usize,
        /// [`LARGEST_PARAMETERS`](crate::LARGEST_PARAMETERS).
        largest: usize,
    },
    /// A QUIC version whose keys are not known here.
    Version(u32),
    /// Certificates that cannot be read, in the reader's words.
    Certificate(String),
    /// A private key that cannot be read, in the reader's words.
    Key(String),
    /// A context without an identity has no servers.
    NoIdentity,
    /// The TLS library refuses the configuration, in its own words.
    Library(String),
    /// The handshake that every context tries once did not come to its end.
    Handshake(Alert),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::ChainTooSmall { wanted, smallest } => {
                write!(f, "certificate_chain is {wanted} B, but the smallest possible one has {smallest} B")
            }
            Error::ChainTooLarge { wanted, largest } => {
                write!(f, "certificate_chain is {wanted} B, but at most {largest} B are possible")
            }
            Error::ServerName(name) => write!(f, "server_name {name:?} is not the name of a host"),
            Error::Protocols => f.write_str("the name of an application protocol (ALPN) has 1 to 255 bytes"),
            Error::ParametersTooLong { length, largest } => {
                write!(f, "the transport parameters take {length} B, but at most {largest} B are possible")
            }
            Error::Version(version) => write!(f, "no keys are defined for QUIC version {version:#010x}"),
            Error::Certificate(reason) => write!(f, "no certificate (PEM): {reason}"),
            Error::Key(reason) => write!(f, "no private key (PEM): {reason}"),
            Error::NoIdentity => f.write_str("a server needs a certificate"),
            Error::Library(reason) => write!(f, "the TLS library refuses: {reason}"),
            Error::Handshake(alert) => write!(f, "the handshake fails: {alert}"),
        }
    }
}
impl std::error::Error for Error {}

impl From<rustls::Error> for Error {
    fn from(error: rustls::Error) -> Error {
        Error::Library(error.to_string())
    }
}
