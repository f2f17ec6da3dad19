//! Decodes the packets that the endpoint sends.

use super::{ID_LENGTH, Peer, space_of};
use crate::shape::Shape;
use crate::value::Value;
use std::fmt;
use std::net::SocketAddr;
use tls::TAG_LENGTH;
use wire::{ConnectionId, Ecn, FirstByte, Frame, Frames, Header, PacketKind};

/// A packet that the endpoint sent.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) kind: PacketKind,
    /// `None` if this kind of packet has no number.
    pub(crate) number: Option<u64>,
    pub(crate) frames: Vec<Shape>,
    /// Handshake bytes with their offset.
    pub(super) crypto: Vec<(u64, Vec<u8>)>,
    pub(super) is_long: bool,
    pub(super) destination: ConnectionId,
    pub(super) source: ConnectionId,
    token: Vec<u8>,
    version: u32,
    key_phase: bool,
    spin: bool,
    asks_for_ack: bool,
    /// The size of the datagram.
    size: u64,
    ecn: Ecn,
    from: SocketAddr,
    to: SocketAddr,
    /// Whether it shares a datagram with the previous packet.
    pub(crate) is_coalesced: bool,
}

/// A datagram sent by the endpoint.
pub(crate) struct Sent<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) ecn: Ecn,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

impl Peer {
    /// Decodes the packets of a datagram. A part that cannot be read becomes a packet of unknown kind.
    pub(crate) fn decode(&mut self, sent: &Sent<'_>) -> Vec<Decoded> {
        let mut packets: Vec<Decoded> = Vec::new();
        let mut rest = sent.bytes;
        while !rest.is_empty() {
            let header = Header::parse_with_any_quic_bit(rest, ID_LENGTH, None);
            let is_known =
                header.as_ref().is_ok_and(|header| header.kind != PacketKind::OneRtt || self.is_mine(header));
            let packet = match header {
                Ok(header) if is_known => {
                    let (packet, end) = (self.packet(rest, &header), header.end);
                    rest = rest.get(end..).unwrap_or_default();
                    packet
                }
                // An apparent short header with an id other than the peer's is a stateless reset.
                _ => {
                    let packet = none(PacketKind::StatelessReset);
                    rest = &[];
                    packet
                }
            };
            let size = sent.bytes.len() as u64;
            let (ecn, from, to) = (sent.ecn, sent.from, sent.to);
            packets.push(Decoded { size, ecn, from, to, is_coalesced: !packets.is_empty(), ..packet });
        }
        packets
    }

    fn is_mine(&self, header: &Header) -> bool {
        header.destination.as_bytes() == super::ID || self.issued.contains(&header.destination)
    }

    fn packet(&mut self, bytes: &[u8], header: &Header) -> Decoded {
        let first = FirstByte(bytes[0]);
        let mut packet = Decoded {
            is_long: first.is_long(),
            destination: header.destination,
            source: header.source,
            token: header.token(bytes).to_vec(),
            version: header.version.0,
            key_phase: !first.is_long() && first.key_phase(),
            spin: !first.is_long() && first.spin(),
            asks_for_ack: first.asks_for_ack(),
            ..none(header.kind)
        };
        if !header.has_number() {
            return packet;
        }
        let Ok(truncated) = header.number(bytes) else { return packet };
        let largest = &mut self.spaces[space_of(header.kind)].largest_received;
        let number = truncated.expand(*largest);
        *largest = (*largest).max(Some(number));
        packet.number = Some(number);
        let start = header.number_offset + truncated.length();
        let payload = bytes.get(start..header.end.saturating_sub(TAG_LENGTH)).unwrap_or_default();
        for frame in Frames::new(payload, 0).map_while(Result::ok) {
            if let Frame::Crypto { offset, data } = frame {
                packet.crypto.push((offset, data.to_vec()));
            }
            packet.frames.extend(Shape::of_frame(&frame, self.their_exponent));
        }
        packet
    }
}

/// A packet of which only the kind is known.
fn none(kind: PacketKind) -> Decoded {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    Decoded {
        kind,
        number: None,
        frames: Vec::new(),
        crypto: Vec::new(),
        is_long: false,
        destination: ConnectionId::EMPTY,
        source: ConnectionId::EMPTY,
        token: Vec::new(),
        version: 0,
        key_phase: false,
        spin: false,
        asks_for_ack: false,
        size: 0,
        ecn: Ecn::NotEct,
        from: nowhere,
        to: nowhere,
        is_coalesced: false,
    }
}

impl Decoded {
    /// The name of its kind.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            PacketKind::Initial => "initial",
            PacketKind::ZeroRtt => "0rtt",
            PacketKind::Handshake => "handshake",
            PacketKind::OneRtt => "1rtt",
            PacketKind::Retry => "retry",
            PacketKind::VersionNegotiation => "version_negotiation",
            PacketKind::StatelessReset | PacketKind::Unknown | PacketKind::Segment => "stateless_reset",
        }
    }

    /// A field of [`crate::words::HEADER`].
    pub(crate) fn header(&self, name: &str) -> Option<Value> {
        Some(match name {
            "size" => Value::Int(self.size),
            "ecn" => Value::Word(match self.ecn {
                Ecn::NotEct => "not_ect",
                Ecn::Ect0 => "ect0",
                Ecn::Ect1 => "ect1",
                Ecn::Ce => "ce",
            }),
            "key_phase" => Value::Int(u64::from(self.key_phase)),
            "spin" => Value::Int(u64::from(self.spin)),
            "immediate_ack" => Value::Int(u64::from(self.asks_for_ack)),
            "destination" => Value::Bytes(self.destination.as_bytes().to_vec()),
            "source" => Value::Bytes(self.source.as_bytes().to_vec()),
            "version" => Value::Int(u64::from(self.version)),
            "token" => Value::Bytes(self.token.clone()),
            "from" => Value::Text(self.from.to_string()),
            "to" => Value::Text(self.to.to_string()),
            // Information for the peer rather than about the packet.
            "lost" => Value::Flag,
            _ => return None,
        })
    }
}

impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind_name())?;
        if let Some(number) = self.number {
            write!(f, " #{number}")?;
        }
        let mut separator = " ";
        for frame in &self.frames {
            write!(f, "{separator}{frame}")?;
            separator = ", ";
        }
        Ok(())
    }
}
