//! What travels: an IP packet with a UDP datagram or a TCP segment in it.

use std::net::SocketAddr;
use units::Time;
use wire::{Damage, Ecn, Hole};

/// A packet underway. Elements take it and send it by value; inside of the network it stays in one place and only its
/// address moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The UDP payload, or the TCP segment with its header; without the bytes of the hole.
    pub bytes: Vec<u8>,
    /// Virtual bytes of the payload; none if the length is 0. Kept flat: an `Option` would make the packet larger
    /// than two cache lines.
    hole: Hole,
    /// When it came to the link that it is on, or was on last: what its queue counts its delay from. The link sets it.
    pub entered: Time,
    /// Whether it came to that link as L4S traffic, with ECT(1) or CE: its queue may mark it. The link sets it too.
    pub(crate) l4s: bool,
    /// The first and the last altered byte; the first is behind the last if none is. Flat for the same reason.
    altered: (u16, u16),
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
const INTACT: (u16, u16) = (1, 0);

const _: () = assert!(size_of::<Packet>() <= 128, "a packet fits into two cache lines");

impl Packet {
    /// A packet with this UDP payload, not ECN-capable, of flow 0 and without application data. Its size follows from
    /// the addresses and the payload.
    #[inline]
    pub fn new(source: SocketAddr, destination: SocketAddr, bytes: Vec<u8>, hole: Option<Hole>) -> Packet {
        let hole = hole.unwrap_or(NO_HOLE);
        let size = Packet::header_size(&destination) + bytes.len() as u32 + hole.length;
        Packet {
            source,
            destination,
            bytes,
            hole,
            entered: Time::ZERO,
            l4s: false,
            altered: INTACT,
            size,
            flow: 0,
            ecn: Ecn::NotEct,
            data: false,
            protocol: Protocol::Udp,
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
        (self.hole.length > 0).then_some(self.hole)
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
        self.bytes.len() + self.hole.length as usize
    }
    /// Makes virtual bytes real: `bytes` is then the whole payload.
    pub fn write_out(&mut self) {
        if let Some(hole) = self.hole() {
            hole.write_out(&mut self.bytes);
            self.hole.length = 0;
        }
    }
    /// Makes a packet anew in the place of one that is no more, field by field.
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
        self.hole = hole;
        self.entered = Time::ZERO;
        self.l4s = false;
        self.altered = INTACT;
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
