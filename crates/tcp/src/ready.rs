//! A queue of in-order data for its reader.

use crate::data::{Chunk, Run};
use std::collections::VecDeque;

/// Adjacent runs of real bytes are joined up to this size.
pub(crate) const JOIN_BELOW: usize = 65_536;

/// A FIFO queue of runs.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    chunks: VecDeque<Chunk>,
    bytes: u64,
    /// The memory of a consumed chunk, for reuse.
    spare: Vec<u8>,
}

impl Ready {
    /// The number of queued bytes.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    /// Stops if the bytes are miscounted.
    pub(crate) fn check(&self) {
        let bytes: u64 = self.chunks.iter().map(Chunk::len).sum();
        assert_eq!(self.bytes, bytes, "the bytes that are counted are in the queue");
        assert!(self.chunks.iter().all(|chunk| chunk.len() > 0), "no run in the queue is empty");
    }

    /// Appends a run.
    #[inline]
    pub(crate) fn push(&mut self, run: Run<'_>) {
        self.bytes += run.len();
        if let Some(last) = self.chunks.back_mut()
            && join(last, run)
        {
            return;
        }
        let chunk = match run {
            Run::Bytes(bytes) => {
                let mut kept = std::mem::take(&mut self.spare);
                kept.extend_from_slice(bytes);
                Chunk::Bytes(kept)
            }
            Run::Virtual { length, from } => Chunk::Virtual { length, from },
        };
        self.chunks.push_back(chunk);
    }

    /// Appends a chunk.
    pub(crate) fn push_chunk(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Virtual { length, from } => self.push(Run::Virtual { length, from }),
            chunk @ Chunk::Bytes(_) => {
                self.bytes += chunk.len();
                self.chunks.push_back(chunk);
            }
        }
    }

    /// Removes up to `limit` bytes and passes each run to `each`. Returns the number of bytes.
    pub(crate) fn take(&mut self, limit: u64, mut each: impl FnMut(Run<'_>)) -> u64 {
        let mut left = limit.min(self.bytes);
        let taken = left;
        self.bytes -= taken;
        while left > 0 {
            let chunk = self.chunks.front_mut().expect("the bytes that are counted are in the queue");
            if chunk.len() > left {
                match chunk {
                    Chunk::Bytes(bytes) => {
                        each(Run::Bytes(&bytes[..left as usize]));
                        bytes.drain(..left as usize);
                    }
                    Chunk::Virtual { length, from } => {
                        each(Run::Virtual { length: left, from: *from });
                        *length -= left;
                        *from += left;
                    }
                }
                break;
            }
            left -= chunk.len();
            match self.chunks.pop_front() {
                Some(Chunk::Bytes(mut bytes)) => {
                    each(Run::Bytes(&bytes));
                    if bytes.capacity() <= JOIN_BELOW {
                        bytes.clear();
                        self.spare = bytes;
                    }
                }
                Some(Chunk::Virtual { length, from }) => each(Run::Virtual { length, from }),
                None => unreachable!("the first chunk was just looked at"),
            }
        }
        taken
    }
}

/// Appends a run to a chunk if they are contiguous.
#[inline]
pub(crate) fn join(chunk: &mut Chunk, run: Run<'_>) -> bool {
    match (chunk, run) {
        (Chunk::Bytes(kept), Run::Bytes(bytes)) if kept.len() + bytes.len() <= JOIN_BELOW => {
            kept.extend_from_slice(bytes);
            true
        }
        (Chunk::Virtual { length, from }, Run::Virtual { length: more, from: at })
            if *from + *length == at =>
        {
            *length += more;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_can_be_taken_in_pieces() {
        let mut ready = Ready::default();
        ready.push(Run::Virtual { length: 10, from: 0 });
        ready.push(Run::Virtual { length: 10, from: 10 });
        ready.push(Run::Bytes(&[20, 21, 22]));
        ready.push(Run::Bytes(&[23]));
        ready.push_chunk(Chunk::Virtual { length: 6, from: 24 });
        assert_eq!((ready.len(), ready.chunks.len()), (30, 3));
        let mut out = Vec::new();
        for limit in [3, 0, 18, 4, 100, 1] {
            let before = out.len() as u64;
            let taken = ready.take(limit, |run| match run {
                Run::Bytes(bytes) => out.extend_from_slice(bytes),
                Run::Virtual { length, from } => out.extend((from..from + length).map(wire::pattern::byte)),
            });
            assert_eq!(out.len() as u64, before + taken);
        }
        assert!(wire::pattern::matches(0, &out) && out.len() == 30 && ready.len() == 0);
    }
}
