//! Typed packets: 1-RTT packets under null protection that stay values as long as nobody looks at their bytes.

use crate::frame::{self, stream_header, stream_header_size};
use crate::header::ShortHeader;
use crate::varint;
use crate::{FirstByte, Hole, LowerRanges, StreamId};

/// The length in bytes of the tag of a packet (RFC 9001 section 5.3).
const TAG: usize = 16;

/// The tag of a packet under null protection: its number, and what stands for a key.
#[inline]
pub fn null_tag(key: u64, number: u64) -> [u8; TAG] {
    (u128::from(number) << 64 | u128::from(key)).to_be_bytes()
}

/// The one frame of a typed packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedFrame {
    /// STREAM with virtual data.
    Stream {
        /// The stream.
        id: StreamId,
        /// The offset of the data.
        offset: u64,
        /// The length of the data.
        length: u32,
        /// Whether the frame has a Length field.
        explicit: bool,
        /// Whether the data ends the stream.
        fin: bool,
    },
    /// ACK without ECN counts.
    Ack {
        /// The largest acknowledged number.
        largest: u64,
        /// The number of acknowledged numbers below it.
        first_range: u64,
        /// The ranges below.
        lower: LowerRanges,
        /// The encoded ACK Delay.
        delay: u64,
    },
}

impl TypedFrame {
    /// The size in bytes, virtual data included.
    #[inline]
    pub fn size(&self) -> usize {
        match *self {
            TypedFrame::Stream { id, offset, length, explicit, .. } => {
                let length = length as usize;
                stream_header_size(id, offset, explicit.then_some(length)) + length
            }
            TypedFrame::Ack { largest, first_range, ref lower, delay } => {
                let numbers = varint::size(largest) + varint::size(delay) + varint::size(first_range);
                1 + numbers + varint::size(lower.count() as u64) + lower.size()
            }
        }
    }

    /// Appends the frame. The data of a STREAM frame becomes the hole that is returned.
    pub fn write(&self, out: &mut Vec<u8>) -> Option<Hole> {
        match *self {
            TypedFrame::Stream { id, offset, length, explicit, fin } => {
                stream_header(out, id, offset, explicit.then_some(length as usize), fin);
                Some(Hole { at: out.len() as u32, length, offset }).filter(|_| length > 0)
            }
            TypedFrame::Ack { largest, first_range, ref lower, delay } => {
                let ranges = std::iter::once(largest - first_range..=largest).chain(lower.iter());
                frame::ack(out, ranges, delay, None, usize::MAX);
                None
            }
        }
    }
}

/// A 1-RTT packet under null protection with one frame, alone in its datagram, as values: [`TypedPacket::write`] gives the
/// bytes that it would have been sent with.
///
/// An endpoint sends such packets only in a network that says that it takes them, and everything that looks at bytes writes
/// them out first. So whether a packet was typed makes no difference to anybody but the clock on the wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedPacket {
    /// The header.
    pub header: ShortHeader,
    /// The immediate-ack bit: see [`FirstByte::asks_for_ack`].
    pub asks_for_ack: bool,
    /// The whole packet number.
    pub number: u64,
    /// What stands for the sender's key: see [`null_tag`].
    pub key: u64,
    /// The frame.
    pub frame: TypedFrame,
    /// The size of the packet in bytes, virtual data and tag included.
    pub size: u32,
}

impl TypedPacket {
    /// Whether a receiver of packets up to `largest` takes the truncated number for the whole one (RFC 9000 section A.3).
    #[inline]
    pub fn is_expanded(&self, largest: Option<u64>) -> bool {
        self.header.number.expand(largest) == self.number
    }

    /// Appends the packet; returns its virtual data.
    pub fn write(&self, out: &mut Vec<u8>) -> Option<Hole> {
        let start = out.len();
        self.header.write(out);
        if self.asks_for_ack {
            out[start] |= FirstByte::IMMEDIATE_ACK;
        }
        let hole = self.frame.write(out);
        out.extend_from_slice(&null_tag(self.key, self.number));
        hole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ack, ConnectionId, Data, Frame, Frames, Header, Truncated};
    use proptest::prelude::*;

    /// Gaps and lengths of ranges, small and large ones.
    fn lower() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0u64..200, 0u64..20_000), 0..100)
    }

    fn frames() -> impl Strategy<Value = TypedFrame> {
        let number = 0u64..1 << 62;
        prop_oneof![
            (0u64..1 << 60, number.clone(), 1u32..60_000, any::<[bool; 2]>()).prop_map(
                |(id, offset, length, [explicit, fin])| {
                    let id = StreamId::from_value(id);
                    TypedFrame::Stream { id, offset: offset >> 1, length, explicit, fin }
                }
            ),
            (1u64 << 40..1 << 61, 0u64..1 << 39, lower(), 0u64..1 << 40).prop_map(
                |(largest, first_range, parts, delay)| {
                    let (mut above, mut ranges) = (largest - first_range, Vec::new());
                    for (gap, length) in parts {
                        let end = above - gap - 2;
                        above = end - length;
                        ranges.push(above..=end);
                    }
                    let lower = LowerRanges::of(ranges.into_iter(), largest - first_range);
                    TypedFrame::Ack { largest, first_range, lower, delay }
                }
            ),
        ]
    }

    proptest! {
        /// A typed packet is the packet that its bytes are.
        #[test]
        fn the_bytes_decode_to_the_values(
            frame in frames(),
            (number, bytes) in (0u64..1 << 40, 1usize..5),
            id in prop::collection::vec(any::<u8>(), 8),
            [spin, key_phase, asks_for_ack] in any::<[bool; 3]>(),
        ) {
            let number_of = Truncated::with_length(number, bytes);
            let destination = ConnectionId::new(&id).unwrap();
            let header = ShortHeader { destination, spin, key_phase, number: number_of };
            let size = (header.size() + frame.size() + TAG) as u32;
            let packet = TypedPacket { header, asks_for_ack, number, key: 77, frame: frame.clone(), size };
            let mut out = Vec::new();
            let hole = packet.write(&mut out);
            let virtual_bytes = hole.map_or(0, |hole| hole.length as usize);
            prop_assert_eq!(size as usize, out.len() + virtual_bytes);
            prop_assert_eq!(out.last_chunk(), Some(&null_tag(77, number)));
            let parsed = Header::parse_with_hole(&out, 8, hole).unwrap();
            prop_assert_eq!((parsed.destination, parsed.end), (destination, out.len()));
            prop_assert_eq!(parsed.number(&out).unwrap(), number_of);
            let first = FirstByte(out[0]);
            prop_assert_eq!((first.spin(), first.key_phase(), first.asks_for_ack()), (spin, key_phase, asks_for_ack));
            let payload = &out[header.size()..out.len() - TAG];
            let decoded: Vec<_> = Frames::new(payload, virtual_bytes).map(Result::unwrap).collect();
            prop_assert_eq!(decoded.len(), 1);
            match (frame, decoded[0]) {
                (TypedFrame::Stream { id, offset, length, fin, .. }, decoded) => {
                    let data = Data::Virtual { length: length as usize };
                    prop_assert_eq!(decoded, Frame::Stream { id, offset, data, fin });
                }
                (TypedFrame::Ack { largest, first_range, lower, delay }, Frame::Ack(ack)) => {
                    prop_assert_eq!(ack, Ack::listed(largest, first_range, &lower, delay));
                    prop_assert_eq!(ack.ranges().count(), 1 + lower.count());
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
