//! Written data that is kept until it is acknowledged: real bytes, or the extent of virtual ones.

use std::collections::VecDeque;
use std::ops::Range;

/// Data that an application writes.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Real bytes; they are copied.
    Bytes(&'a [u8]),
    /// That many virtual bytes: the [`wire::pattern`] at the stream offset where they come to stand.
    Virtual(u64),
}

impl Data<'_> {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Data::Bytes(bytes) => bytes.len() as u64,
            Data::Virtual(length) => *length,
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

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

/// Small writes are put together up to this size, so that many of them cost no more than few.
const JOIN_BELOW: usize = 4096;

/// A run of bytes of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub length: u64,
    pub hollow: bool,
}

/// The kept data of one stream, by offset.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    /// Ascending and without gaps: (offset of its first byte, chunk).
    chunks: VecDeque<(u64, Chunk)>,
    stored: u64,
}

impl SendBuffer {
    /// Real bytes that are kept.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    pub(crate) fn push(&mut self, offset: u64, data: Data<'_>) {
        if data.is_empty() {
            return;
        }
        if self.chunks.capacity() == 0 {
            // Most streams have one chunk at a time at most.
            self.chunks.reserve_exact(1);
        }
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

    fn at(&self, offset: u64) -> usize {
        self.chunks.partition_point(|(start, _)| *start <= offset).saturating_sub(1)
    }

    /// How many bytes of one kind follow from `offset` on, up to `limit`.
    #[inline]
    pub(crate) fn run(&self, offset: u64, limit: u64) -> Run {
        let mut at = self.at(offset);
        let Some((start, chunk)) = self.chunks.get(at) else { return Run { length: 0, hollow: false } };
        let hollow = matches!(chunk, Chunk::Virtual(_));
        let mut end = start + chunk.len();
        while end < offset + limit {
            at += 1;
            match self.chunks.get(at) {
                Some((_, chunk)) if matches!(chunk, Chunk::Virtual(_)) == hollow => end += chunk.len(),
                _ => break,
            }
        }
        Run { length: end.saturating_sub(offset).min(limit), hollow }
    }

    /// Appends the bytes of a range, virtual ones written out.
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
    }

    /// Everything below `offset` is not needed any more.
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
            // A stream at rest keeps no room.
            self.chunks = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_copies_and_release() {
        let mut buffer = SendBuffer::default();
        buffer.push(0, Data::Bytes(&[1, 2, 3]));
        buffer.push(3, Data::Bytes(&[4; 5000]));
        buffer.push(5003, Data::Virtual(100));
        buffer.push(5103, Data::Virtual(100));
        assert_eq!(buffer.run(0, 10_000), Run { length: 5003, hollow: false });
        assert_eq!(buffer.run(2, 10), Run { length: 10, hollow: false });
        assert_eq!(buffer.run(5003, 10_000), Run { length: 200, hollow: true });
        assert_eq!(buffer.stored(), 5003);
        let mut out = Vec::new();
        buffer.copy(1..5005, &mut out);
        assert_eq!((out.len(), &out[..3]), (5004, &[2, 3, 4][..]));
        assert_eq!(out[5002..], [wire::pattern::byte(5003), wire::pattern::byte(5004)]);
        buffer.release_to(5003);
        assert_eq!(buffer.stored(), 0);
        assert_eq!(buffer.run(5100, 50), Run { length: 50, hollow: true });
    }
}
