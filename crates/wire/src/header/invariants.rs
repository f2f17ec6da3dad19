//! The version-independent part of long headers (RFC 8999).

use crate::header::HeaderError;
use crate::{Reader, UnexpectedEnd, Version};

/// The part of a long header that does not depend on the version (RFC 8999 section 5.1). It suffices to answer an
/// unsupported version with a Version Negotiation packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invariants<'a> {
    /// The version; [`Version::NEGOTIATION`] in a Version Negotiation packet.
    pub version: Version,
    /// The destination connection id: 0 to 255 bytes, since other versions may have longer ids than version 1.
    pub destination: &'a [u8],
    /// The source connection id: 0 to 255 bytes.
    pub source: &'a [u8],
    /// The offset of the version-dependent rest.
    pub rest: usize,
}

impl<'a> Invariants<'a> {
    /// Reads the start of a datagram or packet with a long header.
    ///
    /// # Errors
    /// [`HeaderError::Truncated`] if the bytes end within these fields, [`HeaderError::ShortHeader`] if the header is
    /// short.
    pub fn parse(datagram: &'a [u8]) -> Result<Invariants<'a>, HeaderError> {
        if datagram.first().is_some_and(|first| first & 0x80 == 0) {
            return Err(HeaderError::ShortHeader);
        }
        Invariants::read(datagram).map_err(|UnexpectedEnd| HeaderError::Truncated)
    }

    fn read(datagram: &'a [u8]) -> Result<Invariants<'a>, UnexpectedEnd> {
        let mut reader = Reader::new(datagram);
        reader.u8()?;
        let version = Version(reader.u32()?);
        let length = reader.u8()?;
        let destination = reader.bytes(usize::from(length))?;
        let length = reader.u8()?;
        let source = reader.bytes(usize::from(length))?;
        Ok(Invariants { version, destination, source, rest: reader.position() })
    }
}
