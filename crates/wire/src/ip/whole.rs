//! IP packets of any protocol, of which only the IP header is read and written.

use crate::Ecn;
use crate::ip::{IpError, checksum};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an IP header says, whatever it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// Time To Live or Hop Limit.
    pub hop_limit: u8,
    /// The size of the whole packet in bytes.
    pub size: usize,
}

/// The sizes of the headers without options and extensions.
const IPV4: usize = 20;
const IPV6: usize = 40;

impl Header {
    /// Reads the header of the packet at the start of the bytes, without its options and extensions.
    ///
    /// # Errors
    /// [`IpError::Truncated`], [`IpError::Version`], or [`IpError::Length`].
    pub fn decode(bytes: &[u8]) -> Result<Header, IpError> {
        let (source, destination, class, hop_limit, size) =
            match bytes.first().ok_or(IpError::Truncated)? >> 4 {
                4 => {
                    let header: &[u8; IPV4] = bytes.first_chunk().ok_or(IpError::Truncated)?;
                    let [source, destination] =
                        [12, 16].map(|at| Ipv4Addr::from(u32::from_be_bytes(four(header, at))));
                    let size = usize::from(u16::from_be_bytes([header[2], header[3]]));
                    if size < IPV4 {
                        return Err(IpError::Length);
                    }
                    (source.into(), destination.into(), header[1], header[8], size)
                }
                6 => {
                    let header: &[u8; IPV6] = bytes.first_chunk().ok_or(IpError::Truncated)?;
                    let [source, destination] = [8, 24].map(|at| {
                        let mut octets = [0; 16];
                        octets.copy_from_slice(&header[at..at + 16]);
                        IpAddr::V6(Ipv6Addr::from(octets))
                    });
                    let size = IPV6 + usize::from(u16::from_be_bytes([header[4], header[5]]));
                    (source, destination, header[0] << 4 | header[1] >> 4, header[7], size)
                }
                _ => return Err(IpError::Version),
            };
        if bytes.len() < size {
            return Err(IpError::Truncated);
        }
        Ok(Header { source, destination, ecn: Ecn::from_bits(class), hop_limit, size })
    }

    /// Writes the addresses, the codepoint and the hop limit into a packet of the same version; of IPv4 the checksum of the header, too. Checksums of
    /// what it carries stay.
    ///
    /// # Errors
    /// [`IpError::Version`] if the packet has another version; those of [`Header::decode`].
    pub fn write_into(&self, bytes: &mut [u8]) -> Result<(), IpError> {
        Header::decode(bytes)?;
        match (bytes[0] >> 4, self.source, self.destination) {
            (4, IpAddr::V4(source), IpAddr::V4(destination)) => {
                bytes[1] = bytes[1] & !3 | self.ecn.bits();
                bytes[8] = self.hop_limit;
                bytes[12..16].copy_from_slice(&source.octets());
                bytes[16..20].copy_from_slice(&destination.octets());
                let length = usize::from(bytes[0] & 0x0f) * 4;
                let header = bytes.get_mut(..length).filter(|header| header.len() >= IPV4);
                let header = header.ok_or(IpError::Length)?;
                header[10..12].fill(0);
                let sum = checksum::Sum::default().add(header).finish();
                header[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            (6, IpAddr::V6(source), IpAddr::V6(destination)) => {
                bytes[1] = bytes[1] & !0x30 | self.ecn.bits() << 4;
                bytes[7] = self.hop_limit;
                bytes[8..24].copy_from_slice(&source.octets());
                bytes[24..40].copy_from_slice(&destination.octets());
            }
            _ => return Err(IpError::Version),
        }
        Ok(())
    }
}

fn four(header: &[u8; IPV4], at: usize) -> [u8; 4] {
    [header[at], header[at + 1], header[at + 2], header[at + 3]]
}
