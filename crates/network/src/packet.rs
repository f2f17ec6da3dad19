//! Packets: an IP packet with a UDP datagram or a TCP segment.

use crate::address::Port;
use std::net::SocketAddr;
use units::Time;
use wire::{Damage, Ecn, Hole, TypedPacket};

/// A packet in the network. It stays in one box from the node that sends it to the node that takes it, and only the
/// pointer moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The source address.
    pub source: SocketAddr,
    /// The destination address.
    pub destination: SocketAddr,
    /// The UDP payload, or the TCP segment with its header; without the bytes of the hole.
    pub bytes: Vec<u8>,
    /// The stream offset of the virtual bytes of the payload, if any.
    hole_offset: u64,
    /// When it arrived at its current or last carrier, set by the carrier: the start of its queueing delay.
    pub entered: Time,
    /// The position and the number of the virtual bytes in the payload; 0 if there are none. An IP packet has
    /// no byte beyond 65,535. Stored flat: an `Option<Hole>` would make the packet larger than two cache lines.
    hole_at: u16,
    hole_length: u16,
    /// The first and the last altered byte; the first is after the last if none is altered. Flat for the same
    /// reason.
    altered: (u16, u16),
    /// Between a node and a carrier: the exit port plus one, or 0 for the route. On a medium: the receiving
    /// attachment.
    exit: u16,
    /// On a medium: the sending attachment.
    pub(crate) sender: u16,
    /// The size on the wire in bytes: IP header, UDP header if any, and the whole payload.
    pub size: u32,
    /// The flow or connection, for queues that distinguish flows and for traces; 0 if unknown.
    pub flow: u32,
    /// The ECN field (RFC 3168 section 5).
    pub ecn: Ecn,
    /// Time To Live or Hop Limit of a packet from outside, which nodes on its way count down; 0 for packets of simulated hosts,
    /// whose hops nobody counts.
    pub hop_limit: u8,
    /// Whether it carries application data: for losses of data packets only.
    pub data: bool,
    /// The protocol behind the IP header.
    protocol: Protocol,
    /// Whether it arrived at its carrier as L4S traffic, with ECT(1) or CE, and may be marked. Set by the
    /// carrier.
    pub(crate) l4s: bool,
    /// The QUIC packet that is the payload; `bytes` is then empty.
    typed: Option<TypedPacket>,
}

/// The protocol of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// UDP (RFC 768): [`Packet::bytes`] is the payload of the datagram.
    #[default]
    Udp,
    /// TCP (RFC 9293): [`Packet::bytes`] is the whole segment.
    Tcp,
    /// Any other, or a packet that could not be read further: [`Packet::bytes`] is the whole IP packet, and the ports of the
    /// addresses are 0.
    Ip,
}

/// The usual initial hop limit: of packets of simulated hosts that leave, since nobody counts their hops.
pub const HOP_LIMIT: u8 = 64;

/// The size of a UDP header in bytes.
const UDP_HEADER: u32 = 8;

const NO_HOLE: Hole = Hole { at: 0, length: 0, offset: 0 };
const BY_ROUTE: u16 = 0;
const INTACT: (u16, u16) = (1, 0);

const _: () = assert!(size_of::<Packet>() <= 256, "a packet fits into four cache lines");

impl Packet {
    /// Creates a packet with this UDP payload, not ECN-capable, of flow 0 and without application data. The
    /// size follows from the addresses and the payload.
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
            hop_limit: 0,
            data: false,
            protocol: Protocol::Udp,
            l4s: false,
            typed: None,
        }
    }

    /// The QUIC packet that is the payload, as long as its bytes are not written out.
    #[inline]
    pub fn typed(&self) -> Option<&TypedPacket> {
        self.typed.as_ref()
    }
    /// Writes out a typed packet, but not its virtual bytes.
    pub fn write_typed(&mut self) {
        if let Some(typed) = self.typed.take()
            && let Some(hole) = typed.write(&mut self.bytes)
        {
            (self.hole_at, self.hole_length, self.hole_offset) =
                (hole.at as u16, hole.length as u16, hole.offset);
        }
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }
    /// Turns it into a packet with a TCP segment, whose header is part of its bytes.
    #[inline]
    pub fn carry_tcp(&mut self) {
        if self.protocol == Protocol::Udp {
            self.protocol = Protocol::Tcp;
            self.size -= UDP_HEADER;
        }
    }

    /// Turns it into a packet whose bytes are all of it, with its IP header.
    pub fn carry_ip(&mut self) {
        self.protocol = Protocol::Ip;
        self.size = self.bytes.len() as u32;
    }

    /// The hop limit that its IP header has.
    pub fn hop_limit_on_the_wire(&self) -> u8 {
        if self.hop_limit == 0 { HOP_LIMIT } else { self.hop_limit }
    }

    /// The size of the IP and UDP headers in bytes: 20 + 8 (RFC 791, 768) or 40 + 8 (RFC 8200).
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
    /// Where it was altered in transit.
    #[inline]
    pub fn damage(&self) -> Option<Damage> {
        let (first, last) = self.altered;
        (first <= last).then_some(Damage { first: u32::from(first), last: u32::from(last) })
    }
    /// Records an alteration, in addition to earlier ones. An IP packet has no byte beyond 65,535.
    pub fn note_damage(&mut self, damage: Damage) {
        let both = self.damage().map_or(damage, |known| known.and(damage));
        let place = |at: u32| u16::try_from(at).expect("an IP packet has no byte beyond 65,535");
        assert!(damage.first <= damage.last, "an altered part has a first and a last byte");
        self.altered = (place(both.first), place(both.last));
    }
    /// The length of the UDP payload or the TCP segment in bytes, virtual ones included.
    #[inline]
    pub fn payload(&self) -> usize {
        self.bytes.len()
            + usize::from(self.hole_length)
            + self.typed.as_ref().map_or(0, |typed| typed.size as usize)
    }
    /// Whether `bytes` is the whole payload: nothing is typed or virtual.
    #[inline]
    pub fn is_written_out(&self) -> bool {
        self.typed.is_none() && self.hole_length == 0
    }
    /// Writes out a typed packet and the virtual bytes: `bytes` is then the whole payload.
    pub fn write_out(&mut self) {
        self.write_typed();
        if let Some(hole) = self.hole() {
            hole.write_out(&mut self.bytes);
            self.hole_length = 0;
        }
    }
    /// Replaces the addresses by others of the same IP version. The header of a TCP segment has the ports, too;
    /// its checksum is omitted in the network.
    pub fn readdress(&mut self, source: SocketAddr, destination: SocketAddr) {
        debug_assert_eq!(self.source.is_ipv6(), source.is_ipv6(), "the size is that of the version");
        (self.source, self.destination) = (source, destination);
        if self.protocol == Protocol::Tcp
            && let Some(ports) = self.bytes.get_mut(..4)
        {
            ports[..2].copy_from_slice(&source.port().to_be_bytes());
            ports[2..].copy_from_slice(&destination.port().to_be_bytes());
        }
        // The header of any other packet is written when it leaves the network.
    }
    /// Makes the packet leave the node by a port, regardless of the route.
    #[inline]
    pub fn leave_by(&mut self, port: Port) {
        self.exit = port.0 + 1;
    }
    /// Whether it leaves by the route to its destination, not by a port.
    #[inline]
    pub(crate) fn leaves_by_route(&self) -> bool {
        self.exit == BY_ROUTE
    }
    /// Takes the exit port; `None` for the route.
    pub(crate) fn take_exit(&mut self) -> Option<Port> {
        std::mem::replace(&mut self.exit, BY_ROUTE).checked_sub(1).map(Port)
    }
    /// Puts the packet on a medium, from one attachment to another. Called by [`crate::medium::Medium::offer`].
    pub(crate) fn attach(&mut self, from: u16, to: u16) {
        (self.sender, self.exit) = (from, to);
    }
    /// The receiving attachment on its medium.
    pub(crate) fn attachment(&self) -> u16 {
        self.exit
    }
    /// Takes the packet off a medium; returns the receiving attachment. Called by
    /// [`crate::medium::Medium::deliver`].
    pub(crate) fn detach(&mut self) -> u16 {
        std::mem::replace(&mut self.exit, BY_ROUTE)
    }
    /// The place for the payload of a packet that is being made, whose payload is empty.
    #[inline]
    pub fn place(&mut self) -> (&mut Vec<u8>, &mut Option<TypedPacket>) {
        (&mut self.bytes, &mut self.typed)
    }
    /// Addresses a packet whose payload is in its place ([`Packet::place`]), with virtual bytes or without. It is not
    /// ECN-capable, of flow 0 and without application data.
    #[inline]
    pub fn address(&mut self, source: SocketAddr, destination: SocketAddr, hole: Option<Hole>) {
        let hole = hole.unwrap_or(NO_HOLE);
        let typed = self.typed.as_ref().map_or(0, |typed| typed.size);
        self.size = Packet::header_size(&destination) + self.bytes.len() as u32 + hole.length + typed;
        self.source = source;
        self.destination = destination;
        self.hole_offset = hole.offset;
        self.entered = Time::ZERO;
        self.hole_at = hole.at as u16;
        self.hole_length = hole.length as u16;
        self.altered = INTACT;
        self.exit = BY_ROUTE;
        self.l4s = false;
        self.flow = 0;
        self.ecn = Ecn::NotEct;
        self.hop_limit = 0;
        self.data = false;
        self.protocol = Protocol::Udp;
    }
    /// Empties the payload; its memory stays.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.typed = None;
    }
    /// A copy with other bytes.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>) -> Packet {
        Packet { bytes, typed: self.typed.clone(), ..*self }
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
        packet.address(at, at, None);
        assert_eq!(packet.damage(), None);
    }
}
