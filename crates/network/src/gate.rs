//! Gates: nodes whose packets come from outside of the world, and leave it.
//!
//! What is outside (a TUN device, a socket) this crate does not know. A packet from outside enters by [`crate::World::enter`]
//! and takes the route to its destination; one that arrives at a gate waits there to be taken. Datagrams of UDP and segments
//! of TCP become packets like those of simulated hosts, so that middleboxes and queues see them as such. Everything else
//! passes as a whole.
//!
//! Of the IP header only the addresses, the ECN codepoint and the hop limit are kept: other fields leave as they do from a
//! simulated host.

use crate::address::Port;
use crate::books::PacketBooks;
use crate::exits::Exits;
use crate::node::Node;
pub use crate::packet::HOP_LIMIT;
use crate::packet::{Packet, Protocol};
use std::collections::VecDeque;
use units::Time;
use wire::ip::{self, IpError};

/// The number of packets that wait to be taken at most; further ones are dropped.
pub const MAX_WAITING: usize = 65_536;

/// The protocol number of TCP.
const TCP: u8 = 6;

/// A gate.
#[derive(Debug, Default)]
pub struct Gate {
    /// The packets that wait to be taken, with the times at which they arrived.
    waiting: VecDeque<(Time, Packet)>,
    /// Whether packets that were altered on the way leave, too; default: no, since nobody outside would take them.
    pub altered_leave: bool,
    /// The packets that came and went.
    pub counts: GateCounts,
    books: Box<PacketBooks>,
}

/// The packets of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateCounts {
    /// Packets from outside.
    pub entered: u64,
    /// Their bytes.
    pub entered_bytes: u64,
    /// Packets that left.
    pub left: u64,
    /// Their bytes.
    pub left_bytes: u64,
    /// Packets that were altered on the way, unless they leave.
    pub altered: u64,
    /// Packets that found [`MAX_WAITING`] others.
    pub overflowed: u64,
}

impl Gate {
    /// Counts a packet from outside.
    pub(crate) fn note_entered(&mut self, packet: &Packet) {
        self.counts.entered += 1;
        self.counts.entered_bytes += u64::from(packet.size);
        self.books.sent.add(packet.flow, packet.size);
    }
    /// Takes the next packet that leaves, with the time at which it arrived here.
    pub fn take(&mut self) -> Option<(Time, Packet)> {
        self.waiting.pop_front()
    }
}

impl Node for Gate {
    fn accept(&mut self, now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        if packet.damage().is_some() && !self.altered_leave {
            self.counts.altered += 1;
        } else if self.waiting.len() >= MAX_WAITING {
            self.counts.overflowed += 1;
        } else {
            self.counts.left += 1;
            self.counts.left_bytes += u64::from(packet.size);
            self.books.taken.add(packet.flow, packet.size);
            let packet = exits.unplace(packet);
            return self.waiting.push_back((now, packet));
        }
        self.books.dropped.add(packet.flow, packet.size);
        exits.discard(packet);
    }
    fn wake(&mut self, _: Time, _: &mut Exits) {}
    fn wake_at(&self) -> Option<Time> {
        None
    }
    fn account(&self, books: &mut PacketBooks) {
        books.merge(&self.books);
    }
}

/// The packet in these bytes, which begin with an IP header. Its payload is put into `buffer`, which is empty.
///
/// # Errors
/// If there is no whole IP packet.
pub fn packet_of(bytes: &[u8], mut buffer: Vec<u8>) -> Result<Packet, IpError> {
    let header = ip::Header::decode(bytes)?;
    let bytes = &bytes[..header.size];
    let mut filled = |payload: &[u8]| {
        buffer.extend_from_slice(payload);
        std::mem::take(&mut buffer)
    };
    // The protocol of IPv4, and the next header of IPv6, which is another one if there are extensions.
    let is_tcp = bytes[if header.source.is_ipv4() { 9 } else { 6 }] == TCP;
    let udp = if is_tcp { None } else { ip::Packet::decode(bytes).ok() };
    let mut packet = if let Some(udp) = udp {
        Packet::new(udp.source, udp.destination, filled(udp.payload), None)
    } else if let Ok(tcp) = ip::TcpPacket::decode(bytes) {
        let mut packet = Packet::new(tcp.source, tcp.destination, filled(tcp.segment), None);
        packet.carry_tcp();
        packet
    } else {
        let ends = [header.source, header.destination].map(|ip| (ip, 0).into());
        let mut packet = Packet::new(ends[0], ends[1], filled(bytes), None);
        packet.carry_ip();
        packet
    };
    // Options of IPv4 and extensions of IPv6 count, too.
    packet.size = header.size as u32;
    packet.ecn = header.ecn;
    packet.hop_limit = header.hop_limit.max(1);
    packet.data = true;
    Ok(packet)
}

/// Appends the bytes of a packet, with its IP header and its checksums. Virtual bytes are written out.
///
/// # Errors
/// If it is too long for IP.
pub fn write(packet: &mut Packet, out: &mut Vec<u8>) -> Result<(), IpError> {
    packet.write_out();
    let Packet { source, destination, ecn, .. } = *packet;
    let hop_limit = packet.hop_limit_on_the_wire();
    match packet.protocol() {
        Protocol::Udp => {
            let payload = &packet.bytes;
            ip::Packet { source, destination, ecn, dscp: 0, hop_limit, payload }.encode(out)
        }
        Protocol::Tcp => {
            let segment = &packet.bytes;
            ip::TcpPacket { source, destination, ecn, dscp: 0, hop_limit, segment }.encode(out)
        }
        Protocol::Ip => {
            let (source, destination, size) = (source.ip(), destination.ip(), packet.bytes.len());
            ip::Header { source, destination, ecn, hop_limit, size }.write_into(&mut packet.bytes)?;
            out.extend_from_slice(&packet.bytes);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Ecn;

    const ENDS: [&str; 4] = ["10.0.0.1:5000", "10.0.0.2:443", "[fd00::1]:5000", "[fd00::2]:443"];

    fn written(mut packet: Packet) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut packet, &mut out).unwrap();
        out
    }

    #[test]
    fn datagrams_and_segments_come_and_go_unchanged() {
        let [a, b, c, d] = ENDS.map(|end| end.parse().unwrap());
        for (source, destination) in [(a, b), (c, d)] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ce] {
                let mut bytes = Vec::new();
                let (dscp, hop_limit, payload) = (0, 64, &[1, 2, 3][..]);
                ip::Packet { source, destination, ecn, dscp, hop_limit, payload }.encode(&mut bytes).unwrap();
                let packet = packet_of(&bytes, Vec::new()).unwrap();
                assert_eq!((packet.source, packet.destination, packet.ecn), (source, destination, ecn));
                assert_eq!((packet.protocol(), packet.size as usize), (Protocol::Udp, bytes.len()));
                assert_eq!(written(packet), bytes);
                let mut segment = [0; 24];
                segment[..2].copy_from_slice(&source.port().to_be_bytes());
                segment[2..4].copy_from_slice(&destination.port().to_be_bytes());
                segment[12] = 5 << 4;
                let mut bytes = Vec::new();
                let segment = &segment;
                ip::TcpPacket { source, destination, ecn, dscp, hop_limit, segment }
                    .encode(&mut bytes)
                    .unwrap();
                let packet = packet_of(&bytes, Vec::new()).unwrap();
                assert_eq!((packet.protocol(), packet.size as usize), (Protocol::Tcp, bytes.len()));
                assert_eq!(written(packet), bytes);
            }
        }
    }

    /// An echo request of ICMP, and a fragment: whole, with the marks of the network in the header.
    #[test]
    fn other_packets_pass_as_a_whole() {
        let mut ping = vec![0x45, 0, 0, 28, 0, 1, 0, 0, 63, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        ping.extend_from_slice(&[8, 0, 0xf7, 0xfd, 0, 1, 0, 1]);
        let packet = packet_of(&ping, Vec::new()).unwrap();
        assert_eq!((packet.protocol(), packet.size, packet.source.port()), (Protocol::Ip, 28, 0));
        let out = written(packet.clone());
        assert_eq!((&out[..10], &out[12..]), (&ping[..10], &ping[12..]));
        assert_eq!(written(packet_of(&out, Vec::new()).unwrap()), out, "its checksum is right now");
        let mut marked = packet;
        marked.ecn = Ecn::Ce;
        assert_eq!(packet_of(&written(marked), Vec::new()).unwrap().ecn, Ecn::Ce);
        let mut six = vec![0x60, 0, 0, 0, 0, 8, 58, 64];
        six.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        six.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        six.extend_from_slice(&[128, 0, 0, 0, 0, 1, 0, 1]);
        let packet = packet_of(&six, Vec::new()).unwrap();
        assert_eq!(packet.destination, "[fd00::2]:0".parse().unwrap());
        assert_eq!(written(packet), six);
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for bytes in [&[][..], &[0x45; 19], &[0x15; 40], &[0x60; 39]] {
            assert!(packet_of(bytes, Vec::new()).is_err(), "{bytes:?}");
        }
        let mut long = vec![0; 28];
        (long[0], long[3]) = (0x45, 29);
        assert_eq!(packet_of(&long, Vec::new()), Err(IpError::Truncated));
        long[3] = 19;
        assert_eq!(packet_of(&long, Vec::new()), Err(IpError::Length));
    }

    /// A datagram with a wrong checksum is not read further, so that it arrives as wrong as it was.
    #[test]
    fn a_wrong_checksum_stays_wrong() {
        let mut bytes = Vec::new();
        let [source, destination] = [ENDS[0], ENDS[1]].map(|end| end.parse().unwrap());
        let (ecn, dscp, hop_limit, payload) = (Ecn::NotEct, 0, 64, &[1, 2, 3][..]);
        ip::Packet { source, destination, ecn, dscp, hop_limit, payload }.encode(&mut bytes).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        let packet = packet_of(&bytes, Vec::new()).unwrap();
        assert_eq!(packet.protocol(), Protocol::Ip);
        assert_eq!(written(packet), bytes);
    }
}
