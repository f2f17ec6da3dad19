//! Packet headers: the fields visible without keys, the fields visible after the removal of header protection, and the
//! encoder (RFC 9000 section 17, RFC 8999).

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
/// The minimum length of a stateless reset: five unpredictable bytes and the token (RFC 9000 section 10.3).
pub const RESET_MIN_LENGTH: usize = 5 + RESET_TOKEN_LENGTH;

/// The possible stateless reset token at the end of a datagram, if the datagram is long enough. The start of the
/// datagram does not matter, since other versions might send a stateless reset with a long header (RFC 9000 section
/// 10.3).
pub fn reset_token(datagram: &[u8]) -> Option<[u8; RESET_TOKEN_LENGTH]> {
    // RFC 9000-10.3-5: "any packet ending in a valid stateless reset token".
    datagram.last_chunk().copied().filter(|_| datagram.len() >= RESET_MIN_LENGTH)
}

#[cfg(test)]
mod tests;
