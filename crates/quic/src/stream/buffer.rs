//! The send buffer of a stream: written data, real or virtual, kept until it is acknowledged.

use std::collections::VecDeque;
use std::ops::Range;
use transport::Data;

#[derive(Debug)]
enum Chunk {
    Bytes(Vec<u8>),
    Virtual(u64),
}

impl Chunk {
    fn len(&self) -> u64 {
        match self {
            Chunk::Bytes(bytes) => bytes.len() as u64,
            Chunk::Virtual(length) => *length,
        }
    }
}

/// Small writes are joined up to this size, so that many of them cost no more than few.
const JOIN_BELOW: usize = 4096;

/// The kept data of one stream, by offset.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    /// The chunks with the offset of their first byte, ascending and without gaps.
    chunks: VecDeque<(u64, Chunk)>,
    stored: u64,
}

impl SendBuffer {
    /// The number of real bytes.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    pub(crate) fn push(&mut self, offset: u64, data: Data<'_>) {
        if data.is_empty() {
            return;
        }
        if self.chunks.capacity() == 0 {
            // Most streams have at most one chunk at a time.
            self.chunks.reserve_exact(1);
        }
        let end = self.chunks.back().map(|(start, chunk)| start + chunk.len());
        debug_assert!(end.is_none_or(|end| end == offset), "data is written where the data before it ends");
        match (self.chunks.back_mut(), data) {
            (Some((_, Chunk::Virtual(length))), Data::Virtual(more)) => *length += more,
            (_, Data::Virtual(length)) => self.chunks.push_back((offset, Chunk::Virtual(length))),
            (Some((_, Chunk::Bytes(kept))), Data::Bytes(bytes)) if kept.len() + bytes.len() <= JOIN_BELOW => {
                kept.extend_from_slice(bytes);
            }
            (_, Data::Bytes(bytes)) => self.chunks.push_back((offset, Chunk::Bytes(bytes.to_vec()))),
        }
        if let Data::Bytes(bytes) = data {
            self.stored += bytes.len() as u64;
        }
    }

    /// The index of the chunk with this offset; 0 without chunks, which an empty range may ask for.
    fn at(&self, offset: u64) -> usize {
        let kept = self.chunks.front().is_none_or(|(start, _)| *start <= offset);
        debug_assert!(kept, "data is kept until it is acknowledged");
        self.chunks.partition_point(|(start, _)| *start <= offset).saturating_sub(1)
    }

    /// Whether all bytes of a range are virtual. A range that also has real bytes must be written out.
    #[inline]
    pub(crate) fn is_virtual(&self, range: Range<u64>) -> bool {
        // Adjacent virtual bytes are one chunk.
        match self.chunks.get(self.at(range.start)) {
            Some((start, Chunk::Virtual(length))) => start + length >= range.end,
            _ => false,
        }
    }

    /// Appends the bytes of a range, writing virtual ones out.
    pub(crate) fn copy(&self, range: Range<u64>, out: &mut Vec<u8>) {
        let mut offset = range.start;
        let from = self.at(offset);
        for (start, chunk) in self.chunks.range(from.min(self.chunks.len())..) {
            if offset >= range.end {
                break;
            }
            let end = (start + chunk.len()).min(range.end);
            match chunk {
                Chunk::Bytes(bytes) => {
                    out.extend_from_slice(&bytes[(offset - start) as usize..(end - start) as usize]);
                }
                Chunk::Virtual(_) => {
                    let at = out.len();
                    out.resize(at + (end - offset) as usize, 0);
                    wire::pattern::fill(offset, &mut out[at..]);
                }
            }
            offset = end;
        }
        debug_assert_eq!(offset, range.end, "all data that is sent is kept");
    }

    /// Stops if the chunks leave a gap, or their bytes are miscounted.
    pub(super) fn check(&self) {
        let (mut end, mut stored) = (None, 0);
        for (start, chunk) in &self.chunks {
            assert!(end.is_none_or(|end| end == *start), "the chunks of a stream leave no gap");
            end = Some(start + chunk.len());
            stored += if let Chunk::Bytes(bytes) = chunk { bytes.len() as u64 } else { 0 };
        }
        assert_eq!(stored, self.stored, "the real bytes of a stream are counted");
    }

    /// Drops everything from `offset` on.
    pub(crate) fn truncate(&mut self, offset: u64) {
        while let Some((start, chunk)) = self.chunks.back_mut() {
            let kept = offset.saturating_sub(*start);
            if kept >= chunk.len() {
                break;
            }
            match chunk {
                Chunk::Bytes(bytes) => {
                    self.stored -= bytes.len() as u64 - kept;
                    bytes.truncate(kept as usize);
                }
                Chunk::Virtual(length) => *length = kept,
            }
            if kept > 0 {
                break;
            }
            self.chunks.pop_back();
        }
    }

    /// Drops chunks that end at or below `offset`.
    #[inline]
    pub(crate) fn release_to(&mut self, offset: u64) {
        while let Some((start, chunk)) = self.chunks.front() {
            if start + chunk.len() > offset {
                break;
            }
            if let Some((_, Chunk::Bytes(bytes))) = self.chunks.pop_front() {
                self.stored -= bytes.len() as u64;
            }
        }
        if self.chunks.is_empty() && self.chunks.capacity() > 0 {
            // An idle stream keeps no memory.
            self.chunks = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_copies_and_release() {
        let mut buffer = SendBuffer::default();
        buffer.push(0, Data::Bytes(&[1, 2, 3]));
        buffer.push(3, Data::Bytes(&[4; 5000]));
        buffer.push(5003, Data::Virtual(100));
        buffer.push(5103, Data::Virtual(100));
        buffer.push(5203, Data::Bytes(&[6; 7]));
        assert!(buffer.is_virtual(5003..5203) && buffer.is_virtual(5150..5151));
        for mixed in [0..10, 5002..5004, 5003..5204, 5203..5210] {
            assert!(!buffer.is_virtual(mixed.clone()), "{mixed:?}");
        }
        assert_eq!(buffer.stored(), 5010);
        let mut out = Vec::new();
        buffer.copy(1..5005, &mut out);
        assert_eq!((out.len(), &out[..3]), (5004, &[2, 3, 4][..]));
        assert_eq!(out[5002..], [wire::pattern::byte(5003), wire::pattern::byte(5004)]);
        out.clear();
        buffer.copy(5201..5205, &mut out);
        assert_eq!(out, [wire::pattern::byte(5201), wire::pattern::byte(5202), 6, 6]);
        buffer.release_to(5003);
        assert_eq!(buffer.stored(), 7);
        assert!(buffer.is_virtual(5100..5150));
    }
}
