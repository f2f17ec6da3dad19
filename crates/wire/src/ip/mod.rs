//! IPv4 and IPv6 packets with UDP or TCP, for captures and TUN devices (RFC 791, RFC 8200, RFC 768, RFC 9293).

mod checksum;
mod decode;
mod encode;
pub mod icmp;
mod whole;

pub use encode::headers_size;
pub use whole::Header;

use crate::Ecn;
use std::fmt;
use std::net::SocketAddr;

/// The size of an IPv4 header without options plus a UDP header.
pub const IPV4_UDP_SIZE: usize = 20 + UDP_SIZE;
/// The size of an IPv6 header without extensions plus a UDP header.
pub const IPV6_UDP_SIZE: usize = 40 + UDP_SIZE;
/// The size of a UDP header.
pub const UDP_SIZE: usize = 8;

/// The protocol number of UDP.
const UDP: u8 = 17;
/// The protocol number of TCP.
const TCP: u8 = 6;

/// A UDP datagram in an IP packet. All other fields are written as 0 and not read: the identification and options of
/// IPv4, the flow label of IPv6. Don't Fragment is always set (RFC 9000 section 14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port, of the same family.
    pub destination: SocketAddr,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// The differentiated services codepoint: 0 to 63.
    pub dscp: u8,
    /// Time To Live or Hop Limit.
    pub hop_limit: u8,
    /// The UDP payload: at most 65507 bytes over IPv4, 65527 over IPv6.
    pub payload: &'a [u8],
}

/// A TCP segment in an IP packet, with the same rules as [`Packet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpPacket<'a> {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port, of the same family.
    pub destination: SocketAddr,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// The differentiated services codepoint: 0 to 63.
    pub dscp: u8,
    /// Time To Live or Hop Limit.
    pub hop_limit: u8,
    /// The segment: TCP header with the ports of the two addresses, options and payload.
    pub segment: &'a [u8],
}

/// Why bytes cannot be decoded as a UDP datagram or TCP segment in an IP packet, or why a packet cannot be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpError {
    /// The bytes end before the packet does.
    Truncated,
    /// Neither IPv4 nor IPv6; when encoding, addresses of different families.
    Version,
    /// Inconsistent length fields; when encoding, a payload that is too long.
    Length,
    /// A fragment.
    Fragment,
    /// A protocol other than the expected UDP or TCP, or an IPv6 extension header.
    Protocol(u8),
    /// A checksum is wrong or missing.
    Checksum,
}

impl fmt::Display for IpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IpError::Truncated => "the IP packet is cut off",
            IpError::Version => "not one of IPv4 and IPv6",
            IpError::Length => "wrong length",
            IpError::Fragment => "a fragment",
            IpError::Protocol(protocol) => return write!(f, "protocol {protocol} is another one"),
            IpError::Checksum => "wrong checksum",
        })
    }
}
impl std::error::Error for IpError {}

#[cfg(test)]
mod tests;
