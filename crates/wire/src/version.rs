//! QUIC versions and their packet type bits.

use crate::PacketKind;
use std::fmt;

/// A QUIC version number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32);

impl Version {
    /// The version field of a Version Negotiation packet (RFC 8999 section 6).
    pub const NEGOTIATION: Version = Version(0);
    /// QUIC version 1 (RFC 9000).
    pub const V1: Version = Version(1);
    /// QUIC version 2 (RFC 9369 section 3.1).
    pub const V2: Version = Version(0x6b33_43cf);

    /// The versions with supported headers. The options of an endpoint determine which of them it uses.
    pub const SUPPORTED: [Version; 2] = [Version::V1, Version::V2];

    /// Whether headers of this version are supported.
    #[inline]
    pub fn is_supported(self) -> bool {
        Version::SUPPORTED.contains(&self)
    }
    /// Whether it is reserved for exercising version negotiation: `0x?a?a?a?a` (RFC 9000 section 15).
    pub const fn is_reserved(self) -> bool {
        self.0 & 0x0f0f_0f0f == 0x0a0a_0a0a
    }

    /// The packet type for the two type bits of a long header in this version.
    #[inline]
    pub(crate) const fn kind(self, bits: u8) -> PacketKind {
        // In version 2 the bits are higher by one (RFC 9369 section 3.2); version 1 is RFC 9000 table 5.
        let shift = if self.0 == Version::V2.0 { 3 } else { 0 };
        match (bits + shift) & 3 {
            0 => PacketKind::Initial,
            1 => PacketKind::ZeroRtt,
            2 => PacketKind::Handshake,
            _ => PacketKind::Retry,
        }
    }
    /// The two type bits of a long header for a packet type, or those of Initial for a type that has none.
    #[inline]
    pub(crate) const fn bits(self, kind: PacketKind) -> u8 {
        let shift = if self.0 == Version::V2.0 { 1 } else { 0 };
        let bits = match kind {
            PacketKind::ZeroRtt => 1,
            PacketKind::Handshake => 2,
            PacketKind::Retry => 3,
            _ => 0,
        };
        (bits + shift) & 3
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}
impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_bits_of_both_versions() {
        use PacketKind::{Handshake, Initial, Retry, ZeroRtt};
        for (version, kinds) in [
            (Version::V1, [Initial, ZeroRtt, Handshake, Retry]),
            (Version::V2, [Retry, Initial, ZeroRtt, Handshake]),
        ] {
            for (bits, kind) in (0..4).zip(kinds) {
                assert_eq!(version.kind(bits), kind);
                assert_eq!(version.bits(kind), bits);
            }
        }
    }

    #[test]
    fn reserved_versions() {
        assert!(Version(0x1a2a_3a4a).is_reserved());
        assert!(!Version::V1.is_reserved() && !Version::V2.is_reserved());
        assert_eq!(Version::V2.to_string(), "0x6b3343cf");
    }
}
