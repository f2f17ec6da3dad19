//! The parser of packet headers: first the fields visible without keys, then the packet number.

use crate::header::{HeaderError, Invariants, RETRY_TAG_LENGTH};
use crate::number::Truncated;
use crate::{ConnectionId, Hole, PacketKind, Reader, UnexpectedEnd, Version};
use std::ops::Range;

/// The first byte of a packet. The header form and the fixed bit are always visible, the other bits only after the
/// removal of header protection (RFC 9001 section 5.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstByte(pub u8);

impl FirstByte {
    /// The immediate-ack bit of a short header: see [`FirstByte::asks_for_ack`].
    pub const IMMEDIATE_ACK: u8 = 0x10;

    /// Whether the header is long.
    #[inline]
    pub const fn is_long(self) -> bool {
        self.0 & 0x80 != 0
    }
    /// The fixed bit, which is 1 in every packet of version 1 except Version Negotiation.
    #[inline]
    pub const fn fixed_bit(self) -> bool {
        self.0 & 0x40 != 0
    }
    /// The length of the packet number in bytes, 1 to 4.
    #[inline]
    pub const fn number_length(self) -> usize {
        (self.0 & 0x03) as usize + 1
    }
    /// Whether the reserved bits are 0. Otherwise the packet is a PROTOCOL_VIOLATION, but only once it is decrypted
    /// (RFC 9000 sections 17.2 and 17.3.1).
    #[inline]
    pub const fn reserved_bits_are_zero(self) -> bool {
        self.0 & (if self.is_long() { 0x0c } else { 0x18 }) == 0
    }
    /// The immediate-ack bit: the first, and only the first, of the reserved bits of a short header is 1. An endpoint
    /// that has announced support by the transport parameter acknowledges such a packet at once; for others it is a
    /// PROTOCOL_VIOLATION. It is the I-bit of Völker, Volodina, Tüxen and Rathgeb (IFIP Networking 2020), who do not
    /// specify its position; this one is private.
    #[inline]
    pub const fn asks_for_ack(self) -> bool {
        !self.is_long() && self.0 & 0x18 == FirstByte::IMMEDIATE_ACK
    }
    /// The spin bit of a short header (RFC 9000 section 17.4). It is never protected.
    #[inline]
    pub const fn spin(self) -> bool {
        self.0 & 0x20 != 0
    }
    /// The key phase of a short header (RFC 9001 section 6).
    #[inline]
    pub const fn key_phase(self) -> bool {
        self.0 & 0x04 != 0
    }
}

/// The fields of a header visible without keys. Offsets count from the start of the packet, the given slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The packet type; never [`PacketKind::StatelessReset`], which looks like 1-RTT, nor [`PacketKind::Unknown`].
    pub kind: PacketKind,
    /// The version; [`Version::NEGOTIATION`] for Version Negotiation and for short headers, which have no version.
    pub version: Version,
    /// The destination connection id.
    pub destination: ConnectionId,
    /// The source connection id; empty in a short header.
    pub source: ConnectionId,
    /// The offset of the packet number, or [`Header::end`] in a packet without one. Header protection samples four
    /// bytes after it (RFC 9001 section 5.4.2), and checks that there are enough bytes.
    pub number_offset: usize,
    /// The end of the packet in the slice. The next coalesced packet starts there if bytes are left.
    pub end: usize,
    extra_start: usize,
    extra_end: usize,
}

impl Header {
    /// Parses the header of the packet at the start of `datagram`, the rest of a UDP payload. `local_id_length` is the
    /// length of this endpoint's connection ids, which short headers do not contain.
    ///
    /// # Errors
    /// See [`HeaderError`].
    #[inline]
    pub fn parse(datagram: &[u8], local_id_length: usize) -> Result<Header, HeaderError> {
        Header::parse_with_hole(datagram, local_id_length, None)
    }

    /// [`Header::parse`] for a datagram with a hole, whose offset counts from the start of the slice. The bytes of the
    /// hole count towards the Length field of the packet that contains it, but not towards the returned offsets.
    ///
    /// # Errors
    /// See [`HeaderError`]; also [`HeaderError::Length`] if a packet ends within the hole.
    #[inline]
    pub fn parse_with_hole(
        datagram: &[u8],
        local_id_length: usize,
        hole: Option<Hole>,
    ) -> Result<Header, HeaderError> {
        Header::parse_form(datagram, local_id_length, hole, true)
    }

    /// [`Header::parse_with_hole`] for an endpoint that accepts packets with a fixed bit of 0 (RFC 9287 section 3).
    ///
    /// # Errors
    /// The same, but never [`HeaderError::FixedBit`].
    pub fn parse_with_any_quic_bit(
        datagram: &[u8],
        local_id_length: usize,
        hole: Option<Hole>,
    ) -> Result<Header, HeaderError> {
        Header::parse_form(datagram, local_id_length, hole, false)
    }

    #[inline]
    fn parse_form(
        datagram: &[u8],
        local_id_length: usize,
        hole: Option<Hole>,
        is_fixed: bool,
    ) -> Result<Header, HeaderError> {
        let first = FirstByte(*datagram.first().ok_or(HeaderError::Truncated)?);
        if first.is_long() {
            return Header::parse_long(datagram, first, hole, is_fixed);
        }
        // RFC 9000-17.3.1-1: "Packets containing a zero value for this bit are not valid packets".
        if is_fixed && !first.fixed_bit() {
            return Err(HeaderError::FixedBit);
        }
        if local_id_length > ConnectionId::MAX_LENGTH {
            return Err(HeaderError::ConnectionIdLength);
        }
        let destination =
            ConnectionId::prefix(&datagram[1..], local_id_length).ok_or(HeaderError::Truncated)?;
        Ok(Header {
            kind: PacketKind::OneRtt,
            version: Version::NEGOTIATION,
            destination,
            source: ConnectionId::EMPTY,
            number_offset: 1 + local_id_length,
            end: datagram.len(),
            extra_start: 0,
            extra_end: 0,
        })
    }

    #[inline(never)]
    fn parse_long(
        datagram: &[u8],
        first: FirstByte,
        hole: Option<Hole>,
        is_fixed: bool,
    ) -> Result<Header, HeaderError> {
        let invariants = Invariants::parse(datagram)?;
        let version = invariants.version;
        // RFC 9000-17.2.1-1: "Clients MUST ignore the value of this field", the fixed bit included.
        if version != Version::NEGOTIATION {
            if !version.is_supported() {
                return Err(HeaderError::UnsupportedVersion(version));
            }
            // RFC 9000-17.2-1: "Packets containing a zero value for this bit are not valid packets".
            if is_fixed && !first.fixed_bit() {
                return Err(HeaderError::FixedBit);
            }
        }
        let mut header = Header {
            kind: PacketKind::VersionNegotiation,
            version,
            // RFC 9000-17.2-3, 9000-17.2-5: "a value larger than 20 MUST drop the packet".
            destination: ConnectionId::new(invariants.destination).ok_or(HeaderError::ConnectionIdLength)?,
            source: ConnectionId::new(invariants.source).ok_or(HeaderError::ConnectionIdLength)?,
            // Correct for the types without a packet number, which fill their datagram.
            number_offset: datagram.len(),
            end: datagram.len(),
            extra_start: invariants.rest,
            extra_end: datagram.len(),
        };
        if version == Version::NEGOTIATION {
            let list = datagram.len() - invariants.rest;
            return if list == 0 || !list.is_multiple_of(4) {
                Err(HeaderError::VersionList)
            } else {
                Ok(header)
            };
        }
        header.kind = version.kind(first.0 >> 4 & 3);
        if header.kind == PacketKind::Retry {
            // RFC 9000-17.2.5-1: "a client MUST ignore these bits".
            header.extra_end = datagram.len().checked_sub(RETRY_TAG_LENGTH).ok_or(HeaderError::Truncated)?;
            return match header.extra_end.cmp(&header.extra_start) {
                std::cmp::Ordering::Less => Err(HeaderError::Truncated),
                // RFC 9000-17.2.5.2-4: "a Retry packet with a zero-length Retry Token field".
                std::cmp::Ordering::Equal => Err(HeaderError::EmptyRetryToken),
                std::cmp::Ordering::Greater => Ok(header),
            };
        }
        header.read_numbered(datagram, hole)?;
        Ok(header)
    }

    /// Reads the Token and Length of the types with a packet number.
    fn read_numbered(&mut self, datagram: &[u8], hole: Option<Hole>) -> Result<(), HeaderError> {
        let mut reader = Reader::new(datagram);
        reader.bytes(self.extra_start)?;
        if self.kind == PacketKind::Initial {
            let token = reader.prefixed()?;
            self.extra_start = reader.position() - token.len();
        }
        self.extra_end = reader.position();
        if self.kind != PacketKind::Initial {
            self.extra_start = self.extra_end;
        }
        let length = usize::try_from(reader.varint()?).map_err(|_| HeaderError::Length)?;
        self.number_offset = reader.position();
        let end = self.number_offset.checked_add(length).ok_or(HeaderError::Length)?;
        self.end = match hole {
            Some(hole) if end > hole.at as usize => {
                // The hole must lie entirely within the packet, after its header.
                let real = end.checked_sub(hole.length as usize).ok_or(HeaderError::Length)?;
                if real < hole.at as usize || (hole.at as usize) < self.number_offset {
                    return Err(HeaderError::Length);
                }
                real
            }
            _ => end,
        };
        if length == 0 || self.end > datagram.len() {
            return Err(HeaderError::Length);
        }
        Ok(())
    }

    /// The range of the token of an Initial or Retry packet; empty for all others.
    pub fn token_range(&self) -> Range<usize> {
        match self.kind {
            PacketKind::Initial | PacketKind::Retry => self.extra_start..self.extra_end,
            _ => 0..0,
        }
    }
    /// The token of an Initial or Retry packet in the parsed slice; empty for all others.
    pub fn token<'a>(&self, datagram: &'a [u8]) -> &'a [u8] {
        &datagram[self.token_range()]
    }
    /// The integrity tag of a Retry packet; `None` for all others.
    pub fn retry_tag(&self, datagram: &[u8]) -> Option<[u8; RETRY_TAG_LENGTH]> {
        if self.kind != PacketKind::Retry {
            return None;
        }
        datagram[..self.end].last_chunk().copied()
    }
    /// The versions that a Version Negotiation packet lists; none for all other types.
    pub fn versions<'a>(&self, datagram: &'a [u8]) -> impl Iterator<Item = Version> + Clone + 'a {
        let list = match self.kind {
            PacketKind::VersionNegotiation => self.extra_start..self.extra_end,
            _ => 0..0,
        };
        datagram[list].chunks_exact(4).map(|v| Version(u32::from_be_bytes([v[0], v[1], v[2], v[3]])))
    }
    /// Whether packets of this type have a packet number and a protected payload.
    pub fn has_number(&self) -> bool {
        matches!(
            self.kind,
            PacketKind::Initial | PacketKind::ZeroRtt | PacketKind::Handshake | PacketKind::OneRtt
        )
    }

    /// The packet number in the parsed slice, after the removal of header protection. The payload starts
    /// [`Truncated::length`] bytes after [`Header::number_offset`].
    ///
    /// # Errors
    /// [`HeaderError::Length`] if the packet ends before the end of its packet number, or has none.
    #[inline]
    pub fn number(&self, datagram: &[u8]) -> Result<Truncated, HeaderError> {
        let length = FirstByte(*datagram.first().ok_or(HeaderError::Truncated)?).number_length();
        let rest = datagram.get(self.number_offset..self.end).ok_or(HeaderError::Length)?;
        Truncated::read(&mut Reader::new(rest), length).map_err(|UnexpectedEnd| HeaderError::Length)
    }
}
