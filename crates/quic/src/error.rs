//! What ends a connection, and what an application asked that cannot be done.

use std::borrow::Cow;
use std::fmt;
use wire::Code;

/// A violation by the peer, or a failure here, that closes the connection (RFC 9000 section 11.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportError {
    /// The code that the RFC names.
    pub code: Code,
    /// The type of the frame that caused it, where one did.
    pub frame_type: Option<u64>,
    /// What happened, for people.
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

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The application here closed it.
    Local {
        /// The application's code.
        code: u64,
        /// The application's reason.
        reason: String,
    },
    /// The peer broke a rule, or something failed here.
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
    /// The peer speaks none of the versions that are spoken here (RFC 9000 section 6.2).
    VersionMismatch,
    /// The peer has lost all state (RFC 9000 section 10.3).
    StatelessReset,
    /// The peer does not receive at its new address, and no address is known where it does (RFC 9000 section 9.3.2).
    NoPath,
}

impl CloseReason {
    /// Whether this side ended the connection.
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
                write!(f, "closed by the application here ({code}: {reason})")
            }
            CloseReason::Transport(error) => write!(f, "closed here with {error}"),
            CloseReason::PeerApplication { code, reason } => {
                write!(f, "closed by the peer's application ({code}: {reason})")
            }
            CloseReason::PeerTransport { code, reason } => {
                write!(f, "closed by the peer with {code}: {reason}")
            }
            CloseReason::IdleTimeout => f.write_str("idle timeout"),
            CloseReason::VersionMismatch => f.write_str("no common version"),
            CloseReason::StatelessReset => f.write_str("stateless reset"),
            CloseReason::NoPath => f.write_str("no path to the peer"),
        }
    }
}

/// Why an application's call on a stream could not be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// There is no such stream, or it is over.
    Unknown,
    /// The stream has no half in that direction on this side (RFC 9000 section 2.1).
    WrongDirection,
    /// The stream was finished or reset here.
    Finished,
    /// The peer asked to stop sending, with this code.
    Stopped(u64),
    /// The peer reset the stream, with this code.
    Reset(u64),
    /// No stream can be opened: the peer's limit is reached. [`crate::Event::StreamsAvailable`] tells when to try again.
    LimitReached,
    /// Nothing can be written now: the send buffer is full. [`crate::Event::Writable`] tells when to try again.
    Blocked,
    /// The connection is closing or closed.
    Closed,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::Unknown => f.write_str("no such stream"),
            StreamError::WrongDirection => f.write_str("the stream does not go in that direction"),
            StreamError::Finished => f.write_str("the stream was finished or reset"),
            StreamError::Stopped(code) => write!(f, "the peer asked to stop sending (code {code})"),
            StreamError::Reset(code) => write!(f, "the peer reset the stream (code {code})"),
            StreamError::LimitReached => f.write_str("the peer's limit on streams is reached"),
            StreamError::Blocked => f.write_str("the send buffer is full"),
            StreamError::Closed => f.write_str("the connection is closed"),
        }
    }
}
impl std::error::Error for StreamError {}

/// Why a datagram could not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramError {
    /// The peer takes none, or it is not known yet whether it does (RFC 9221 section 3).
    NotNegotiated,
    /// It is longer than what the peer or the path takes.
    TooLarge {
        /// What is taken now, in bytes of the datagram.
        maximum: usize,
    },
    /// The queue is full. [`crate::Event::DatagramWritable`] tells when to try again.
    Blocked,
    /// The connection is closing or closed.
    Closed,
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramError::NotNegotiated => f.write_str("the peer takes no datagrams"),
            DatagramError::TooLarge { maximum } => write!(f, "a datagram takes {maximum} bytes at most"),
            DatagramError::Blocked => f.write_str("too many datagrams wait to be sent"),
            DatagramError::Closed => f.write_str("the connection is closed"),
        }
    }
}
impl std::error::Error for DatagramError {}
