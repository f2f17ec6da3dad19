//! Events and close reasons of a connection.

use std::fmt;

/// An event for the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete, including that of TLS if it is used: data can flow.
    Connected,
    /// Data or the end of the data can be read. Reported once until the next read.
    Readable,
    /// A blocked or partial write can continue.
    Writable,
    /// All written data and the FIN were acknowledged.
    Delivered,
    /// The connection is over for the application. This is the last event.
    Ended,
}

/// The code of a reset, which carries none.
pub(crate) const NO_CODE: u64 = 0;

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The application closed it with this code and reason, which the peer does not see.
    Application {
        /// The code.
        code: u64,
        /// The reason.
        reason: String,
    },
    /// Both sides have ended their data.
    Finished,
    /// The peer reset it (RFC 9293 section 3.5.3).
    PeerReset,
    /// Nobody listens at the address.
    Refused,
    /// The peer stopped answering (RFC 9293 section 3.8.3).
    TimedOut,
    /// The received data was not TLS.
    Tls,
}

impl CloseReason {
    /// Whether the end is normal: the application closed with this code, or both sides have finished.
    pub fn is_clean(&self, no_error: u64) -> bool {
        match self {
            CloseReason::Application { code, .. } => *code == no_error,
            CloseReason::Finished => true,
            _ => false,
        }
    }

    /// Whether the end was an error, not a request of an application.
    pub fn is_broken(&self) -> bool {
        matches!(
            self,
            CloseReason::PeerReset | CloseReason::Refused | CloseReason::TimedOut | CloseReason::Tls
        )
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloseReason::Application { code, reason } => {
                write!(f, "closed by the application here ({code}: {reason})")
            }
            CloseReason::Finished => f.write_str("finished"),
            CloseReason::PeerReset => f.write_str("reset by the peer"),
            CloseReason::Refused => f.write_str("connection refused"),
            CloseReason::TimedOut => f.write_str("the peer does not answer"),
            CloseReason::Tls => f.write_str("not a TLS record"),
        }
    }
}
