//! ICMP and ICMPv6 in whole IP packets: echoes, errors, and what a translator of addresses changes in them (RFC 792, RFC 4443,
//! RFC 5508).
//!
//! A change never repairs a message: its checksum is afterwards as right, or as wrong, as it was before (RFC 1624).

use crate::Ecn;
use crate::ip::{Header, IpError, Packet, TCP, UDP, checksum};
use std::net::{IpAddr, SocketAddr};

/// The protocol numbers.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Type, code, checksum, and four bytes that depend on the type.
const HEADER: usize = 8;
/// The longest packet with an error (RFC 1812 section 4.3.2.3, RFC 4443 section 3.3).
const LONGEST_ERROR: [usize; 2] = [576, 1280];
/// The hop limit of packets that a node itself sends.
const HOP_LIMIT: u8 = 64;

/// What a message is for a node on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icmp {
    /// A question with this identifier: an echo request, or for IPv4 a timestamp request.
    Query(u16),
    /// The answer to one.
    Answer(u16),
    /// An error, with the start of the packet that it is about.
    Error,
    /// Anything else, which is between neighbours.
    Other,
}

/// An error that a node reports to the source of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IcmpError {
    /// The packet has passed as many nodes as it may: Time Exceeded.
    TimeExceeded,
    /// Nothing at the destination listens at this port.
    PortUnreachable,
    /// The next link takes packets up to this size in bytes: Fragmentation Needed (RFC 1191), Packet Too Big.
    TooBig(u32),
}

impl IcmpError {
    /// Type, code and the value behind the checksum.
    fn fields(self, ipv6: bool) -> (u8, u8, u32) {
        match (self, ipv6) {
            (IcmpError::TimeExceeded, false) => (11, 0, 0),
            (IcmpError::TimeExceeded, true) => (3, 0, 0),
            (IcmpError::PortUnreachable, false) => (3, 3, 0),
            (IcmpError::PortUnreachable, true) => (1, 4, 0),
            (IcmpError::TooBig(mtu), false) => (3, 4, mtu.min(0xffff)),
            (IcmpError::TooBig(mtu), true) => (2, 0, mtu),
        }
    }
}

/// Where the payload of an IP packet begins, and its protocol. `None` for a later fragment, which has no header behind that of
/// IP, and for extension headers.
fn payload_of(bytes: &[u8]) -> Option<(usize, u8)> {
    match bytes.first()? >> 4 {
        4 => {
            let is_later = u16::from_be_bytes([*bytes.get(6)?, *bytes.get(7)?]) & 0x1fff != 0;
            let at = usize::from(bytes[0] & 0x0f) * 4;
            (!is_later && at >= 20).then_some((at, *bytes.get(9)?))
        }
        6 => Some((40, *bytes.get(6)?)),
        _ => None,
    }
}

/// Where the ICMP message of an IP packet begins.
fn message_at(bytes: &[u8]) -> Option<usize> {
    let (at, protocol) = payload_of(bytes)?;
    let wanted = if bytes[0] >> 4 == 4 { ICMP } else { ICMPV6 };
    (protocol == wanted && bytes.len() >= at + HEADER).then_some(at)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

impl Icmp {
    /// The message in a whole IP packet; `None` if it is none, or not its beginning.
    pub fn of(bytes: &[u8]) -> Option<Icmp> {
        let at = message_at(bytes)?;
        let id = word(bytes, at + 4)?;
        Some(match (bytes[0] >> 4, bytes[at]) {
            (4, 8 | 13) | (6, 128) => Icmp::Query(id),
            (4, 0 | 14) | (6, 129) => Icmp::Answer(id),
            (4, 3 | 4 | 11 | 12) | (6, 1..=4) => Icmp::Error,
            _ => Icmp::Other,
        })
    }
}

/// The sum over a message, and over the pseudo-header of ICMPv6 (RFC 4443 section 2.3): 0 if the checksum is right.
fn sum(message: &[u8], source: IpAddr, destination: IpAddr) -> u16 {
    match source {
        IpAddr::V4(_) => checksum::Sum::default().add(message).finish(),
        IpAddr::V6(_) => checksum::transport(ICMPV6, source, destination, &[message]).finish(),
    }
}

/// Adds to a checksum what brings a sum that has become `is` back to what it `was`.
fn mend(field: &mut [u8], was: u16, is: u16) {
    let mut value = u32::from(u16::from_be_bytes([field[0], field[1]])) + u32::from(is) + u32::from(!was);
    while value > 0xffff {
        value = (value & 0xffff) + (value >> 16);
    }
    field[..2].copy_from_slice(&(value as u16).to_be_bytes());
}

/// Changes the message of a packet whose addresses change from the first two to the others.
fn change(
    bytes: &mut [u8],
    [source, destination]: [IpAddr; 2],
    [new_source, new_destination]: [IpAddr; 2],
    how: impl FnOnce(&mut [u8]),
) -> Option<()> {
    let at = message_at(bytes)?;
    let message = &mut bytes[at..];
    let was = sum(message, source, destination);
    how(message);
    let is = sum(message, new_source, new_destination);
    mend(&mut message[2..4], was, is);
    Some(())
}

/// Sets the identifier of a query or an answer in a packet whose addresses change from the first two to the others. Returns whether it
/// is one.
pub fn set_id(bytes: &mut [u8], before: [IpAddr; 2], after: [IpAddr; 2], id: u16) -> bool {
    matches!(Icmp::of(bytes), Some(Icmp::Query(_) | Icmp::Answer(_)))
        && change(bytes, before, after, |message| message[4..6].copy_from_slice(&id.to_be_bytes())).is_some()
}

/// The answer to an echo request: the packet that is sent back. `None` if it is no echo request.
pub fn echo_reply(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = message_at(bytes)?;
    let answer = match (bytes[0] >> 4, bytes[at]) {
        (4, 8) => 0,
        (6, 128) => 129,
        _ => return None,
    };
    let header = Header::decode(bytes).ok()?;
    let (source, destination) = (header.destination, header.source);
    let mut reply = bytes.get(..header.size)?.to_vec();
    change(&mut reply, [destination, source], [source, destination], |message| message[0] = answer)?;
    Header { source, destination, hop_limit: HOP_LIMIT, ..header }.write_into(&mut reply).ok()?;
    Some(reply)
}

/// The packet by which the node with an address reports an error to the source of a packet. `None` if there must be none: about
/// another error, about any but the first fragment, to or about what is not one host (RFC 1122 section 3.2.2, RFC 4443 section 2.4).
pub fn error(about: &[u8], from: IpAddr, what: IcmpError) -> Option<Vec<u8>> {
    let header = Header::decode(about).ok()?;
    payload_of(about)?;
    let is_one = |address: IpAddr| match address {
        IpAddr::V4(v4) => {
            !(v4.is_unspecified() || v4.is_multicast() || v4.is_broadcast() || v4.is_loopback())
        }
        IpAddr::V6(v6) => !(v6.is_unspecified() || v6.is_multicast() || v6.is_loopback()),
    };
    let is_query = |icmp| matches!(icmp, Icmp::Query(_) | Icmp::Answer(_));
    if !is_one(header.source)
        || !is_one(header.destination)
        || Icmp::of(about).is_some_and(|icmp| !is_query(icmp))
    {
        return None;
    }
    let ipv6 = from.is_ipv6();
    let outer = if ipv6 { 40 } else { 20 };
    let room = LONGEST_ERROR[usize::from(ipv6)] - outer - HEADER;
    let about = &about[..header.size.min(room)];
    let (kind, code, value) = what.fields(ipv6);
    let mut message = vec![kind, code, 0, 0];
    message.extend_from_slice(&value.to_be_bytes());
    message.extend_from_slice(about);
    let sum = sum(&message, from, header.source);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let (source, destination) = (SocketAddr::new(from, 0), SocketAddr::new(header.source, 0));
    let ip = Packet { source, destination, ecn: Ecn::NotEct, dscp: 0, hop_limit: HOP_LIMIT, payload: &[] };
    let mut out = Vec::with_capacity(outer + message.len());
    ip.ip_header(&mut out, if ipv6 { ICMPV6 } else { ICMP }, message.len() as u16).ok()?;
    out.extend_from_slice(&message);
    Some(out)
}

/// What the packet that an error is about carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embedded {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
    /// An ICMP query, or the answer to one: its identifier stands for both ports.
    Icmp,
}

/// The source and the destination of the packet that an error is about, as far as it is there.
///
/// # Errors
/// [`IpError::Protocol`] if the packet is no error, or is about something without ports.
pub fn embedded(bytes: &[u8]) -> Result<(Embedded, SocketAddr, SocketAddr), IpError> {
    let at =
        message_at(bytes).filter(|_| Icmp::of(bytes) == Some(Icmp::Error)).ok_or(IpError::Protocol(0))?;
    let inner = &bytes[at + HEADER..];
    if inner.first().ok_or(IpError::Truncated)? >> 4 != bytes[0] >> 4 {
        return Err(IpError::Version);
    }
    let (source, destination) = addresses(inner)?;
    let (begin, protocol) = payload_of(inner).ok_or(IpError::Fragment)?;
    let port = |offset| word(inner, begin + offset).ok_or(IpError::Truncated);
    let (what, from, to) = match protocol {
        UDP => (Embedded::Udp, port(0)?, port(2)?),
        TCP => (Embedded::Tcp, port(0)?, port(2)?),
        _ => match Icmp::of(inner) {
            Some(Icmp::Query(id) | Icmp::Answer(id)) => (Embedded::Icmp, id, id),
            _ => return Err(IpError::Protocol(protocol)),
        },
    };
    Ok((what, SocketAddr::new(source, from), SocketAddr::new(destination, to)))
}

/// The addresses of a packet of which only the start may be there.
fn addresses(bytes: &[u8]) -> Result<(IpAddr, IpAddr), IpError> {
    let v4 =
        |at: usize| bytes.get(at..).and_then(|at| at.first_chunk::<4>()).map(|octets| IpAddr::from(*octets));
    let v6 =
        |at: usize| bytes.get(at..).and_then(|at| at.first_chunk::<16>()).map(|octets| IpAddr::from(*octets));
    let both = |source: Option<IpAddr>, destination: Option<IpAddr>| {
        source.zip(destination).ok_or(IpError::Truncated)
    };
    match bytes.first().ok_or(IpError::Truncated)? >> 4 {
        4 => both(v4(12), v4(16)),
        6 => both(v6(8), v6(24)),
        _ => Err(IpError::Version),
    }
}

/// Replaces the source and the destination of the packet that an error is about (RFC 5508 section 4.2), while the addresses of
/// the error itself change from the first two to the others. The checksums of the embedded headers are those of the packet
/// with the new ones.
///
/// # Errors
/// Those of [`embedded`].
pub fn set_embedded(
    bytes: &mut [u8],
    before: [IpAddr; 2],
    after: [IpAddr; 2],
    source: SocketAddr,
    destination: SocketAddr,
) -> Result<(), IpError> {
    let (what, old_source, old_destination) = embedded(bytes)?;
    let old = [old_source.ip(), old_destination.ip()];
    let new = [source.ip(), destination.ip()];
    change(bytes, before, after, |message| {
        let inner = &mut message[HEADER..];
        let Some((at, _)) = payload_of(inner) else { return };
        set_addresses(inner, at, new);
        let transport = &mut inner[at..];
        let pseudo = |addresses: [IpAddr; 2], parts: &[u8]| {
            checksum::transport(0, addresses[0], addresses[1], &[parts]).finish()
        };
        if what == Embedded::Icmp {
            // The sum of the identifier alone, and for IPv6 of the addresses, changes.
            let part = |addresses, bytes: &[u8]| match source {
                SocketAddr::V4(_) => checksum::Sum::default().add(bytes).finish(),
                SocketAddr::V6(_) => pseudo(addresses, bytes),
            };
            let was = part(old, &transport[4..6]);
            // A query has its identifier from its source, an answer from its destination.
            let id = if matches!(transport[0], 8 | 13 | 128) { source.port() } else { destination.port() };
            transport[4..6].copy_from_slice(&id.to_be_bytes());
            let is = part(new, &transport[4..6]);
            return mend(&mut transport[2..4], was, is);
        }
        let was = pseudo(old, &transport[..4]);
        transport[..2].copy_from_slice(&source.port().to_be_bytes());
        transport[2..4].copy_from_slice(&destination.port().to_be_bytes());
        let is = pseudo(new, &transport[..4]);
        let field = if what == Embedded::Udp { 6 } else { 16 };
        if let Some(field) = transport.get_mut(field..field + 2) {
            // 0 means that a datagram has no checksum (RFC 768).
            if what == Embedded::Tcp || *field != [0, 0] {
                mend(field, was, is);
            }
        }
    })
    .ok_or(IpError::Truncated)
}

/// Sets the addresses in an IP header that is `size` bytes long, and mends its checksum.
fn set_addresses(bytes: &mut [u8], size: usize, [source, destination]: [IpAddr; 2]) {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) if bytes.len() >= size => {
            let was = checksum::Sum::default().add(&bytes[..size]).finish();
            bytes[12..16].copy_from_slice(&source.octets());
            bytes[16..20].copy_from_slice(&destination.octets());
            let is = checksum::Sum::default().add(&bytes[..size]).finish();
            mend(&mut bytes[10..12], was, is);
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            bytes[8..24].copy_from_slice(&source.octets());
            bytes[24..40].copy_from_slice(&destination.octets());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
