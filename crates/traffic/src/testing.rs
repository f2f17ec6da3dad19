//! A fake connection that returns data provided by a test and records the calls of an application.

use std::collections::{BTreeMap, VecDeque};
use transport::{
    Data, DatagramError, Datagrams, Measurements, PathView, Priority, Read, StreamError, Streams, Transport,
    UnknownLimits,
};
use wire::{Direction, Side, StreamId};

/// A connection without a network.
#[derive(Default)]
pub(crate) struct Fake {
    /// The unread data of each stream, and whether its end follows.
    pub(crate) incoming: BTreeMap<StreamId, (VecDeque<u8>, bool)>,
    pub(crate) datagrams: VecDeque<Vec<u8>>,
    /// The code and the reason of the close.
    pub(crate) closed: Option<(u64, String)>,
}

/// A client's stream.
pub(crate) fn stream(index: u64, direction: Direction) -> StreamId {
    StreamId::new(Side::Client, direction, index)
}

impl Fake {
    /// Adds bytes to a stream, and optionally its end.
    pub(crate) fn put(&mut self, stream: StreamId, bytes: &[u8], end: bool) {
        let (there, ended) = self.incoming.entry(stream).or_default();
        there.extend(bytes);
        *ended |= end;
    }

    fn take(&mut self, stream: StreamId, most: usize) -> Result<(Vec<u8>, Read), StreamError> {
        let (there, ended) = self.incoming.get_mut(&stream).ok_or(StreamError::Unknown)?;
        let taken: Vec<u8> = there.drain(..most.min(there.len())).collect();
        let read = Read { bytes: taken.len() as u64, finished: *ended && there.is_empty() };
        Ok((taken, read))
    }
}

impl Streams for Fake {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        Err(StreamError::Unknown)
    }
    fn write(&mut self, _: StreamId, _: Data<'_>) -> Result<u64, StreamError> {
        Err(StreamError::Blocked)
    }
    fn finish(&mut self, _: StreamId) -> Result<(), StreamError> {
        Ok(())
    }
    fn reset(&mut self, _: StreamId, _: u64) -> Result<(), StreamError> {
        Ok(())
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn stop(&mut self, _: StreamId, _: u64) -> Result<(), StreamError> {
        Ok(())
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let (taken, read) = self.take(stream, out.len())?;
        out[..taken.len()].copy_from_slice(&taken);
        Ok(read)
    }
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.take(stream, limit as usize).map(|(_, read)| read)
    }
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    fn set_priority(&mut self, _: StreamId, _: Priority) -> Result<(), StreamError> {
        Ok(())
    }
}

impl Datagrams for Fake {
    fn send_datagram(&mut self, _: Data<'_>) -> Result<u64, DatagramError> {
        Err(DatagramError::Blocked)
    }
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        let datagram = self.datagrams.pop_front()?;
        if let Some(into) = into {
            into.extend_from_slice(&datagram);
        }
        Some(datagram.len() as u64)
    }
    fn max_datagram_size(&self) -> Option<usize> {
        None
    }
}

impl Measurements for Fake {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        0
    }
    fn record(&mut self, _: trace::Event) {}
}

impl Transport for Fake {
    fn alpn(&self) -> Option<&[u8]> {
        None
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.closed.get_or_insert((code, reason.to_owned()));
    }
}

impl UnknownLimits for Fake {}
