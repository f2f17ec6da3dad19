//! Errors of packet headers.

use crate::{UnexpectedEnd, Version};
use std::fmt;

/// Why bytes are not a packet header. The rest of the datagram is dropped without a response, except for
/// [`HeaderError::UnsupportedVersion`], which a server may answer (RFC 9000 sections 5.2 and 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderError {
    /// The bytes end within the header.
    Truncated,
    /// The fixed bit is 0 (RFC 9000 sections 17.2 and 17.3).
    FixedBit,
    /// A long header was expected.
    ShortHeader,
    /// A connection id of more than 20 bytes (RFC 9000 section 17.2).
    ConnectionIdLength,
    /// A long header of an unsupported version; see [`Invariants`](crate::header::Invariants).
    UnsupportedVersion(Version),
    /// The Length field exceeds the datagram, or the packet is shorter than its packet number.
    Length,
    /// A Version Negotiation packet with an empty or truncated list of versions (RFC 8999 section 6).
    VersionList,
    /// A Retry packet without a token (RFC 9000 section 17.2.5.2).
    EmptyRetryToken,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            HeaderError::Truncated => "the packet ends within its header",
            HeaderError::FixedBit => "the fixed bit is 0",
            HeaderError::ShortHeader => "not a long header",
            HeaderError::ConnectionIdLength => "a connection ID of more than 20 bytes",
            HeaderError::UnsupportedVersion(version) => return write!(f, "unsupported version {version}"),
            HeaderError::Length => "the Length field does not fit the datagram",
            HeaderError::VersionList => "a malformed list of versions",
            HeaderError::EmptyRetryToken => "a Retry packet without a token",
        };
        f.write_str(text)
    }
}
impl std::error::Error for HeaderError {}

impl From<UnexpectedEnd> for HeaderError {
    fn from(_: UnexpectedEnd) -> HeaderError {
        HeaderError::Truncated
    }
}
