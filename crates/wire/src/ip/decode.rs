//! The decoder of IP packets.

use crate::Ecn;
use crate::ip::{IpError, Packet, TCP, TcpPacket, UDP, UDP_SIZE, checksum};
use crate::varint::{Reader, UnexpectedEnd};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

impl From<UnexpectedEnd> for IpError {
    fn from(_: UnexpectedEnd) -> IpError {
        IpError::Truncated
    }
}

impl<'a> Packet<'a> {
    /// Reads the packet at the start of the bytes. Link padding after its end is ignored.
    ///
    /// # Errors
    /// See [`IpError`].
    pub fn decode(bytes: &'a [u8]) -> Result<Packet<'a>, IpError> {
        let (packet, udp) = decode_ip(bytes, UDP)?;
        packet.with_udp(udp)
    }

    /// Adds the UDP header and payload to a packet.
    fn with_udp(mut self, udp: &'a [u8]) -> Result<Packet<'a>, IpError> {
        let mut reader = Reader::new(udp);
        let ports = (|| Ok((reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?)))();
        // Not truncated, since the IP header gives the length, but too short for UDP.
        let (source, destination, length, sum) = ports.map_err(|UnexpectedEnd| IpError::Length)?;
        let udp = udp.get(..usize::from(length)).ok_or(IpError::Length)?;
        self.payload = udp.get(UDP_SIZE..).ok_or(IpError::Length)?;
        // 0 means that the sender computed no checksum (RFC 768), which IPv6 forbids (RFC 8200 section 8.1).
        let right = match sum {
            0 => self.source.is_ipv4(),
            _ => checksum::transport(UDP, self.source.ip(), self.destination.ip(), &[udp]).finish() == 0,
        };
        if !right {
            return Err(IpError::Checksum);
        }
        self.source.set_port(source);
        self.destination.set_port(destination);
        Ok(self)
    }
}

impl<'a> TcpPacket<'a> {
    /// Reads the packet at the start of the bytes. Link padding after its end is ignored. The checksum must be correct
    /// (RFC 9293 section 3.1); of the segment only the ports are read.
    ///
    /// # Errors
    /// See [`IpError`].
    pub fn decode(bytes: &'a [u8]) -> Result<TcpPacket<'a>, IpError> {
        let (ip, segment) = decode_ip(bytes, TCP)?;
        let (mut source, mut destination) = (ip.source, ip.destination);
        if segment.len() < crate::tcp::HEADER_SIZE {
            return Err(IpError::Length);
        }
        if checksum::transport(TCP, source.ip(), destination.ip(), &[segment]).finish() != 0 {
            return Err(IpError::Checksum);
        }
        let mut reader = Reader::new(segment);
        source.set_port(reader.u16()?);
        destination.set_port(reader.u16()?);
        let (ecn, dscp, hop_limit) = (ip.ecn, ip.dscp, ip.hop_limit);
        Ok(TcpPacket { source, destination, ecn, dscp, hop_limit, segment })
    }
}

/// The IP header, which must have this protocol, and the payload.
fn decode_ip(bytes: &[u8], protocol: u8) -> Result<(Packet<'_>, &[u8]), IpError> {
    match bytes.first().ok_or(IpError::Truncated)? >> 4 {
        4 => decode_ipv4(bytes, protocol),
        6 => decode_ipv6(bytes, protocol),
        _ => Err(IpError::Version),
    }
}

/// The packet with the fields of its IP header.
fn packet<'a>(traffic_class: u8, hop_limit: u8, source: IpAddr, destination: IpAddr) -> Packet<'a> {
    Packet {
        source: SocketAddr::new(source, 0),
        destination: SocketAddr::new(destination, 0),
        ecn: Ecn::from_bits(traffic_class),
        dscp: traffic_class >> 2,
        hop_limit,
        payload: &[],
    }
}

/// RFC 791 section 3.1.
fn decode_ipv4(bytes: &[u8], wanted: u8) -> Result<(Packet<'_>, &[u8]), IpError> {
    let mut reader = Reader::new(bytes);
    let header_length = usize::from(reader.u8()? & 0x0f) * 4;
    let traffic_class = reader.u8()?;
    let total = usize::from(reader.u16()?);
    reader.u16()?;
    let fragment = reader.u16()?;
    let hop_limit = reader.u8()?;
    let protocol = reader.u8()?;
    reader.u16()?;
    let source = Ipv4Addr::from(reader.array::<4>()?);
    let destination = Ipv4Addr::from(reader.array::<4>()?);
    if header_length < 20 || total < header_length {
        return Err(IpError::Length);
    }
    let whole = bytes.get(..total).ok_or(IpError::Truncated)?;
    let (header, payload) = whole.split_at(header_length);
    if checksum::Sum::default().add(header).finish() != 0 {
        return Err(IpError::Checksum);
    }
    // More Fragments, or an offset.
    if fragment & 0x3fff != 0 {
        return Err(IpError::Fragment);
    }
    if protocol != wanted {
        return Err(IpError::Protocol(protocol));
    }
    Ok((packet(traffic_class, hop_limit, source.into(), destination.into()), payload))
}

/// RFC 8200 section 3.
fn decode_ipv6(bytes: &[u8], wanted: u8) -> Result<(Packet<'_>, &[u8]), IpError> {
    let mut reader = Reader::new(bytes);
    let first = reader.u32()?;
    let length = usize::from(reader.u16()?);
    let protocol = reader.u8()?;
    let hop_limit = reader.u8()?;
    let source = Ipv6Addr::from(reader.array::<16>()?);
    let destination = Ipv6Addr::from(reader.array::<16>()?);
    if protocol != wanted {
        return Err(IpError::Protocol(protocol));
    }
    let payload = reader.bytes(length)?;
    Ok((packet((first >> 20) as u8, hop_limit, source.into(), destination.into()), payload))
}
