//! The reasons that end a connection, and the errors of its application's calls.

pub(crate) use transport::{DatagramError, StreamError};

use std::borrow::Cow;
use std::fmt;
use wire::Code;

/// A violation by the peer, or an internal failure, that closes the connection (RFC 9000 section 11.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportError {
    /// The error code.
    pub code: Code,
    /// The type of the frame that caused it, if any.
    pub frame_type: Option<u64>,
    /// A description for humans.
    pub reason: Cow<'static, str>,
}

impl TransportError {
    /// An error that no single frame caused.
    pub fn new(code: Code, reason: impl Into<Cow<'static, str>>) -> TransportError {
        TransportError { code, frame_type: None, reason: reason.into() }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}
impl std::error::Error for TransportError {}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The local application closed it.
    Local {
        /// The application's code.
        code: u64,
        /// The application's reason.
        reason: String,
    },
    /// The peer violated the protocol, or an internal error occurred.
    Transport(TransportError),
    /// The peer's application closed it.
    PeerApplication {
        /// Its code.
        code: u64,
        /// Its reason.
        reason: String,
    },
    /// The peer's endpoint closed it.
    PeerTransport {
        /// The code (RFC 9000 section 20.1).
        code: Code,
        /// Its reason.
        reason: String,
    },
    /// Nothing arrived for the idle timeout (RFC 9000 section 10.1).
    IdleTimeout,
    /// The peer supports none of this endpoint's versions (RFC 9000 section 6.2).
    VersionMismatch,
    /// The peer has lost all state (RFC 9000 section 10.3).
    StatelessReset,
    /// Path validation failed, and no other validated path is left (RFC 9000 section 9.3.2).
    NoPath,
}

impl CloseReason {
    /// Whether this endpoint ended the connection.
    pub fn is_local(&self) -> bool {
        matches!(
            self,
            CloseReason::Local { .. }
                | CloseReason::Transport(_)
                | CloseReason::IdleTimeout
                | CloseReason::NoPath
        )
    }
    /// (whether the code is an application's, the code).
    pub fn code(&self) -> (bool, u64) {
        match self {
            CloseReason::Local { code, .. } | CloseReason::PeerApplication { code, .. } => (true, *code),
            CloseReason::Transport(error) => (false, error.code.0),
            CloseReason::PeerTransport { code, .. } => (false, code.0),
            CloseReason::IdleTimeout
            | CloseReason::VersionMismatch
            | CloseReason::StatelessReset
            | CloseReason::NoPath => (false, 0),
        }
    }
    /// Whether an application closed it, with code 0.
    pub fn is_clean(&self) -> bool {
        matches!(self, CloseReason::Local { code: 0, .. } | CloseReason::PeerApplication { code: 0, .. })
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloseReason::Local { code, reason } => {
                write!(f, "closed by the application here ({code}{})", Suffix(reason))
            }
            CloseReason::Transport(error) => write!(f, "closed here with {error}"),
            CloseReason::PeerApplication { code, reason } => {
                write!(f, "closed by the peer's application ({code}{})", Suffix(reason))
            }
            CloseReason::PeerTransport { code, reason } => {
                write!(f, "closed by the peer with {code}{}", Suffix(reason))
            }
            CloseReason::IdleTimeout => f.write_str("idle timeout"),
            CloseReason::VersionMismatch => f.write_str("no common version"),
            CloseReason::StatelessReset => f.write_str("stateless reset"),
            CloseReason::NoPath => f.write_str("no path to the peer"),
        }
    }
}

/// A reason phrase behind its code: nothing if it is empty, as RFC 9000 section 19.19 allows.
struct Suffix<'a>(&'a str);

impl fmt::Display for Suffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::CloseReason;
    use wire::Code;

    /// RFC 9000 section 19.19: the reason phrase "can be zero length".
    #[test]
    fn an_empty_reason_leaves_no_colon() {
        let peer = |reason: &str| CloseReason::PeerApplication { code: 7, reason: reason.to_owned() };
        assert_eq!(peer("over").to_string(), "closed by the peer's application (7: over)");
        assert_eq!(peer("").to_string(), "closed by the peer's application (7)");
        let transport = CloseReason::PeerTransport { code: Code::NO_ERROR, reason: String::new() };
        assert_eq!(transport.to_string(), format!("closed by the peer with {}", Code::NO_ERROR));
    }
}
