//! The encoder of frames: the special frames, and functions for frames that are in nearly every packet. The codecs
//! encode all others.

use crate::StreamId;
use crate::frame::{Ack, Data, EcnCounts, Frame};
use crate::varint::{self, encode};
use std::ops::RangeInclusive;

/// Appends the header of a STREAM frame; the data must follow. Without a `length` the frame extends to the end of its
/// packet. An offset of 0 is omitted (RFC 9000 section 19.8).
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

/// The number of bytes that [`stream_header`] appends.
#[inline]
pub const fn stream_header_size(id: StreamId, offset: u64, length: Option<usize>) -> usize {
    let offset = if offset > 0 { varint::size(offset) } else { 0 };
    let length = match length {
        Some(length) => varint::size(length as u64),
        None => 0,
    };
    1 + varint::size(id.value()) + offset + length
}

/// Appends the header of a CRYPTO frame; `length` bytes of data must follow.
#[inline]
pub fn crypto_header(out: &mut Vec<u8>, offset: u64, length: usize) {
    out.push(0x06);
    encode(out, offset);
    encode(out, length as u64);
}

/// The number of bytes that [`crypto_header`] appends.
#[inline]
pub const fn crypto_header_size(offset: u64, length: usize) -> usize {
    1 + varint::size(offset) + varint::size(length as u64)
}

/// Appends the header of a DATAGRAM frame (RFC 9221 section 4); the data must follow. Without a `length` the frame
/// extends to the end of its packet.
pub fn datagram_header(out: &mut Vec<u8>, length: Option<usize>) {
    out.push(0x30 | u8::from(length.is_some()));
    if let Some(length) = length {
        encode(out, length as u64);
    }
}

/// The number of bytes that [`datagram_header`] appends.
pub const fn datagram_header_size(length: Option<usize>) -> usize {
    match length {
        Some(length) => 1 + varint::size(length as u64),
        None => 1,
    }
}

/// Appends an ACK frame with as many of `ranges` as fit into `limit` bytes. Returns their number. If it is 0, nothing
/// is appended.
///
/// The ranges are in descending order and no two are adjacent: each ends at least two below the start of the previous
/// one. The first range that violates this ends the list. `delay` is already scaled: microseconds shifted right by this
/// side's ack_delay_exponent.
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
    // One byte is almost always enough for the count; a second one is inserted when necessary.
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

fn sizes<const N: usize>(values: [u64; N]) -> usize {
    values.into_iter().map(varint::size).sum()
}

impl Ack<'_> {
    /// The pairs of Gap and ACK Range Length after the first range.
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

impl Frame<'_> {
    /// The type written by [`Frame::encode`].
    pub fn frame_type(&self) -> u64 {
        match self {
            Frame::Ack(ack) => 0x02 + u64::from(ack.ecn.is_some()),
            Frame::Stream { offset, fin, .. } => 0x0a | u64::from(*offset > 0) << 2 | u64::from(*fin),
            Frame::Datagram { to_end, .. } => 0x31 - u64::from(*to_end),
            plain => plain.plain_type(),
        }
    }

    /// Appends the frame. A STREAM frame always has a length, so that other frames may follow. Virtual data of a STREAM
    /// or DATAGRAM frame counts towards the length but is not written: the caller places the hole.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Frame::Ack(ack) => {
                encode(out, self.frame_type());
                ack.encode(out);
            }
            Frame::Stream { id, offset, data, fin } => {
                stream_header(out, id, offset, Some(data.len()), fin);
                data.write(out);
            }
            Frame::Datagram { data, to_end } => {
                datagram_header(out, (!to_end).then_some(data.len()));
                data.write(out);
            }
            plain => {
                encode(out, plain.plain_type());
                plain.write(out);
            }
        }
    }

    /// The number of bytes that [`Frame::encode`] appends, which excludes virtual data.
    pub fn encoded_size(&self) -> usize {
        match *self {
            Frame::Ack(ack) => 1 + ack.size(),
            Frame::Stream { id, offset, data, .. } => {
                stream_header_size(id, offset, Some(data.len())) + data.real_length()
            }
            Frame::Datagram { data, to_end } => {
                datagram_header_size((!to_end).then_some(data.len())) + data.real_length()
            }
            plain => varint::size(plain.plain_type()) + plain.size(),
        }
    }
}

impl Data<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        if let Data::Bytes(bytes) = self {
            out.extend_from_slice(bytes);
        }
    }
    fn real_length(&self) -> usize {
        if let Data::Bytes(bytes) = self { bytes.len() } else { 0 }
    }
}
