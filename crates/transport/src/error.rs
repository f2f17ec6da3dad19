//! The errors of an application's calls.

use std::fmt;

/// The reason why a call on a stream failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// There is no such stream, or it is closed.
    Unknown,
    /// The stream has no half in that direction on this side (RFC 9000 section 2.1).
    WrongDirection,
    /// The stream was finished or reset here.
    Finished,
    /// The peer asked to stop sending, with this code.
    Stopped(u64),
    /// The peer reset the stream, with this code.
    Reset(u64),
    /// The peer's limit on streams is reached, until [`crate::Event::StreamsAvailable`].
    LimitReached,
    /// The send buffer is full, until [`crate::Event::Writable`].
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

/// The reason why a datagram was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramError {
    /// The peer accepts no datagrams, or has not said yet whether it does (RFC 9221 section 3).
    NotNegotiated,
    /// It is longer than the peer or the path allows.
    TooLarge {
        /// The current maximum length in bytes.
        maximum: usize,
    },
    /// The queue is full, until [`crate::Event::DatagramWritable`].
    Blocked,
    /// The connection is closing or closed.
    Closed,
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramError::NotNegotiated => f.write_str("the peer accepts no datagrams"),
            DatagramError::TooLarge { maximum } => write!(f, "a datagram has at most {maximum} bytes"),
            DatagramError::Blocked => f.write_str("too many datagrams wait to be sent"),
            DatagramError::Closed => f.write_str("the connection is closed"),
        }
    }
}
impl std::error::Error for DatagramError {}
