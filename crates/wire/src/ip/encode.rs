//! The encoder of IP packets.

use crate::ip::{IPV4_UDP_SIZE, IPV6_UDP_SIZE, IpError, Packet, TCP, TcpPacket, UDP, UDP_SIZE, checksum};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The size of the IP and UDP headers of a packet to or from this address: 28 or 48 bytes.
#[inline]
pub const fn headers_size(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => IPV4_UDP_SIZE,
        SocketAddr::V6(_) => IPV6_UDP_SIZE,
    }
}

impl Packet<'_> {
    /// Appends the packet: IP header, UDP header and payload, with checksums.
    ///
    /// # Errors
    /// [`IpError::Version`] for addresses of different families, [`IpError::Length`] for a payload that is too long. In
    /// both cases nothing is appended.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), IpError> {
        let udp_length = u16::try_from(UDP_SIZE + self.payload.len()).map_err(|_| IpError::Length)?;
        self.ip_header(out, UDP, udp_length)?;
        let mut udp = [0; UDP_SIZE];
        udp[0..2].copy_from_slice(&self.source.port().to_be_bytes());
        udp[2..4].copy_from_slice(&self.destination.port().to_be_bytes());
        udp[4..6].copy_from_slice(&udp_length.to_be_bytes());
        let sum =
            checksum::transport(UDP, self.source.ip(), self.destination.ip(), &[&udp, self.payload]).finish();
        // "If the computed checksum is zero, it is transmitted as all ones": 0 would mean no checksum (RFC 768).
        udp[6..8].copy_from_slice(&(if sum == 0 { 0xffff } else { sum }).to_be_bytes());
        out.extend_from_slice(&udp);
        out.extend_from_slice(self.payload);
        Ok(())
    }

    pub(super) fn ip_header(&self, out: &mut Vec<u8>, protocol: u8, length: u16) -> Result<(), IpError> {
        match (self.source.ip(), self.destination.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                self.ipv4_header(out, protocol, length, source, destination)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                self.ipv6_header(out, protocol, length, source, destination);
                Ok(())
            }
            _ => Err(IpError::Version),
        }
    }

    fn traffic_class(&self) -> u8 {
        self.dscp << 2 | self.ecn.bits()
    }

    /// RFC 791 section 3.1.
    fn ipv4_header(
        &self,
        out: &mut Vec<u8>,
        protocol: u8,
        length: u16,
        source: Ipv4Addr,
        destination: Ipv4Addr,
    ) -> Result<(), IpError> {
        let total = length.checked_add(20).ok_or(IpError::Length)?.to_be_bytes();
        // Version 4, five words; Don't Fragment, which permits an identification of 0 (RFC 6864 section 4.1).
        let mut header = [
            0x45,
            self.traffic_class(),
            total[0],
            total[1],
            0,
            0,
            0x40,
            0,
            self.hop_limit,
            protocol,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        header[12..16].copy_from_slice(&source.octets());
        header[16..20].copy_from_slice(&destination.octets());
        let sum = checksum::Sum::default().add(&header).finish();
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(&header);
        Ok(())
    }

    /// RFC 8200 section 3.
    fn ipv6_header(
        &self,
        out: &mut Vec<u8>,
        protocol: u8,
        length: u16,
        source: Ipv6Addr,
        destination: Ipv6Addr,
    ) {
        out.extend_from_slice(&(6 << 28 | u32::from(self.traffic_class()) << 20).to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&[protocol, self.hop_limit]);
        out.extend_from_slice(&source.octets());
        out.extend_from_slice(&destination.octets());
    }
}

impl TcpPacket<'_> {
    /// Appends the packet: IP header and segment, with checksums. The segment's own checksum field is ignored.
    ///
    /// # Errors
    /// [`IpError::Version`] for addresses of different families, [`IpError::Length`] for a segment that is too long or
    /// shorter than a header. In both cases nothing is appended.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), IpError> {
        let length = u16::try_from(self.segment.len()).map_err(|_| IpError::Length)?;
        let ([head @ .., _, _], rest) = self.segment.split_first_chunk::<18>().ok_or(IpError::Length)?;
        let TcpPacket { source, destination, ecn, dscp, hop_limit, .. } = *self;
        let ip = Packet { source, destination, ecn, dscp, hop_limit, payload: &[] };
        ip.ip_header(out, TCP, length)?;
        // RFC 9293 section 3.1: the field itself counts as zero.
        let sum = checksum::transport(TCP, source.ip(), destination.ip(), &[head, &[0, 0], rest]).finish();
        out.extend_from_slice(head);
        out.extend_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(rest);
        Ok(())
    }
}
