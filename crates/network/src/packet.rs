//! What travels: an IP packet with a UDP datagram or a TCP segment in it.

use crate::address::Port;
use std::net::SocketAddr;
use units::Time;
use wire::{Damage, Ecn, Hole};

/// A packet in the network. Nodes take it and send it by value; between them it stays in one box and only the pointer
/// moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The UDP payload, or the TCP segment with its header; without the bytes of the hole.
    pub bytes: Vec<u8>,
    /// The stream offset of the virtual bytes of the payload, if there are any.
    hole_offset: u64,
    /// When it came to the carrier that it is on, or was on last: what its queue counts its delay from. The carrier sets
    /// it.
    pub entered: Time,
    /// Where the virtual bytes stand in the payload, and how many they are; 0: none. An IP packet has no byte beyond 65,535.
    /// These are kept flat: an `Option<Hole>` would make the packet larger than two cache lines.
    hole_at: u16,
    hole_length: u16,
    /// The first and the last altered byte; the first is behind the last if none is. Flat for the same reason.
    altered: (u16, u16),
    /// Between a node and a carrier: the port to leave by plus one, or 0: by route. On a medium: the attachment that it goes
    /// to.
    exit: u16,
    /// On a medium: the attachment that it came from.
    pub(crate) sender: u16,
    /// Its bytes on the wire: IP header, UDP header or none, and the whole payload.
    pub size: u32,
    /// Which flow or connection it belongs to, for queues that tell flows apart and for traces; 0 if nobody said.
    pub flow: u32,
    /// Its ECN field (RFC 3168 section 5).
    pub ecn: Ecn,
    /// Whether it carries application data: what losses of "data packets only" count.
    pub data: bool,
    /// What is behind the IP header.
    protocol: Protocol,
    /// Whether it came to its carrier as L4S traffic, with ECT(1) or CE: the queue may mark it. The carrier sets it.
    pub(crate) l4s: bool,
}

/// What an IP packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// A UDP datagram, of which [`Packet::bytes`] is the payload (RFC 768).
    #[default]
    Udp,
    /// A TCP segment, of which [`Packet::bytes`] is all (RFC 9293).
    Tcp,
}

/// The bytes of a UDP header.
const UDP_HEADER: u32 = 8;

const NO_HOLE: Hole = Hole { at: 0, length: 0, offset: 0 };
const BY_ROUTE: u16 = 0;
const INTACT: (u16, u16) = (1, 0);

const _: () = assert!(size_of::<Packet>() <= 128, "a packet fits into two cache lines");

impl Packet {
    /// A packet with this UDP payload, not ECN-capable, of flow 0 and without application data. Its size follows from
    /// the addresses and the payload.
    #[inline]
    pub fn new(source: SocketAddr, destination: SocketAddr, bytes: Vec<u8>, hole: Option<Hole>) -> Packet {
        let hole = hole.unwrap_or(NO_HOLE);
        debug_assert!(hole.at.max(hole.length) <= u32::from(u16::MAX), "an IP packet has no such payload");
        let size = Packet::header_size(&destination) + bytes.len() as u32 + hole.length;
        Packet {
            source,
            destination,
            bytes,
            hole_offset: hole.offset,
            entered: Time::ZERO,
            hole_at: hole.at as u16,
            hole_length: hole.length as u16,
            altered: INTACT,
            exit: BY_ROUTE,
            sender: 0,
            size,
            flow: 0,
            ecn: Ecn::NotEct,
            data: false,
            protocol: Protocol::Udp,
            l4s: false,
        }
    }

    /// What it carries.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }
    /// Makes it a packet with a TCP segment, whose header is in its bytes: there is none of UDP.
    #[inline]
    pub fn carry_tcp(&mut self) {
        if self.protocol == Protocol::Udp {
            self.protocol = Protocol::Tcp;
            self.size -= UDP_HEADER;
        }
    }

    /// The bytes of the IP and the UDP header in front of the payload: 20 + 8 (RFC 791, 768) or 40 + 8 (RFC 8200).
    pub const fn header_size(address: &SocketAddr) -> u32 {
        match address {
            SocketAddr::V4(_) => 28,
            SocketAddr::V6(_) => 48,
        }
    }
    /// The virtual bytes of the payload.
    #[inline]
    pub fn hole(&self) -> Option<Hole> {
        let (at, length) = (u32::from(self.hole_at), u32::from(self.hole_length));
        (length > 0).then_some(Hole { at, length, offset: self.hole_offset })
    }
    /// Where it was altered underway.
    #[inline]
    pub fn damage(&self) -> Option<Damage> {
        let (first, last) = self.altered;
        (first <= last).then_some(Damage { first: u32::from(first), last: u32::from(last) })
    }
    /// Notes that it was altered there, beside where it was before. An IP packet has no byte beyond 65,535.
    pub fn note_damage(&mut self, damage: Damage) {
        let both = self.damage().map_or(damage, |known| known.and(damage));
        let place = |at: u32| u16::try_from(at).unwrap_or(u16::MAX);
        self.altered = (place(both.first), place(both.last));
    }
    /// The length of the UDP payload or the TCP segment in bytes, virtual ones included.
    #[inline]
    pub fn payload(&self) -> usize {
        self.bytes.len() + usize::from(self.hole_length)
    }
    /// Makes virtual bytes real: `bytes` is then the whole payload.
    pub fn write_out(&mut self) {
        if let Some(hole) = self.hole() {
            hole.write_out(&mut self.bytes);
            self.hole_length = 0;
        }
    }
    /// Gives the packet other addresses, of the same version of IP. The ports of a TCP segment stand in its header too, whose
    /// checksum is left out in the network.
    pub fn readdress(&mut self, source: SocketAddr, destination: SocketAddr) {
        debug_assert_eq!(self.source.is_ipv6(), source.is_ipv6(), "the size is that of the version");
        (self.source, self.destination) = (source, destination);
        if self.protocol == Protocol::Tcp
            && let Some(ports) = self.bytes.get_mut(..4)
        {
            ports[..2].copy_from_slice(&source.port().to_be_bytes());
            ports[2..].copy_from_slice(&destination.port().to_be_bytes());
        }
    }
    /// Has the packet leave the node by a port, wherever the route of its destination leads.
    #[inline]
    pub fn leave_by(&mut self, port: Port) {
        self.exit = port.0 + 1;
    }
    /// Whether it leaves by the route of its destination, and not by a port.
    #[inline]
    pub(crate) fn leaves_by_route(&self) -> bool {
        self.exit == BY_ROUTE
    }
    /// Takes the port that it is to leave by; `None`: by route.
    pub(crate) fn take_exit(&mut self) -> Option<Port> {
        std::mem::replace(&mut self.exit, BY_ROUTE).checked_sub(1).map(Port)
    }
    /// Puts the packet on a medium, from one attachment to another.
    pub(crate) fn attach(&mut self, from: u16, to: u16) {
        (self.sender, self.exit) = (from, to);
    }
    /// The attachment of its medium that it goes to.
    pub(crate) fn attachment(&self) -> u16 {
        self.exit
    }
    /// Takes the packet off a medium: the attachment that it goes to.
    pub(crate) fn detach(&mut self) -> u16 {
        std::mem::replace(&mut self.exit, BY_ROUTE)
    }
    /// Makes a new packet in the box of one that has ended, field by field.
    #[inline]
    pub(crate) fn renew(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        bytes: Vec<u8>,
        hole: Option<Hole>,
    ) {
        let hole = hole.unwrap_or(NO_HOLE);
        self.size = Packet::header_size(&destination) + bytes.len() as u32 + hole.length;
        self.source = source;
        self.destination = destination;
        self.bytes = bytes;
        self.hole_offset = hole.offset;
        self.entered = Time::ZERO;
        self.hole_at = hole.at as u16;
        self.hole_length = hole.length as u16;
        self.altered = INTACT;
        self.exit = BY_ROUTE;
        self.l4s = false;
        self.flow = 0;
        self.ecn = Ecn::NotEct;
        self.data = false;
        self.protocol = Protocol::Udp;
    }
    /// The same packet with these bytes.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>) -> Packet {
        Packet { bytes, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_headers_and_virtual_bytes() {
        let (v4, v6) =
            (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, 1], 1)));
        let hole = Hole { at: 2, length: 6, offset: 100 };
        let mut packet = Packet::new(v4, v4, vec![1, 2, 3], Some(hole));
        assert_eq!((packet.size, packet.payload(), packet.hole()), (37, 9, Some(hole)));
        packet.write_out();
        assert_eq!((packet.size, packet.payload(), packet.hole()), (37, 9, None));
        assert_eq!(packet.bytes, [1, 2, 100, 101, 102, 103, 104, 105, 3]);
        assert_eq!(Packet::new(v6, v6, vec![0; 10], None).size, 58);
        let mut segment = Packet::new(v6, v6, vec![0; 32], Some(hole));
        (0..2).for_each(|_| segment.carry_tcp());
        assert_eq!((segment.size, segment.protocol()), (78, Protocol::Tcp));
    }

    #[test]
    fn damages_add_up() {
        let at = SocketAddr::from(([10, 0, 0, 1], 1));
        let mut packet = Packet::new(at, at, vec![0; 10], None);
        assert_eq!(packet.damage(), None);
        packet.note_damage(Damage { first: 4, last: 4 });
        packet.note_damage(Damage { first: 0, last: 0 });
        assert_eq!(packet.damage(), Some(Damage { first: 0, last: 4 }));
        packet.renew(at, at, Vec::new(), None);
        assert_eq!(packet.damage(), None);
    }
}
