//! The send buffer: data kept until it is acknowledged.

use crate::data::Chunk;
use std::collections::VecDeque;
use std::ops::Range;
use wire::Hole;

/// Small writes are joined up to this size, so that many of them cost no more than few.
const JOIN_BELOW: usize = 4096;

/// The bytes of the stream by their offset.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Ascending and contiguous: the offset of the first byte, and the chunk.
    chunks: VecDeque<(u64, Chunk)>,
    /// The end of the stream so far.
    end: u64,
    stored: u64,
    /// The index of the chunk found by the last lookup. Sending is sequential, so the next lookup mostly finds it
    /// again.
    last: usize,
}

impl Outgoing {
    /// The end of the stream so far.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
    /// Real bytes in the buffer.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    /// Appends real bytes.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.chunks.back_mut() {
            Some((_, Chunk::Bytes(kept))) if kept.len() + bytes.len() <= JOIN_BELOW => {
                kept.extend_from_slice(bytes);
            }
            _ => self.chunks.push_back((self.end, Chunk::Bytes(bytes.to_vec()))),
        }
        self.end += bytes.len() as u64;
        self.stored += bytes.len() as u64;
    }

    /// Appends virtual bytes: `more` bytes of the pattern from offset `at`.
    pub(crate) fn push_virtual(&mut self, more: u64, at: u64) {
        match self.chunks.back_mut() {
            Some((_, Chunk::Virtual { length, from })) if *from + *length == at => *length += more,
            _ if more == 0 => {}
            _ => self.chunks.push_back((self.end, Chunk::Virtual { length: more, from: at })),
        }
        self.end += more;
    }

    /// Stops if the chunks leave a gap, or their bytes are miscounted.
    pub(crate) fn check(&self) {
        let mut end = None;
        for (start, chunk) in &self.chunks {
            assert!(end.is_none_or(|end| end == *start), "the chunks to send leave no gap");
            end = Some(start + chunk.len());
        }
        assert!(end.is_none_or(|end| end == self.end), "the stream ends with its last chunk");
        let real = self.chunks.iter().filter(|(_, chunk)| matches!(chunk, Chunk::Bytes(_)));
        let stored: u64 = real.map(|(_, chunk)| chunk.len()).sum();
        assert_eq!(stored, self.stored, "the real bytes to send are counted");
    }

    fn at(&mut self, place: u64) -> usize {
        let holds = |index: usize| {
            self.chunks
                .get(index)
                .is_some_and(|(start, chunk)| *start <= place && place < start + chunk.len())
        };
        if !holds(self.last) {
            self.last = self.chunks.partition_point(|(start, _)| *start <= place).saturating_sub(1);
        }
        self.last
    }

    /// Appends the bytes of a range to a segment. The longest run of virtual bytes becomes a hole.
    pub(crate) fn copy(&mut self, range: Range<u64>, out: &mut Vec<u8>) -> Option<Hole> {
        debug_assert!(range.end <= self.end, "only data that was written is sent");
        let kept = self.chunks.front().is_some_and(|(start, _)| *start <= range.start);
        debug_assert!(kept || range.is_empty(), "data is kept until it is acknowledged");
        let from = self.at(range.start);
        let inside = |start: &u64, chunk: &Chunk| {
            (start + chunk.len()).min(range.end).saturating_sub((*start).max(range.start))
        };
        let pieces = || {
            let chunks = self.chunks.range(from.min(self.chunks.len())..);
            chunks.take_while(|(start, _)| *start < range.end)
        };
        let longest = pieces().enumerate().filter(|(_, (_, chunk))| matches!(chunk, Chunk::Virtual { .. }));
        let longest = longest.max_by_key(|(_, (start, chunk))| inside(start, chunk)).map(|(index, _)| index);
        let mut hole = None;
        for (index, (start, chunk)) in pieces().enumerate() {
            let first = range.start.saturating_sub(*start);
            let length = inside(start, chunk);
            match chunk {
                Chunk::Bytes(bytes) => {
                    out.extend_from_slice(&bytes[first as usize..(first + length) as usize]);
                }
                Chunk::Virtual { from, .. } if longest == Some(index) => {
                    let at = out.len() as u32;
                    hole = Some(Hole { at, length: length as u32, offset: from + first });
                }
                Chunk::Virtual { from, .. } => {
                    let at = out.len();
                    out.resize(at + length as usize, 0);
                    wire::pattern::fill(from + first, &mut out[at..]);
                }
            }
        }
        hole
    }

    /// Releases everything before this offset.
    #[inline]
    pub(crate) fn release_to(&mut self, place: u64) {
        while let Some((start, chunk)) = self.chunks.front() {
            if start + chunk.len() > place {
                break;
            }
            if let Some((_, Chunk::Bytes(bytes))) = self.chunks.pop_front() {
                self.stored -= bytes.len() as u64;
            }
            self.last = self.last.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_match_the_written_data() {
        let mut outgoing = Outgoing::default();
        outgoing.push_bytes(&[200; 3]);
        outgoing.push_virtual(10, 0);
        outgoing.push_virtual(5, 10);
        outgoing.push_bytes(&[201; 2]);
        outgoing.push_virtual(4, 15);
        assert_eq!((outgoing.end(), outgoing.stored()), (24, 5));
        let mut whole = vec![200; 3];
        whole.extend((0..15).map(wire::pattern::byte));
        whole.extend([201; 2]);
        whole.extend((15..19).map(wire::pattern::byte));
        for start in 0..24 {
            for end in start + 1..=24 {
                let mut out = vec![9];
                if let Some(hole) = outgoing.copy(start..end, &mut out) {
                    hole.write_out(&mut out);
                }
                assert_eq!(out[1..], whole[start as usize..end as usize], "{start}..{end}");
            }
        }
        outgoing.release_to(18);
        assert_eq!(outgoing.stored(), 2);
        let mut out = Vec::new();
        assert_eq!(outgoing.copy(19..22, &mut out), Some(Hole { at: 1, length: 2, offset: 15 }));
        outgoing.release_to(24);
        assert_eq!((outgoing.stored(), outgoing.chunks.len()), (0, 0));
    }
}
