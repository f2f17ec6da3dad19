//! Errors: alerts of a handshake, and invalid options of a context.

use std::fmt;

/// A fatal TLS alert. It ends the handshake, and closes the connection with error 0x100 + code (RFC 9001 section
/// 4.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// AlertDescription (RFC 8446 section 6).
    pub code: u8,
    /// What happened, for humans.
    pub reason: String,
}

/// The alerts raised by this crate rather than by the library (RFC 8446 section 6; 120 is from RFC 7301 section 3.2).
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

/// Why a context or a session cannot be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The option `certificate_chain` asks for less than the certificates need.
    ChainTooSmall {
        /// The requested size in bytes.
        wanted: u64,
        /// The smallest chain for this server name, in bytes.
        smallest: u64,
    },
    /// The option `certificate_chain` asks for more than the certificates may have.
    ChainTooLarge {
        /// The requested size in bytes.
        wanted: u64,
        /// [`LARGEST_CHAIN`](crate::LARGEST_CHAIN).
        largest: u64,
    },
    /// This is not a valid host name.
    ServerName(String),
    /// An application protocol has a name that is empty or longer than 255 bytes (RFC 7301 section 3.1), or there are
    /// too many of them.
    Protocols,
    /// The encoded transport parameters are too long.
    ParametersTooLong {
        /// Their length in bytes.
        length: usize,
        /// [`LARGEST_PARAMETERS`](crate::LARGEST_PARAMETERS).
        largest: usize,
    },
    /// Keys of this QUIC version are not supported.
    Version(u32),
    /// The certificates cannot be read; the text is the parser's.
    Certificate(String),
    /// The private key cannot be read; the text is the parser's.
    Key(String),
    /// The context has no identity and therefore no servers.
    NoIdentity,
    /// The TLS library rejects the configuration; the text is its own.
    Library(String),
    /// The trial handshake of the context failed.
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
            Error::Certificate(reason) => write!(f, "invalid certificate (PEM): {reason}"),
            Error::Key(reason) => write!(f, "invalid private key (PEM): {reason}"),
            Error::NoIdentity => f.write_str("a server needs a certificate"),
            Error::Library(reason) => write!(f, "the TLS library reports an error: {reason}"),
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
