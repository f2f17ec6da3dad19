//! The application's view of a connection of quinn-proto.

use super::connection::{Connection, stream as known};
use super::transport::varint;
use bytes::Bytes;
use quinn_proto::{Dir, FinishError, ReadError, StreamId as Id, WriteError};
use transport::{
    Data, Measurements, PathView, Priority, Read, StreamError, Streams, Transport, UnknownLimits,
    WithoutDatagrams,
};
use units::Time;
use wire::{Direction, StreamId, pattern};

/// The number of virtual bytes that are written out at a time.
const PIECE: u64 = 16 * 1024;

/// A connection at a point in time.
pub(crate) struct View<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) now: Time,
}

fn id(stream: StreamId) -> Id {
    Id::from(varint(stream.value()))
}

impl View<'_> {
    fn sends(&self, stream: StreamId) -> Result<(), StreamError> {
        if self.connection.ended.is_some() {
            return Err(StreamError::Closed);
        }
        if stream.sends(self.connection.side) { Ok(()) } else { Err(StreamError::WrongDirection) }
    }

    /// Writes a piece; returns the number of accepted bytes.
    fn write_piece(&mut self, stream: StreamId, mut piece: Bytes) -> Result<u64, StreamError> {
        let mut taken = 0;
        while !piece.is_empty() {
            let mut chunks = [piece];
            match self.connection.inner.send_stream(id(stream)).write_chunks(&mut chunks) {
                Ok(written) => taken += written.bytes as u64,
                Err(WriteError::Blocked) => break,
                Err(WriteError::Stopped(code)) => return Err(StreamError::Stopped(code.into_inner())),
                Err(WriteError::ClosedStream) => return Err(StreamError::Unknown),
            }
            let [rest] = chunks;
            piece = rest;
        }
        Ok(taken)
    }

    /// Takes chunks of at most `limit` bytes from a stream.
    fn take(
        &mut self,
        stream: StreamId,
        limit: u64,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Read, StreamError> {
        if !stream.receives(self.connection.side) {
            return Err(StreamError::WrongDirection);
        }
        let mut read = Read::default();
        let mut reset = None;
        let mut receiving = self.connection.inner.recv_stream(id(stream));
        // A stream that was read to its end is no longer known.
        let mut chunks = receiving.read(true).map_err(|_| StreamError::Unknown)?;
        while read.bytes < limit {
            match chunks.next(usize::try_from(limit - read.bytes).unwrap_or(usize::MAX)) {
                Ok(Some(chunk)) => {
                    each(&chunk.bytes);
                    read.bytes += chunk.bytes.len() as u64;
                }
                Ok(None) => {
                    read.finished = true;
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(code)) => {
                    reset = Some(code.into_inner());
                    break;
                }
            }
        }
        // The host checks for packets to send in any case.
        let _ = chunks.finalize();
        if let Some(half) = self.connection.streams.get_mut(&stream) {
            half.received += read.bytes;
        }
        if read.finished || reset.is_some() {
            self.connection.finish_half(stream, false);
        }
        reset.map_or(Ok(read), |code| Err(StreamError::Reset(code)))
    }
}

impl Streams for View<'_> {
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        if self.connection.ended.is_some() {
            return Err(StreamError::Closed);
        }
        let dir = if direction == Direction::Bidirectional { Dir::Bi } else { Dir::Uni };
        let opened = self.connection.inner.streams().open(dir).ok_or(StreamError::LimitReached)?;
        let stream = known(opened);
        self.connection.add(stream);
        Ok(stream)
    }

    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.sends(stream)?;
        let mut at = self.connection.streams.get(&stream).ok_or(StreamError::Unknown)?.written;
        let (start, end) = (at, at + data.len());
        while at < end {
            let piece = match data {
                Data::Bytes(bytes) => Bytes::copy_from_slice(&bytes[(at - start) as usize..]),
                Data::Virtual(_) => {
                    let mut bytes = vec![0; PIECE.min(end - at) as usize];
                    pattern::fill(at, &mut bytes);
                    Bytes::from(bytes)
                }
            };
            let length = piece.len() as u64;
            let taken = self.write_piece(stream, piece)?;
            at += taken;
            if taken < length {
                break;
            }
        }
        if let Some(half) = self.connection.streams.get_mut(&stream) {
            half.written = at;
        }
        self.connection.written += at - start;
        if at == start && end > start { Err(StreamError::Blocked) } else { Ok(at - start) }
    }

    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.sends(stream)?;
        self.connection.inner.send_stream(id(stream)).finish().map_err(|error| match error {
            FinishError::Stopped(code) => StreamError::Stopped(code.into_inner()),
            FinishError::ClosedStream => StreamError::Finished,
        })
    }

    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.sends(stream)?;
        let reset = self.connection.inner.send_stream(id(stream)).reset(varint(code));
        reset.map_err(|_| StreamError::Unknown)?;
        self.connection.finish_half(stream, true);
        Ok(())
    }

    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }

    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        if !stream.receives(self.connection.side) {
            return Err(StreamError::WrongDirection);
        }
        let stopped = self.connection.inner.recv_stream(id(stream)).stop(varint(code));
        stopped.map_err(|_| StreamError::Unknown)?;
        self.connection.finish_half(stream, false);
        Ok(())
    }

    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let mut at = 0;
        self.take(stream, out.len() as u64, |bytes| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        })
    }

    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.take(stream, limit, |_| {})
    }

    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.take(stream, u64::MAX, |_| {})
    }

    /// quinn-proto has one number for each stream: the urgency. Streams of equal urgency take turns.
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        let urgency = -i32::from(priority.urgency);
        let set = self.connection.inner.send_stream(id(stream)).set_priority(urgency);
        set.map_err(|_| StreamError::Unknown)
    }
}

impl Measurements for View<'_> {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }

    fn acked_bytes(&self) -> u64 {
        self.connection.acked
    }

    fn record(&mut self, _: trace::Event) {}
}

impl Transport for View<'_> {
    fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn.as_deref()
    }

    fn close(&mut self, code: u64, reason: &str) {
        transport::Connection::close(self.connection, self.now, code, reason);
    }
}

impl WithoutDatagrams for View<'_> {}

impl UnknownLimits for View<'_> {}
