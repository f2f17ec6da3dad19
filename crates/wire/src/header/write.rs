//! The encoder of packet headers. Protection is applied later, to the finished packet.

use crate::header::RESET_TOKEN_LENGTH;
use crate::number::Truncated;
use crate::varint::{self, Slot};
use crate::{ConnectionId, PacketKind, Version};

/// The fields of a short header (RFC 9000 section 17.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortHeader {
    /// The destination connection id.
    pub destination: ConnectionId,
    /// The spin bit.
    pub spin: bool,
    /// The key phase.
    pub key_phase: bool,
    /// The packet number.
    pub number: Truncated,
}

/// The bytes for which a packet makes room at its header: most packets without data fit, so that a new buffer does not grow in
/// many steps.
const ROOM: usize = 64;
const _: () = assert!(ROOM > 1 + ConnectionId::MAX_LENGTH + Truncated::MAX_LENGTH, "a header fits");

impl ShortHeader {
    /// The size in bytes, including the packet number.
    #[inline]
    pub fn size(&self) -> usize {
        1 + self.destination.len() + self.number.length()
    }
    /// Appends the header. Returns the offset of the packet number.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) -> usize {
        // RFC 9000-17.3.1-2: "The value included prior to protection MUST be set to 0."
        let flags = u8::from(self.spin) << 5 | u8::from(self.key_phase) << 2;
        out.reserve(ROOM);
        out.push(0x40 | flags | (self.number.length() as u8 - 1));
        let number_offset = out.len() + self.destination.len();
        // Copy more than necessary and truncate: copies of a fixed size need no function call.
        out.extend_from_slice(self.destination.padded());
        out.truncate(number_offset);
        out.extend_from_slice(&self.number.padded());
        out.truncate(number_offset + self.number.length());
        number_offset
    }
}

/// The fields of the long header of an Initial, 0-RTT or Handshake packet (RFC 9000 sections 17.2.2 to 17.2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongHeader<'a> {
    /// The type: Initial, 0-RTT or Handshake.
    pub kind: PacketKind,
    /// The version.
    pub version: Version,
    /// The destination connection id.
    pub destination: ConnectionId,
    /// The source connection id.
    pub source: ConnectionId,
    /// The token of an Initial; ignored for the other types.
    pub token: &'a [u8],
    /// The packet number.
    pub number: Truncated,
}

impl LongHeader<'_> {
    /// The size in bytes, including the packet number. The Length field always has two bytes.
    pub fn size(&self) -> usize {
        let ids = 1 + self.destination.len() + 1 + self.source.len();
        let token = match self.kind {
            PacketKind::Initial => varint::size(self.token.len() as u64) + self.token.len(),
            _ => 0,
        };
        1 + 4 + ids + token + 2 + self.number.length()
    }

    /// Appends the header, with a Length to be set later.
    pub fn write(&self, out: &mut Vec<u8>) -> WrittenLong {
        debug_assert!(matches!(self.kind, PacketKind::Initial | PacketKind::ZeroRtt | PacketKind::Handshake));
        let start = out.len();
        // RFC 9000-17.2-6: "The value included prior to protection MUST be set to 0."
        let low_bits = self.number.length() as u8 - 1;
        write_invariants(
            out,
            self.version,
            0x40 | self.version.bits(self.kind) << 4 | low_bits,
            [self.destination.as_bytes(), self.source.as_bytes()],
        );
        if self.kind == PacketKind::Initial {
            varint::encode(out, self.token.len() as u64);
            out.extend_from_slice(self.token);
        }
        let length = Slot::reserve(out);
        let number_offset = out.len();
        self.number.write(out);
        WrittenLong { start, number_offset, number_length: self.number.length(), length }
    }
}

/// A long header in a buffer, with the offsets needed to finish and protect its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the Length field is still to be set"]
pub struct WrittenLong {
    /// The offset of the packet in the buffer.
    pub start: usize,
    /// The offset of its packet number in the buffer.
    pub number_offset: usize,
    /// The length of the packet number in bytes.
    pub number_length: usize,
    length: Slot,
}

impl WrittenLong {
    /// The maximum for [`WrittenLong::set_length`].
    pub const MAX_LENGTH: usize = Slot::MAX - Truncated::MAX_LENGTH;

    /// Sets the Length field to the size of the packet number plus the `behind` bytes that follow it: the frames, the
    /// bytes of a hole and the tag.
    ///
    /// # Panics
    /// If `behind` exceeds [`WrittenLong::MAX_LENGTH`]: packets with a long header are smaller than 16 kB.
    pub fn set_length(self, out: &mut [u8], behind: usize) {
        self.length.set(out, self.number_length + behind);
    }
}

/// Appends a Retry packet without its integrity tag, which covers these bytes (RFC 9000 section 17.2.5).
pub fn retry(
    out: &mut Vec<u8>,
    version: Version,
    destination: ConnectionId,
    source: ConnectionId,
    token: &[u8],
) {
    let first = 0x40 | version.bits(PacketKind::Retry) << 4;
    write_invariants(out, version, first, [destination.as_bytes(), source.as_bytes()]);
    out.extend_from_slice(token);
}

/// Appends a Version Negotiation packet (RFC 9000 section 17.2.1). The ids are those of the received packet, swapped
/// and cut to 255 bytes. The low seven bits of `unused` are arbitrary, but the fixed bit is set.
pub fn version_negotiation(
    out: &mut Vec<u8>,
    unused: u8,
    destination: &[u8],
    source: &[u8],
    versions: &[Version],
) {
    // RFC 9000-17.2.1-2: "MUST be set to 0x00000000".
    write_invariants(out, Version::NEGOTIATION, 0x40 | unused, [destination, source]);
    for version in versions {
        out.extend_from_slice(&version.0.to_be_bytes());
    }
}

/// Appends a stateless reset (RFC 9000 section 10.3), which looks like a packet with a short header: `unpredictable`
/// bytes, of which the first provides the low six bits of the first byte, then the token. There must be at least five
/// unpredictable bytes.
pub fn stateless_reset(out: &mut Vec<u8>, unpredictable: &[u8], token: [u8; RESET_TOKEN_LENGTH]) {
    debug_assert!(unpredictable.len() + token.len() >= crate::header::RESET_MIN_LENGTH);
    let start = out.len();
    out.extend_from_slice(unpredictable);
    if let Some(first) = out.get_mut(start) {
        *first = *first & 0x3f | 0x40;
    }
    out.extend_from_slice(&token);
}

fn write_invariants(out: &mut Vec<u8>, version: Version, first: u8, ids: [&[u8]; 2]) {
    out.push(0x80 | first);
    out.extend_from_slice(&version.0.to_be_bytes());
    for id in ids {
        let id = &id[..id.len().min(255)];
        out.push(id.len() as u8);
        out.extend_from_slice(id);
    }
}
