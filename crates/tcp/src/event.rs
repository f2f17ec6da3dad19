//! What a connection tells its application, and what it refuses.

use std::fmt;

/// Something that the application may want to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete, that of TLS too where there is one: data flows.
    Connected,
    /// There is data, or the end, to read. Told once; the next time after a read.
    Readable,
    /// A write that was refused or cut short can go on.
    Writable,
    /// All that was written, and the end, were acknowledged.
    Delivered,
    /// The connection is over for the application. Nothing comes after this.
    Ended,
}

/// The code of a reset, which carries none.
pub(crate) const NO_CODE: u64 = 0;

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The application closed it, with this code and reason, which nobody but this side knows.
    Application {
        /// Its code.
        code: u64,
        /// Its words.
        reason: String,
    },
    /// Both sides have ended their data.
    Finished,
    /// The peer reset it (RFC 9293 section 3.5.3).
    PeerReset,
    /// Nobody listens there.
    Refused,
    /// The peer did not answer any more (RFC 9293 section 3.8.3).
    TimedOut,
    /// What came was not TLS.
    Tls,
}

impl CloseReason {
    /// Whether nothing went wrong: the application closed with this code, or all was finished.
    pub fn is_clean(&self, no_error: u64) -> bool {
        match self {
            CloseReason::Application { code, .. } => *code == no_error,
            CloseReason::Finished => true,
            _ => false,
        }
    }

    /// Whether something went wrong that neither end's application has asked for.
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
            CloseReason::Tls => f.write_str("not a record of TLS"),
        }
    }
}
