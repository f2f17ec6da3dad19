//! Packet headers: what is visible without keys, what is visible once header protection is removed, and how they are
//! written (RFC 9000 section 17, RFC 8999).

mod error;
mod invariants;
mod parse;
mod write;

pub use error::HeaderError;
pub use invariants::Invariants;
pub use parse::{FirstByte, Header};
pub use write::{LongHeader, ShortHeader, WrittenLong, retry, stateless_reset, version_negotiation};

/// The length in bytes of the integrity tag at the end of a Retry packet (RFC 9001 section 5.8).
pub const RETRY_TAG_LENGTH: usize = 16;
/// The length in bytes of a stateless reset token (RFC 9000 section 10.3).
pub const RESET_TOKEN_LENGTH: usize = 16;
/// The fewest bytes of a stateless reset: five that cannot be predicted and the token (RFC 9000 section 10.3).
pub const RESET_MIN_LENGTH: usize = 5 + RESET_TOKEN_LENGTH;

/// The stateless reset token that a datagram ends in, if it can be a stateless reset at all: if it is long enough. How
/// it starts does not matter, because other versions might send one behind a long header (RFC 9000 section 10.3).
pub fn reset_token(datagram: &[u8]) -> Option<[u8; RESET_TOKEN_LENGTH]> {
    // RFC 9000-10.3-5.
    datagram.last_chunk().copied().filter(|_| datagram.len() >= RESET_MIN_LENGTH)
}

#[cfg(test)]
mod tests;
