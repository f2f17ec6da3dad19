//! The encoder of frames, with functions of their own for what is in nearly every packet.

use crate::frame::{ACK_FREQUENCY, Ack, Data, EcnCounts, Frame};
use crate::varint::{self, encode};
use crate::{Direction, StreamId};
use std::ops::RangeInclusive;

/// Appends the start of a STREAM frame; the data is to follow. Without a `length` the frame goes to the end of its
/// packet. An offset of 0 is not written (RFC 9000 section 19.8).
#[inline]
pub fn stream_header(out: &mut Vec<u8>, id: StreamId, offset: u64, length: Option<usize>, fin: bool) {
    let flags = u8::from(offset > 0) << 2 | u8::from(length.is_some()) << 1 | u8::from(fin);
    out.push(0x08 | flags);
    encode(out, id.value());
    if offset > 0 {
        encode(out, offset);
    }
    if let Some(length) = length {
        encode(out, length as u64);
    }
}

/// The bytes that [`stream_header`] appends.
#[inline]
pub const fn stream_header_size(id: StreamId, offset: u64, length: Option<usize>) -> usize {
    let offset = if offset > 0 { varint::size(offset) } else { 0 };
    let length = match length {
        Some(length) => varint::size(length as u64),
        None => 0,
    };
    1 + varint::size(id.value()) + offset + length
}

/// Appends the start of a CRYPTO frame; `length` bytes of data are to follow.
#[inline]
pub fn crypto_header(out: &mut Vec<u8>, offset: u64, length: usize) {
    out.push(0x06);
    encode(out, offset);
    encode(out, length as u64);
}

/// The bytes that [`crypto_header`] appends.
#[inline]
pub const fn crypto_header_size(offset: u64, length: usize) -> usize {
    1 + varint::size(offset) + varint::size(length as u64)
}

/// Appends the start of a DATAGRAM frame (RFC 9221 section 4); the data is to follow. Without a `length` the frame goes
/// to the end of its packet.
pub fn datagram_header(out: &mut Vec<u8>, length: Option<usize>) {
    out.push(0x30 | u8::from(length.is_some()));
    if let Some(length) = length {
        encode(out, length as u64);
    }
}

/// The bytes that [`datagram_header`] appends.
pub const fn datagram_header_size(length: Option<usize>) -> usize {
    match length {
        Some(length) => 1 + varint::size(length as u64),
        None => 1,
    }
}

/// Appends an ACK frame of as many of `ranges` as fit into `limit` bytes, and gives how many those are; 0 if not even
/// the first one fits, or there is none, and then nothing is appended.
///
/// The ranges descend and no two touch: each ends at least two below the start of the one before. What breaks this
/// ends the list. `delay` is scaled already: microseconds shifted right by this side's ack_delay_exponent.
pub fn ack(
    out: &mut Vec<u8>,
    ranges: impl IntoIterator<Item = RangeInclusive<u64>>,
    delay: u64,
    ecn: Option<EcnCounts>,
    limit: usize,
) -> usize {
    let mut ranges = ranges.into_iter();
    let Some(first) = ranges.next() else { return 0 };
    let (mut smallest, largest) = first.into_inner();
    let first_length = largest - smallest;
    let counts = ecn.map_or(0, ecn_size);
    let mut size = 1 + varint::size(largest) + varint::size(delay) + 1 + varint::size(first_length) + counts;
    if size > limit {
        return 0;
    }
    out.push(if ecn.is_some() { 0x03 } else { 0x02 });
    encode(out, largest);
    encode(out, delay);
    // One byte is enough for the count of nearly all; a second one is put in when it is needed.
    let count_at = out.len();
    out.push(0);
    encode(out, first_length);
    let mut more = 0usize;
    for range in ranges.take(varint::Slot::MAX) {
        let (start, end) = range.into_inner();
        let Some(gap) = smallest.checked_sub(end).and_then(|distance| distance.checked_sub(2)) else { break };
        let pair = varint::size(gap) + varint::size(end - start) + usize::from(more == 63);
        if size + pair > limit {
            break;
        }
        if more == 63 {
            out.insert(count_at, 0);
        }
        encode(out, gap);
        encode(out, end - start);
        (size, more, smallest) = (size + pair, more + 1, start);
    }
    if more > 63 {
        out[count_at..count_at + 2].copy_from_slice(&(more as u16 | 0x4000).to_be_bytes());
    } else {
        out[count_at] = more as u8;
    }
    encode_ecn(out, ecn);
    1 + more
}

const fn ecn_size(counts: EcnCounts) -> usize {
    varint::size(counts.ect0) + varint::size(counts.ect1) + varint::size(counts.ce)
}

fn encode_ecn(out: &mut Vec<u8>, ecn: Option<EcnCounts>) {
    if let Some(EcnCounts { ect0, ect1, ce }) = ecn {
        encode_all(out, [ect0, ect1, ce]);
    }
}

fn encode_all<const N: usize>(out: &mut Vec<u8>, values: [u64; N]) {
    values.into_iter().for_each(|value| encode(out, value));
}

fn encode_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    encode(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn prefixed_size(bytes: &[u8]) -> usize {
    varint::size(bytes.len() as u64) + bytes.len()
}

fn sizes<const N: usize>(values: [u64; N]) -> usize {
    values.into_iter().map(varint::size).sum()
}

impl Ack<'_> {
    /// The pairs of Gap and ACK Range Length behind the first range.
    fn gaps(&self) -> impl Iterator<Item = [u64; 2]> {
        let mut smallest = self.largest - self.first_range;
        self.ranges().skip(1).map(move |range| {
            let gap = smallest - range.end() - 2;
            smallest = *range.start();
            [gap, range.end() - range.start()]
        })
    }
    fn encode(&self, out: &mut Vec<u8>) {
        encode_all(out, [self.largest, self.delay, self.more_ranges, self.first_range]);
        self.gaps().for_each(|pair| encode_all(out, pair));
        encode_ecn(out, self.ecn);
    }
    fn size(&self) -> usize {
        sizes([self.largest, self.delay, self.more_ranges, self.first_range])
            + self.gaps().map(sizes).sum::<usize>()
            + self.ecn.map_or(0, ecn_size)
    }
}

/// The lowest bit of the types of MAX_STREAMS and STREAMS_BLOCKED.
fn direction_bit(direction: Direction) -> u64 {
    u64::from(direction == Direction::Unidirectional)
}

impl Frame<'_> {
    /// The type as [`Frame::encode`] writes it.
    pub fn frame_type(&self) -> u64 {
        match self {
            Frame::Padding { .. } => 0x00,
            Frame::Ping => 0x01,
            Frame::Ack(ack) => 0x02 + u64::from(ack.ecn.is_some()),
            Frame::ResetStream { .. } => 0x04,
            Frame::StopSending { .. } => 0x05,
            Frame::Crypto { .. } => 0x06,
            Frame::NewToken { .. } => 0x07,
            Frame::Stream { offset, fin, .. } => 0x0a | u64::from(*offset > 0) << 2 | u64::from(*fin),
            Frame::MaxData { .. } => 0x10,
            Frame::MaxStreamData { .. } => 0x11,
            Frame::MaxStreams { direction, .. } => 0x12 + direction_bit(*direction),
            Frame::DataBlocked { .. } => 0x14,
            Frame::StreamDataBlocked { .. } => 0x15,
            Frame::StreamsBlocked { direction, .. } => 0x16 + direction_bit(*direction),
            Frame::NewConnectionId { .. } => 0x18,
            Frame::RetireConnectionId { .. } => 0x19,
            Frame::PathChallenge { .. } => 0x1a,
            Frame::PathResponse { .. } => 0x1b,
            Frame::ConnectionClose { .. } => 0x1c,
            Frame::ApplicationClose { .. } => 0x1d,
            Frame::HandshakeDone => 0x1e,
            Frame::Datagram { to_end, .. } => 0x31 - u64::from(*to_end),
            Frame::AckFrequency { .. } => ACK_FREQUENCY,
            Frame::ImmediateAck => 0x1f,
        }
    }

    /// Appends the frame. A STREAM frame gets its length written, so that others may follow; virtual data of a STREAM or
    /// a DATAGRAM frame is counted in that and not written: the caller puts the hole there.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if let Frame::Stream { id, offset, data, fin } = *self {
            stream_header(out, id, offset, Some(data.len()), fin);
            if let Data::Bytes(bytes) = data {
                out.extend_from_slice(bytes);
            }
            return;
        }
        encode(out, self.frame_type());
        match *self {
            Frame::Padding { length } => out.resize(out.len() + length.saturating_sub(1), 0),
            Frame::Ping | Frame::HandshakeDone | Frame::ImmediateAck | Frame::Stream { .. } => {}
            Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } => {
                encode_all(out, [sequence, threshold, max_ack_delay_us, reordering_threshold]);
            }
            Frame::Datagram { data, to_end } => {
                if !to_end {
                    encode(out, data.len() as u64);
                }
                if let Data::Bytes(bytes) = data {
                    out.extend_from_slice(bytes);
                }
            }
            Frame::Ack(ack) => ack.encode(out),
            Frame::ResetStream { id, code, final_size } => encode_all(out, [id.value(), code, final_size]),
            Frame::StopSending { id, code } => encode_all(out, [id.value(), code]),
            Frame::Crypto { offset, data } => {
                encode(out, offset);
                encode_prefixed(out, data);
            }
            Frame::NewToken { token } => encode_prefixed(out, token),
            Frame::MaxStreamData { id, maximum } => encode_all(out, [id.value(), maximum]),
            Frame::StreamDataBlocked { id, limit } => encode_all(out, [id.value(), limit]),
            Frame::MaxData { maximum: value }
            | Frame::MaxStreams { maximum: value, .. }
            | Frame::DataBlocked { limit: value }
            | Frame::StreamsBlocked { limit: value, .. }
            | Frame::RetireConnectionId { sequence: value } => encode(out, value),
            Frame::NewConnectionId { sequence, retire_prior_to, id, token } => {
                encode_all(out, [sequence, retire_prior_to]);
                out.push(id.len() as u8);
                out.extend_from_slice(id.as_bytes());
                out.extend_from_slice(&token);
            }
            Frame::PathChallenge { data } | Frame::PathResponse { data } => out.extend_from_slice(&data),
            Frame::ConnectionClose { code, frame_type, reason } => {
                encode_all(out, [code.0, frame_type]);
                encode_prefixed(out, reason);
            }
            Frame::ApplicationClose { code, reason } => {
                encode(out, code);
                encode_prefixed(out, reason);
            }
        }
    }

    /// The bytes that [`Frame::encode`] appends: without virtual data.
    pub fn encoded_size(&self) -> usize {
        let fields = match *self {
            Frame::Padding { length } => length.saturating_sub(1),
            Frame::Ping | Frame::HandshakeDone | Frame::ImmediateAck => 0,
            // One more for its type.
            Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } => {
                1 + sizes([sequence, threshold, max_ack_delay_us, reordering_threshold])
            }
            Frame::Ack(ack) => ack.size(),
            Frame::Stream { id, offset, data, .. } => {
                let bytes = if let Data::Bytes(bytes) = data { bytes.len() } else { 0 };
                stream_header_size(id, offset, Some(data.len())) - 1 + bytes
            }
            Frame::Datagram { data, to_end } => {
                let bytes = if let Data::Bytes(bytes) = data { bytes.len() } else { 0 };
                datagram_header_size((!to_end).then_some(data.len())) - 1 + bytes
            }
            Frame::ResetStream { id, code, final_size } => sizes([id.value(), code, final_size]),
            Frame::StopSending { id, code } => sizes([id.value(), code]),
            Frame::Crypto { offset, data } => varint::size(offset) + prefixed_size(data),
            Frame::NewToken { token } => prefixed_size(token),
            Frame::MaxStreamData { id, maximum } => sizes([id.value(), maximum]),
            Frame::StreamDataBlocked { id, limit } => sizes([id.value(), limit]),
            Frame::MaxData { maximum: value }
            | Frame::MaxStreams { maximum: value, .. }
            | Frame::DataBlocked { limit: value }
            | Frame::StreamsBlocked { limit: value, .. }
            | Frame::RetireConnectionId { sequence: value } => varint::size(value),
            Frame::NewConnectionId { sequence, retire_prior_to, id, token } => {
                sizes([sequence, retire_prior_to]) + 1 + id.len() + token.len()
            }
            Frame::PathChallenge { data } | Frame::PathResponse { data } => data.len(),
            Frame::ConnectionClose { code, frame_type, reason } => {
                sizes([code.0, frame_type]) + prefixed_size(reason)
            }
            Frame::ApplicationClose { code, reason } => varint::size(code) + prefixed_size(reason),
        };
        1 + fields
    }
}
