//! The decoded packets on the wire: with null protection everything can be read.

use super::{Frame, Pair};
use std::net::SocketAddr;
use trace::PacketKind;
use units::Time;
use wire::{Frames, Header};

/// The length of the ids that endpoints choose.
pub(crate) const ID_LENGTH: usize = 8;
const TAG: usize = 16;

/// A sent datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) to_server: bool,
    /// Its number in its direction.
    pub(crate) number: u64,
    pub(crate) length: usize,
    pub(crate) bytes: Vec<u8>,
    /// Its source and its destination.
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

/// A sent packet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packet {
    pub(crate) at: Time,
    pub(crate) to_server: bool,
    /// The number of its datagram in its direction, and that datagram's length.
    pub(crate) datagram: u64,
    pub(crate) datagram_length: usize,
    /// The source and the destination of its datagram.
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) kind: PacketKind,
    pub(crate) number: u64,
    pub(crate) length: usize,
    pub(crate) frames: Vec<Frame>,
    pub(crate) header: Header,
}

impl Packet {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.frames.iter().any(|frame| frame.name() == name)
    }
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.frames.iter().map(Frame::name).collect()
    }
    /// The ranges of its ACK frame, descending.
    pub(crate) fn acks(&self) -> Option<Vec<(u64, u64)>> {
        self.frames.iter().find_map(|frame| match frame {
            Frame::Ack { ranges, .. } => Some(ranges.iter().map(|r| (*r.start(), *r.end())).collect()),
            _ => None,
        })
    }
    /// Bytes of stream data.
    pub(crate) fn data(&self) -> u64 {
        let bytes = self.frames.iter().map(|frame| match frame {
            Frame::Stream { length, .. } => *length,
            _ => 0,
        });
        bytes.sum()
    }
}

impl Pair {
    /// The packets in the datagrams from number `from` on.
    pub(crate) fn packets_from(&self, from: usize) -> Vec<Packet> {
        let mut largest = [[None; 8]; 2];
        let mut packets = Vec::new();
        for (index, seen) in self.wire.iter().enumerate() {
            let mut rest = seen.bytes.as_slice();
            while !rest.is_empty() {
                let header = Header::parse_with_any_quic_bit(rest, ID_LENGTH, None).unwrap();
                if !header.has_number() {
                    break;
                }
                let truncated = header.number(rest).unwrap();
                let largest = &mut largest[usize::from(seen.to_server)][header.kind as usize];
                let number = truncated.expand(*largest);
                *largest = Some(number);
                let payload = &rest[header.number_offset + truncated.length()..header.end - TAG];
                let frames = Frames::new(payload, 0).map(|frame| Frame::of(&frame.unwrap())).collect();
                if index >= from {
                    packets.push(Packet {
                        at: seen.at,
                        to_server: seen.to_server,
                        datagram: seen.number,
                        datagram_length: seen.length,
                        from: seen.from,
                        to: seen.to,
                        kind: header.kind,
                        number,
                        length: header.end,
                        frames,
                        header,
                    });
                }
                rest = &rest[header.end..];
            }
        }
        packets
    }
    /// All packets.
    pub(crate) fn packets(&self) -> Vec<Packet> {
        self.packets_from(0)
    }
    /// The packets sent since `mark` in one direction.
    pub(crate) fn sent_from(&self, from: usize, to_server: bool) -> Vec<Packet> {
        let packets = self.packets_from(from);
        packets.into_iter().filter(|packet| packet.to_server == to_server).collect()
    }
    /// The frames sent since `mark` in one direction.
    pub(crate) fn frames_from(&self, from: usize, to_server: bool) -> Vec<Frame> {
        self.sent_from(from, to_server).into_iter().flat_map(|packet| packet.frames).collect()
    }
    /// A mark for the functions above, which then return what is sent from now on.
    pub(crate) fn mark(&self) -> usize {
        self.wire.len()
    }
    /// The times of the datagrams sent since `mark` in one direction.
    pub(crate) fn times_from(&self, from: usize, to_server: bool) -> Vec<Time> {
        self.wire[from..].iter().filter(|seen| seen.to_server == to_server).map(|seen| seen.at).collect()
    }
}
