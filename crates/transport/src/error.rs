//! Why a call of an application is refused.

use std::fmt;

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
